"""What collections cost is measured on lessons of passages that are there, and in CPU time."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

from assistant.replay.streams.datasets import ReplayPassage
from benchmarks.collections_cost import each_ms, training_rows


def test_lessons_have_their_answers_and_ten_others(tmp_path: Path) -> None:
    """The third question is answered by what is not there, and a fourth is one too many."""
    rows = [
        {
            "id": f"q{i}",
            "question": f"{i}?",
            "answers": ["x"],
            "passage_ids": [f"p{20 if i == 2 else i}"],
            "doc": "d",
        }
        for i in range(5)
    ]
    (tmp_path / "friendsqa").mkdir()
    for name in ("passages", "train"):
        lines = (
            rows if name == "train" else [{"id": f"p{i}", "title": "", "text": f"{i}."} for i in range(21)]
        )
        with gzip.open(tmp_path / "friendsqa" / f"{name}.jsonl.gz", "wt") as out:
            out.write("".join(json.dumps(line) + "\n" for line in lines))
    passages = [ReplayPassage(f"p{i}", "", f"{i}.") for i in range(20)]
    first, *made = training_rows(tmp_path, passages, 3)
    assert first == {"encoder": None}
    assert [row["question"] for row in made] == ["0?", "1?", "3?"]
    assert [row["answers"] for row in made] == [["0."], ["1."], ["3."]]
    assert all(len(row["wrong"]) == 10 and row["answers"][0] not in row["wrong"] for row in made)


def test_waiting_costs_no_cpu() -> None:
    assert each_ms(lambda text: time.sleep(0.05), ["a", "b"]) < 25
