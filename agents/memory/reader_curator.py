"""Decides by the reader's relations what a claim does to what is known.

Of its user's own statements nothing is changed: each pair gets links with probabilities, and both stay.
In the shared memory, which takes only what was judged correct:

    says the same, both ways round, and is not refuted     nothing: it is known
    replaces, or ends                                      modify: as a new version, which a curator decides
    a shared passage entails it                            nothing: it confirms
    else                                                   add

A document keeps what its file says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from agents.base.claim_interfaces import Claim, Curation, Weighed
from agents.base.interfaces import Candidate, Reader, Relation
from agents.base.sentences import Sentence, sentences
from stores.base.passages import STATEMENTS
from stores.base.statement_links import KEPT_FROM, LinkKind, NewLink

# Probabilities from which the reader's word counts in the shared memory; see docs/experiments.md.
SAME_FROM = 0.5
CHANGES_FROM = 0.5
ENTAILED_FROM = 0.9
_REFUTED_FROM = 0.5
_MOST_PAIRS = 36  # sentences that a claim is laid beside


@dataclass(frozen=True)
class Met:
    """A sentence of a passage, and what it and a claim do to each other."""

    candidate: Candidate
    sentence: Sentence
    relation: Relation  # of the later to the earlier

    @property
    def changes(self) -> float:
        """The probability that the earlier no longer holds."""
        return self.relation.replaces + self.relation.ends


class ReaderCurator:
    """A curator by the reader's relations."""

    def __init__(self, reader: Reader, *beside: Reader, name: str = "reader") -> None:
        """beside: others, of whose opinion and the first one's a link is the mean; docs/experiments.md tells
        what that gains. name: of the readers and their version, as links keep it.
        """
        self._reader, self._all = reader, (reader, *beside)
        self._name = name

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`."""
        return await asyncio.to_thread(self._curate, claim, weighed, nearest)

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        """See `Curator`."""
        return await asyncio.to_thread(self._relate, claim, nearest, later)

    def met(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int] = frozenset()
    ) -> list[Met]:
        """A claim beside each sentence of what was said; the later of the two is read first."""
        return self._met(self._all, claim, nearest, later)

    def _met(
        self, readers: Sequence[Reader], claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[Met]:
        found = [c for c in nearest if c.passage.kind in STATEMENTS]
        beside = [(c, s) for c in found for s in sentences(c.passage.text)][:_MOST_PAIRS]
        if not beside:
            return []
        pairs = [
            (s.text, claim.text) if c.passage.version_id in later else (claim.text, s.text) for c, s in beside
        ]
        read = zip(*(reader.relate(pairs) for reader in readers), strict=True)
        return [Met(c, s, _mean(found)) for (c, s), found in zip(beside, read, strict=True)]

    def _relate(self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]) -> list[NewLink]:
        best: dict[int, Met] = {}  # of each passage the sentence that has most to do with the claim
        for one in self.met(claim, nearest, later):
            known = best.setdefault(one.candidate.passage.passage_id, one)
            if one.relation.unrelated < known.relation.unrelated:
                best[one.candidate.passage.passage_id] = one
        links: list[NewLink] = []
        for passage_id, one in best.items():
            is_newer = one.candidate.passage.version_id in later
            says = one.relation
            if one.candidate.passage.text == claim.text:
                links.append(NewLink(passage_id, is_newer, "same", 1.0, "equal words"))
                continue
            found: dict[LinkKind, float] = {
                "same": says.same,
                "replaces": says.replaces,
                "ends": says.ends,
                "adds": says.adds,
            }
            links += [
                NewLink(passage_id, is_newer, kind, round(probability, 4), self._name)
                for kind, probability in found.items()
                if probability >= KEPT_FROM
            ]
        return links

    def _curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        if weighed.status != "correct":
            return Curation("nothing", reason=f"it was found {_FOUND[weighed.status]}")
        met = self._met([self._reader], claim, nearest, ())
        most = max(met, key=lambda one: one.changes, default=None)
        if most is not None and most.changes >= CHANGES_FROM and not claim.is_hearsay:
            return _changed(
                claim, most
            )  # before what says the same: all rely on it, and it must not say both
        if (same := self._same(claim, met)) is not None:
            return Curation("nothing", same.candidate.passage, reason="it is known already")
        return self._entailed(claim, weighed, nearest) or Curation(
            "add", text=claim.text, reason="nothing known says it"
        )

    def _same(self, claim: Claim, met: Sequence[Met]) -> Met | None:
        """What says the same read either way round, and does not refute the claim."""
        found = max(met, key=lambda one: one.relation.same, default=None)
        if found is None or found.relation.same < SAME_FROM:
            return None
        there = found.sentence.text
        [back] = self._reader.relate([(there, claim.text)])
        verified = self._reader.verify([(claim.text, there), (there, claim.text)])
        is_refuted = max(each.refutes for each in verified) >= _REFUTED_FROM
        return None if back.same < SAME_FROM or is_refuted else found

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


def _mean(found: Sequence[Relation]) -> Relation:
    return Relation(*(fmean(each) for each in zip(*found, strict=True)))


_FOUND = {"incorrect": "wrong", "unknown": "neither right nor wrong"}


def _changed(claim: Claim, met: Met) -> Curation:
    """The claim in the place of the sentence that it replaces or ends."""
    passage, sentence = met.candidate.passage, met.sentence
    text = f"{passage.text[: sentence.start]}{claim.text}{passage.text[sentence.end :]}"
    does = "ends" if met.relation.ends > met.relation.replaces else "replaces"
    return Curation(
        "modify", passage, text, f"it {does} {sentence.text!r}, with a probability of {met.changes:.2f}"
    )
