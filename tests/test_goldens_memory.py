"""Memory, one memory whole, what is asked there, and Privacy, in each size and look."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_screens import LOOKS, Scene, check_scene
from memory_on_screen import opened, settled
from screen_fixtures import ANSWER, ChatOnScreen
from test_terminal_memory_screens import some_memories
from textual.widgets import Input

from assistant.terminal.memory.memory_questions import AskLine, EditText
from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question

REPLIES = [[ANSWER], ["Noted."]]


async def empty(chat: ChatOnScreen) -> None:
    await opened(chat)


async def second_marked(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("down")
    await settled(chat)


async def filtered(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("slash")
    await chat.until(lambda: isinstance(chat.app.focused, Input))
    chat.screen.query_one(Input).value = ""
    await chat.types("german")
    await chat.shows("with “german”")
    await settled(chat)


async def waiting(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("tab", "tab")
    await settled(chat)


async def gone(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("shift+tab", "shift+tab")
    await settled(chat)


async def one_whole(chat: ChatOnScreen) -> None:
    await second_marked(chat)
    await chat.presses("enter")
    await chat.until(lambda: isinstance(chat.screen, PageScreen))


async def edited(chat: ChatOnScreen) -> None:
    await second_marked(chat)
    await chat.presses("e")
    await chat.until(lambda: isinstance(chat.screen, EditText))


async def forgets(chat: ChatOnScreen) -> None:
    await second_marked(chat)
    await chat.presses("x")
    await chat.until(lambda: isinstance(chat.screen, Question))


async def exports(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("o")
    await chat.until(lambda: isinstance(chat.screen, AskLine))
    chat.screen.query_one(Input).value = "memory.jsonl"


async def privacy(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("p")
    await chat.until(lambda: isinstance(chat.screen, PrivacyScreen))


async def forgets_everything(chat: ChatOnScreen) -> None:
    await privacy(chat)
    await chat.presses("x")
    await chat.until(lambda: isinstance(chat.screen, AskLine))


SCENES = [
    Scene("memory-empty", empty),
    Scene("memory", second_marked, some_memories, replies=REPLIES),
    Scene("memory-filter", filtered, some_memories, replies=REPLIES),
    Scene("memory-waiting", waiting, some_memories, replies=REPLIES),
    Scene("memory-gone", gone, some_memories, replies=REPLIES),
    Scene("memory-one", one_whole, some_memories, replies=REPLIES),
    Scene("memory-edit", edited, some_memories, replies=REPLIES),
    Scene("memory-forget-question", forgets, some_memories, replies=REPLIES),
    Scene("memory-export-question", exports, some_memories, replies=REPLIES),
    Scene("privacy", privacy, some_memories, replies=REPLIES),
    Scene("privacy-question", forgets_everything, some_memories, replies=REPLIES),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_a_scene_of_memory_is_its_golden_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: Scene, look: str
) -> None:
    monkeypatch.setattr("assistant.terminal.facts.privacy.from_home", lambda _: "FILE")
    await check_scene(scene, look, tmp_path, monkeypatch)
