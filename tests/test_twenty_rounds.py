"""What the benchmark of twenty rounds asks, and what it makes of its rows."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.twenty_rounds import Rounds, over_seeds, read_domain, summary


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


def test_the_seed_alone_decides_what_is_asked(data: Path) -> None:
    drawn = [read_domain(data, "covidqa", asked=4, measured=4, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


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


def test_over_seeds_each_figure_has_its_mean_and_interval() -> None:
    """0.1, 0.2 and 0.3 spread by 0.1: the half interval is 4.303 * 0.1 / sqrt(3) = 0.2484."""
    found = over_seeds(
        [{"promoted": 2, "dense": {"gain": {"a": gain}}} for gain in (0.1, 0.2)]
        + [{"refused": 5, "dense": {"gain": {"a": 0.3}}}]
    )
    assert found["dense"]["gain"]["a"] == [0.2, -0.0484, 0.4484]
    assert found["promoted"][0] == pytest.approx(4 / 3, abs=1e-4), "none went live with the third seed"
    assert found["refused"][0] == pytest.approx(5 / 3, abs=1e-4)


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
