"""What the reader learns from data/documents: questions on technical and everyday documents.

Answers are options, cells of tables, lines of lists and code as well as phrases of prose.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from agents.base.memory_page import asked_after
from stores.base.passages import HEADING_OF, searchable_text
from training.examples.example import Example, Part
from training.examples.passage_search import PassageSearch

DATA = Path(__file__).parents[2] / "data" / "documents"
_SPLITS = {"train": "train", "calibration": "dev", "test": "test"}
_ANSWER, _RELEVANT, _IRRELEVANT = 0, 1, 2
_ALL_HEADINGS_SHARE, _TITLE_ALONE_SHARE = 0.7, 0.15  # of passages; the others are read as they are
_RELEVANT_SHARE = _IRRELEVANT_SHARE = 0.5  # of answered questions, also asked of a passage without the answer


@cache
def passages(split: str) -> dict[str, dict[str, Any]]:
    """The passages of a split, by id."""
    lines = (DATA / "passages.jsonl").read_text("utf-8").splitlines()
    return {p["id"]: p for p in map(json.loads, lines) if p["split"] == split}


def questions(part: Part) -> list[dict[str, Any]]:
    """The questions of a part, as they stand there."""
    lines = (DATA / "questions.jsonl").read_text("utf-8").splitlines()
    return [q for q in map(json.loads, lines) if q["split"] == _SPLITS[part]]


def documents(part: Part, *, seed: int) -> Iterator[Example]:
    """Every question with its passage, and with passages that look as if they answered it.

    Most passages are read under their headings, some under the title of their document alone.
    """
    split = _SPLITS[part]
    rng = random.Random(f"{seed} {part} documents")
    known = passages(split)
    everything = list(known.values())
    search = PassageSearch([p["text"] for p in everything])
    of_document = defaultdict(list)
    for passage in everything:
        of_document[passage["doc"]].append(passage)
    asked = questions(part)
    rng.shuffle(asked)
    for q in asked:
        text = asked_after(q["q"], q.get("prev", ""))
        wrong: list[tuple[dict[str, Any], int]] = []
        if q["passage"]:
            span = (q["start"], q["start"] + len(q["answer"]))
            right = known[q["passage"]]
            yield _example(text, right, _ANSWER, (span,), rng)
            same = [p for p in of_document[q["doc"]] if p is not right and q["answer"] not in p["text"]]
            if same and rng.random() < _RELEVANT_SHARE:
                wrong.append((rng.choice(same), _RELEVANT))
        else:
            wrong.append((known[q["near"]], _RELEVANT))
        if rng.random() < _IRRELEVANT_SHARE:
            found = (everything[place] for place in search.ranked(q["q"], 20))
            other = next((p for p in found if p["doc"] != q["doc"]), None)
            wrong += [(other, _IRRELEVANT)] if other else []
        for passage, label in wrong:
            yield _example(text, passage, label, (), rng)


def _example(
    question: str,
    passage: dict[str, Any],
    label: int,
    spans: tuple[tuple[int, int], ...],
    rng: random.Random,
) -> Example:
    """spans: characters of the passage's text, which what stands above it moves."""
    chance, title = rng.random(), ""
    if chance < _ALL_HEADINGS_SHARE + _TITLE_ALONE_SHARE:
        title = passage["title"]
    if chance < _ALL_HEADINGS_SHARE and passage["heading"]:
        title = HEADING_OF.join((title, *passage["heading"].split(" > ")))
    text = searchable_text(title, passage["text"])
    before = len(text) - len(passage["text"])
    moved = tuple((start + before, end + before) for start, end in spans)
    return Example(question, text, label, moved, source="documents", key=passage["doc"], is_whole=True)
