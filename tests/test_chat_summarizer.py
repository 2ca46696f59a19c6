"""What a chat model finds in a message is kept as its user said it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from agent_fakes import NOTHING, PERSONAL, WORLD, FakeChat, FixedReader

from agents.base.chat_interfaces import ChatMessage
from agents.base.claim_interfaces import Claim, Said
from agents.memory.chat_summarizer import ChatSummarizer
from agents.prompts.claims import SCHEMA
from stores.base.errors import ContextTooLong, MalformedReply

BRIDGE = "The Hollin bridge was built in 1888."


class ProposingChat(FakeChat):
    """A chat model that proposes given claims, and remembers what it was asked."""

    def __init__(self, *proposed: Mapping[str, object]) -> None:
        super().__init__(lambda request: (_ for _ in ()))  # type: ignore[arg-type,return-value]
        self._proposed = proposed
        self.asked: list[Sequence[ChatMessage]] = []

    async def structured(self, messages: Any, schema: Any) -> dict[str, object]:
        assert schema is SCHEMA
        self.asked.append(messages)
        return {"claims": list(self._proposed)}


def proposed(quote: str, **other: object) -> dict[str, object]:
    return {"quote": quote, "kind": "fact", "about": "world", "is_hearsay": False, **other}


READER = FixedReader(sorting={BRIDGE: WORLD})


async def claims(message: str, *proposals: Mapping[str, object], reader: FixedReader = READER) -> list[Claim]:
    return await ChatSummarizer(ProposingChat(*proposals), reader).summarize(Said(message))


@pytest.mark.parametrize("quote", [BRIDGE, "Hollin bridge", "the  Hollin\nbridge"[4:], "built in 1888"])
async def test_the_sentence_around_a_quote_is_the_claim(quote: str) -> None:
    assert await claims(f"No. {BRIDGE}", proposed(quote)) == [Claim(BRIDGE, BRIDGE, "fact", "world", False)]


@pytest.mark.parametrize("quote", ["The bridge was built later.", "", "No. The Hollin"])
async def test_what_stands_in_no_sentence_is_dropped(quote: str) -> None:
    assert await claims(f"No. {BRIDGE}", proposed(quote)) == []


async def test_of_the_world_is_only_what_the_reader_takes_for_it_too() -> None:
    (claim,) = await claims(BRIDGE, proposed(BRIDGE), reader=FixedReader(sorting={BRIDGE: PERSONAL}))
    assert claim.about == "user"


async def test_where_nothing_is_stated_no_model_is_asked() -> None:
    chat = ProposingChat(proposed("is the mill old?"))
    assert await ChatSummarizer(chat, READER).summarize(Said("is the mill old?")) == []
    assert chat.asked == []


async def test_pasted_text_is_no_claim() -> None:
    assert await claims(f"> {BRIDGE}\nNice.", proposed(BRIDGE)) == []


@pytest.mark.parametrize("other", [{"is_hearsay": True}, {"kind": "preference"}, {"about": "user"}])
async def test_only_a_fact_of_the_world_that_the_user_states_is_of_the_world(
    other: dict[str, object],
) -> None:
    (claim,) = await claims(BRIDGE, proposed(BRIDGE, **other))
    assert claim.about == "user"
    assert claim.is_hearsay is bool(other.get("is_hearsay"))


async def test_claims_come_once_and_in_the_order_of_the_message() -> None:
    mill = "The mill is old."
    found = await claims(f"{BRIDGE} {mill}", proposed(mill), proposed(BRIDGE), proposed("mill is"))
    assert [claim.text for claim in found] == [BRIDGE, mill]


async def test_where_all_of_it_is_too_long_the_message_is_read_alone() -> None:
    class Short(ProposingChat):
        async def structured(self, messages: Any, schema: Any) -> dict[str, object]:
            reply = await super().structured(messages, schema)
            if any("Keld" in message.content for message in messages):
                raise ContextTooLong("too long", hint="")
            return reply

    chat = Short(proposed(BRIDGE))
    found = await ChatSummarizer(chat, READER).summarize(Said(BRIDGE, recalled=("Keld is a town.",)))
    assert [claim.text for claim in found] == [BRIDGE]
    assert len(chat.asked) == 2
    with pytest.raises(ContextTooLong):
        await ChatSummarizer(chat, READER).summarize(Said("Keld is a town."))


async def test_a_reply_that_is_none_leaves_it_to_the_reader() -> None:
    class Broken(ProposingChat):
        async def structured(self, messages: Any, schema: Any) -> dict[str, object]:
            raise MalformedReply("no JSON", hint="")

    found = await ChatSummarizer(Broken(), READER).summarize(Said(BRIDGE))
    assert [claim.text for claim in found] == [BRIDGE]


async def test_messages_of_one_pause_are_asked_for_in_one_request() -> None:
    locker, thanks = "My locker is 214.", "Thanks!"
    chat = ProposingChat(proposed(locker, about="user"), proposed(BRIDGE))
    reader = FixedReader(sorting={BRIDGE: WORLD, locker: PERSONAL, thanks: NOTHING})
    found = await ChatSummarizer(chat, reader).summarize_together([Said(locker), Said(thanks), Said(BRIDGE)])
    assert [[claim.text for claim in claims] for claims in found] == [[locker], [], [BRIDGE]]
    [asked] = chat.asked
    assert thanks not in asked[-1].content
    alone = await ChatSummarizer(chat, reader).summarize_together([Said(thanks), Said(BRIDGE)])
    assert [len(claims) for claims in alone] == [0, 1]
