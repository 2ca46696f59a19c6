"""A long session is shown from its end before anything is open, and is whole behind that."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import ChatOnScreen, assistant_in, on_screen

from assistant.terminal.conversation.mounted_messages import MOUNTED
from assistant.terminal.engine.engine import FIRST_TURNS, GLANCED_TURNS, SessionChoice
from benchmarks import long_session
from stores.conversation.glance import glance
from stores.conversation.journal import Journal, Outcome
from stores.database.database import Database

LAST = SessionChoice(last=True)
TURNS = FIRST_TURNS + 5


def told(chat: ChatOnScreen) -> list[str]:
    return [message.text for message in chat.app.chat.conversation.messages]


def long_one(folder: Path, turns: int = TURNS) -> None:
    with assistant_in(folder) as assistant:
        ann = assistant.stores.journal.user_id("ann")
        session = assistant.stores.journal.open_session(ann)
        for number in range(turns):
            turn = assistant.stores.journal.accept(ann, session, f"question {number}", parts=[]).turn_id
            assistant.stores.journal.finish(turn, Outcome(state="done", answer=f"answer {number}", model="m"))


def all_said(turns: int) -> list[str]:
    return [text for n in range(turns) for text in (f"question {n}", f"answer {n}")]


async def test_the_newest_messages_are_shown_before_the_stores_are_open(tmp_path: Path) -> None:
    long_one(tmp_path)
    is_open: list[bool] = []
    async with on_screen(
        tmp_path, choice=LAST, waits_for_ready=False, opens_when=lambda: bool(is_open), replies=[["more"]]
    ) as chat:
        await chat.shows(f"answer {TURNS - 1}")
        assert told(chat) == all_said(TURNS)[-2 * GLANCED_TURNS :]
        await chat.presses("escape", "g", "k", "w", "plus")  # what needs the stores waits for them
        await chat.presses("i")
        await chat.sends("typed meanwhile")
        assert told(chat)[-1] == "typed meanwhile"
        is_open.append(True)
        await chat.is_ready()
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        assert told(chat)[-2 * FIRST_TURNS - 2 :] == [
            *all_said(TURNS)[-2 * FIRST_TURNS :],
            "typed meanwhile",
            "more",
        ]


async def test_its_first_message_is_reached_and_every_message_is_there_once(tmp_path: Path) -> None:
    long_one(tmp_path)
    async with on_screen(tmp_path, choice=LAST) as chat:
        assert chat.app.chat.prompt.sent == [f"question {n}" for n in range(TURNS - FIRST_TURNS, TURNS)]
        await chat.presses("escape", "g")
        await chat.shows("question 0")
        assert told(chat) == all_said(TURNS)
        assert len(chat.app.chat.conversation._views) <= MOUNTED


async def test_a_rating_is_shown_though_the_first_look_does_not_read_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["one"]]) as chat:
        await chat.asks("question")
        await chat.sends("/good")
        await chat.shows("s · good")
    async with on_screen(tmp_path, choice=LAST) as chat:
        await chat.shows("s · good")
        assert told(chat) == ["question", "one"]


def test_the_benchmark_makes_two_sessions_and_one_turn_holds_the_needle(tmp_path: Path) -> None:
    long_session.make_sessions(tmp_path, 20)
    this, other = long_session.SESSIONS
    found = glance(tmp_path, long_session.USER, None, turns=20)
    assert found is not None
    assert len(found.turns) == 20
    assert found.turns[0].message == f"{long_session.first_word(this)}?"
    assert found.turns[-1].answer.endswith(long_session.last_word(this))
    assert sum(long_session.NEEDLE in turn.answer for turn in found.turns) == 1
    database = Database.at(tmp_path)
    lines = Journal(database).sessions(1)
    database.close()
    assert [line.title for line in lines] == [f"About {this}", f"About {other}"]


def test_the_benchmark_tells_the_median_and_both_ends() -> None:
    runs = [{"opened": seconds} for seconds in (3.0, 1.0, 2.0)]
    assert long_session.table(runs) == ["opened          2.00 s (1.00 to 3.00)"]
