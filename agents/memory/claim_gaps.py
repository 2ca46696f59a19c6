"""Questions made of a claim by leaving something out: its values, its end, its subject, or what is missing.

"Tesla was born on 10 July 1856."   ->  "Who was born on 10 July 1856?", "Tesla was born on what date?"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agents.base.values import Value, pieces, values

_LONGEST_PHRASE = 6  # words
_GAPS = 5  # of a claim at most
_AUXILIARY = re.compile(
    r"\b(?:is|was|are|were|has|have|had|can|could|will|would|did|does|do|may|must|should)\b", re.IGNORECASE
)
_BEFORE_TAIL = re.compile(
    r"\b(?:is|was|are|were|be|been|by|in|of|to|for|with|from|at|on|as|the|an?|called|named|into|about|over|under)\s",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(r"\b(?:in|at|from|near|to)\s+(?:the\s+)?$", re.IGNORECASE)
_IN_TIME = re.compile(r"\b(?:in|since|until|by|from|before|after|around)\s+(?:about\s+)?$", re.IGNORECASE)
_JOINED = re.compile(r"(?:,?\s*|\s+of\s+)$")


class Gap(NamedTuple):
    """A question made of a claim by leaving one value out, and that value."""

    question: str
    value: str


def gaps(claim: str) -> list[Gap]:
    """The questions made of a claim: one for each value, one for what it ends with, one for its subject."""
    claim = claim.strip().rstrip(".! ")
    places = _joined(values(claim), claim)
    if (tail := _tail(claim)) and not any(start < tail[1] and tail[0] < end for start, end, _ in places):
        places.append(tail)
    if (head := _head(claim)) and not any(start < head[1] and head[0] < end for start, end, _ in places):
        places.append(head)
    found = []
    for start, end, kind in places[-_GAPS:]:
        word = _asking(claim, start, end, kind)
        found.append(Gap(f"{claim[:start]}{word}{claim[end:]}?", claim[start:end]))
    return found


def _joined(found: Sequence[Value], claim: str) -> list[tuple[int, int, str]]:
    """Values that follow each other as one: "10 July 1856"."""
    places: list[tuple[int, int, str]] = []
    for value in found:
        if places and _JOINED.fullmatch(claim[places[-1][1] : value.start]):
            start, _, kind = places.pop()
            places.append((start, value.end, kind if kind == value.kind else "date"))
        else:
            places.append((value.start, value.end, value.kind))
    return places


def _tail(claim: str) -> tuple[int, int, str] | None:
    last = max((match.end() for match in _BEFORE_TAIL.finditer(claim)), default=len(claim))
    return (last, len(claim), "phrase") if 0 < len(claim[last:].split()) <= _LONGEST_PHRASE else None


def _head(claim: str) -> tuple[int, int, str] | None:
    verb = _AUXILIARY.search(claim)
    if verb is None or not 0 < len(claim[: verb.start()].split()) <= _LONGEST_PHRASE:
        return None
    return 0, len(claim[: verb.start()].rstrip()), "phrase"


def _asking(claim: str, start: int, end: int, kind: str) -> str:
    before, after = claim[:start], claim[end:]
    if kind == "date":
        return "what date"
    if kind == "number":
        if re.fullmatch(r"[12]\d{3}", claim[start:end]) and _IN_TIME.search(before):
            return "what year"
        if ":" in claim[start:end]:
            return "what time"
        return "how many" if after.strip() else "what number"
    if not before.strip():
        return "Who" if kind == "name" else "What"
    if re.search(r"\bby\s+(?:the\s+)?$", before):
        return "whom"
    return "what place" if kind == "name" and _IN_PLACE.search(before) else "what"


def missing_gap(claim: str, there: frozenset[str]) -> Gap | None:
    """The claim with a gap for its longest run of words that are not there; None where all are."""
    claim = claim.strip().rstrip(".! ")
    best: tuple[int, int, int] | None = None
    run: list[tuple[int, int]] = []
    for start, end, items in [*pieces(claim), (0, 0, ("",))]:
        if items and (not end or there.issuperset(items)):
            if run and (best is None or len(run) > best[0]):
                best = len(run), run[0][0], run[-1][1]
            run = []
        elif items:
            run.append((start, end))
    if best is None or best[0] > _LONGEST_PHRASE:
        return None
    _, start, end = best
    value = claim[start:end]
    kind = "name" if value[0].isupper() else "phrase"
    if any(character.isdigit() for character in value):
        kind = "date" if any(character.isalpha() for character in value) else "number"
    return Gap(f"{claim[:start]}{_asking(claim, start, end, kind)}{claim[end:]}?", value)
