"""Keys that come in one burst, as typed by a quick hand or pasted into a terminal that does not mark it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressed_keys import back_to_the_prompt
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from textual.events import Key, Paste
from textual.widgets import Input

from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen

_NAMES = {"/": "slash", " ": "space"}


def comes_at_once(chat: ChatOnScreen, *keys: str) -> None:
    """All of them wait in the program's queue before the first one is looked at."""
    for key in keys:
        chat.app.post_message(Key(_NAMES.get(key, key), key if len(key) == 1 else None))


async def test_what_is_typed_behind_a_key_goes_to_where_that_key_leads(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks("/remember I keep the key under the mat.")
        await chat.asks(QUESTION)
        for keys in (("slash", *"under"), ("ctrl+f", *"under")):
            if keys[0] == "slash":
                await chat.reads()
            comes_at_once(chat, *keys)
            await chat.until(lambda: isinstance(chat.screen, FindScreen))
            await chat.until(lambda: chat.screen.query_one(Input).value == "under")
            await back_to_the_prompt(chat)
        memories = chat.app.chat.desk._known_assistant.stores.catalogue.lines(
            1, scope="yours", memories_only=True
        )
        assert [memory.text for memory in memories] == ["I keep the key under the mat."]
        comes_at_once(chat, "f5", *"/exam")
        await chat.until(lambda: isinstance(chat.screen, SessionsScreen))
        await chat.until(lambda: chat.screen.query_one(Input).value == "exam")
        await chat.shows("[open 1]")
        await back_to_the_prompt(chat)
        comes_at_once(chat, "ctrl+g", "minus")
        await chat.shows("noted for turn 1: bad")
        assert chat.prompt == ""
        await chat.reads()
        comes_at_once(chat, *"ijust")
        await chat.until(lambda: chat.prompt == "just")
        chat.app.chat.prompt.put("")
        await chat.reads()
        chat.app.post_message(Paste("/under"))
        await chat.until(lambda: chat.prompt == "/under")
        assert chat.screen is chat.app.chat


async def test_signs_without_a_width_and_no_break_spaces_are_typed_like_letters(tmp_path: Path) -> None:
    typed = "n\u00a0b \u0645\u06cc\u200c\u062e \U0001f3f3\ufe0f\u200d\U0001f308"
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        comes_at_once(chat, *typed, "\u202e", "\x9b")  # what would steer the line is no letter
        await chat.until(lambda: chat.prompt == typed)


async def test_a_key_that_never_comes_to_its_end_holds_the_others_for_a_moment_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.reads()
        monkeypatch.setattr(chat.app, "_follow", lambda node, way: None)
        comes_at_once(chat, *"ijust")
        await chat.until(lambda: chat.prompt == "just")
