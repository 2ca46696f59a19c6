"""Each screen as text, at three sizes, beside the golden one in tests/screens.

VOUCH_WRITE_SCREENS=1 writes them anew; look at what changed before keeping it.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from screen_fixtures import HOLD, QUESTION, ChatOnScreen, on_screen, without_times

from assistant.terminal.conversation.notice_line import Notice
from assistant.terminal.engine.engine import SessionChoice
from assistant.terminal.why.why_view import WhyScreen, WhyView
from stores.database.tables import Judgement

SCREENS = Path(__file__).parent / "screens"
SIZES = [(40, 12), (80, 24), (120, 40)]
LIST = "It opens at 10:00 on Saturdays [1], and:\n\n- **never** on holidays;\n- at nine [7] in `July`."


def assert_golden(chat: ChatOnScreen, name: str) -> None:
    width, height = chat.app.size
    file = SCREENS / f"{name}-{width}x{height}.txt"
    screen = without_times(chat.text)
    screen = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-11-21 12:00", screen)
    screen = re.sub(r"\d{4}-\d\d-\d\d\b", "2026-11-21", screen)
    screen = re.sub(r"\d\d? [A-Z][a-z]+ \d{4}, \d\d:\d\d( *)", r"21 November 2026, 12:00", screen)
    screen = re.sub("[▁▂▃▄▅▆▇█]", " ", screen)  # scroll bars tell how much there is besides
    screen = "\n".join(line.rstrip() for line in screen.splitlines()) + "\n"
    if os.environ.get("VOUCH_WRITE_SCREENS"):
        file.write_text(screen, encoding="utf-8")
    assert screen == file.read_text(encoding="utf-8")


async def chat_that_writes(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)
    await chat.sends("And on public holidays?")
    await chat.shows("except")
    chat.app.chat.notices.put(Notice("Learned, shared, as 9: “Closed on public holidays”.", 4, 2))
    await chat.pilot.pause(0.2)


REPLIES = [[LIST], ["On public holidays the reading room is closed [1], except", HOLD]]


@pytest.mark.parametrize("size", SIZES)
async def test_the_chat_while_a_reply_is_written(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=REPLIES, size=size) as chat:
        await chat_that_writes(chat)
        assert_golden(chat, "chat")


@pytest.mark.parametrize("size", [(38, 20), (80, 10)])
async def test_the_chat_where_there_is_hardly_any_room(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=REPLIES, size=size) as chat:
        await chat_that_writes(chat)
        assert_golden(chat, "chat")


async def test_the_words_are_the_same_in_light_and_without_colour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(tmp_path / "light", replies=REPLIES, theme="textual-light") as chat:
        await chat_that_writes(chat)
        assert_golden(chat, "chat")
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_screen(tmp_path / "none", replies=REPLIES) as chat:
        await chat_that_writes(chat)
        assert_golden(chat, "chat")
        colours = {
            colour
            for strip in chat.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor)
        }
        assert colours == {None}


@pytest.mark.parametrize("size", SIZES)
async def test_why_this_answer(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[[LIST]], size=size) as chat:
        await chat.asks("/remember The reading room has a new wing.")
        await chat.asks(QUESTION)
        await chat.presses("f2")
        await chat.shows("used from")
        assert isinstance(chat.screen, WhyScreen) == (size[0] < 100)
        await chat.pilot.pause(0.2)
        assert_golden(chat, "why")


async def test_why_beside_the_conversation_follows_the_answers_and_closes(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."], ["Two."]], size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        await chat.presses("f2")
        await chat.shows("Turn 1  When")
        assert chat.app.chat.prompt.has_focus
        await chat.asks("and on Sundays?")
        await chat.shows("Turn 2  and on Sundays?")
        await chat.presses("tab")
        await chat.until(lambda: not chat.app.chat.prompt.has_focus)
        await chat.presses("f2")
        await chat.until(lambda: not chat.app.chat.query_one("#why", WhyView).has_class("-open"))
        assert "used from" not in chat.text


async def test_why_tells_of_an_old_turn_after_a_restart_and_keeps_what_is_said_of_a_passage(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."]]) as chat:
        await chat.asks(QUESTION)
    async with on_screen(tmp_path, choice=SessionChoice(last=True)) as chat:
        await chat.shows("[1] shared  House rules")
        await chat.sends("/why 1")
        await chat.shows("House rules")
        await chat.until(lambda: isinstance(chat.screen, WhyScreen))
        await chat.presses("plus")
        await chat.shows("[1] +shared")
        await chat.presses("minus")
        await chat.shows("[1] -shared")
        from stores.database.tables import Feedback

        with chat.app.chat.desk._known_assistant.database.reading() as sql:
            kept = [(f.turn_id, f.rating, f.version_id) for f in sql.query(Feedback).order_by(Feedback.id)]
        assert kept == [(1, "good", 1), (1, "bad", 1)]


async def test_why_tells_what_was_judged_and_what_its_columns_mean(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."]], size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        assistant = chat.app.chat.desk._known_assistant
        with assistant.database.writing() as sql:
            told: dict[str, Any] = {"turn_id": 1, "version_id": 1, "judge": "reader", "found_rank": 1}
            told["created_at"] = datetime.now(UTC)
            sql.add(Judgement(**told, label="answer", score=0.875, tokens_in=0, tokens_out=0))
        await chat.presses("f2")
        await chat.shows("[1]  shared   0.88     1     =")
        await chat.shows("judged  0 to 1, how far it helps to answer")
        await chat.presses("escape", "1")
        await chat.shows("Judged 0.88: it holds the answer.")


@pytest.mark.parametrize("size", SIZES)
async def test_a_passage(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."]], size=size) as chat:
        await chat.asks(QUESTION)
        await chat.presses("escape", "1")
        await chat.shows("Passage 1 · shared")
        assert_golden(chat, "passage")


@pytest.mark.parametrize("size", SIZES)
async def test_sessions(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[["One."], ["Two."]], size=size) as chat:
        await chat.asks("When does the reading room open on Saturdays and holidays?")
        await chat.presses("ctrl+n")
        await chat.until(lambda: not chat.app.chat.conversation.messages)
        await chat.asks("What is a locker?")
        await chat.presses("f5")
        await chat.shows("Sessions · 2")
        assert_golden(chat, "sessions")


@pytest.mark.parametrize("size", SIZES)
async def test_help(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, size=size) as chat:
        await chat.presses("f1")
        await chat.shows("In the prompt")
        assert_golden(chat, "help")
