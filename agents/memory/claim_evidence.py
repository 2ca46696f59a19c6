"""What a passage says of a claim, as numbers: read whole and in part, looked through, and asked.

    passage -> the sentence that holds most of the claim, and the one beside it
    read    -> verify on the passage, and on that sentence
    words   -> how much of the claim stands there, which of its numbers and names do not
    asked   -> the claim with a gap in place of each value: does the passage fill it with that value?

A claim is wrong in one value mostly, and reads like its evidence in everything else: the gap finds that value
also where it stands elsewhere in the passage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.base.bindings import is_bound_otherwise
from agents.base.interfaces import Candidate, Reader, Reading, Verification
from agents.base.sentences import sentences
from agents.base.values import Value, content, numbers, pieces, values

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


_ASKED_PASSAGES = 2  # of those given, the ones that hold most of the claim are asked
_SPANS = 3  # answers looked at of a passage
_SOFT = 0.01  # keeps a probability of 0 or 1 from deciding alone

_QUOTED = re.compile(r"[\"“]([^\"“”]{8,}\?)[\"”]\W+(?:is|was|are|were)\s+(.+)$", re.IGNORECASE)
_DENIAL = re.compile(r"\b(?:not|never|cannot|no longer)\b|n['’]t\b", re.IGNORECASE)


class Filled(NamedTuple):
    """How a passage fills a gap: probabilities of the claim's value, of another one, and of none."""

    same: float
    other: float
    none: float


@dataclass(frozen=True)
class Seen:
    """What one passage says of a claim."""

    candidate: Candidate
    place: int  # among the candidates, from 1
    window: str  # the two sentences beside each other that hold most of the claim
    whole: Verification
    sentence: Verification
    pair_share: float  # of the claim's words that stand in the two sentences or the title
    passage_share: float
    numbers_missing: int  # of the claim's, in the two sentences
    names_missing: int
    passage_numbers_missing: int  # the same, in the whole passage and its title
    passage_names_missing: int
    is_negated_otherwise: bool  # one of claim and sentence denies, the other does not
    is_bound_otherwise: bool  # that sentence holds the claim's words, but not as the claim binds them
    words_missing: int  # of the claim's, in the two sentences and the title
    filled: tuple[Filled, ...]  # of each gap of the claim; empty where it was not asked
    instead: Filled | None  # of the gap where the claim has words that are missing here; None without


def seen(reader: Reader, claim: str, candidates: Sequence[Candidate]) -> list[Seen]:
    """What each passage says of a claim, in the order of the candidates. Computes; does not wait."""
    wanted = _Wanted(claim)
    looked = [_looked(wanted, candidate) for candidate in candidates]
    pairs = [
        (as_written_in(text, claim), text)
        for one in looked
        for text in (one.candidate.passage.text, one.sentence)
    ]
    verified = reader.verify(pairs)
    by_share = sorted(range(len(looked)), key=lambda i: (-looked[i].pair_share, i))[:_ASKED_PASSAGES]
    filled = _filled(reader, wanted, [looked[i].candidate for i in by_share])
    instead = [_instead(reader, wanted, looked[i]) for i in by_share]
    asked = dict(zip(by_share, zip(filled, instead, strict=True), strict=True))
    return [
        Seen(
            candidate=one.candidate,
            place=i + 1,
            window=one.window,
            whole=verified[2 * i],
            sentence=verified[2 * i + 1],
            pair_share=one.pair_share,
            passage_share=one.passage_share,
            numbers_missing=one.missing["number"],
            names_missing=one.missing["name"],
            passage_numbers_missing=one.passage_missing["number"],
            passage_names_missing=one.passage_missing["name"],
            is_negated_otherwise=denies(claim) != denies(one.sentence),
            is_bound_otherwise=is_bound_otherwise(claim, one.sentence),
            words_missing=len(wanted.items - one.in_window),
            filled=asked.get(i, ((), None))[0],
            instead=asked.get(i, ((), None))[1],
        )
        for i, one in enumerate(looked)
    ]


class _Wanted:
    """A claim taken apart once for all passages."""

    def __init__(self, claim: str) -> None:
        quoted = _QUOTED.search(claim)
        self.text = f"{quoted[1]} {quoted[2]}" if quoted else claim
        self.items = frozenset(content(self.text))
        self.values = values(self.text)
        self.quoted = Gap(quoted[1], quoted[2].rstrip(" .")) if quoted else None
        self.gaps = [self.quoted] if self.quoted else gaps(claim)


class _Looked(NamedTuple):
    candidate: Candidate
    sentence: str
    window: str
    pair_share: float
    passage_share: float
    in_window: frozenset[str]
    missing: dict[str, int]
    passage_missing: dict[str, int]


def _looked(wanted: _Wanted, candidate: Candidate) -> _Looked:
    passage = candidate.passage
    title = frozenset(content(passage.title))
    pieces = sentences(passage.text)
    held = [wanted.items & (title | frozenset(content(piece.text))) for piece in pieces]
    best = max(range(len(pieces)), key=lambda i: (len(held[i]), -i), default=0)
    beside = [i for i in (best - 1, best + 1) if 0 <= i < len(pieces)]
    other = max(beside, key=lambda i: (len(held[i] | held[best]), -i), default=best)
    sentence = pieces[best].text if pieces else passage.text
    first, last = min(best, other), max(best, other)
    window = passage.text[pieces[first].start : pieces[last].end] if pieces else passage.text
    in_window = title | frozenset(content(window))
    everywhere = title | frozenset(content(passage.text))
    count = max(1, len(wanted.items))
    return _Looked(
        candidate,
        sentence,
        window,
        len(wanted.items & in_window) / count,
        len(wanted.items & everywhere) / count,
        in_window,
        _missing(wanted.values, in_window),
        _missing(wanted.values, everywhere),
    )


def as_written_in(text: str, claim: str) -> str:
    """The claim with its numbers as a text writes them: to the reader "1230" is not "1,230"."""
    written = {value.items: text[value.start : value.end] for value in reversed(numbers(text))}
    for value in reversed(numbers(claim)):
        if value.items in written:
            claim = claim[: value.start] + written[value.items] + claim[value.end :]
    return claim


def denies(text: str) -> bool:
    """Whether an odd number of plain denials stand in a text; "without" and "false" are seldom the point."""
    return len(_DENIAL.findall(text)) % 2 == 1


def _missing(wanted: Sequence[Value], there: frozenset[str]) -> dict[str, int]:
    """How many numbers and how many names of a claim do not stand whole among these items."""
    found = {"number": 0, "name": 0}
    for value in wanted:
        found[value.kind] += not there.issuperset(value.items)
    return found


def _filled(reader: Reader, wanted: _Wanted, asked: Sequence[Candidate]) -> list[tuple[Filled, ...]]:
    """How each passage fills each gap; a value that its title gives is not asked for."""
    texts = [candidate.passage.text for candidate in asked]
    found: list[list[Filled]] = [[] for _ in asked]
    for gap in wanted.gaps:
        if not texts:
            break
        meant = frozenset(content(gap.value)) or frozenset(gap.value.lower().split())
        for place, reading in enumerate(reader.read(gap.question, texts, best=_SPANS)):
            if meant <= frozenset(content(asked[place].passage.title)):
                continue
            found[place].append(_fill(meant, reading))
    return [tuple(one) for one in found]


def _instead(reader: Reader, wanted: _Wanted, looked: _Looked) -> Filled | None:
    """What a passage puts in the place of those words of the claim that it does not hold."""
    gap = wanted.quoted or missing_gap(wanted.text, looked.in_window)
    if gap is None:
        return None
    meant = frozenset(content(gap.value)) or frozenset(gap.value.lower().split())
    return _fill(meant, reader.read(gap.question, [looked.candidate.passage.text], best=_SPANS)[0])


def _fill(meant: frozenset[str], reading: Reading) -> Filled:
    same = other = 0.0
    for span in reading.answer.spans:
        items = frozenset(content(span.text)) or frozenset(span.text.lower().split())
        if _agrees(meant, items):
            same = max(same, span.probability)
        else:
            other = max(other, span.probability)
    return Filled(same, other, reading.answer.no_answer)


def _agrees(meant: frozenset[str], found: frozenset[str]) -> bool:
    """Whether an answer names the value: its numbers all, of its words more than half of the shorter one."""
    counted = {item for item in meant if item.startswith("#")}
    if not counted <= found:
        return False
    shared = len(meant & found)
    return shared > 0 and shared >= 0.5 * min(len(meant), len(found))


def log_odds(probability: float) -> float:
    """ln((p + 0.01) / (1 - p + 0.01)): at most 4.6 either way."""
    return math.log((probability + _SOFT) / (1 - min(probability, 1.0) + _SOFT))
