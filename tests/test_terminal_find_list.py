"""Keys of Find: letters are typed while words are typed, and move the mark while the list has the focus."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import ChatOnScreen, on_screen
from test_terminal_find import REPLIES, finds, is_open, two_sessions
from textual.widgets import Input, OptionList


def words(chat: ChatOnScreen) -> Input:
    return chat.screen.query_one(Input)


def marked(chat: ChatOnScreen) -> int | None:
    return chat.screen.query_one(OptionList).highlighted


async def test_j_and_k_are_typed_into_the_words_and_move_in_the_list(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await two_sessions(chat)
        await finds(chat, "ladder jk")
        assert words(chat).value == "ladder jk"
        await chat.presses("backspace", "backspace", "backspace")
        await chat.shows("Find · 3 with ladder")
        await chat.until(lambda: marked(chat) == 1)  # row 0 is a heading
        await chat.presses("tab")
        await chat.until(lambda: chat.screen.query_one(OptionList).has_focus)
        await chat.presses("j")
        await chat.until(lambda: marked(chat) == 3)  # over the second heading
        await chat.presses("j")
        await chat.until(lambda: marked(chat) == 4)
        await chat.presses("k", "k")
        await chat.until(lambda: marked(chat) == 1)
        assert words(chat).value == "ladder"
        await chat.presses("j", "enter")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await chat.shows("2 of 3 with ladder")


async def test_tab_and_slash_lead_back_to_the_words(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await two_sessions(chat)
        await finds(chat, "xyzzy")
        await chat.shows("nothing with xyzzy")
        await chat.presses("tab")  # there is no list to go to
        assert words(chat).has_focus
        await chat.presses(*["backspace"] * 5)
        await chat.types("ladder")
        await chat.shows("Find · 3 with ladder")
        for key in ("slash", "tab"):
            await chat.presses("tab")
            await chat.until(lambda: not words(chat).has_focus)
            await chat.presses(key)
            await chat.until(lambda: words(chat).has_focus)
        assert words(chat).value == "ladder"
        await chat.presses("tab", "escape")
        await chat.until(lambda: not is_open(chat))
