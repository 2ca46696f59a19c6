"""What a killed run of rounds goes on from: always a whole round, with the store as it was then."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.kept_rounds import KeptRounds


def round_of(kept: KeptRounds, number: int) -> None:
    (kept.store / "turns").write_text(f"after {number}")
    kept.keep({"round": number, "state": "refused"})


@pytest.fixture
def kept(tmp_path: Path) -> KeptRounds:
    kept = KeptRounds(tmp_path)
    kept.store.mkdir()
    for number in range(3):
        round_of(kept, number)
    return kept


def test_before_the_first_there_is_nothing(tmp_path: Path) -> None:
    kept = KeptRounds(tmp_path / "seed-1")
    assert kept.rows() == []
    kept.restore()
    assert not kept.store.exists()


def test_what_was_begun_after_the_latest_round_is_gone(kept: KeptRounds, tmp_path: Path) -> None:
    (kept.store / "turns").write_text("half a round")
    (kept.store / "workplace").mkdir()
    killed = KeptRounds(tmp_path)
    killed.restore()
    assert (killed.store / "turns").read_text() == "after 2"
    assert not (killed.store / "workplace").exists()
    assert [row["round"] for row in killed.rows()] == [0, 1, 2]


def test_a_run_that_goes_on_adds_to_the_rows(kept: KeptRounds) -> None:
    kept.restore()
    round_of(kept, 3)
    assert [row["round"] for row in kept.rows()] == [0, 1, 2, 3]


def test_killed_while_it_is_kept_the_round_before_counts(
    kept: KeptRounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(source: Path, target: Path) -> None:
        target.mkdir()
        (target / "rows.jsonl").write_text("{")
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copytree", killed)
    with pytest.raises(KeyboardInterrupt):
        round_of(kept, 3)
    monkeypatch.undo()
    assert [row["round"] for row in kept.rows()] == [0, 1, 2]
    kept.restore()
    round_of(kept, 3)
    assert [row["round"] for row in kept.rows()] == [0, 1, 2, 3]


def test_killed_before_the_earlier_copy_was_deleted_the_later_one_counts(
    kept: KeptRounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(place: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        round_of(kept, 3)
    monkeypatch.undo()
    assert [row["round"] for row in kept.rows()] == [0, 1, 2, 3]
    kept.restore()
    round_of(kept, 4)
    assert [row["round"] for row in kept.rows()] == [0, 1, 2, 3, 4]
