"""In a private session what was said there answers there and nowhere else; only its transcript is kept."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from agent_fakes import FixedEncoder
from test_pipeline import House, ten

from agents.answering.quoting import Quoter
from agents.answering.responder import Responder
from agents.backends.extractive import ExtractiveChat
from agents.base.chat_interfaces import Source
from agents.retrieval.said_here import Said, said_before_here
from assistant.terminal.facts.messages import cited_source
from assistant.turns.events import Finished
from stores.conversation.sessions import Sessions
from stores.forgetting.forgetting import Forgetting

CANARY = "zqcanary"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class PrivateTalk(House):
    """A house whose built-in model answers, in a session that is private."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ten)
        model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=3))
        self.pipeline.answer_with(Responder(model, keep=3), server="")
        self.session = self.journal.open_session(self.ann, is_private=True)

    async def ask(self, message: str) -> str:
        finished = (await self.say(message))[-1]
        assert isinstance(finished, Finished)
        assert finished.error is None
        return finished.answer


@pytest.fixture
def talk(tmp_path: Path) -> PrivateTalk:
    return PrivateTalk(tmp_path)


LOCKER = f"My locker is {CANARY}."


async def test_what_was_just_said_answers(talk: PrivateTalk) -> None:
    await talk.ask(LOCKER)
    await talk.ask("I moved to Bonn.")
    assert f": “{LOCKER}”" in await talk.ask("What is my locker?")


async def test_a_change_of_a_message_leaves_what_was_said_behind_it(talk: PrivateTalk) -> None:
    first = (await talk.say("My locker is 12."))[-1]
    assert isinstance(first, Finished)
    changed = talk.pipeline.take(talk.ann, talk.session, "My locker is 13.", instead_of=first.turn_id)
    assert [event async for event in changed]
    assert (await talk.ask("What is my locker?")).endswith(": “My locker is 13.” [1]")


async def test_another_session_knows_nothing_of_it(talk: PrivateTalk) -> None:
    await talk.ask(LOCKER)
    await talk.ask("What is my locker?")
    for is_private in (False, True):
        talk.session = talk.journal.open_session(talk.ann, is_private=is_private)
        assert CANARY not in await talk.ask("What is my locker?")
        assert CANARY not in await talk.ask("What have I told you?")


async def test_an_open_session_takes_nothing_from_its_transcript(talk: PrivateTalk) -> None:
    """What was said there is a passage, and may be forgotten: its transcript is no second memory."""
    talk.session = talk.journal.open_session(talk.ann)
    assert (await talk.ask(LOCKER)).startswith("Noted")
    events = await talk.say("What is my locker?")
    spaces = [s.passage.space for event in events if hasattr(event, "sources") for s in event.sources]
    assert "session" not in spaces


async def test_nothing_of_it_is_written_but_the_transcript(talk: PrivateTalk) -> None:
    await talk.ask(LOCKER)
    await talk.ask("What is my locker?")
    assert talk.database.file is not None
    with sqlite3.connect(talk.database.file) as sql:
        tables = [name for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        holding = {
            name
            for name in tables
            if any(CANARY in str(row) for row in sql.execute(f'SELECT * FROM "{name}"'))
        }
    assert holding <= {"turns", "sessions", "retrievals"}  # the turn: its words, its search, its answer
    Sessions(talk.database).delete(talk.ann, talk.session)
    forgetting = Forgetting(talk.database)
    forgetting.forget_sessions(talk.ann, [talk.session])
    forgetting.compact()
    folder = talk.database.file.parent
    left = b"".join(path.read_bytes() for path in folder.iterdir() if path.name.startswith("vouch.db"))
    assert CANARY.encode() not in left


def said(*messages: str) -> list[Said]:
    return [Said(turn, message, BEGAN + timedelta(hours=turn)) for turn, message in enumerate(messages, 1)]


def test_the_newest_messages_may_answer_and_no_more_than_a_few_are_taken() -> None:
    found = said_before_here(said(*(f"My locker is {number}." for number in range(20))))
    assert [passage.text for passage in found] == [f"My locker is {number}." for number in range(19, 11, -1)]


def test_such_a_source_is_shown_and_can_be_opened_nowhere() -> None:
    (passage,) = said_before_here(said("My locker is 12."))
    shown = cited_source(Source(1, passage))
    assert (shown.version_id, shown.words) == (0, "said here  “My locker is 12.”")
