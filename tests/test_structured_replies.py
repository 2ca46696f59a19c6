"""Replies that fit a schema: what is read of them, however long they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agents.base.chat_interfaces import ChatMessage
from agents.prompts.structured_replies import LONGEST_REPLY, choice_schema, fitting, fitting_reply
from stores.base.errors import MalformedReply

SCHEMA = choice_schema(["add", "nothing"])
CHOICE = '{"choice": "add"}'


@pytest.mark.parametrize("reply", [CHOICE, f"```json\n{CHOICE}\n```", f"Here it is: {CHOICE} Good luck!"])
def test_an_object_is_found_among_words(reply: str) -> None:
    assert fitting(reply, SCHEMA) == {"choice": "add"}


def test_a_long_reply_that_fits_is_read() -> None:
    assert fitting(f"{' ' * (LONGEST_REPLY - len(CHOICE))}{CHOICE}", SCHEMA) == {"choice": "add"}


@pytest.mark.parametrize(
    "reply",
    [
        " " * LONGEST_REPLY + CHOICE,
        '{"choice": "' + "add" * 3_000_000 + '"}',
        "{" + ",".join(f'"{number}": {number}' for number in range(400_000)) + "}",
        "[" * 5_000_000 + "{}",
    ],
    ids=["blank", "one value", "many keys", "deep"],
)
def test_of_what_is_too_long_nothing_is_parsed(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    loads = json.loads

    def counted(text: str, **how: Any) -> Any:
        read.append(len(text))
        return loads(text, **how)

    monkeypatch.setattr(json, "loads", counted)
    with pytest.raises(ValueError, match="too long"):
        fitting(reply, SCHEMA)
    assert sum(read) <= LONGEST_REPLY


async def test_a_model_is_not_sent_back_all_of_a_reply_that_was_too_long() -> None:
    asked: list[Sequence[ChatMessage]] = []

    async def complete(messages: Sequence[ChatMessage]) -> str:
        asked.append(messages)
        return "x" * 10_000_000

    with pytest.raises(MalformedReply):
        await fitting_reply(
            complete, [ChatMessage("user", "Choose.")], SCHEMA, writer="it", pruned=lambda words: words
        )
    assert [sum(len(message.content) for message in messages) < 2 * LONGEST_REPLY for messages in asked] == [
        True,
        True,
    ]
