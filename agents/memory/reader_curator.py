"""Decides what a claim changes in the space it goes to, by what the reader says it does to what is known.

    says the same                     nothing: it is known
    replaces, or ends                 modify: the claim as a new version; the old one stays readable
    a shared passage entails it       nothing: it confirms
    else                              add

Only what was said is ever modified: notes, facts, preferences, corrections. A document keeps what its file
says, and a user's raw messages are passed over. What was judged wrong changes nothing, and the shared space
takes only what was judged correct.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agents.base.claim_interfaces import CHANGEABLE, Claim, Curation, Weighed
from agents.base.interfaces import Candidate, Reader, Relation
from agents.base.sentences import Sentence, sentences
from agents.base.values import numbers
from stores.words.lexical import tokens

# Probabilities from which the reader's word counts; chosen on the calibration part of data/everyday_dated by
# python -m benchmarks.everyday, see docs/experiments.md.
SAME_FROM = 0.5
CHANGES_FROM = 0.5
ENTAILED_FROM = 0.9
_MOST_PAIRS = 24  # sentences that a claim is laid beside


@dataclass(frozen=True)
class Met:
    """A sentence of a passage, and what a claim does to it."""

    candidate: Candidate
    sentence: Sentence
    relation: Relation
    says_other_numbers: bool = False
    says_other_words: bool = False

    @property
    def changes(self) -> float:
        """The probability that it no longer holds: what says the same but for a number replaces it."""
        as_same = self.relation.same if self.says_other_numbers else 0.0
        return self.relation.replaces + self.relation.ends + as_same

    @property
    def same(self) -> float:
        """The probability that both say the same; 0 where the claim has words of its own, and is kept."""
        return 0.0 if self.says_other_numbers or self.says_other_words else self.relation.same


class ReaderCurator:
    """A curator by the reader's relations."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        return await asyncio.to_thread(self._curate, claim, weighed, nearest)

    def met(self, claim: Claim, nearest: Sequence[Candidate]) -> list[Met]:
        """What a claim does to each sentence of what was said."""
        found = [c for c in nearest if c.passage.kind in CHANGEABLE]
        beside = [(c, s) for c in found for s in sentences(c.passage.text)][:_MOST_PAIRS]
        if not beside:
            return []
        related = self._reader.relate([(claim.text, sentence.text) for _, sentence in beside])
        stated, words = _numbers(claim.text), set(tokens(claim.text))
        return [
            Met(c, s, relation, _are_others(stated, _numbers(s.text)), not words <= set(tokens(s.text)))
            for (c, s), relation in zip(beside, related, strict=True)
        ]

    def _curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        is_shared = any(candidate.passage.is_shared for candidate in nearest) or (
            not nearest and weighed.status == "correct" and claim.about == "world" and not claim.is_hearsay
        )
        if weighed.status == "incorrect" or (is_shared and weighed.status != "correct"):
            return Curation("nothing", reason=f"it was found {_FOUND[weighed.status]}")
        curation = self._beside(claim, nearest)
        if curation is None and is_shared:
            curation = self._entailed(claim, weighed, nearest)
        return curation or Curation("add", text=claim.text, reason="nothing known says it")

    def _beside(self, claim: Claim, nearest: Sequence[Candidate]) -> Curation | None:
        """What the claim does to what its user said before."""
        met = self.met(claim, nearest)
        most = max(met, key=lambda one: one.changes, default=None)
        same = max(met, key=lambda one: one.same, default=None)
        is_known = same is not None and same.same >= SAME_FROM
        changes = most is not None and most.changes >= CHANGES_FROM and not claim.is_hearsay
        if most is not None and changes and (most.candidate.passage.is_shared or not is_known):
            return changed(claim, most)  # also where it is known: what all rely on must not say both
        if same is not None and is_known:
            return Curation("nothing", same.candidate.passage, reason="it is known already")
        return None

    def _entailed(self, claim: Claim, weighed: Weighed, near: Sequence[Candidate]) -> Curation | None:
        reason = "a shared passage says it already"
        decisive = weighed.decisive
        if decisive is not None and decisive.passage.is_shared:
            return Curation("nothing", decisive.passage, reason=reason)
        verified = self._reader.verify([(claim.text, c.passage.text) for c in near])
        for candidate, found in zip(near, verified, strict=True):
            if found.supports >= ENTAILED_FROM:
                return Curation("nothing", candidate.passage, reason=reason)
        return None


def _are_others(stated: set[str], there: set[str]) -> bool:
    return bool(stated and there) and stated != there


def _numbers(text: str) -> set[str]:
    return {item for value in numbers(text) for item in value.items}


_FOUND = {"correct": "right", "incorrect": "wrong", "unknown": "neither right nor wrong"}


def changed(claim: Claim, met: Met) -> Curation:
    """The claim in the place of the sentence that it replaces or ends."""
    passage, sentence = met.candidate.passage, met.sentence
    text = f"{passage.text[: sentence.start]}{claim.text}{passage.text[sentence.end :]}"
    does = "ends" if met.relation.ends > met.relation.replaces else "replaces"
    return Curation(
        "modify", passage, text, f"it {does} {sentence.text!r}, with a probability of {met.changes:.2f}"
    )
