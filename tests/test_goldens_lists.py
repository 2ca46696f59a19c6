"""Sessions, Find and Log, in each size and look."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_screens import LOOKS, Scene, check_scene
from screen_fixtures import ChatOnScreen
from test_terminal_log import SOME, write

from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.log_screen import LogScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen

REPLIES = [["In the cellar."], ["On the roof."], ["Under the stairs."]]


async def two_sessions(chat: ChatOnScreen) -> None:
    await chat.asks("Where is the ladder that reaches the lamps of the reading room?")
    await chat.asks("And the long ladder?")
    await chat.presses("ctrl+n")
    await chat.until(lambda: not chat.app.chat.conversation.messages)
    await chat.asks("What became of the ladder?")


async def sessions(chat: ChatOnScreen) -> None:
    await chat.presses("f5")
    await chat.until(lambda: isinstance(chat.screen, SessionsScreen))
    await chat.shows("Sessions · 2")


async def sessions_filter(chat: ChatOnScreen) -> None:
    await sessions(chat)
    await chat.presses("slash")
    await chat.types("lamps")
    await chat.shows("Sessions · 1")


async def renames(chat: ChatOnScreen) -> None:
    await sessions(chat)
    await chat.presses("e")
    await chat.pilot.pause()


async def one_deleted(chat: ChatOnScreen) -> None:
    await two_sessions(chat)
    await sessions(chat)
    await chat.presses("down", "x")
    await chat.shows("deleted")
    await chat.presses("escape")
    await chat.until(lambda: chat.screen is chat.app.chat)


async def deleted(chat: ChatOnScreen) -> None:
    await chat.presses("f5")
    await chat.until(lambda: isinstance(chat.screen, SessionsScreen))
    await chat.shows("[open 1]")
    await chat.presses("shift+tab")
    await chat.shows("[deleted 1]")


async def find(chat: ChatOnScreen) -> None:
    await chat.presses("ctrl+f")
    await chat.until(lambda: isinstance(chat.screen, FindScreen))
    await chat.types("ladder")
    await chat.shows("with ladder")


async def documents(chat: ChatOnScreen) -> None:
    await chat.presses("f9")
    await chat.shows("Documents · 1")


async def logged(chat: ChatOnScreen) -> None:
    write(chat.place.state, *SOME)


async def log(chat: ChatOnScreen) -> None:
    await chat.presses("f8")
    await chat.until(lambda: isinstance(chat.screen, LogScreen))
    await chat.shows("of 3 lines")


SCENES = [
    Scene("sessions", sessions, two_sessions, replies=REPLIES),
    Scene("sessions-filter", sessions_filter, two_sessions, replies=REPLIES),
    Scene("sessions-rename", renames, two_sessions, replies=REPLIES),
    Scene("sessions-deleted", deleted, one_deleted, replies=REPLIES),
    Scene("find", find, two_sessions, replies=REPLIES),
    Scene("documents", documents),
    Scene("log", log, logged),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_a_scene_of_the_lists_is_its_golden_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: Scene, look: str
) -> None:
    await check_scene(scene, look, tmp_path, monkeypatch)
