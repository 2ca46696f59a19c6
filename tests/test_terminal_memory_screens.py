"""The Memory screen as text at three sizes, beside the golden ones in tests/screens."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from memory_on_screen import opened, remembered, scope, settled, stored
from rich.cells import cell_len
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_screens import assert_golden

from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from assistant.wiring.assistant import Assistant
from stores.base.clock import now, time_by
from stores.claims.claims import NewClaim
from stores.database.tables import StatedClaim, Turn

SIZES = [(40, 12), (80, 24), (120, 40)]


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same moment and zone in every run: what is told of times breaks lines."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    with time_by(lambda: datetime(2026, 11, 21, 12, tzinfo=UTC)):
        yield
    monkeypatch.undo()
    time.tzset()


async def some_memories(chat: ChatOnScreen) -> None:
    """A preference, a fact from a turn with its claim, a correction that waits, one that is gone."""
    await chat.asks(QUESTION)
    await chat.asks("I can read German and French, no need to translate those.")
    await remembered(chat, "Keep answers short", kind="preference")
    await stored(chat, _fact)
    await stored(chat, _correction)
    [gone] = await remembered(chat, "Metric units", kind="preference")
    await stored(chat, lambda assistant, user: assistant.knowledge.set_aside(user, [gone]))


def _fact(assistant: Assistant, user: int) -> None:
    number, receipt = assistant.knowledge.remember(user, "Reads German and French", kind="fact", turn_id=2)
    with assistant.database.writing() as sql:
        sql.add(
            StatedClaim(
                user_id=user,
                turn_id=2,
                origin="turn",
                number=1,
                text="Reads German and French",
                text_key="read german french",
                quote="I can read German and French",
                kind="fact",
                about="user",
                state="stored",
                status="unknown",
                confidence=1.0,
                scope="yours",
                passage_id=number,
                receipt_id=receipt,
                created_at=now(),
            )
        )


def _correction(assistant: Assistant, user: int) -> None:
    text = "Saturday hours are 10 to 16, not 9 to 16"
    number, _ = assistant.knowledge.remember(user, text, kind="correction", turn_id=1)
    claim = NewClaim(text=text, quote=text, kind="fact", about="world")
    assistant.claims.put_one(user, claim, origin="taught", turn_id=1, passage_id=number)


@pytest.mark.parametrize("size", SIZES)
async def test_memory(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]], size=size) as chat:
        await some_memories(chat)
        await opened(chat)
        await chat.presses("down")
        await settled(chat)
        assert_golden(chat, "memory")


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_memory(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, size=size) as chat:
        await opened(chat)
        assert_golden(chat, "memory-empty")


@pytest.mark.parametrize("size", SIZES)
async def test_what_waits(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]], size=size) as chat:
        await some_memories(chat)
        await opened(chat)
        await chat.presses("tab", "tab")
        await settled(chat)
        assert_golden(chat, "memory-waiting")


@pytest.mark.parametrize("size", SIZES)
async def test_one_memory_whole(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]], size=size) as chat:
        await some_memories(chat)
        await opened(chat)
        await chat.presses("down", "enter")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        assert_golden(chat, "memory-one")


@pytest.mark.parametrize("size", SIZES)
async def test_privacy(tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]], size=size) as chat:
        await some_memories(chat)
        await opened(chat)
        monkeypatch.setattr("assistant.terminal.facts.privacy.from_home", lambda _: "FILE")
        await chat.presses("p")
        await chat.until(lambda: isinstance(chat.screen, PrivacyScreen))
        assert_golden(chat, "memory-privacy")


async def test_the_question_before_forgetting(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]], size=(40, 12)) as chat:
        await some_memories(chat)
        await opened(chat)
        await chat.presses("x")
        await chat.until(lambda: isinstance(chat.screen, Question))
        assert_golden(chat, "memory-question")


async def test_wide_characters_keep_the_columns(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "図書館は土曜日の十時に開きます。" * 4, "I like tea.")
        await opened(chat)
        rows = [line for line in chat.text.splitlines() if " you  " in line]
        assert [cell_len(row.partition(" you  ")[0]) for row in rows] == [60, 60]
        assert_golden(chat, "memory-wide-characters")


async def test_hardly_any_room_leaves_the_list(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]], size=(80, 10)) as chat:
        await some_memories(chat)
        await opened(chat)
        assert_golden(chat, "memory")


async def test_the_forgotten_ones_say_what_became_of_them(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["Noted."]]) as chat:
        await some_memories(chat)
        await stored(chat, _another_day)
        await opened(chat)
        await scope(chat, "Forgotten")
        assert "withdrawn 2026-11-20  Metric units" in chat.text
        await chat.shows("Gone      withdrawn, 20 November 2026")


def _another_day(assistant: Assistant, _user: int) -> None:
    from sqlalchemy import update

    from stores.database.tables import PassageVersion

    day = datetime(2026, 11, 20, 12, tzinfo=UTC)
    with assistant.database.writing() as sql:
        sql.execute(
            update(PassageVersion)
            .where(PassageVersion.text == "Metric units")  # type: ignore[arg-type]
            .values(removed_at=day, created_at=day - timedelta(days=1))
        )
        assert sql.query(Turn).count() == 2
