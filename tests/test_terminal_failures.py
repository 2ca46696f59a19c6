"""What goes wrong is told where the person looks, and nothing that was typed is lost.

Each test is a process at a pseudo-terminal, as a person has it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_helpers import HANDBOOK, QUESTION, Person, Vouch
from screen_fixtures import HOLD, on_screen
from scripted_server import ScriptedServer, cuts, says

from assistant.terminal.app.app import ChatApp
from assistant.turns.host import wait_seconds
from stores.base.errors import ModelBusy
from stores.database.tables import Turn


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A store with one shared document, made once; tests work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("failures"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def turns(vouch: Vouch) -> list[tuple[str, str, str]]:
    with vouch.database() as database, database.reading() as sql:
        return [(t.message, t.answer, t.state) for t in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]


@contextmanager
def chatting(vouch: Vouch) -> Iterator[Person]:
    """Somebody whose chat is ready, and who leaves it in the end."""
    with vouch.terminal("chat") as person:
        person.sees("1 shared")
        yield person
        person.until(lambda: "accepted" not in [state for *_, state in turns(vouch)], "a reply never ended")
        person.types("\x03\x11")  # whatever stands in the prompt
        assert person.exit_code() == 0


def sends(person: Person, text: str) -> None:
    person.types(text)
    person.sees(text[-4:])
    person.types("\r")


def test_a_closed_window_ends_a_chat_that_writes(vouch: Vouch) -> None:
    words = [f"word{number} " for number in range(400)]
    with ScriptedServer([says(*words, pause_seconds=0.05)]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            person.sees("1 shared")
            sends(person, "Tell me a story")
            person.sees("word9")
            person.types("half a draft")
            person.close()
            assert person.exit_code() == 129
    [(message, answer, state)] = turns(vouch)
    assert (message, state) == ("Tell me a story", "stopped")
    assert answer.startswith("word0 word1")


@pytest.mark.parametrize("editor", ["/nowhere/ed", "false"])
def test_an_editor_that_fails_gives_the_screen_back(vouch: Vouch, editor: str) -> None:
    vouch.environment |= {"VISUAL": editor, "EDITOR": editor}
    with chatting(vouch) as person:
        sends(person, "/edit")
        person.sees("cannot be run" if "nowhere" in editor else "ended with 1")
        person.types("still here")
        person.sees("still here")


def test_a_model_that_cannot_be_reached_is_replaced_for_one_turn_and_asked_again_by_the_next(
    vouch: Vouch,
) -> None:
    with ScriptedServer([cuts()], then=says("By the model.")) as server:
        vouch.use_server(server.base_url)
        with chatting(vouch) as person:
            sends(person, QUESTION)
            person.sees("[1] shared")
            sends(person, "question two")
            person.sees("By the model.")
    [first, second] = turns(vouch)
    assert (first[0], first[2], second[1:]) == (QUESTION, "done", ("By the model.", "done"))
    assert "opens at 10:00" in first[1]


def test_a_full_disk_stops_sending_and_the_prompt_keeps_its_text(vouch: Vouch) -> None:
    is_full = Path(vouch.write("is-full", ""))
    is_full.unlink()
    vouch.write(
        "full/sitecustomize.py",
        "import os, sqlite3\n"
        "class Full(sqlite3.Cursor):\n"
        "    def execute(self, sql, *rest):\n"
        f"        if sql.lstrip().upper().startswith('INSERT') and os.path.exists({str(is_full)!r}):\n"
        "            raise sqlite3.OperationalError('database or disk is full')\n"
        "        return super().execute(sql, *rest)\n"
        "    def executemany(self, sql, *rest):\n"
        f"        if sql.lstrip().upper().startswith('INSERT') and os.path.exists({str(is_full)!r}):\n"
        "            raise sqlite3.OperationalError('database or disk is full')\n"
        "        return super().executemany(sql, *rest)\n"
        "class Connection(sqlite3.Connection):\n"
        "    def cursor(self, factory=Full): return super().cursor(factory)\n"
        "connect = sqlite3.connect\n"
        "sqlite3.connect = lambda *a, **k: connect(*a, **(k | {'factory': Connection}))\n"
        "sqlite3.dbapi2.connect = sqlite3.connect\n",
    )
    paths = [str(vouch.folder / "full"), vouch.environment.get("PYTHONPATH", "")]
    vouch.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    with ScriptedServer([says("At ten.")]) as server:
        vouch.use_server(server.base_url)
        with chatting(vouch) as person:
            is_full.touch()
            sends(person, "question one")
            person.sees("not sent: ")
            person.sees("Make room")
            assert turns(vouch) == []
            is_full.unlink()
            person.types("\r")  # it stands in the prompt still
            person.sees("At ten.")
    assert turns(vouch) == [("question one", "At ten.", "done")]


def test_a_busy_model_is_waited_for_as_long_as_it_says_and_else_longer_each_time() -> None:
    assert wait_seconds(ModelBusy("busy", retry_after_seconds=20.0), 3) == 20.0
    assert [wait_seconds(ModelBusy("busy"), tries) for tries in range(5)] == [5.0, 10.0, 20.0, 40.0, 60.0]


def test_an_end_of_the_library_that_hangs_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []

    def fails() -> None:
        done.append("screen given back")
        raise OSError("the terminal is gone")

    monkeypatch.setattr("assistant.terminal.app.app.os._exit", done.append)
    app: Any = SimpleNamespace(_driver=SimpleNamespace(stop_application_mode=fails))
    ChatApp._break_off(app, 129)
    assert done == ["screen given back", 129]


async def test_a_busy_model_is_tried_again_by_itself_and_esc_ends_every_wait(tmp_path: Path) -> None:
    soon, late = (ModelBusy("slow down", retry_after_seconds=seconds) for seconds in (2.0, 600.0))
    async with on_screen(tmp_path, replies=[[soon], ["At ten."], [late], [HOLD]]) as chat:
        await chat.sends("question one")
        await chat.shows("trying again in 2 s · Esc stops trying")
        await chat.shows("At ten.")
        await chat.sends("question two")
        await chat.shows("trying again in 600 s")
        desk = chat.app.chat.desk
        assert (
            await asyncio.wait_for(desk.do(lambda _assistant, user_id: user_id), 5) == 1
        )  # nobody waits too
        await chat.presses("escape")
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        await chat.sends("question three")
        await chat.shows("s · Esc stops")
        await chat.presses("escape")
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        with chat.app.chat.desk._known_assistant.stores.database.reading() as sql:
            states = [turn.state for turn in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]
    assert states == ["failed", "done", "failed", "stopped"]
