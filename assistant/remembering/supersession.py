"""What becomes of a claim that was told before what it meets: the end is as if all had been learned in order.

    what was told later says the same                 nothing: it is known
    ... would change the claim                        the claim is kept as earlier, in the history of that
    ... withdraws it, or a part of it                 the same, and the withdrawal has done its work
    ... was ended since, and would have changed it    the same, and nothing comes to life
    else                                              what the curator decides beside what was told before

The curator is asked the other way round: what the later words do to the claim, as if it had been known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agents.base.claim_interfaces import Claim, Curation, Weighed
from agents.base.interfaces import Candidate
from agents.base.sentences import Sentence, sentences
from stores.base.passages import Passage
from stores.versions.receipts import shortened
from stores.versions.supersession import GonePassage, Rewritten, ToldLater

Curate: TypeAlias = Callable[[Claim, Weighed, Sequence[Candidate]], Awaitable[Curation]]

_UNDECIDED = Weighed("unknown", 1.0, by="rule: about the user")


@dataclass(frozen=True)
class Placed:
    """What is to be done about a claim, by when it was told."""

    curation: Curation
    is_earlier: bool = False  # kept in the history of the curation's passage
    rewritten: tuple[Rewritten, ...] = ()


class ToldOrder:
    """Asks a curator about a claim and about what was told later."""

    def __init__(self, curate: Curate, cosines: Mapping[str, float]) -> None:
        """curate: of a curator. cosines: between the claim and each of `ToldLater.texts`."""
        self._curate = curate
        self._cosines = cosines

    async def place(
        self, claim: Claim, nearest: Sequence[Candidate], later: ToldLater, curation: Curation
    ) -> Placed:
        """nearest: of the user's own. curation: what was decided beside all of them."""
        newer = [c for c in nearest if c.passage.version_id in later.live]
        met = await self._met_by(claim, newer, later)
        if curation.action == "nothing" and all(text == passage.text for passage, text in met):
            return Placed(curation)
        if met:
            return await self._as_earlier(claim, nearest, later, curation, met)
        for gone in later.gone:
            if (placed := await self._beside_gone(claim, gone)) is not None:
                return placed
        return Placed(curation)

    async def _met_by(
        self, claim: Claim, newer: Sequence[Candidate], later: ToldLater
    ) -> list[tuple[Passage, str]]:
        """The later passages that would change the claim, and what each says once the claim is known."""
        met: list[tuple[Passage, str]] = []
        for candidate in newer:
            passage = candidate.passage
            text = await self._said_after(claim, passage, candidate.dense)
            if text is None and await self._is_met(claim, later.live[passage.version_id]):
                text = passage.text  # what it said before has replaced the claim, and was replaced
            if text is not None:
                met.append((passage, text))
        return met

    async def _is_met(self, claim: Claim, passages: Sequence[Passage]) -> bool:
        """Whether any of these, live no more, would have changed the claim."""
        for passage in passages:
            if await self._said_after(claim, passage, self._cosines[passage.text]) is not None:
                return True
        return False

    async def _said_after(self, claim: Claim, passage: Passage, dense: float) -> str | None:
        """What a later passage says once the claim is known; None where it would not change the claim."""
        before = await self._alone(claim, passage, dense)
        for sentence in sentences(passage.text) or [Sentence(0, len(passage.text), passage.text)]:
            later = Claim(sentence.text, sentence.text, claim.kind, "user")
            change = await self._curate(later, _UNDECIDED, [before])
            if change.action in ("modify", "delete"):
                around = passage.text[: sentence.start], passage.text[sentence.end :]
                return change.text.join(around).strip()
        return None

    async def _alone(self, claim: Claim, passage: Passage, dense: float) -> Candidate:
        """The claim as it would be known by itself."""
        alone = await self._curate(claim, _UNDECIDED, ())
        known = replace(passage, version_id=0, passage_id=0, title="", text=alone.text or claim.text)
        return Candidate(known, dense, 0.0, 0.0, dense, 1)

    async def _as_earlier(
        self,
        claim: Claim,
        nearest: Sequence[Candidate],
        later: ToldLater,
        curation: Curation,
        met: Sequence[tuple[Passage, str]],
    ) -> Placed:
        """Beside what was told later; what the claim itself would have replaced has had its time, too."""
        rewritten = [
            Rewritten(p.passage_id, p.version_id, text)
            for p, said in met
            if (text := await self._still_so(claim, p, said, nearest, later)) != p.text
        ]
        older = [c for c in nearest if c.passage.version_id not in later.live]
        over = await self._curate(claim, _UNDECIDED, older)
        if over.action in ("modify", "delete") and over.passage and len(sentences(over.passage.text)) <= 1:
            rewritten.append(Rewritten(over.passage.passage_id, over.passage.version_id, ""))
        passage = met[0][0]
        is_of_it = curation.passage is not None and curation.passage.version_id == passage.version_id
        text = curation.text if is_of_it and curation.action == "modify" else ""
        return Placed(_earlier(claim, passage, text, passage.text), True, tuple(rewritten))

    async def _still_so(
        self, claim: Claim, passage: Passage, said: str, nearest: Sequence[Candidate], later: ToldLater
    ) -> str:
        """What a later passage says once the claim is known, less what other later words change of that.

        said: the same, by this passage alone. The claim "my boss is Ben and I live in Bonn" leaves "I live in
        Bonn" beside a newer boss, and nothing where a newer home is known as well.
        """
        own = {sentence.text for sentence in sentences(passage.text)}
        newer = [c for c in nearest if c.passage.version_id in later.live]
        others = [c for c in newer if c.passage.version_id != passage.version_id]
        over: set[str] = set()
        for text in {sentence.text for sentence in sentences(said)} - own:
            part = replace(claim, text=text, quote=text)
            if await self._met_by(part, others, later):
                over.add(text)
        if not over:
            return said
        left = [sentence.text for sentence in sentences(said) if sentence.text not in over]
        return passage.text if set(left) <= own else " ".join(left)

    async def _beside_gone(self, claim: Claim, gone: GonePassage) -> Placed | None:
        dense = self._cosines[gone.last.text]
        beside = Candidate(gone.last, dense, 0.0, 0.0, dense, 1)
        if (await self._curate(claim, _UNDECIDED, [beside])).action == "nothing":
            return Placed(Curation("nothing", gone.last, reason="it holds no more since: you said so later"))
        if await self._is_met(claim, gone.later):
            return Placed(_earlier(claim, gone.last, "", gone.last.text), True)
        return None


def _earlier(claim: Claim, passage: Passage, text: str, later: str) -> Curation:
    reason = f"you said something else later: “{shortened(later)}”"
    return Curation("modify", passage, text or claim.text, reason)
