"""A deleted session can be erased for good, and a whole import be taken out in one step."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from cli_helpers import Vouch
from screen_fixtures import on_screen
from store_fixtures import Stores

from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from stores.base.errors import NotFound
from stores.conversation.journal import Outcome
from stores.conversation.sessions import Sessions
from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database
from stores.forgetting.forgetting import Forgetting

CANARY = "zqcanary"


def said(stores: Stores, user: int, session: int, message: str, answer: str) -> int:
    turn = stores.journal.accept(user, session, message, parts=[message]).turn_id
    stores.journal.finish(turn, Outcome(state="done", answer=answer))
    return turn


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.name.startswith("vouch.db"))


@pytest.mark.parametrize("is_private", [False, True])
def test_of_an_erased_session_no_word_is_left(database: Database, is_private: bool) -> None:
    stores = Stores.over(database)
    ann = stores.journal.user_id("ann")
    session = stores.journal.open_session(ann, is_private=is_private)
    other = stores.journal.open_session(ann)
    said(stores, ann, session, f"My locker is {CANARY}.", f"Noted, {CANARY}.")
    said(stores, ann, other, "thanks", "You are welcome.")
    said(stores, ann, session, "thanks", "You are welcome.")
    sessions = Sessions(database)
    sessions.delete(ann, session)
    forgetting = Forgetting(database)
    forgotten = forgetting.forget_sessions(ann, [session])
    assert len(forgotten.turns) == 2
    assert [hit.session_id for hit in TurnSearch(database).find(ann, "thanks")] == [other]  # not touched
    assert sessions.lines(ann, shelf="deleted") == []
    assert sessions.count(ann, "deleted") == 0
    assert [line.session_id for line in sessions.lines(ann)] == [other]
    tree = sessions.tree(ann, session)
    assert tree.title == ""
    assert {(t.message, t.answer, t.standalone) for t in tree.turns} == {("", "", "")}
    forgetting.compact()
    assert not forgetting.is_waiting()
    if database.file is not None:
        assert CANARY.encode() not in bytes_of(database.file.parent)


def test_nobody_erases_the_session_of_another(database: Database) -> None:
    stores = Stores.over(database)
    ann, bob = stores.journal.user_id("ann"), stores.journal.user_id("bob")
    mine, theirs = stores.journal.open_session(bob), stores.journal.open_session(ann)
    said(stores, bob, mine, "mine", "yes")
    said(stores, ann, theirs, "theirs", "yes")
    with pytest.raises(NotFound):
        Forgetting(database).forget_sessions(bob, [mine, theirs])
    assert Sessions(database).tree(bob, mine).turns[0].message == "mine"  # all of them or none


async def test_x_on_a_deleted_session_asks_and_erases(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Noted."], ["Yes."]]) as chat:
        await chat.asks(f"My locker is {CANARY}.")
        await chat.presses("ctrl+n")
        await chat.until(lambda: not chat.app.chat.conversation.messages)
        await chat.asks("Is it open?")
        await chat.presses("f5")
        await chat.shows("[open 2]")
        await chat.presses("down", "x")
        await chat.shows("deleted 1")
        await chat.presses("shift+tab")
        await chat.shows("[deleted 1]")
        await chat.presses("x")
        await chat.until(lambda: isinstance(chat.screen, Question))
        await chat.shows("for good: 1 turn")
        await chat.presses("escape")
        await chat.shows("nothing was erased")
        await chat.presses("x")
        await chat.until(lambda: isinstance(chat.screen, Question))
        await chat.presses("y")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.shows("Erased for good: 1 session with 1 turn.")
        await chat.presses("escape")
        await chat.shows("[deleted 0]")
        await chat.presses("u")
        await chat.shows("nothing to undo here")
        assert CANARY.encode() not in bytes_of(tmp_path / "data")


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path, minilm_folder.parent)
    turns = [
        {"conversation_id": f"c{n}", "conversation_name": f"talk {n}", "id": f"r{n}", "model": "m"}
        | {"prompt": f"{CANARY} question {n}", "response": "answer", "datetime_utc": "2026-01-01T10:00:00"}
        for n in range(3)
    ]
    made.run("import", made.write("logs.json", json.dumps(turns)))
    made.run("ask", "Is it open?", code=1)
    return made


def test_an_import_is_taken_out_in_one_step_and_comes_back_in_one(vouch: Vouch) -> None:
    [asked] = [
        json.loads(line) for line in vouch.run("sessions", "--shelf", "asked", "--json").out.splitlines()
    ]
    listed = vouch.run("sessions", "--from", "llm", "--json").out.splitlines()
    assert len(listed) == 3
    session = str(json.loads(listed[0])["session"])
    vouch.run("ask", "--session", session, "And now?", code=1)  # gone on with here
    deleted = vouch.run("sessions", "--from", "llm", "--delete")
    assert len(deleted.out.splitlines()) == 2
    assert "Kept, since you went on with them here" in deleted.err
    assert "Deleted: 2 sessions" in deleted.err
    assert len(vouch.run("sessions").out.splitlines()) == 1
    vouch.run("sessions", "--shelf", "deleted", "--from", "LLM", "--bring-back")
    listed_open = vouch.run("sessions")
    assert len(listed_open.out.splitlines()) == 3
    assert "1 session of `vouch ask` is not listed here: --shelf asked lists it." in listed_open.err
    assert asked["imported_from"] is None
    assert datetime.fromisoformat(asked["last_at"]).microsecond == 0
    assert len(asked["last_at"]) == len("2026-11-22T06:50:45+00:00")


def test_erasing_on_the_command_line_needs_the_shelf_and_a_yes(vouch: Vouch) -> None:
    vouch.run("sessions", "--erase", code=2)
    vouch.run("sessions", "--shelf", "deleted", "--delete", code=2)
    vouch.run("sessions", "--from", "llm", "--delete")
    refused = vouch.run("sessions", "--shelf", "deleted", "--erase", code=2)
    assert "--yes" in refused.err
    erased = vouch.run("sessions", "--shelf", "deleted", "--from", "llm", "--erase", "--yes")
    assert "Erased for good: 3 sessions with 3 turns." in erased.err
    assert "bytes are gone" in erased.err
    assert CANARY.encode() not in bytes_of(vouch.data)
    vouch.run("sessions", "--shelf", "deleted", code=1)
    again = vouch.run("import", str(vouch.folder / "logs.json"))
    assert again.out.startswith("new: 0 sessions, 0 turns")  # what was erased does not come back by itself


def test_an_import_tells_how_it_is_taken_out_again(vouch: Vouch) -> None:
    other = [{"conversation_id": "d", "id": "d1", "prompt": "a", "response": "b", "model": "m"}]
    told = vouch.run("import", vouch.write("more.json", json.dumps(other)))
    assert "`vouch sessions --from llm --delete` takes it out again." in told.err
