"""A chat model says what a claim does to its user's statements, where the reader sees nothing for sure.

    claim, statements told before it -> chat model -> one says the same, or no longer holds, or neither

It can link only what the reader holds related to the claim.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agents.base.chat_interfaces import ChatModel, Source
from agents.base.claim_interfaces import Claim, Curation, Weighed
from agents.base.interfaces import Candidate
from agents.memory.reader_curator import ReaderCurator
from agents.prompts.curating import curation_messages, curation_schema
from stores.base.errors import MalformedReply
from stores.base.passages import STATEMENTS
from stores.base.statement_links import GONE_FROM, NewLink

LONGEST_SHOWN = 2_000  # characters of a passage: one that is longer is not put before the model
_PASSAGES = 5
_RELATED_FROM = 0.2  # 1 - p(unrelated) from which the reader does not rule a link out
_PROBABILITY = 0.8  # of a link by a chat model, which gives none


class ChatCurator:
    """A curator over a chat model, beside the reader's."""

    def __init__(self, chat: ChatModel, curator: ReaderCurator) -> None:
        self._chat = chat
        self._curator = curator

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`; the reader alone decides about the shared memory."""
        return await self._curator.curate(claim, weighed, nearest)

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        """See `Curator`."""
        links = await self._curator.relate(claim, nearest, later)
        if any(link.probability >= GONE_FROM and link.kind in ("replaces", "ends") for link in links):
            return links
        near = [
            c
            for c in nearest
            if c.passage.kind in STATEMENTS
            and c.passage.version_id not in later
            and len(c.passage.text) <= LONGEST_SHOWN
        ]
        met = [one for one in self._curator.met(claim, near) if one.relation.unrelated <= 1 - _RELATED_FROM]
        shown = [c for c in near if any(one.candidate is c for one in met)][:_PASSAGES]
        if not shown:
            return links
        sources = [Source(number, c.passage) for number, c in enumerate(shown, start=1)]
        try:
            reply = await self._chat.structured(
                curation_messages(claim.text, sources), curation_schema(len(shown))
            )
        except MalformedReply:  # what the reader says stands
            return links
        number, action = reply.get("number"), reply.get("action")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(shown):
            return links
        passage_id = shown[number - 1].passage.passage_id
        if action == "nothing":
            return [*links, NewLink(passage_id, False, "same", _PROBABILITY, self._chat.name)]
        if action == "replace" and reply.get("can_both_be_true") is False:
            return [*links, NewLink(passage_id, False, "replaces", _PROBABILITY, self._chat.name)]
        return links
