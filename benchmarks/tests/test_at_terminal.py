"""A process at a pseudo-terminal that is timed: whoever waits for it learns when it has ended."""

from __future__ import annotations

import os
import sys

import pytest

from benchmarks.at_terminal import AtTerminal, EndedEarly


def started(script: str) -> AtTerminal:
    return AtTerminal([sys.executable, "-c", script], os.environ, columns=80, rows=24)


def test_what_was_painted_before_the_end_is_found() -> None:
    program = started("print('painted')")
    assert program.waits_for("painted") >= program.began
    assert program.ends("") == 0


def test_waiting_for_a_program_that_has_ended_names_its_code_and_its_last_words() -> None:
    program = started("import sys; print('no such folder'); sys.exit(2)")
    with pytest.raises(EndedEarly, match=r"ended with 2 before 'painted'[\s\S]*no such folder"):
        program.waits_for("painted", within=1e9)
    assert program.ends("") == 2


def test_what_is_never_painted_is_waited_for_no_longer_than_was_said() -> None:
    program = started("import time; print('other', flush=True); time.sleep(600)")
    with pytest.raises(TimeoutError, match="'painted' was not painted"):
        program.waits_for("painted", within=0.2)
    assert program.ends("", within=0.2) < 0  # it was killed, since it did not end


def test_keys_that_nobody_reads_any_more_are_no_failure() -> None:
    program = started("")
    with pytest.raises(EndedEarly):
        program.waits_for("painted", within=1e9)
    assert program.ends("\x11") == 0
