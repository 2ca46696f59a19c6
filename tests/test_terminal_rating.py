"""Ratings on the screen: kept, told beside the answer, changed, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from textual.events import Paste

from assistant.terminal.conversation.rate_strip import RateStrip
from stores.conversation.ratings import Ratings


def standing(chat: ChatOnScreen) -> dict[int, str]:
    return Ratings(chat.app.chat.desk._known_assistant.database).of_turns(1, [1, 2, 3])


def label(chat: ChatOnScreen, turn: int) -> str:
    return next(
        m.label for m in chat.app.chat.conversation.messages if m.turn_id == turn and m.speaker == "Assistant"
    )


@pytest.mark.parametrize("opens", ["ctrl+g", "escape"])
async def test_the_same_key_again_takes_a_rating_back(tmp_path: Path, opens: str) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses(opens, "plus")
        await chat.shows(" s · good")
        assert standing(chat) == {1: "good"}
        await chat.presses(*(["ctrl+g"] if opens == "ctrl+g" else []), "plus")
        await chat.shows("turn 1 is rated no more")
        assert standing(chat) == {}
        assert "good" not in label(chat, 1)
        await chat.presses(*(["ctrl+g"] if opens == "ctrl+g" else []), "minus")
        await chat.shows(" s · bad")
        assert standing(chat) == {1: "bad"}


async def test_undo_takes_back_whichever_came_last_a_rating_or_a_write(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses("ctrl+g", "plus")
        await chat.shows(" s · good")
        await chat.asks("/remember I like tea.")
        await chat.presses("ctrl+g", "minus")
        await chat.shows(" s · bad")
        await chat.presses("ctrl+g", "u")
        await chat.shows("Undone: turn 1 was rated bad.")
        await chat.until(lambda: label(chat, 1).endswith("good"))
        await chat.presses("ctrl+g", "u")
        await chat.shows("Undone: add “I like tea.”")
        await chat.presses("ctrl+g", "u")
        await chat.shows("Undone: turn 1 was rated good.")
        await chat.until(lambda: "good" not in label(chat, 1))
        assert standing(chat) == {}


async def test_undo_does_not_reach_into_another_session(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"]]) as chat:
        await chat.asks("one")
        await chat.presses("ctrl+g", "plus")
        await chat.shows(" s · good")
        await chat.presses("ctrl+n")
        await chat.until(lambda: not chat.app.chat.conversation.messages)
        await chat.asks("What is two?")
        await chat.asks("/undo")
        assert standing(chat) == {1: "good"}


async def test_a_rating_of_an_earlier_answer_is_of_that_one(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"]]) as chat:
        await chat.asks("one")
        await chat.asks("two")
        await chat.presses("escape", "k", "k", "plus")
        await chat.until(lambda: standing(chat) == {1: "good"})
        assert label(chat, 1).endswith("good")
        assert "good" not in label(chat, 2)


@pytest.mark.parametrize(
    "text",
    ["tea", "t", "long " * 20_000, "\n".join(map(str, range(42)))],
    ids=["a word", "a key of the strip", "100 KB", "42 lines"],
)
async def test_a_paste_into_the_strip_goes_to_the_prompt_behind_what_stands_there(
    tmp_path: Path, text: str
) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.types("typed ")
        await chat.presses("ctrl+g")
        strip = chat.app.chat.query_one(RateStrip)
        await chat.until(lambda: strip.has_focus)
        chat.app.post_message(Paste(text))
        await chat.until(lambda: chat.app.chat.prompt.whole_text == f"typed {text}")
        await chat.until(lambda: chat.app.chat.prompt.has_focus and not strip.display)
        assert standing(chat) == {}
        await chat.types(" on")
        assert chat.app.chat.prompt.whole_text == f"typed {text} on"


async def test_a_paste_goes_to_the_prompt_from_why_beside_the_chat(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]], size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        await chat.presses("f2")
        await chat.shows("Why this answer")
        why = chat.app.chat.query_one("#why")
        next(widget for widget in why.query("*").results() if widget.focusable).focus()
        await chat.until(lambda: why.has_focus_within)
        chat.app.post_message(Paste("tea"))
        await chat.until(lambda: chat.prompt == "tea" and chat.app.chat.prompt.has_focus)
