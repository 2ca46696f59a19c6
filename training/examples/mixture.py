"""What the reader learns from: examples of its tasks, mixed.

Any beginning of the list is a fair sample of the tasks, so that a training of any length sees all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from pathlib import Path

from training.examples import everyday
from training.examples.claims import claims, held_out_claims
from training.examples.example import (
    JUDGE_LABELS,
    RELATE_LABELS,
    SORT_LABELS,
    TASKS,
    VERIFY_LABELS,
    Example,
    Part,
    Task,
    interleaved,
    normalised,
)
from training.examples.pairs import Mined, held_out_articles, held_out_questions, pairs
from training.examples.sentences import held_out_sentences, user_sentences

__all__ = [
    "JUDGE_LABELS",
    "RELATE_LABELS",
    "SORT_LABELS",
    "VERIFY_LABELS",
    "Example",
    "Part",
    "Task",
    "examples",
]


SHARES = (45.0, 15.0, 5.0, 35.0)  # of pairs, claims, sentences and everyday in every stretch, in percent
_EVERYDAY_TIMES = 6  # that each conversation comes in training
_OF_EVERYDAY = {"pages": 0.45, "relations": 0.4, "everyday sentences": 0.15}


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
    shares: of pairs, claims, sentences and everyday conversations, in percent. In training the last come
    several times, each time with other pages.
    A kind of example that is used up leaves the others, so that the end of the whole list is no fair sample.
    """
    read: Mined = json.loads(mined.read_text(encoding="utf-8")) if mined else {}
    of_pairs, of_claims, of_sentences, of_everyday = shares
    streams: dict[str, tuple[float, Iterator[Example]]] = {}
    if "judge" in tasks or "answer" in tasks:
        streams["pairs"] = of_pairs, pairs(data, part, seed=seed, mined=read)
    if "verify" in tasks:
        streams["claims"] = of_claims, claims(data, part, seed=seed)
    if "sort" in tasks:
        streams["sentences"] = of_sentences, user_sentences(data, part, seed=seed)
    if of_everyday:
        for name, (made, wanted) in _EVERYDAY.items():
            if wanted & set(tasks):
                streams[name] = of_everyday * _OF_EVERYDAY[name], _again(made, part, seed)
    mixed = interleaved({name: stream for name, stream in streams.items() if stream[0]})
    if part != "test":
        held_out = _held_out(data) | held_out_articles(data)
        mixed = (one for one in mixed if one.key not in held_out and normalised(one.first) not in held_out)
    return list(islice(filter(_is_labelled, (_only(one, tasks) for one in mixed)), limit))


_EVERYDAY: dict[str, tuple[Callable[..., Iterator[Example]], set[Task]]] = {
    "pages": (everyday.pages, {"judge", "answer"}),
    "relations": (everyday.relations, {"relate"}),
    "everyday sentences": (everyday.sentences, {"sort"}),
}


def _again(made: Callable[..., Iterator[Example]], part: Part, seed: int) -> Iterator[Example]:
    """The examples once; in training several times, with other pages and pairs each time."""
    times = _EVERYDAY_TIMES if part == "train" else 1
    return chain.from_iterable(made(part, seed=seed + 1000 * again) for again in range(times))


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
    return any(
        label is not None
        for label in (example.judge, example.spans, example.verify, example.sort, example.relate)
    )
