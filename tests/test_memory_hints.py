"""What the Memory screen and the chat's commands tell to do next can be done where it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_on_screen import opened, remembered, scope, stored
from screen_fixtures import on_screen

from assistant.terminal.actions.memories import undo
from assistant.terminal.actions.undoing import in_chat, told_in_chat
from assistant.wiring.assistant import Assistant
from stores.base.errors import CannotUndo


async def test_an_undo_that_a_later_write_blocks_names_the_command_of_the_chat(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        (number,) = await remembered(chat, "I like tea.")

        def changed(assistant: Assistant, user: int) -> tuple[int, int]:
            assistant.stores.knowledge.edit(user, number, "I like coffee.")
            first, second = sorted(
                receipt.id or 0 for receipt in assistant.stores.knowledge.receipts(user, limit=2)
            )
            return first, second

        first, second = await stored(chat, changed)
        with pytest.raises(CannotUndo) as refused:
            await stored(chat, lambda assistant, user: undo(assistant, user, first))
        assert refused.value.hint == f"Undo that first: /undo {second}"


async def test_forgetting_a_shared_passage_names_the_command_of_the_chat(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(160, 24)) as chat:
        await opened(chat)
        await scope(chat, "Shared")
        await chat.shows("reading room")
        await chat.presses("x")
        await chat.shows("`/undo 1` takes back the write that brought it")
        assert "vouch memory undo" not in chat.text
        await chat.presses("escape", "escape")
        await chat.asks("/forget 1")
        await chat.shows("`/undo 1` takes back the write that brought it")


def test_only_what_can_be_typed_in_the_chat_is_exchanged() -> None:
    assert told_in_chat("Shared, as 7. `vouch memory undo 12` takes it back.") == (
        "Shared, as 7. `/undo 12` takes it back."
    )
    assert told_in_chat("`vouch memory undo --list` shows them.") == "`vouch memory undo --list` shows them."
    assert in_chat(CannotUndo("no", hint="vouch memory undo 3")).hint == "/undo 3"
