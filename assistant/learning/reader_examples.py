"""What the reader learns from: examples of its four tasks, mixed.

Any beginning of the list is a fair sample of the tasks, so that a training of any length sees all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from assistant.learning.example import (
    JUDGE_LABELS,
    SORT_LABELS,
    TASKS,
    VERIFY_LABELS,
    Example,
    Part,
    Task,
    interleaved,
    normalised,
)
from assistant.learning.reader_claims import claims, held_out_claims
from assistant.learning.reader_pairs import Mined, held_out_articles, held_out_questions, pairs
from assistant.learning.reader_sentences import held_out_sentences, user_sentences

__all__ = ["JUDGE_LABELS", "SORT_LABELS", "VERIFY_LABELS", "Example", "Part", "Task", "examples"]


SHARES = (65.0, 20.0, 15.0)  # of pairs, claims and sentences in every stretch of the list, in percent


def examples(
    data: Path,
    part: Part,
    *,
    tasks: Sequence[Task] = TASKS,
    seed: int = 1,
    limit: int | None = None,
    mined: Path | None = None,
    shares: Sequence[float] = SHARES,
) -> list[Example]:
    """The examples of one part, in an order that hangs on the seed alone; the first `limit` of them.

    data: the data folder. part: "calibration" is cut off the training files by key and never trained on.
    tasks: whose labels are wanted. mined: a file of mine_negatives.py, used in place of words searched here.
    shares: of pairs, claims and sentences, in percent.
    A kind of example that is used up leaves the others, so that the end of the whole list is no fair sample.
    """
    read: Mined = json.loads(mined.read_text(encoding="utf-8")) if mined else {}
    of_pairs, of_claims, of_sentences = shares
    streams: dict[str, tuple[float, Iterator[Example]]] = {}
    if "judge" in tasks or "answer" in tasks:
        streams["pairs"] = of_pairs, pairs(data, part, seed=seed, mined=read)
    if "verify" in tasks:
        streams["claims"] = of_claims, claims(data, part, seed=seed)
    if "sort" in tasks:
        streams["sentences"] = of_sentences, user_sentences(data, part, seed=seed)
    mixed = interleaved(streams)
    if part != "test":
        held_out = _held_out(data) | held_out_articles(data)
        mixed = (one for one in mixed if one.key not in held_out and normalised(one.first) not in held_out)
    return list(islice(filter(_is_labelled, (_only(one, tasks) for one in mixed)), limit))


@cache
def _held_out(data: Path) -> frozenset[str]:
    """What the test part asks, claims and says, as far as it stands in files: never in another part."""
    found = (*held_out_questions(data), *held_out_claims(data), *held_out_sentences(data))
    return frozenset(map(normalised, found))


def _only(example: Example, tasks: Sequence[Task]) -> Example:
    """The example without the labels of judge or answer when only the other is wanted."""
    if "judge" not in tasks:
        return replace(example, judge=None)
    return example if "answer" in tasks else replace(example, spans=None)


def _is_labelled(example: Example) -> bool:
    return any(label is not None for label in (example.judge, example.spans, example.verify, example.sort))
