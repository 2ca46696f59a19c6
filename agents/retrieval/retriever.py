"""Finds passages: dense and lexical search over what one user may see, fused, with a lift by neighbours."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Protocol

from agents.base.fusion import lifts, mixed
from agents.base.interfaces import Candidate, Encoder, SearchableSpace, Vector
from agents.base.sentences import asks_only
from stores.base.passages import Passage, Worth
from stores.words.lexical import tokens

_LABEL = re.compile(
    r"\s*([^\W\d_][\w.'’-]{0,30}"  # one word, or up to three with capitals
    r"|[A-Z\u00c0-\u00de][\w.'’-]{0,30}(?: [A-Z\u00c0-\u00de][\w.'’-]{0,30}){1,2}):\s"
)
_QUESTION_MARK = re.compile("[?？؟]")
_ASKS_WHEN = re.compile(
    r"\s*(?:(?:and|so|but) )?(?:since |until )?"
    r"(?:when|how long|(?:in |on )?(?:what|which) (?:year|month|day|date))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_TIMES = frozenset(
    "yesterday today tonight tomorrow ago last next since recently just morning mornings night nights day "
    "days week weeks weekend weekends month months year years spring summer autumn fall winter "
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december".split()  # not May: mostly a verb
)


def speaker(text: str) -> str:
    """Who speaks, where a message opens with their name and a colon; empty otherwise."""
    label = _LABEL.match(text)
    return label[1] if label else ""


def is_named(who: str, asked: Collection[str]) -> bool:
    """Whether any word of a speaker's name stands in a query. asked: the query's tokens."""
    return any(token in asked for token in tokens(who))


def replies(text: str, *, to: str) -> bool:
    """Whether a message answers the one before it: that one asks something, and somebody else speaks now."""
    if not _QUESTION_MARK.search(to):
        return False
    now, before = speaker(text), speaker(to)
    return bool(now and before) and now != before


def asks_when(query: str) -> bool:
    """Whether a query wants to know a time."""
    return _ASKS_WHEN.match(query) is not None


def tells_time(text: str) -> bool:
    """Whether a text holds words of time: a day, a season, a year from 1000 to 2999, "last", "ago"."""
    return any(word in _TIMES or _is_year(word) for word in _WORD.findall(text.lower()))


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word[0] in "12"


class AdaptedSearch(Protocol):
    """Collections that have learned what is meant in them."""

    def cosines(self, question: str, passages: Mapping[int, Passage]) -> Mapping[int, float]:
        """Of passages that stand in one of them: the cosines that take the place of the plain ones."""


@dataclass(frozen=True)
class Retrieved:
    """What one query found."""

    query: str
    vector: Vector  # the query's, by `encoder_version`
    encoder_version: str
    candidates: tuple[Candidate, ...]  # best first


@dataclass(frozen=True)
class Fusion:
    """How signals become one score; the mix of both is 0 to 1, shares and bonuses are 0 or more."""

    dense_weight: float  # the dense signal's share of the mix, 0 to 1; the lexical one has the rest
    document_lift: float  # the share of the better neighbour's score that a document's passage gains
    conversation_lift: float  # the same for what was said in a conversation
    reply_lift: float = 0.0  # the share of a question's score that the reply of another speaker gains
    speaker_bonus: float = 0.0  # what a message gains whose speaker the query names
    time_bonus: float = 0.0  # what a message gains that tells a time, when the query asks for one

    def lifts(self, passage: Passage) -> bool:
        """Whether what stands beside a passage makes a difference."""
        if passage.kind == "message":
            return self.conversation_lift > 0 or self.reply_lift > 0
        return self.document_lift > 0


@dataclass(frozen=True)
class Signals:
    """What was found and what each signal says of it; all by version id."""

    query: str
    passages: Mapping[int, Passage]  # those that can be among the best; the signals are of all that was found
    dense: Mapping[int, float]  # cosine; 0 where there is no vector yet
    lexical: Mapping[int, float]  # BM25
    neighbours: Mapping[int, tuple[int | None, int | None]]  # of those that what stands beside them can lift

    def ranked(self, fusion: Fusion, *, keep: int | None = None) -> list[Candidate]:
        """The best `keep` as candidates, or all of them, best first; equals keep the order of their ids.

        What its user only asked comes last, however alike: a question holds no answer.
        """
        score = mixed(self.dense, self.lexical, dense_weight=fusion.dense_weight)
        beside = self.neighbours.keys() & self.passages.keys()
        lift = lifts(score, self.neighbours, shares={i: self._shares(i, fusion) for i in beside})
        bonus = self._bonuses(fusion)
        gain = {i: lift[i] + bonus[i] for i in self.passages}
        count = len(self.passages) if keep is None else keep
        order: list[int] = []
        asking: list[int] = []
        for i in sorted(self.passages, key=lambda i: (-(score[i] + gain[i]), i)):
            if len(order) == count:
                break
            passage = self.passages[i]  # cut into sentences to tell: only as many as are needed
            (asking if passage.kind == "message" and asks_only(passage.text) else order).append(i)
        return [
            Candidate(self.passages[i], self.dense[i], self.lexical[i], gain[i], score[i] + gain[i], rank)
            for rank, i in enumerate([*order, *asking][:count], start=1)
        ]

    def _shares(self, version_id: int, fusion: Fusion) -> tuple[float, float]:
        """How much of the passage before and of the one after a passage gains."""
        passage = self.passages[version_id]
        if passage.kind != "message":
            return fusion.document_lift, fusion.document_lift
        before, _ = self.neighbours.get(version_id, (None, None))
        asked = None if before is None else self.passages.get(before)
        if asked is not None and replies(passage.text, to=asked.text):
            return max(fusion.reply_lift, fusion.conversation_lift), fusion.conversation_lift
        return fusion.conversation_lift, fusion.conversation_lift

    def _bonuses(self, fusion: Fusion) -> dict[int, float]:
        """What the form of each message adds; 0 for what stands in a document."""
        bonus = dict.fromkeys(self.passages, 0.0)
        messages = {i: passage.text for i, passage in self.passages.items() if passage.kind == "message"}
        if not messages:
            return bonus
        asked, wants_time = frozenset(tokens(self.query)), asks_when(self.query)
        speakers = {i: speaker(text) for i, text in messages.items()}
        named = {who for who in set(speakers.values()) if is_named(who, asked)}
        for i, text in messages.items():
            is_timed = wants_time and tells_time(text)
            bonus[i] = fusion.speaker_bonus * (speakers[i] in named) + fusion.time_bonus * is_timed
        return bonus


def best_of(found: Sequence[Retrieved]) -> Retrieved:
    """What several queries found, as what the first of them found; each passage once, by its best score."""
    first = found[0]
    best: dict[int, Candidate] = {}
    for candidate in (each for one in found for each in one.candidates):
        known = best.get(candidate.passage.version_id)
        if known is None or known.score < candidate.score:
            best[candidate.passage.version_id] = candidate
    order = sorted(best.values(), key=lambda candidate: -candidate.score)[: len(first.candidates)]
    ranked = (replace(candidate, found_rank=rank) for rank, candidate in enumerate(order, start=1))
    return replace(first, candidates=tuple(ranked))


class Retriever:
    """Finds the passages of a space that are nearest to a query in meaning and in words."""

    def __init__(
        self, encoder: Encoder, *, keep: int, pool: int, fusion: Fusion, adapted: AdaptedSearch | None = None
    ) -> None:
        """keep: candidates returned. pool: how many each signal contributes before they are mixed.

        adapted: knows collections that have learned.
        """
        self._encoder, self._adapted = encoder, adapted
        self._keep = keep
        self._pool = pool
        self._fusion = fusion

    def with_adapted(self, adapted: AdaptedSearch) -> Retriever:
        """The same with other collections that have learned."""
        how = {"keep": self._keep, "pool": self._pool}
        return Retriever(self._encoder, **how, fusion=self._fusion, adapted=adapted)

    def retrieve(self, query: str, space: SearchableSpace, *, without: Collection[int] = ()) -> Retrieved:
        """The best passages for a query. without: versions not looked for, such as the query's own."""
        return self.retrieve_by(query, self._encoder.encode_queries([query])[0], space, without=without)

    def retrieve_by(
        self, query: str, vector: Vector, space: SearchableSpace, *, without: Collection[int] = ()
    ) -> Retrieved:
        """The same with a vector that stands for the query."""
        nothing_moves = self._adapted is None and self._fusion.document_lift == 0
        worth = self._best_by_signals if nothing_moves else None
        ranked = self._signals(query, vector, space, without, worth).ranked(self._fusion, keep=self._keep)
        return Retrieved(query, vector, self._encoder.version, tuple(ranked))

    def signals(
        self, query: str, vector: Vector, space: SearchableSpace, *, without: Collection[int] = ()
    ) -> Signals:
        """What either signal finds, and what stands beside it where that can lift, scored by both signals."""
        return self._signals(query, vector, space, without, None)

    def _signals(
        self,
        query: str,
        vector: Vector,
        space: SearchableSpace,
        without: Collection[int],
        worth: Worth | None,
    ) -> Signals:
        found = space.found(
            query, vector, self._pool, without=without, beside=self._fusion.lifts, worth=worth
        )
        dense = dict(found.dense)
        if self._adapted is not None:
            dense |= self._adapted.cosines(query, found.passages)
        return Signals(query, found.passages, dense, found.lexical, found.neighbours)

    def _best_by_signals(
        self, shared: Collection[int], dense: Mapping[int, float], lexical: Mapping[int, float]
    ) -> list[int]:
        """Of shared passages those that can be kept: nothing but a lift of documents moves one up."""
        score = mixed(dense, lexical, dense_weight=self._fusion.dense_weight)
        return nsmallest(self._keep, shared, key=lambda i: (-score[i], i))
