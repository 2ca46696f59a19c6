"""A key that nothing takes says so in one calm line, on every screen, and F1 lists those that are taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_on_screen import opened
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen

from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question

NOTHING = "F6 does nothing here · F1 lists keys"


async def goes_to(chat: ChatOnScreen, where: str) -> None:
    keys = {"why": "f2", "memory": "f3", "training": "f4", "sessions": "f5", "log": "f8", "find": "ctrl+f"}
    if where == "privacy":
        await opened(chat)
        await chat.presses("p")
        await chat.until(lambda: isinstance(chat.screen, PrivacyScreen))
    elif where == "reading":
        await chat.presses("escape")
        await chat.until(lambda: chat.app.chat.conversation.has_focus)
    else:
        await chat.presses(keys[where])
        await chat.until(lambda: chat.screen is not chat.app.chat)


SCREENS = ["reading", "why", "memory", "training", "sessions", "log", "find", "privacy"]


@pytest.mark.parametrize("where", SCREENS)
async def test_a_key_that_nothing_takes_says_so_on_each_screen(tmp_path: Path, where: str) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await goes_to(chat, where)
        assert "does nothing" not in chat.text
        await chat.presses("f6")
        await chat.shows(NOTHING)
        await chat.presses("f6", "f6")
        await chat.pilot.pause()
        assert chat.text.count(NOTHING) == 1


@pytest.mark.parametrize("where", [name for name in SCREENS if name != "reading"])
async def test_f1_lists_the_keys_on_each_screen_its_own_first(tmp_path: Path, where: str) -> None:
    first = {"why": "Why this answer", "log": "Log", "memory": "Memory"}.get(where, where.capitalize())
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await goes_to(chat, where)
        await chat.presses("f1")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.shows("─ Help ─")
        assert chat.text.splitlines()[1].strip("│ ▁▂▃▄▅▆▇█") == first


async def test_f6_and_f7_select_in_the_prompt_and_say_so_where_it_is_empty(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.presses("f6")
        await chat.shows("F6 selects a line, F7 all that is typed")
        prompt = chat.app.chat.prompt
        prompt.put("one\ntwo")
        await chat.presses("f6")
        assert prompt.selected_text == "two"
        await chat.presses("f7")
        assert prompt.selected_text == "one\ntwo"


async def test_a_letter_is_told_too_and_a_key_that_moves_is_not(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await goes_to(chat, "training")
        await chat.presses("q")
        await chat.shows("q does nothing here · F1 lists keys")
        await chat.presses("ctrl+g")
        await chat.shows("^G works in the chat · Esc goes back there")
        await chat.presses("left", "pageup", "tab")
        await chat.pilot.pause()
        assert "^G works in the chat" in chat.text  # keys that move say nothing


async def test_a_page_says_what_leads_back_and_a_question_stays_a_question(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.presses("f1")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.presses("f6")
        await chat.shows("F6 does nothing here · Esc goes back")
        await chat.presses("escape")
        chat.app.push_screen(Question("Forget it?", yes="forget", no="keep"))
        await chat.shows("y forget")
        await chat.presses("f6", "f1")
        await chat.pilot.pause()
        assert isinstance(chat.screen, Question)
        assert "does nothing" not in chat.text
        await chat.presses("x")  # text is no answer
        await chat.until(lambda: chat.screen is chat.app.chat)


async def test_the_key_that_the_settings_give_to_help_is_named(tmp_path: Path) -> None:
    async with on_screen(tmp_path, keys={"help": "f9"}, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await goes_to(chat, "why")
        await chat.presses("f6")
        await chat.shows("F6 does nothing here · F9 lists keys")
        await chat.presses("f9")
        await chat.shows("─ Help ─")
        assert isinstance(chat.screen, PageScreen)
