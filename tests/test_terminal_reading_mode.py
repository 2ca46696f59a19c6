"""Who reads is told so, and who means a command of the prompt while reading is helped back to it."""

from __future__ import annotations

from pathlib import Path

from pressed_keys import back_to_the_prompt
from screen_fixtures import QUESTION, ChatOnScreen, on_screen

from assistant.terminal.lists.find_screen import FindScreen

ASKS, READS = "Ask anything, or / for commands", "Reading: Esc to type, / to find"


async def test_a_command_that_is_typed_while_reading_leads_back_to_the_prompt(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["At ten."]]) as chat:
        await chat.asks(QUESTION)
        await chat.shows(ASKS)
        for typed, name in (("/undo", "/undo"), ("/un", "/undo"), ("/New talk", "/new")):
            await reads_and_types(chat, typed)
            await chat.shows(f"nothing with {typed[1:]} · {name} is a command: Esc Esc, then type it")
            await chat.goes_back()
            await chat.shows(READS)
            assert ASKS not in chat.text
            await chat.presses("escape")
            await chat.shows(ASKS)
        await reads_and_types(chat, "/whenx")  # no command begins so
        await chat.shows("nothing with whenx")
        assert "command" not in chat.text
        await back_to_the_prompt(chat)
        await chat.opens(FindScreen, "ctrl+f")
        await chat.types("new")
        await chat.shows("nothing with new")
        assert "command" not in chat.text
        assert "Esc Esc" not in chat.text


async def test_the_keys_that_it_names_are_those_of_the_settings(tmp_path: Path) -> None:
    keys = {"read_back": "ctrl+w,i", "read_find": "f"}
    async with on_screen(tmp_path, replies=[["At ten."]], keys=keys) as chat:
        await chat.asks(QUESTION)
        await chat.presses("escape")
        await chat.shows("Reading: ^W to type, f to find")


async def reads_and_types(chat: ChatOnScreen, typed: str) -> None:
    await chat.reads()
    await chat.types(typed)
    await chat.until(lambda: isinstance(chat.screen, FindScreen))
