"""What the benchmark of twenty rounds asks, and what it makes of its rows."""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.kept_rounds import KeptRounds
from benchmarks.twenty_rounds import Rounds, read_domain, summary


def write_lines(file: Path, rows: Sequence[Mapping[str, object]]) -> None:
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "covidqa"
    folder.mkdir()
    passages = [{"id": f"p{i}", "doc": "d", "title": "", "text": f"passage {i}"} for i in range(9)]
    write_lines(folder / "passages.jsonl.gz", passages)
    for split in ("train", "dev", "test"):
        asked = [
            {
                "id": f"{split}{i}",
                "question": "who says it in both?" if i == 0 else f"who says {split} {i}?",
                "answers": [f"passage {i}"],
                "passage_ids": [f"p{i}"],
                "doc": "d",
            }
            for i in range(9)
        ]
        write_lines(folder / f"{split}.jsonl.gz", asked)
    return tmp_path


def test_no_round_asks_what_is_measured_with(data: Path) -> None:
    domain = read_domain(data, "covidqa", asked=9, measured=9, seed=1)
    assert len(domain.passages) == 9
    assert len(domain.measured) == 9
    assert len(domain.asked) == 8, "the question that both parts have is left out"
    assert not {q.text for q in domain.asked} & {q.text for q in domain.measured}


def test_a_summary_tells_gains_forgetting_and_the_deepest_fall() -> None:
    rows = [{"dense": {"a": 0.5, "b": 0.4}}, {"dense": {"a": 0.7, "b": 0.3}}, {"dense": {"a": 0.6, "b": 0.5}}]
    assert summary(rows, ["promoted", "refused"]) == {
        "promoted": 1,
        "refused": 1,
        "dense": {
            "gain": {"a": 0.1, "b": 0.1},
            "forgetting": 0.05,  # a fell from 0.7 to 0.6, b is at its best
            "lowest against its start": -0.1,
        },
    }


def played(place: Path, **more: object) -> Rounds:
    options = {
        "domains": ["a"], "rounds": 2, "questions": 9, "measured": 9, "accuracy": 0.9, "epochs": 1,
        "learning_rate": 1e-5, "work": place, **more,
    }  # fmt: skip
    domain = type("Domain", (), {"name": "a", "passages": (), "asked": (), "measured": ()})
    return Rounds(argparse.Namespace(**options), [domain], 1)  # type: ignore[list-item]


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """The folder of a seed whose two rounds were played."""
    latest = tmp_path / "seed-1" / "after-002"
    latest.mkdir(parents=True)
    settings = {
        "domains": ["a"], "rounds": 2, "questions": 9, "measured": 9, "accuracy": 0.9, "epochs": 1,
        "learning_rate": 1e-5,
    }  # fmt: skip
    rows = [
        {"round": 0, "settings": settings, "dense": {"a": 0.5}, "fused": {"a": 0.5}},
        {"round": 1, "state": "refused", "dense": {"a": 0.5}, "fused": {"a": 0.5}},
        {"round": 2, "state": "promoted", "dense": {"a": 0.7}, "fused": {"a": 0.6}},
    ]
    (latest / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def test_a_seed_that_has_ended_is_told_again_and_not_played(ended: Path) -> None:
    found = played(ended).play()
    assert (found["promoted"], found["refused"]) == (1, 1)
    assert found["dense"]["gain"] == {"a": 0.2}
    assert not (ended / "stores").exists(), "nothing was filled for it"


def test_rounds_of_other_settings_are_not_gone_on_with(ended: Path) -> None:
    with pytest.raises(ValueError, match="other settings"):
        played(ended, questions=10).play()


# What a killed run of rounds goes on from


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


def test_what_was_begun_after_the_latest_round_is_gone(kept: KeptRounds, tmp_path: Path) -> None:
    (kept.store / "turns").write_text("half a round")
    (kept.store / "workplace").mkdir()
    killed = KeptRounds(tmp_path)
    killed.restore()
    assert (killed.store / "turns").read_text() == "after 2"
    assert not (killed.store / "workplace").exists()
    assert [row["round"] for row in killed.rows()] == [0, 1, 2]


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
