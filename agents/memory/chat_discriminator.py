"""A chat model weighs a claim: by what it knows itself, then beside the passages found.

    claim -> a paragraph of its own on the topic -> claim, passages and paragraph -> verdict

Its verdict stands, as long as it names what decided it: a passage that was shown, or what it knows itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agents.base.chat_interfaces import ChatModel, Source
from agents.base.claim_interfaces import Claim, Discriminator, Evidence, Status, Weighed
from agents.base.interfaces import Candidate
from agents.base.own_part import plain_text
from agents.base.values import content
from agents.prompts.weighing import (
    OWN_KNOWLEDGE,
    PRIOR_SCHEMA,
    prior_messages,
    verdict_messages,
    verdict_schema,
)
from stores.base.errors import MalformedReply

_PASSAGES = 5
_LEAST_CONFIDENCE = 0.7  # below it a claim is unknown
_ASSENT = frozenset(content("yes no true false correct incorrect right wrong fact indeed statement claim"))
_LONGEST_PRIOR = 1_500  # characters; what is longer was not the paragraph asked for


class ChatDiscriminator:
    """A discriminator over a chat model."""

    def __init__(self, chat: ChatModel, otherwise: Discriminator | None = None) -> None:
        """otherwise: weighs what a model that is too weak for it brings into no form."""
        self._chat = chat
        self._otherwise = otherwise

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        """See `Discriminator`; by the model, or by the other one."""
        try:
            return await self._weigh(claim, candidates)
        except MalformedReply:
            if self._otherwise is None:
                raise
            return await self._otherwise.weigh(claim, candidates)

    async def _weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        """Two requests.

        Its own paragraph alone makes no claim correct, as it can in LUF. It is written by one who has read
        the claim, and a model that agrees with everybody says there what the claim says: without a passage
        such a claim stays unknown, and the paragraph is kept beside it.
        """
        shown = [candidate for candidate in candidates if candidate.passage.is_shared][:_PASSAGES]
        prior = await self._prior(claim)
        sources = [Source(number, candidate.passage) for number, candidate in enumerate(shown, start=1)]
        reply = await self._chat.structured(
            verdict_messages(claim.text, sources, prior), verdict_schema(len(shown))
        )
        status, confidence = _verdict(reply)
        place = _decided_by(reply.get("decided_by"), shown)
        is_named = place is not None or (reply.get("decided_by") == OWN_KNOWLEDGE and prior)
        only_believed = status == "correct" and place is None
        if not is_named or only_believed:
            status = "unknown"
        return Weighed(
            status=status,
            confidence=confidence,
            evidence=_evidence(shown, place, status, confidence),
            prior=prior,
            is_decided_by_prior=status != "unknown" and place is None,
            by=self._chat.name,
        )

    async def _prior(self, claim: Claim) -> str:
        """What the model knows of the topic; empty where it knows nothing but the claim itself."""
        reply = await self._chat.structured(prior_messages(claim.text), PRIOR_SCHEMA)
        paragraph = reply.get("paragraph")
        if reply.get("knows_topic") is not True or not isinstance(paragraph, str):
            return ""
        told = " ".join(plain_text(paragraph[:_LONGEST_PRIOR]).text.split())
        return told if set(content(told)) - _ASSENT - set(content(claim.text)) else ""


def _verdict(reply: Mapping[str, object]) -> tuple[Status, float]:
    """Status and confidence of a reply; "unknown" where either is not one, or it is too unsure."""
    confidence = reply.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return "unknown", 0.0
    if math.isnan(confidence):
        return "unknown", 0.0
    confidence = min(1.0, max(0.0, float(confidence)))
    status = reply.get("status")
    if status == "correct" and confidence >= _LEAST_CONFIDENCE:
        return "correct", confidence
    if status == "incorrect" and confidence >= _LEAST_CONFIDENCE:
        return "incorrect", confidence
    return "unknown", confidence


def _decided_by(named: object, shown: Sequence[Candidate]) -> int | None:
    """The place of the passage that is named; None where that is not a passage shown."""
    places = {str(place + 1): place for place in range(len(shown))}
    return places.get(named) if isinstance(named, str) else None


def _evidence(
    shown: Sequence[Candidate], place: int | None, status: Status, confidence: float
) -> tuple[Evidence, ...]:
    """The passages, the one that decided first and with the model's confidence."""
    order = sorted(range(len(shown)), key=lambda i: i != place)
    return tuple(
        Evidence(
            shown[i].passage,
            similarity=shown[i].dense,
            supports=confidence if i == place and status == "correct" else 0.0,
            refutes=confidence if i == place and status == "incorrect" else 0.0,
        )
        for i in order
    )
