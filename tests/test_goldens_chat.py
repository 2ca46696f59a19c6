"""The chat, reading, Why, a passage, Help, the palette and questions, in each size and look."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_screens import LOOKS, Scene, check_scene, to_the_prompt
from screen_fixtures import ANSWER, HOLD, QUESTION, ChatOnScreen
from textual.command import CommandPalette

from assistant.terminal.conversation.notice_line import Notice
from assistant.terminal.why.why_view import WhyView
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import PastPrompts, Question

LIST = "It opens at 10:00 on Saturdays [1], and:\n\n- **never** on holidays;\n- at nine [7] in `July`."
WRITTEN = ["On public holidays the reading room is closed [1], except", HOLD]


async def asked(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)


async def as_it_is(chat: ChatOnScreen) -> None:
    await chat.pilot.pause()


async def writing(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)
    await chat.sends("And on public holidays?")
    await chat.shows("except")
    chat.app.chat.notices.put(Notice("Learned, shared, as 9: “Closed on public holidays”.", 4, 2))


async def queued(chat: ChatOnScreen) -> None:
    await chat.sends("And on public holidays?")
    await chat.shows("except")
    await chat.sends("And at night?")


async def private(chat: ChatOnScreen) -> None:
    await chat.sends("/private")
    await chat.shows("Private")
    await chat.until(lambda: chat.app.chat.talk.is_idle)


async def reading(chat: ChatOnScreen) -> None:
    await chat.presses("escape", "k")
    await chat.until(lambda: chat.app.chat.conversation.has_focus)


async def rating(chat: ChatOnScreen) -> None:
    await chat.presses("ctrl+g")
    await chat.shows("t teach  w why")


async def why(chat: ChatOnScreen) -> None:
    await chat.presses("f2")
    await chat.shows("used from")


async def leaves_why(chat: ChatOnScreen) -> None:
    if chat.screen is chat.app.chat:  # beside the conversation
        await chat.presses("f2")
        await chat.until(lambda: not chat.app.chat.query_one("#why", WhyView).has_class("-open"))
    await to_the_prompt(chat)


async def passage(chat: ChatOnScreen) -> None:
    await chat.presses("escape", "1")
    await chat.until(lambda: isinstance(chat.screen, PageScreen))


async def helped(chat: ChatOnScreen) -> None:
    await chat.presses("f1")
    await chat.until(lambda: isinstance(chat.screen, PageScreen))


async def palette(chat: ChatOnScreen) -> None:
    await chat.presses("ctrl+p")
    await chat.until(lambda: isinstance(chat.screen, CommandPalette))
    await chat.shows("/bad")


async def earlier_prompts(chat: ChatOnScreen) -> None:
    await chat.presses("ctrl+r")
    await chat.until(lambda: isinstance(chat.screen, PastPrompts))


async def remembered(chat: ChatOnScreen) -> None:
    await chat.asks("/remember I like tea.")


async def asks_before_forgetting(chat: ChatOnScreen) -> None:
    await chat.sends("/forget 2")
    await chat.until(lambda: isinstance(chat.screen, Question))


SCENES = [
    Scene("chat", as_it_is, writing, as_it_is, replies=[[LIST], WRITTEN]),
    Scene("chat-queued", as_it_is, queued, as_it_is, replies=[WRITTEN]),
    Scene("chat-private", as_it_is, private, as_it_is),
    Scene("first-start", as_it_is),
    Scene("reading", reading, asked, replies=[[LIST]]),
    Scene("rating", rating, asked, replies=[[LIST]]),
    Scene("why", why, asked, leaves_why, replies=[[LIST]]),
    Scene("passage", passage, asked, replies=[[ANSWER]]),
    Scene("help", helped),
    Scene("palette", palette),
    Scene("earlier-prompts", earlier_prompts, asked, replies=[[ANSWER]]),
    Scene("forget-question", asks_before_forgetting, remembered),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_a_scene_of_the_chat_is_its_golden_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: Scene, look: str
) -> None:
    await check_scene(scene, look, tmp_path, monkeypatch)
