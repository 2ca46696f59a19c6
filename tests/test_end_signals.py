"""What a signal raises reaches the command, wherever it arrives."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from assistant.terminal.comparison.comparison_process import SOURCES

_BEGINNING = """
import os, sys, time
from assistant.process.end_signals import let_signals_end_us

class ToldWhileDeleted:
    def __init__(self, number):
        self.number = number
    def __del__(self):
        os.kill(os.getpid(), self.number)
        time.sleep(0)

let_signals_end_us()
"""


def ran(program: str, *begun_by: str) -> subprocess.CompletedProcess[str]:
    command = [*begun_by, sys.executable, "-c", _BEGINNING + program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=SOURCES)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_told_to_end_while_an_object_is_deleted_it_ends(number: int, code: int) -> None:
    ended = ran(f"""
try:
    ToldWhileDeleted({number})
    print("deleted", flush=True)
    time.sleep(60)
finally:
    print("left by the usual way")
""")
    assert ended.returncode == code
    assert ended.stdout.endswith("left by the usual way\n")  # "deleted" may be cut by the signal
    assert not ended.stderr


def test_interrupted_while_an_object_is_deleted_it_ends() -> None:
    ended = ran(f"""
try:
    ToldWhileDeleted({signal.SIGINT})
    print("deleted", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
""")
    assert ended.stdout.endswith("interrupted\n")
    assert not ended.stderr


def test_dropped_again_it_is_raised_again() -> None:
    ended = ran(f"""
class DeletedForLong(ToldWhileDeleted):
    def __del__(self):
        ToldWhileDeleted(self.number)  # what is raised again is dropped here
        time.sleep(60)

DeletedForLong({signal.SIGTERM})
print("deleted", flush=True)
time.sleep(60)
""")
    assert ended.returncode == 143
    assert ended.stdout == "deleted\n"


def test_begun_by_nohup_it_outlasts_a_closed_terminal() -> None:
    program = f"""
os.kill(os.getpid(), {signal.SIGHUP})
print("goes on", flush=True)
os.kill(os.getpid(), {signal.SIGTERM})
"""
    outlasted, ended = ran(program, "nohup"), ran(program)
    assert (outlasted.returncode, outlasted.stdout) == (143, "goes on\n")
    assert (ended.returncode, ended.stdout) == (129, "")


def test_told_twice_it_leaves_once() -> None:
    ended = ran(f"""
try:
    os.kill(os.getpid(), {signal.SIGHUP})
    time.sleep(60)
finally:
    os.kill(os.getpid(), {signal.SIGTERM})
    time.sleep(0.05)
    print("to the end of the way out")
""")
    assert ended.returncode == 129
    assert ended.stdout == "to the end of the way out\n"


def test_other_errors_of_a_deletion_are_told_as_ever() -> None:
    ended = ran("""
class Broken:
    def __del__(self):
        raise ValueError("broken")

Broken()
print("deleted")
""")
    assert ended.returncode == 0
    assert ended.stdout == "deleted\n"
    assert "ValueError: broken" in ended.stderr
