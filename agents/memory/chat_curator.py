"""A chat model decides what a claim changes, where the reader sees no change for sure.

    claim, passages that were said -> chat model -> nothing, or what the claim takes the place of, or add

It can take the place only of what was said, and of a sentence that the reader holds related to the claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.chat_interfaces import ChatModel, Source
from agents.base.claim_interfaces import CHANGEABLE, Claim, Curation, Weighed
from agents.base.interfaces import Candidate
from agents.memory.reader_curator import Met, ReaderCurator, changed
from agents.prompts.curating import curation_messages, curation_schema

LONGEST_SHOWN = 2_000  # characters of a passage: one that is longer is not put before the model
_PASSAGES = 5
_RELATED_FROM = 0.2  # 1 - p(unrelated) from which the reader does not rule a change out


class ChatCurator:
    """A curator over a chat model, beside the reader's."""

    def __init__(self, chat: ChatModel, curator: ReaderCurator) -> None:
        self._chat = chat
        self._curator = curator

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`. Asks only where the reader would add beside what was said."""
        by_reader = await self._curator.curate(claim, weighed, nearest)
        if by_reader.action != "add" or claim.is_hearsay:
            return by_reader
        near = [
            c
            for c in nearest
            if c.passage.kind in CHANGEABLE
            and not c.passage.is_shared
            and len(c.passage.text) <= LONGEST_SHOWN
        ]
        met = [one for one in self._curator.met(claim, near) if one.relation.unrelated <= 1 - _RELATED_FROM]
        shown = [c for c in near if any(one.candidate is c for one in met)][:_PASSAGES]
        if not shown:
            return by_reader
        sources = [Source(number, c.passage) for number, c in enumerate(shown, start=1)]
        reply = await self._chat.structured(
            curation_messages(claim.text, sources), curation_schema(len(shown))
        )
        number, action = reply.get("number"), reply.get("action")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(shown):
            return by_reader
        named: list[Met] = [one for one in met if one.candidate is shown[number - 1]]
        if action == "nothing":
            reason = f"it is known already, says {self._chat.name}"
            return Curation("nothing", shown[number - 1].passage, reason=reason)
        if action == "replace" and reply.get("can_both_be_true") is False:
            return changed(claim, max(named, key=lambda one: one.changes))
        return by_reader
