"""Plain mode beside the golden transcripts in tests/goldens/plain: at a pipe, and at a terminal.

VOUCH_WRITE_SCREENS=1 writes them anew; look at what changed before keeping it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch
from scripted_server import ScriptedServer, cuts, hangs, says, unused_url

GOLDENS = Path(__file__).parent / "goldens" / "plain"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A store in which the handbook is shared; scenes work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("plain"), minilm_folder.parent)
    made.run("--user", "librarian", "ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def assert_golden(name: str, transcript: str) -> None:
    """The transcript, without what differs from day to day and from machine to machine."""
    told = transcript.replace("\r\n", "\n")
    told = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-11-21 12:00", told)
    told = re.sub(r"\d{4}-\d\d-\d\d(?=  )", "2026-11-21", told)
    told = re.sub(r"\d\d? [A-Z][a-z]+ \d{4},? \d\d:\d\d", "21 November 2026 12:00", told)
    told = re.sub(r"(?<=of |on )\d\d? [A-Z][a-z]+(?=\)|: “)", "21 November", told)
    told = re.sub(r"\b\d\.\d\d\b", "0.50", told)  # scores, which the machine's arithmetic rounds
    told = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", told)
    file = GOLDENS / f"{name}.txt"
    if os.environ.get("VOUCH_WRITE_SCREENS"):
        file.write_text(told, encoding="utf-8")
    assert told == file.read_text(encoding="utf-8")


PIPED: Mapping[str, tuple[str, ...]] = {  # what is typed, by scene
    "ask": (QUESTION, "What is the password of the network?"),
    "why": (QUESTION, "/why", "/why 7"),
    "teach-and-undo": (
        "Who waters the plants?",
        "/teach Marta waters the plants.",
        "Who waters the plants?",
        "/undo",
        "Who waters the plants?",
    ),
    "remember": (
        "/remember I take my tea without milk.",
        "/memory",
        "How do I take my tea?",
        "/forget 2 --yes",
        "/memory",
    ),
    "rate": (QUESTION, "/good", "/bad it should be shorter"),
    "private": ("/private", "My locker number is 214.", "/memory", "/new", "/memory"),
    "help": ("/help",),
    "wrong-commands": ("/rember the milk", "/teach", "/forget ²", "/undo", "/why"),
    "sessions": (QUESTION, "/new Holidays", "Is it open on Sundays?", "/sessions", "/sessions holi"),
    "find": (QUESTION, "/new Holidays", "Is it open on Sundays?", "/find open", "/find bicycle", "/find"),
    "branches": (
        QUESTION,
        "/retry",
        "/branch",
        "/change Is it open on Sundays?",
        "/branch 2",
        "/branch 9",
        "/change",
    ),
    "only-on-screen": ("/copy", "/theme", "/suspend", "/edit", "/compare 7"),
    "quit": ("/quit", "never said"),
}
ENDS_WITH = {"why": 1, "wrong-commands": 1, "find": 2, "branches": 2, "only-on-screen": 1}  # else with 0


@pytest.mark.parametrize("scene", PIPED)
def test_a_scene_through_a_pipe_reads_as_its_golden_transcript(vouch: Vouch, scene: str) -> None:
    assert_golden(scene, vouch.chat(*PIPED[scene], code=ENDS_WITH.get(scene, 0)))


def test_a_model_that_cannot_be_reached_is_told_and_what_was_found_is_quoted(vouch: Vouch) -> None:
    vouch.use_server(unused_url())
    assert_golden("unreachable", vouch.chat(QUESTION, "/sessions"))


def test_a_reply_that_breaks_off_keeps_its_part(vouch: Vouch) -> None:
    with ScriptedServer([cuts(["It opens at "])], then=says("At ten [1].")) as server:
        vouch.use_server(server.base_url)
        assert_golden("broken-off", vouch.chat(QUESTION, QUESTION))


@pytest.mark.slow
def test_a_reply_is_stopped_by_ctrl_c_and_ctrl_d_leaves(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["It opens at ", "ten"])], then=says("At ten [1].")) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat", "--plain") as person:
            person.sees("You: ")
            person.types("When does it open?\n")
            person.sees("Assistant: It opens at ten")
            person.interrupts_until("(stopped)")
            person.sees("You: ")
            person.types(f"{QUESTION}\n")
            person.sees("Source 1")
            person.sees("You: ")
            person.types("\x04")
            assert person.exit_code() == 0
    assert "\x1b[?1049h" not in person.screen  # no alternate screen
    shown = re.sub(r"\x1b\[\?2004[hl]|\^C", "", person.screen).replace("\r", "")
    assert_golden("stopped", shown)


@pytest.mark.slow
def test_forgetting_asks_at_a_terminal_and_is_answered_there(vouch: Vouch) -> None:
    with vouch.terminal("chat", "--plain") as person:
        person.sees("You: ")
        person.types("/remember I like tea.\n")
        person.sees("takes it back.")
        person.sees("You: ")
        for answer, told in (("n", "Nothing was forgotten."), ("y", "Forgotten: ")):
            person.types("/forget 2\n")
            person.sees("[y/N]")
            person.sees("You: ")
            person.types(f"{answer}\n")
            person.sees(told)
            person.sees("You: ")
        person.types("\x04")
        assert person.exit_code() == 0
    assert_golden("forget", re.sub(r"\x1b\[\?2004[hl]", "", person.screen).replace("\r", ""))


def test_no_scene_has_control_bytes_boxes_or_spinners() -> None:
    for file in sorted(GOLDENS.glob("*.txt")):
        told = file.read_text(encoding="utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u2500-\u259f\u2800-\u28ff]", told), file.name


def test_every_scene_is_played() -> None:
    others = {"unreachable", "broken-off", "stopped", "forget"}
    assert {file.stem for file in GOLDENS.glob("*.txt")} == set(PIPED) | others
