"""Finds what a user stated with a chat model, and keeps it as it was said.

    message and its context -> chat model -> the quotes it names -> the user's sentences around them -> claims

What the model writes itself is never kept: a quote that stands in no sentence of the user's is dropped. So is
one in a sentence that to reader and heads alike states nothing; and of the world is what both the reader and
the model take for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import cast

from agents.base.chat_interfaces import ChatModel
from agents.base.claim_interfaces import Claim, Said
from agents.base.interfaces import Reader, Sorting
from agents.base.own_part import own_sentences
from agents.languages.signs import OF_THE_USER, Languages, Signs
from agents.memory.reader_summarizer import ASKS_FROM, WORLD_FROM, ReaderSummarizer
from agents.memory.takeovers import is_takeover
from agents.prompts.claims import SCHEMA, messages
from stores.base.errors import ContextTooLong, MalformedReply

# p(world) + p(personal) from which the reader does not rule out that a sentence states something
_MAY_STATE_FROM = 0.1
_HEADS_FROM = 0.5  # probability from which the heads say so where the reader rules it out


class ChatSummarizer:
    """A summarizer that asks a chat model, beside the reader."""

    def __init__(self, chat: ChatModel, reader: Reader, languages: Languages | None = None) -> None:
        """languages: the heads, which know more languages than the reader."""
        self._chat = chat
        self._reader = reader
        self._languages = languages
        self._otherwise = ReaderSummarizer(reader, languages)

    @property
    def name(self) -> str:
        return self._chat.name

    async def summarize(self, said: Said) -> list[Claim]:
        """See `Summarizer`. Of a pasted text, or where to the reader nothing is stated, no model is asked.

        Where message and context are too long for the model, the message is put before it alone. What a model
        that is too weak for it does not bring into form, the reader finds.
        """
        own = await asyncio.to_thread(self._stating, said.message)
        if not own:
            return []
        try:
            try:
                reply = await self._chat.structured(messages(said), SCHEMA)
            except ContextTooLong:
                reply = await self._chat.structured(messages(Said(said.message)), SCHEMA)
        except MalformedReply:
            return await self._otherwise.summarize(said)
        return _claims(reply, own)

    async def summarize_together(self, said: Sequence[Said]) -> list[list[Claim]]:
        """The claims of each of several messages that came in one pause, by one request for all of them.

        Each is asked for alone where together they are too long for the model.
        """
        own = [await asyncio.to_thread(self._stating, each.message) for each in said]
        stating = [each for each, sentences in zip(said, own, strict=True) if sentences]
        if len(stating) < 2:
            return [await self.summarize(each) if each in stating else [] for each in said]
        recalled = tuple(dict.fromkeys(text for each in stating for text in each.recalled))
        joined = Said("\n\n".join(each.message for each in stating), stating[0].earlier, recalled)
        try:
            reply = await self._chat.structured(messages(joined), SCHEMA)
        except (ContextTooLong, MalformedReply):
            return [await self.summarize(each) for each in said]
        return [_claims(reply, sentences) for sentences in own]

    def _stating(self, message: str) -> dict[str, bool]:
        """The sentences that may state something, and whether it may be of the world."""
        own = [text for text in own_sentences(message) if not is_takeover(text)]
        if not own:
            return {}
        signs = self._languages.signs(own) if self._languages is not None else [None] * len(own)
        return {
            text: one.world >= WORLD_FROM
            for text, one, each in zip(own, self._reader.sort(own), signs, strict=True)
            if _may_state(one, each)
        }


def _may_state(sorting: Sorting, signs: Signs | None) -> bool:
    if sorting.asks >= ASKS_FROM:
        return False
    if sorting.world + sorting.personal >= _MAY_STATE_FROM:
        return True
    return signs is not None and max(signs.of(OF_THE_USER), signs.profile) >= _HEADS_FROM


def _claims(reply: Mapping[str, object], own: Mapping[str, bool]) -> list[Claim]:
    """Those of a reply that stand in a message, in its order. own: its sentences, see `_stating`."""
    found: dict[str, Claim] = {}
    for proposed in cast("list[Mapping[str, object]]", reply["claims"]):
        claim = _claim(proposed, own)
        if claim is not None:
            found.setdefault(claim.text, claim)
    return [found[text] for text in own if text in found]


def _claim(proposed: Mapping[str, object], own: Mapping[str, bool]) -> Claim | None:
    """The sentence that a quote stands in, as a claim; None where it stands in none."""
    quote = "".join(str(proposed["quote"]).split())
    text = next((each for each in own if quote and quote in "".join(each.split())), None)
    if text is None:
        return None
    is_preference = proposed["kind"] == "preference"
    is_hearsay = proposed["is_hearsay"] is True
    is_of_the_world = own[text] and proposed["about"] == "world" and not is_preference and not is_hearsay
    return Claim(
        text,
        text,
        "preference" if is_preference else "fact",
        "world" if is_of_the_world else "user",
        is_hearsay,
    )
