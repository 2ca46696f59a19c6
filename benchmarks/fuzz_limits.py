"""What a case of the fuzzing may take and say, and how that is watched."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

MOST_SECONDS = 10.0  # of processor time, for one case

MOST_WALL_SECONDS = 120.0  # without which a case hangs, however busy the machine is

MOST_MEGABYTES = 500

LONGEST_MESSAGE = 600  # characters of a line, the path left out


def problem_of_message(message: str) -> str:
    """What is wrong with an error's line, or nothing."""
    if not message.isprintable():
        return f"control characters or line breaks in {message!r}"
    if len(message) > LONGEST_MESSAGE:
        return f"a message of {len(message)} characters"
    if re.search(r"Traceback|File \"|object at 0x|Error\('", message):
        return f"a programmer's message: {message}"
    return ""


class Hangs(BaseException):
    """Passes whoever catches every error."""


@contextlib.contextmanager
def deadline() -> Iterator[None]:
    def end(_number: int, _frame: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, MOST_WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def processor_seconds(process_id: int | None) -> float:
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_megabytes(process_id: int | None) -> float:
    try:
        status = Path(f"/proc/{process_id}/status").read_text()
    except OSError:
        return 0.0
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(peak[1]) / 1024 if peak else 0.0


def forget_peak(process_id: int | None) -> None:
    with contextlib.suppress(OSError):
        Path(f"/proc/{process_id}/clear_refs").write_text("5")
