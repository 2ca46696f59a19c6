"""Every word of the other screens can be read: dark, light, and without colour."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from round_rows import keep, of, promoted, refused, running
from screen_fixtures import QUESTION, ChatOnScreen, on_screen
from test_terminal_compare import ASKED, ASKED_AGAIN, playing
from test_terminal_contrast import faint_words
from test_terminal_log import SOME, write

from assistant.terminal.comparison.comparison_process import ComparisonChild

Opens = Callable[[ChatOnScreen], Awaitable[None]]
REPLY = "It opens at 10:00 on Saturdays [1]."


async def memory(chat: ChatOnScreen) -> None:
    await chat.asks("/remember The reading room has a new wing.")
    await chat.presses("f3")
    await chat.shows("new wing")
    await chat.presses("down")


async def training(chat: ChatOnScreen) -> None:
    keep(of(chat), refused(), promoted(), running())
    await chat.presses("f4")
    await chat.shows("step 210 of 400")


async def one_round(chat: ChatOnScreen) -> None:
    keep(of(chat), refused(), promoted())
    await chat.presses("f4")
    await chat.shows("live model")
    await chat.presses("enter")
    await chat.shows("Round 2 · live")


async def sessions(chat: ChatOnScreen) -> None:
    await chat.presses("f5")
    await chat.shows("[open 1]")
    await chat.presses("slash")
    await chat.types("re")
    await chat.shows("Sessions · 1")


async def deleted_session(chat: ChatOnScreen) -> None:
    await chat.presses("f5")
    await chat.shows("[open 1]")
    await chat.presses("x")
    await chat.shows("[open 0]")


async def compare(chat: ChatOnScreen) -> None:
    keep(of(chat), promoted(12))
    await chat.sends("/compare")
    await chat.shows("It is closed.")


async def compare_with_names(chat: ChatOnScreen) -> None:
    await compare(chat)
    await chat.presses("v")
    await chat.shows("previous")


async def find(chat: ChatOnScreen) -> None:
    await chat.presses("ctrl+f")
    await chat.shows("Words of a message")
    assert list(faint_words(chat)) == []  # what stands in an empty field
    await chat.types("reading")
    await chat.shows("with reading")


async def log(chat: ChatOnScreen) -> None:
    write(chat.place.state, *SOME)
    await chat.presses("f8")
    await chat.shows("turn finished")


SCREENS: list[Opens] = [
    memory,
    training,
    one_round,
    sessions,
    deleted_session,
    compare,
    compare_with_names,
    find,
    log,
]


@pytest.mark.parametrize("opens", SCREENS, ids=lambda opens: opens.__name__)
@pytest.mark.parametrize("look", ["dark", "light", "without colour"])
async def test_every_word_of_a_screen_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: str, opens: Opens
) -> None:
    def compared(*_: Any, **__: Any) -> ComparisonChild:
        return playing(ASKED, ASKED_AGAIN)

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(compared))
    if look == "without colour":
        monkeypatch.setenv("NO_COLOR", "1")
    theme = "textual-light" if look == "light" else "textual-dark"
    async with on_screen(tmp_path, replies=[[REPLY]], theme=theme, size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        await opens(chat)
        await chat.pilot.pause(0.2)
        assert chat.screen is not chat.app.chat
        assert set(faint_words(chat)) == set()
