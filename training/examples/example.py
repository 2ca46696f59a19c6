"""One labelled example of what the reader does, and to which part of the data it belongs.

A key names what must never stand in two parts: an article, a claim, a dialogue. A data set that comes
with a test file gives 5 in 100 of its other keys to calibration; one that is a single file gives 10 in 100 to
calibration and 10 in 100 to test. The choice hangs on the key alone, so that it never changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Part = Literal["train", "calibration", "test"]
Task = Literal["judge", "answer", "verify", "sort", "relate"]
TASKS: tuple[Task, ...] = get_args(Task)

JUDGE_LABELS = ("answer", "relevant", "irrelevant")
VERIFY_LABELS = ("supports", "refutes", "not_enough")
SORT_LABELS = ("world", "personal", "asks", "nothing")
RELATE_LABELS = ("same", "replaces", "ends", "adds", "unrelated")


@dataclass(frozen=True, slots=True)
class Example:
    """What goes into the reader in one pass, and every label known of it; None says nothing."""

    first: str  # question, claim, statement, or the sentence to sort
    second: str = ""  # passage, evidence or earlier statement; empty for sort
    judge: int | None = None  # place in JUDGE_LABELS
    spans: tuple[tuple[int, int], ...] | None = None  # answers as character ranges of `second`; () holds none
    verify: int | None = None  # place in VERIFY_LABELS
    sort: int | None = None  # place in SORT_LABELS
    relate: int | None = None  # place in RELATE_LABELS
    source: str = ""  # the data set
    key: str = ""  # what must not stand in two parts
    is_whole: bool = (
        False  # read as long as it is: a page of a user's statements, a passage under its heading
    )


def part_of(key: str, *, has_test_file: bool) -> Part:
    """The part of a key; with a test file of its own, nothing else of the set is for testing."""
    place = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) / 2**64
    if has_test_file:
        return "calibration" if place < 0.05 else "train"
    if place < 0.1:
        return "test"
    return "calibration" if place < 0.2 else "train"


def interleaved(streams: Mapping[str, tuple[float, Iterator[Example]]]) -> Iterator[Example]:
    """Several streams as one, each with its share of every stretch; one that ends leaves the others.

    streams: by name, the weight and the examples. Without chance: who is furthest behind is next.
    """
    behind = dict.fromkeys(streams, 0.0)
    while behind:
        for name in behind:
            behind[name] += streams[name][0]
        chosen = max(behind, key=lambda name: behind[name])
        example = next(streams[chosen][1], None)
        if example is None:
            del behind[chosen]
            continue
        behind[chosen] -= sum(streams[name][0] for name in behind)
        yield example


def normalised(text: str) -> str:
    """A text as it is compared: its words in lower case."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def answer_spans(text: str, answers: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Every place of every answer, in order, in any case; within a word only where no whole word fits."""
    written = [r"\s*".join(map(re.escape, answer.split())) for answer in answers if answer.strip()]
    for pattern in (r"(?<!\w)(?:{})(?!\w)", r"(?:{})"):
        found = {
            match.span() for one in written for match in re.finditer(pattern.format(one), text, re.IGNORECASE)
        }
        if found:
            return tuple(sorted(found))
    return ()


_TOKENISED = (
    (re.compile(r"-LRB-\s*|\( "), "("),
    (re.compile(r"\s*-RRB-| \)"), ")"),
    (re.compile(r"-LSB-.*?-RSB-|\[ .*? \]"), ""),
    (re.compile(r" (?=[,.;:!?](?:\s|$))"), ""),
    (re.compile(r" (?='(?:s|m|re|ve|ll|d)\b|n't\b)"), ""),
    (re.compile(r" -- "), " – "),
    (re.compile(r"\s+"), " "),
)
_QUOTED = re.compile(r"(?:``|''|\"\")\s*(.+?)\s*(?:``|''|\"\")")


def untokenised(text: str) -> str:
    """A text whose words and marks were set apart (`` Soul Food '' , 1997 .) as a person writes it."""
    if text[:1] == text[-1:] == '"' and '""' in text:  # a field of a table, with its quotes still on
        text = text[1:-1]
    text = _QUOTED.sub(r'"\1"', text)
    for found, written in _TOKENISED:
        text = found.sub(written, text)
    return text.strip()
