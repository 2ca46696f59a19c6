"""Decides what a claim changes in the space it goes to.

    says the same as a passage            nothing: that passage says it already
    gives another value, or denies it     modify: a new version in its place
    says that it holds no more            delete
    a shared passage entails it           nothing: it confirms
    else                                  add

Only what was said is ever modified or deleted: notes, facts, preferences, corrections. A document keeps what
its file says. A user's raw messages are not knowledge and are passed over. What was judged wrong changes
nothing, and the shared space takes only what was judged correct.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agents.interfaces import Candidate, Claim, Curation, Reader, Weighed
from agents.sentences import Sentence, sentences
from agents.value_changes import Change, are_swapped, change
from agents.values import values
from stores.lexical import tokens

SAME_TOPIC = 0.6  # cosine from which a passage is on the claim's topic
SAME_STATEMENT = 0.9  # cosine from which it may say the same
STRONG = 0.9  # probability from which the reader's word counts here
_MORE_WORDS = 2  # content words from which a claim that repeats what is known says more than it
CHANGEABLE = ("note", "fact", "preference", "correction")  # kinds of passages that a claim may change


@dataclass(frozen=True)
class _Met:
    """A sentence of a passage that the claim meets, and what the claim does to it."""

    candidate: Candidate
    sentence: Sentence
    change: Change

    @property
    def is_changeable(self) -> bool:
        return self.candidate.passage.kind in CHANGEABLE


class RuleCurator:
    """A curator by rules over values, with a reader to compare what rules cannot."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`."""
        return await asyncio.to_thread(self._curate, claim, weighed, nearest)

    def _curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        is_shared = any(candidate.passage.is_shared for candidate in nearest) or (
            not nearest and weighed.status == "correct" and claim.about == "world" and not claim.is_hearsay
        )
        if weighed.status == "incorrect" or (is_shared and weighed.status != "correct"):
            return Curation("nothing", reason=f"it was found {_FOUND[weighed.status]}")
        near = [c for c in nearest if c.dense >= SAME_TOPIC and c.passage.kind != "message"]
        near.sort(key=lambda c: -c.dense)
        met = [_meeting(claim.text, candidate) for candidate in near]
        return (
            self._said_already(claim, near, met)
            or _changed(claim, met)
            or (self._entailed(claim, weighed, near) if is_shared else None)
            or Curation("add", text=claim.text, reason=_why_added(near, met))
        )

    def _said_already(self, claim: Claim, near: Sequence[Candidate], met: Sequence[_Met]) -> Curation | None:
        for candidate, one in zip(near, met, strict=True):
            if candidate.dense < SAME_STATEMENT:
                break
            if one.change == "same" or (
                one.change == "other" and self._are_equivalent(claim.text, candidate.passage.text)
            ):
                return Curation("nothing", candidate.passage, reason="it is known already")
        return None

    def _are_equivalent(self, one: str, other: str) -> bool:
        """Whether each entails the other, with the same numbers and names in the same places."""
        if _values(one) != _values(other) or are_swapped(one, other) or _says_more(one, other):
            return False
        return all(v.supports >= STRONG for v in self._reader.verify([(one, other), (other, one)]))

    def _entailed(self, claim: Claim, weighed: Weighed, near: Sequence[Candidate]) -> Curation | None:
        decisive = weighed.decisive
        if decisive is not None and decisive.passage.is_shared:
            return Curation("nothing", decisive.passage, reason="a shared passage says it already")
        shared = [
            c.passage for c in near if _values(claim.text) <= _values(f"{c.passage.title} {c.passage.text}")
        ]
        verified = self._reader.verify([(claim.text, passage.text) for passage in shared])
        for passage, found in zip(shared, verified, strict=True):
            if found.supports >= STRONG:
                return Curation("nothing", passage, reason="a shared passage says it already")
        return None


def _says_more(claim: str, known: str) -> bool:
    """Whether a claim has every word of what is known and more of its own, which the reader overlooks."""
    words, others = set(tokens(claim)), set(tokens(known))
    return others <= words and len(words - others) >= _MORE_WORDS


_FOUND = {"correct": "right", "incorrect": "wrong", "unknown": "neither right nor wrong"}
_ORDER: tuple[Change, ...] = ("same", "withdrawn", "value", "negated", "other")


def _meeting(claim: str, candidate: Candidate) -> _Met:
    """The sentence of a passage that the claim does most to."""
    text = candidate.passage.text
    pieces = sentences(text) or [Sentence(0, len(text), text)]
    found = [_Met(candidate, piece, change(piece.text, claim)) for piece in pieces]
    return min(found, key=lambda met: _ORDER.index(met.change))


def _changed(claim: Claim, met: Sequence[_Met]) -> Curation | None:
    """What the claim does to the nearest passage that it contradicts or withdraws and that may be changed."""
    for one in met:
        if not one.is_changeable or one.change in ("same", "other"):
            continue
        passage = one.candidate.passage
        before, after = passage.text[: one.sentence.start], passage.text[one.sentence.end :]
        if one.change == "withdrawn":
            left = f"{before.rstrip()} {after.lstrip()}".strip()
            if not left:
                return Curation("delete", passage, reason=f"it holds no more: {one.sentence.text!r}")
            return Curation("modify", passage, left, reason=f"a part holds no more: {one.sentence.text!r}")
        return Curation("modify", passage, f"{before}{claim.text}{after}", _REASONS[one.change](one))
    return None


_REASONS = {
    "value": lambda one: f"it gives another value than {one.sentence.text!r}",
    "negated": lambda one: f"it denies, or no longer denies, {one.sentence.text!r}",
}


def _why_added(near: Sequence[Candidate], met: Sequence[_Met]) -> str:
    if any(one.change in ("value", "negated", "withdrawn") for one in met):
        return "it differs from a document, which keeps what its file says"
    return "nothing known says it" if near else "nothing is known on its topic"


def _values(text: str) -> frozenset[str]:
    return frozenset(item for value in values(text) for item in value.items)
