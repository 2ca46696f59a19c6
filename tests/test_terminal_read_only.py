"""A store that another process locks when the chat opens: it can be read, the header says so, and it ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from cli_helpers import Vouch
from screen_fixtures import ANSWER, HANDBOOK, QUESTION, on_screen

from assistant.terminal.engine.engine import SessionChoice
from stores.database.database import Database
from stores.database.tables import Session, Turn


@contextmanager
def locked(data: Path) -> Iterator[sqlite3.Connection]:
    """Another process that writes, until `ROLLBACK`."""
    with closing(sqlite3.connect(data / "vouch.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other
        if other.in_transaction:
            other.execute("ROLLBACK")


def turns(data: Path) -> list[tuple[str, str]]:
    database = Database.at(data)
    try:
        with database.reading() as sql:
            return [(t.message, t.state) for t in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]
    finally:
        database.close()


def sessions(data: Path) -> int:
    database = Database.at(data)
    try:
        with database.reading() as sql:
            return sql.query(Session).count()
    finally:
        database.close()


async def one_turn(folder: Path) -> None:
    async with on_screen(folder, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)


async def test_a_store_that_is_locked_opens_to_be_read_and_the_header_says_so(tmp_path: Path) -> None:
    await one_turn(tmp_path)
    known = sessions(tmp_path / "data")
    with locked(tmp_path / "data"):
        async with on_screen(tmp_path, waits_for_ready=False) as chat:
            await chat.shows("Read-only · New session")
            await chat.shows("read-only: another process is writing")
            assert chat.app.failure is None
            for keys in (("ctrl+n",), ("f5", "n")):
                chat.app.chat.tell("")
                await chat.presses(*keys)
                await chat.shows("read-only: a new session begins once the store can be written again")
            await chat.goes_back()
            await chat.presses("f5")  # what is there can be looked at
            await chat.shows("When does the reading room open")
            await chat.goes_back()
            await chat.shows("Read-only · New session")
            assert "there is no session" not in chat.text
            await chat.presses("ctrl+f")
            await chat.types("reading")
            await chat.shows("1 with reading")
            await chat.presses("escape", "f3")
            await chat.shows("Memory")
    assert len(turns(tmp_path / "data")) == 1
    assert sessions(tmp_path / "data") == known


async def test_what_is_sent_while_the_store_is_locked_waits_and_goes_out_by_itself(tmp_path: Path) -> None:
    await one_turn(tmp_path)
    known = sessions(tmp_path / "data")
    with locked(tmp_path / "data") as other:
        async with on_screen(tmp_path, replies=[["At ten."]], waits_for_ready=False) as chat:
            await chat.shows("Read-only · New session")
            await chat.sends("And on Sundays?")
            await chat.until(lambda: chat.app.chat.talk.waiting == ["And on Sundays?"])
            assert len(turns(tmp_path / "data")) == 1
            other.execute("ROLLBACK")
            await chat.shows("At ten.")
            await chat.until(lambda: "Read-only" not in chat.text)
            assert "read-only" not in chat.text
    assert turns(tmp_path / "data") == [(QUESTION, "done"), ("And on Sundays?", "done")]
    assert sessions(tmp_path / "data") == known + 1


async def test_a_new_user_can_wait_for_the_lock_too(tmp_path: Path) -> None:
    await one_turn(tmp_path)
    with locked(tmp_path / "data") as other:
        async with on_screen(tmp_path, replies=[["At ten."]], waits_for_ready=False) as chat:
            chat.app.chat.desk.user = "bob"
            await chat.shows("Read-only · New session")
            await chat.sends("And on Sundays?")
            other.execute("ROLLBACK")
            await chat.shows("At ten.")
            await chat.asks("/remember I am Bob.")
            await chat.shows("Remembered, yours")


async def test_what_is_typed_while_the_store_is_locked_is_a_draft_when_one_leaves(tmp_path: Path) -> None:
    await one_turn(tmp_path)
    with locked(tmp_path / "data"):
        async with on_screen(tmp_path, choice=SessionChoice(last=True), waits_for_ready=False) as chat:
            await chat.shows("Read-only · When does the reading room open")
            await chat.shows("It opens at 10:00")
            await chat.sends("And on Sundays?")
            await chat.presses("ctrl+q")
    async with on_screen(tmp_path, choice=SessionChoice(last=True)) as chat:
        assert chat.prompt == "And on Sundays?"


async def test_a_lock_in_mid_chat_is_told_in_the_header_until_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.database.database._BUSY_SECONDS", 0.05)
    async with on_screen(tmp_path, replies=[["At ten."]]) as chat:
        with locked(tmp_path / "data") as other:
            await chat.sends("And on Sundays?")
            await chat.shows("Read-only · New session")
            assert chat.prompt == "And on Sundays?"
            other.execute("ROLLBACK")
            await chat.until(lambda: "Read-only" not in chat.text)
        assert turns(tmp_path / "data") == []  # it is sent when its writer says so
        await chat.presses("enter")
        await chat.shows("At ten.")


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path, minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


def test_a_question_on_the_command_line_ends_with_3_and_gives_nothing_while_the_store_is_locked(
    vouch: Vouch,
) -> None:
    vouch.run("ask", "When does the reading room open?")
    known = turns(vouch.data)
    with locked(vouch.data):
        asked = vouch.run("ask", "When does it open?", code=3)
    assert asked.out == ""
    assert "another process is writing" in asked.err
    assert "Try again" in asked.err
    assert turns(vouch.data) == known


def test_the_line_mode_at_a_terminal_can_be_read_and_goes_on_when_the_lock_is_gone(vouch: Vouch) -> None:
    vouch.run("ask", "When does the reading room open?")
    with locked(vouch.data) as other, vouch.terminal("chat", "--plain") as person:
        person.sees("Read-only: another process is writing.")
        person.sees("You: ")
        person.types("/memory rooms\r")
        person.sees("You: ")
        person.types("/help\r")
        person.sees("/quit")
        person.sees("You: ")
        other.execute("ROLLBACK")
        person.types("When does it open on Saturdays?\r")
        person.sees("Source 1, shared")
        person.sees("You: ")
        person.types("\x04")
        assert person.exit_code() == 0
    assert [message for message, _ in turns(vouch.data)][1:] == ["When does it open on Saturdays?"]
