"""A chat model decides what a claim changes in the space it goes to; the rules decide what it may.

    what the rules refuse or know for certain       theirs
    else: claim and near passages -> the model's action -> guards -> it, or the rules' own

Guards: only what was said is changed, a new version holds no number or name that neither the old one nor
the claim has, and what is "known already" holds those of the claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.curator import CHANGEABLE, SAME_TOPIC
from agents.interfaces import Candidate, ChatModel, Claim, Curation, Curator, Source, Weighed
from agents.prompts.curating import curation_messages, curation_schema
from agents.values import values

_PASSAGES = 5
_LONGEST_TEXT = 2  # times as long as old version and claim together


class ChatCurator:
    """A curator over a chat model, beside one by rules."""

    def __init__(self, chat: ChatModel, rules: Curator) -> None:
        self._chat = chat
        self._rules = rules

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`. Asks only where the rules would add beside a passage on the same topic."""
        ruled = await self._rules.curate(claim, weighed, nearest)
        near = [c for c in nearest if c.dense >= SAME_TOPIC and c.passage.kind != "message"][:_PASSAGES]
        if ruled.action != "add" or not near:
            return ruled
        sources = [Source(number, candidate.passage) for number, candidate in enumerate(near, start=1)]
        reply = await self._chat.structured(
            curation_messages(claim.text, sources), curation_schema(len(near))
        )
        return _guarded(reply, claim, near) or ruled


def _guarded(reply: Mapping[str, object], claim: Claim, near: Sequence[Candidate]) -> Curation | None:
    """The curation that a reply asks for; None where it may not, or asks to add."""
    number, text = reply.get("number"), reply.get("text")
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(near):
        return None
    passage = near[number - 1].passage
    known, stated = _values(passage.text), _values(claim.text)
    if reply.get("action") == "nothing":
        return Curation("nothing", passage, reason="it is known already") if stated <= known else None
    if passage.kind not in CHANGEABLE:
        return None
    if reply.get("action") == "delete":
        return Curation("delete", passage, reason="it holds no more")
    if reply.get("action") != "modify" or not isinstance(text, str) or not text.strip():
        return None
    is_short = len(text) <= _LONGEST_TEXT * (len(passage.text) + len(claim.text))
    if text.strip() == passage.text or not is_short or not stated <= _values(text) <= known | stated:
        return None
    return Curation("modify", passage, text.strip(), reason="it changes what is said there")


def _values(text: str) -> frozenset[str]:
    return frozenset(item for value in values(text) for item in value.items)
