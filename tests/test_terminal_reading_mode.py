"""Who reads is told so, and who means a command of the prompt while reading is helped back to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import QUESTION, ChatOnScreen, on_screen

from assistant.terminal.lists.find_screen import FindScreen

ASKS, READS = "Ask anything, or / for commands", "Reading: Esc to type, / to find"


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_the_prompt_says_that_its_keys_read(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[["At ten."]], size=size) as chat:
        await chat.asks(QUESTION)
        await chat.shows(ASKS)
        await chat.presses("escape")
        await chat.shows(READS)
        assert ASKS not in chat.text
        await chat.presses("escape")
        await chat.shows(ASKS)
        assert READS not in chat.text


async def test_the_keys_that_it_names_are_those_of_the_settings(tmp_path: Path) -> None:
    keys = {"read_back": "ctrl+w,i", "read_find": "f"}
    async with on_screen(tmp_path, replies=[["At ten."]], keys=keys) as chat:
        await chat.asks(QUESTION)
        await chat.presses("escape")
        await chat.shows("Reading: ^W to type, f to find")


async def reads_and_types(chat: ChatOnScreen, typed: str) -> None:
    await chat.asks(QUESTION)
    await chat.presses("escape")
    await chat.until(lambda: chat.app.chat.conversation.has_focus)
    await chat.types(typed)
    await chat.until(lambda: isinstance(chat.screen, FindScreen))


@pytest.mark.parametrize("typed", ["/new", "/undo", "/un", "/New talk"])
async def test_a_command_that_is_typed_while_reading_leads_back_to_the_prompt(
    tmp_path: Path, typed: str
) -> None:
    async with on_screen(tmp_path, replies=[["At ten."]]) as chat:
        await reads_and_types(chat, typed)
        name = "/new" if "ew" in typed else "/undo"
        await chat.shows(f"nothing with {typed[1:]} · {name} is a command: Esc Esc, then type it")
        await chat.presses("escape")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await chat.presses("escape")
        await chat.types("/new")
        await chat.until(lambda: chat.prompt == "/new")


async def test_find_tells_how_to_get_back_to_the_prompt_from_reading(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["At ten."]], size=(40, 12)) as chat:
        await reads_and_types(chat, "/")
        await chat.shows("Enter open  Esc back  Esc Esc prompt")


async def test_words_that_are_found_or_that_no_command_begins_with_are_words(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Under new rules."]]) as chat:
        await reads_and_types(chat, "/new")
        await chat.shows("1 with new")
        assert "command" not in chat.text
        await chat.types("x")
        await chat.shows("nothing with newx")
        assert "command" not in chat.text


async def test_find_from_the_prompt_speaks_of_no_command(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["At ten."]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses("ctrl+f")
        await chat.until(lambda: isinstance(chat.screen, FindScreen))
        await chat.types("new")
        await chat.shows("nothing with new")
        assert "command" not in chat.text
        assert "Esc Esc" not in chat.text
