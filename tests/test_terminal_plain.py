"""/plain: a conversation leaves the screen and goes on in plain mode, with all that was typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch
from screen_fixtures import on_screen
from scripted_server import ScriptedServer, says

from stores.database.tables import Turn

LEAVES_SCREEN = "\x1b[?1049l"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """An empty store, made once; tests work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("plain"), minilm_folder.parent)
    made.chat("/help")
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def turns(vouch: Vouch) -> list[tuple[str, str, str]]:
    with vouch.database() as database, database.reading() as sql:
        kept = sql.query(Turn).order_by(Turn.id).all()  # type: ignore[arg-type]
        assert len({turn.session_id for turn in kept}) == 1
        return [(turn.message, turn.answer, turn.state) for turn in kept]


@pytest.mark.slow
def test_plain_waits_for_the_reply_and_takes_the_draft_along(vouch: Vouch) -> None:
    with ScriptedServer([says("One ", "two ", "three.", pause_seconds=1.0), says("Fine.")]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            person.sees("Ask anything")
            person.types("question")
            person.sees("question")
            person.types("\r")
            person.sees("One")
            person.types("/plain")
            person.sees("/plain")
            person.types("\r")
            person.sees("waits for its turn")  # what comes with Enter in one piece is a paste
            person.types("half a thought")
            person.sees("Plain mode, because of /plain.")
            person.sees("You: question")
            person.sees("Assistant: One two three.")
            person.sees("You: half a thought")
            assert LEAVES_SCREEN in person.screen
            person.types(", whole now\n")
            person.sees("Assistant: Fine.")
            person.sees("You: ")
            person.types("/plain\n")
            person.sees("This is plain mode.")
            person.sees("You: ")
            person.types("\x04")
            assert person.exit_code() == 0
    assert turns(vouch) == [
        ("question", "One two three.", "done"),
        ("half a thought, whole now", "Fine.", "done"),
    ]
    assert not list((vouch.folder / "state").rglob("drafts/*/*.txt"))


async def test_in_a_browser_plain_says_where_it_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(tmp_path) as chat:
        monkeypatch.setattr(type(chat.app), "is_web", True)
        await chat.sends("/plain")
        await chat.shows("a browser has no plain mode")
        monkeypatch.undo()
        assert chat.app.is_running
