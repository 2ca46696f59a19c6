"""Ratings on the screen: kept, told beside the answer, changed, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from textual.events import Paste

from assistant.terminal.conversation.rate_strip import RateStrip
from stores.conversation.ratings import Ratings


def standing(chat: ChatOnScreen) -> dict[int, str]:
    return Ratings(chat.app.chat.desk._known_assistant.stores.database).of_turns(1, [1, 2, 3])


def label(chat: ChatOnScreen, turn: int) -> str:
    return next(
        m.label for m in chat.app.chat.conversation.messages if m.turn_id == turn and m.speaker == "Assistant"
    )


async def test_a_rating_is_of_its_own_answer_taken_back_by_its_key_and_not_from_another_session(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["2"], ["3"]]) as chat:
        await chat.asks(QUESTION)
        await chat.asks("two")
        await chat.presses("escape", "k", "k", "plus")
        await chat.until(lambda: standing(chat) == {1: "good"})
        assert label(chat, 1).endswith("good")
        assert "good" not in label(chat, 2)
        await chat.presses("plus")
        await chat.shows("turn 1 is rated no more")
        assert standing(chat) == {}
        assert "good" not in label(chat, 1)
        await chat.presses("escape", "ctrl+g", "minus")
        await chat.until(lambda: standing(chat) == {2: "bad"})
        await chat.begins_session()
        await chat.asks("What is three?")
        await chat.asks("/undo")
        assert standing(chat) == {2: "bad"}


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
        await chat.shows("Undone: added “I like tea.”")
        await chat.presses("ctrl+g", "u")
        await chat.shows("Undone: turn 1 was rated good.")
        await chat.until(lambda: "good" not in label(chat, 1))
        assert standing(chat) == {}


@pytest.mark.parametrize("text", ["t", "long " * 20_000], ids=["a key of the strip", "100 KB"])
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
