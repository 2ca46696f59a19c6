"""What the benchmark of twenty rounds asks, and what it makes of its rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.twenty_rounds import read_domain, summary


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
