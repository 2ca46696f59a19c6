"""However the chat ends, it keeps what was typed and written, gives the screen back, and says how it ended.

Each test is a process at a pseudo-terminal, as a person has it.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Person, Vouch
from scripted_server import ScriptedServer, hangs

from stores.database.tables import Turn

LEAVES_SCREEN = "\x1b[?1049l"
LETS_GO_OF_THE_MOUSE = "\x1b[?1000l"
_PROMPT = "Ask anything"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A store with one shared document, made once; tests work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("screen"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def drafts(vouch: Vouch) -> list[str]:
    return [path.read_text() for path in (vouch.folder / "state").rglob("drafts/*/*.txt")]


def turns(vouch: Vouch) -> list[tuple[str, str, str]]:
    with vouch.database() as database, database.reading() as sql:
        return [(t.message, t.answer, t.state) for t in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]


def breaks_help(vouch: Vouch, with_what: str) -> None:
    """F1 comes to this statement of Python."""
    breaks = vouch.write(
        "broken/sitecustomize.py",
        "import assistant.terminal.widgets.screen_help as t\n"
        f"def broken(*a, **k): {with_what}\n"
        "t.help_text = broken\n",
    )
    paths = [str(Path(breaks).parent), vouch.environment.get("PYTHONPATH", "")]
    vouch.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def half_written(person: Person) -> None:
    """A reply of which a part has come, and a draft behind it."""
    person.sees(_PROMPT)
    person.types("question")
    person.sees("question")
    person.types("\r")
    person.sees("Half of it")
    person.types("half a thought")
    person.sees("thought")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_a_signal_keeps_part_and_draft_and_ends_with_its_code(
    vouch: Vouch, number: signal.Signals, code: int
) -> None:
    with ScriptedServer([hangs(["Half of it"])]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            half_written(person)
            os.kill(person._process.pid, number)
            assert person.exit_code() == code
            assert LEAVES_SCREEN in person.screen
            assert person.reads_lines()
    assert turns(vouch) == [("question", "Half of it", "stopped")]
    assert drafts(vouch) == ["half a thought"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_screen_that_hangs_is_ended_by_a_signal(vouch: Vouch, number: signal.Signals, code: int) -> None:
    breaks_help(vouch, "import threading; threading.Event().wait()")
    with vouch.terminal("chat") as person:
        person.sees(_PROMPT)
        person.types("half a thought")
        person.sees("thought")
        person.types("\x1bOP")  # F1
        person.has_seen_all()
        os.kill(person._process.pid, number)
        assert person.exit_code() == code
        assert LEAVES_SCREEN in person.screen
        assert LETS_GO_OF_THE_MOUSE in person.screen
        assert person.reads_lines()
    assert drafts(vouch) == ["half a thought"]


def test_a_closed_terminal_keeps_part_and_draft(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["Half of it"])]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            half_written(person)
            person.close()
            assert person.exit_code() == 129
    assert turns(vouch) == [("question", "Half of it", "stopped")]
    assert drafts(vouch) == ["half a thought"]


def test_the_name_alone_ends_with_the_code_of_the_chat(vouch: Vouch) -> None:
    with vouch.terminal() as person:
        person.sees(_PROMPT)
        os.kill(person._process.pid, signal.SIGTERM)
        assert person.exit_code() == 143


def test_a_defect_gives_the_screen_back_names_its_report_and_ends_with_70(vouch: Vouch) -> None:
    breaks_help(vouch, "raise ZeroDivisionError")
    with vouch.terminal("chat") as person:
        person.sees(_PROMPT)
        person.types("half a thought")
        person.sees("thought")
        person.types("\x1bOP")  # F1
        assert person.exit_code() == 70
        behind = person.screen.rpartition(LEAVES_SCREEN)[2]
    assert "a defect of ours: ZeroDivisionError" in behind
    assert "Traceback" not in behind
    assert drafts(vouch) == ["half a thought"]


def test_what_cannot_be_opened_is_said_behind_the_screen_with_its_code(vouch: Vouch) -> None:
    with vouch.terminal("chat", "--session", "77") as person:
        assert person.exit_code() == 1
        assert "there is no session 77 of yours" in person.screen.rpartition(LEAVES_SCREEN)[2]


def test_a_key_or_theme_that_there_is_not_is_named_before_any_screen(vouch: Vouch) -> None:
    for settings, said in (
        ("[terminal\n", "settings.toml"),
        ('[terminal.keys]\nwy = "f9"\n', "settings.toml line 2: terminal.keys.wy is the id of no key"),
        (
            '[terminal]\ntheme = "textual-drak"\n',
            "line 2: terminal.theme is 'textual-drak', but must be a theme",
        ),
    ):
        vouch.set(settings)
        with vouch.terminal("chat") as person:
            assert person.exit_code() == 2
            assert said in person.screen
            assert "\x1b[?1049h" not in person.screen


def test_offline_is_told_in_the_status_line(vouch: Vouch) -> None:
    with vouch.terminal("chat", "--offline") as person:
        person.sees("1 shared")
        person.sees("offline")
        person.types("\x11")
        assert person.exit_code() == 0
