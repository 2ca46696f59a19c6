"""The command as a script meets it: pipes, and a home of its own.

vouch = Vouch(tmp_path, encoders)
vouch.run("ingest", "notes.md").out      # what a pipe gets; code, time and control bytes are checked
with vouch.terminal("chat") as person:   # the same at a pseudo-terminal
    person.sees("You: ")
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_forks import COMMAND, ForkedCommand
from command_here import can_run_here, run_here

from stores.database.database import Database

ENDS_WITHIN_SECONDS = 180  # generous: only a command that waits for ever fails by it

HANDBOOK = """\
# House rules

The reading room opens at 10:00 on Saturdays.
"""
QUESTION = "When does the reading room open on Saturdays?"

# A terminal that starts a program makes itself the one that Ctrl+C and hanging up come from.
_TAKE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "  # a shell's background job ignores it, and hands that on
    "os.execv(sys.argv[1], sys.argv[1:])"
)
_OF_PYTHON = re.compile("PYTHON|LANG|LC_")  # variables that are read when Python starts
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def _heed_interrupts() -> None:
    """In the command to be: the tests may have been started where Ctrl+C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output as JSON, one object a line, each with its schema."""
        found = [json.loads(line) for line in self.out.splitlines()]
        assert all(entry["schema"] == 1 for entry in found), self.out
        return found

    @property
    def object(self) -> dict[str, Any]:
        """Standard output as the one JSON object that it is."""
        (only,) = self.objects
        return only

    @property
    def complaint(self) -> dict[str, Any]:
        """The error on standard error, which is one JSON object."""
        told: dict[str, Any] = json.loads(self.err)
        assert told["schema"] == 1
        assert told["code"] == self.code
        return told

    @property
    def cells(self) -> list[list[str]]:
        """Standard output as lines of cells that tabs separate."""
        return [line.split("\t") for line in self.out.splitlines()]


class Vouch:
    """The command with files of its own below one folder, and an encoder that is shared."""

    def __init__(self, folder: Path, encoders: Path, *, user: str = "ann") -> None:
        """encoders: the folder in which exported encoders are kept; the reader's are kept beside it."""
        self.folder = folder
        cache = folder / "cache" / "vouch"
        cache.mkdir(parents=True, exist_ok=True)
        if not (cache / "encoders").exists():
            (cache / "encoders").symlink_to(encoders)
            (cache / "readers").symlink_to(encoders.parent / "readers")
        self.environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm",
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_DATA_HOME": str(folder / "share"),
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONWARNINGS": "error",
            "VOUCH_USER": user,
        }

    @property
    def data(self) -> Path:
        return self.folder / "share" / "vouch"

    def copy_to(self, folder: Path) -> Vouch:
        """Another one that starts with what this one has stored."""
        shutil.copytree(self.data, folder / "share" / "vouch")
        return Vouch(folder, (self.folder / "cache" / "vouch" / "encoders").resolve())

    def write(self, name: str, content: str | bytes) -> str:
        """A file for the command to read; returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def set(self, settings: str) -> None:
        """What settings.toml says."""
        self.write("config/vouch/settings.toml", settings)

    def use_server(self, base_url: str, more: str = "", *, weighs: bool = True) -> None:
        """Has replies written by a server, without further tries. more: further lines of [model].

        weighs: the model weighs what is stated, unprobed; else the settings stay as they are.
        """
        memory = '[memory]\nagents = "model"\n' if weighs else ""
        model = f'[model]\nbackend = "openai"\nbase_url = "{base_url}"\nname = "scripted"\nretries = 0\n'
        self.set(f"{memory}{model}{more}")

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None, **how: Any) -> Any:
        """The running command, with pipes where nothing else is said."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        changed = dict(environment or {})
        if pipes.keys() == {"stdin", "stdout", "stderr"} and not any(map(_OF_PYTHON.match, changed)):
            return ForkedCommand(arguments, cwd=self.folder, env=self.environment | changed, **pipes)
        return subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment | changed,
            preexec_fn=_heed_interrupts,
            **pipes,
        )

    def run(
        self,
        *arguments: str,
        stdin: str | bytes = b"",
        code: int = 0,
        environment: Mapping[str, str] | None = None,
        apart: bool = False,
    ) -> Ran:
        """Runs a command to its end, which it has to reach in time, with this code and printable words.

        apart: in a process of its own, as always beside an event loop or where Python has to start anew.
        """
        given = stdin.encode() if isinstance(stdin, str) else stdin
        starts_anew = any(map(_OF_PYTHON.match, environment or ()))
        if apart or starts_anew or not can_run_here():
            ended, out, err = self._run_apart(arguments, given, environment)
        else:
            ended, out, err = run_here(
                arguments,
                stdin=given,
                env=self.environment | dict(environment or {}),
                cwd=self.folder,
                within_seconds=ENDS_WITHIN_SECONDS,
            )
        told = err.decode()
        assert ended == code, f"{arguments} ended with {ended}: {told}"
        assert not _CONTROL.search(out), f"{arguments} wrote control bytes: {out!r}"
        assert "Traceback" not in told, told
        return Ran(ended, out.decode(), told)

    def _run_apart(
        self, arguments: tuple[str, ...], stdin: bytes, environment: Mapping[str, str] | None
    ) -> tuple[int, bytes, bytes]:
        with self.start(*arguments, environment=environment) as process:
            try:
                out, err = process.communicate(stdin, timeout=ENDS_WITHIN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, out, err

    def chat(self, *lines: str, code: int = 0) -> str:
        """The transcript of a conversation through a pipe."""
        return self.run("chat", stdin="".join(f"{line}\n" for line in lines), code=code).out

    @contextmanager
    def terminal(self, *arguments: str) -> Iterator[Person]:
        """The command at a pseudo-terminal."""
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        person = Person(process, ours)
        try:
            yield person
        finally:
            process.kill()
            process.wait()
            person.close()

    @contextmanager
    def database(self) -> Iterator[Database]:
        """What the command has stored."""
        database = Database.at(self.data)
        try:
            yield database
        finally:
            database.close()


class Person:
    """Somebody at a terminal: reads what appears there and presses keys."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self._process = process
        self._terminal: int | None = terminal
        self.screen = ""  # all that appeared
        self._read_to = 0

    def types(self, keys: str) -> None:
        assert self._terminal is not None, "the terminal is closed"
        os.write(self._terminal, keys.encode())

    def sees(self, text: str) -> None:
        """Waits until the text appears behind what was seen before."""
        assert self._sees_within(ENDS_WITHIN_SECONDS, text), f"{text!r} never came: {self.screen!r}"

    def has_seen_all(self) -> None:
        """Reads what is still being painted: `sees` then looks only at what comes behind it."""
        ends = time.monotonic() + 3
        while time.monotonic() < ends and self._read(0.3):
            pass
        self._read_to = len(self.screen)

    def until(self, holds: Callable[[], bool], told: str) -> None:
        """Waits until it holds, and reads what is painted meanwhile."""
        ends = time.monotonic() + ENDS_WITHIN_SECONDS
        while not holds():
            assert time.monotonic() < ends, f"{told}: {self.screen[-1500:]!r}"
            self._read(0.05)

    def waits(self, seconds: float) -> None:
        """Reads all that comes for so long."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self._read(left)

    def interrupts_until(self, text: str) -> None:
        """Presses Ctrl+C until the text appears: once, as a rule.

        A signal that comes just before Python's readline begins to wait is not noticed by it, which
        a bare `input()` in a loop shows as well.
        """
        for _ in range(5):
            self.types("\x03")
            if self._sees_within(20, text):
                return
        raise AssertionError(f"{text!r} never came: {self.screen!r}")

    def _sees_within(self, seconds: float, text: str) -> bool:
        ends = time.monotonic() + seconds
        while (found := self.screen.find(text, self._read_to)) < 0:
            if not self._read(ends - time.monotonic()):
                return False
        self._read_to = found + len(text)
        return True

    def reads_lines(self) -> bool:
        """Whether the terminal is as a shell wants it: lines, echoed, and Ctrl+C a signal."""
        assert self._terminal is not None, "the terminal is closed"
        as_a_shell = termios.ICANON | termios.ECHO | termios.ISIG
        return termios.tcgetattr(self._terminal)[3] & as_a_shell == as_a_shell

    def close(self) -> None:
        """Closes the window."""
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None

    def exit_code(self) -> int:
        """Waits for the end."""
        ends = time.monotonic() + ENDS_WITHIN_SECONDS
        while self._terminal is not None and self._process.poll() is None and time.monotonic() < ends:
            self._read(0.05)  # or the last words of the command would wait for a reader
        return self._process.wait(max(0.1, ends - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        assert self._terminal is not None, "the terminal is closed"
        if seconds <= 0 or not select.select([self._terminal], [], [], seconds)[0]:
            return False
        try:
            self.screen += os.read(self._terminal, 65536).decode(errors="replace")
        except OSError:  # the command has closed its end
            return False
        return True


def read_until(stream: Any, text: str) -> str:
    """What a pipe gives up to and with the text; fails when it ends before."""
    ends = time.monotonic() + ENDS_WITHIN_SECONDS
    seen = b""
    while text.encode() not in seen:
        assert time.monotonic() < ends, f"{text!r} never came: {seen!r}"
        if select.select([stream], [], [], 0.1)[0]:
            piece = os.read(stream.fileno(), 65536)
            assert piece, f"it ended before {text!r}: {seen!r}"
            seen += piece
    return seen.decode()


def tell_to_end(process: Any, number: signal.Signals) -> int:
    """Sends a signal and waits for the exit code; what was still being said is thrown away."""
    process.send_signal(number)
    try:
        process.communicate(timeout=ENDS_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return int(process.returncode)


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False
