"""`/suspend` gives the terminal back as it was and stops the process; `fg` brings the chat back as it was."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Person, Vouch

ENTERS_SCREEN = "\x1b[?1049h"
LEAVES_SCREEN = "\x1b[?1049l"
SHOWS_CURSOR = "\x1b[?25h"
LETS_GO_OF_THE_MOUSE = "\x1b[?1000l"


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path, minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


def is_stopped(person: Person) -> bool:
    """Whether the process is stopped. The word of it is left to whoever waits for its end."""
    kinds = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT
    found = os.waitid(os.P_PID, person._process.pid, kinds)
    return found is not None and found.si_code == os.CLD_STOPPED


def stops(person: Person) -> None:
    person.until(lambda: is_stopped(person), "it never stopped")
    person.has_seen_all()


def test_the_terminal_is_the_shell_s_while_it_is_suspended_and_the_chat_comes_back(vouch: Vouch) -> None:
    with vouch.terminal("chat") as person:
        person.sees("1 shared")
        assert not person.reads_lines()
        for command in ("/suspend", "/suspend"):  # once more, behind the first time
            before = len(person.screen)
            person.types(command)
            person.sees(command)
            time.sleep(0.2)  # or Enter might be taken for a part of a paste
            person.types("\r")
            stops(person)
            assert person.reads_lines()
            given_back = person.screen[before:]
            assert LEAVES_SCREEN in given_back
            assert given_back.rindex(SHOWS_CURSOR) > 0
            assert LETS_GO_OF_THE_MOUSE in given_back

            os.kill(person._process.pid, signal.SIGCONT)
            person.sees(ENTERS_SCREEN)
            person.sees("New session")  # all of it is drawn anew
            person.sees("Ask anything")
            assert not is_stopped(person)
            assert not person.reads_lines()
        person.types("half a thought")
        person.sees("thought")
        person.types("\x11")
        assert person.exit_code() == 0
        assert person.reads_lines()
    assert [path.read_text() for path in (vouch.folder / "state").rglob("drafts/*/*.txt")] == [
        "half a thought"
    ]
