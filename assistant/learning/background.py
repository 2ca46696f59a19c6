"""The learner of a chat: one thread that begins a round on occasion, in a process of its own.

    occasion or command -> `vouch train --led` -> its progress, line by line -> a notice

All that is heavy happens in that process and its children: reading the lessons, training, comparing. This
thread waits for them, and passes on when they are to wait for an answer, or to leave off. When the chat ends
in any way, the process finds its input closed, and leaves the round to be gone on with.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import IO, Any

from assistant.learning.steering import ANSWERING, ASKED, Steering
from assistant.process.low_priority import give_way
from stores.learning.rounds import in_words

_log = logging.getLogger(__name__)
_LOOKS_EVERY = 30.0  # seconds between two looks whether there is an occasion
_LEAVES_WITHIN = 0.9  # seconds
_COMMANDS = {  # what the chat says to the process that it leads
    f"wait {ANSWERING}": lambda steering: steering.pause(ANSWERING),
    f"go on {ANSWERING}": lambda steering: steering.go_on(ANSWERING),
    f"wait {ASKED}": lambda steering: steering.pause(ASKED),
    f"go on {ASKED}": lambda steering: steering.go_on(ASKED),
    "leave": Steering.leave,
}


def follow(commands: int, steering: Steering) -> None:
    """In the process that is led: does what it is told, on a thread, until the chat is gone.

    commands: what is read from, by its number: a thread that waits in a file object's buffer would keep the
    process from ending in order.
    """

    def read() -> None:
        left = b""
        while part := os.read(commands, 1 << 12):
            *lines, left = (left + part).split(b"\n")
            for line in lines:
                if (command := _COMMANDS.get(line.decode("ascii", "replace"))) is not None:
                    command(steering)
        steering.leave()

    Thread(target=read, name="steering", daemon=True).start()


class BackgroundLearner:
    """Learns while a person chats."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        is_due: Callable[[], bool],
        came_to_nothing: Callable[[], None],
        gains: Mapping[str, str],
        looks_every: float = _LOOKS_EVERY,
    ) -> None:
        """command: runs one round and is led by its input. folder: in which it runs.

        is_due, came_to_nothing: see `Occasions`; called on this learner's thread. gains: by recipe, see
        `Recipe`.
        """
        self._command = list(command)
        self._folder = folder
        self._is_due = is_due
        self._came_to_nothing = came_to_nothing
        self._gains = gains
        self._looks_every = looks_every
        self._by_itself = False
        self._tell: Callable[[str], None] = lambda sentence: None
        self._reasons: set[str] = set()
        self._is_asked = False  # for a round that has not begun
        self._is_awaited = False  # somebody asked for the round that is led, and is told what comes of it
        self._goes_on = False  # that round: it has not told how it ended
        self._is_closing = False
        self._wake = Event()
        self._lock = Lock()  # of the child and what it was told
        self._child: subprocess.Popen[bytes] | None = None
        self._thread: Thread | None = None

    @property
    def is_paused(self) -> bool:
        """Whether somebody has asked it to wait."""
        return ASKED in self._reasons

    @property
    def is_leading(self) -> bool:
        """Whether a process of its own is at a round."""
        return self._child is not None

    def start(self, tell: Callable[[str], None], *, by_itself: bool) -> None:
        """From now on it learns. tell: is given a notice, on the learner's thread.

        by_itself: on every occasion, and not only when it is asked.
        """
        self._tell, self._by_itself = tell, by_itself
        self._thread = Thread(target=self._run, name="learner", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Begins a round as soon as it can; one that is led already is told of to who asks."""
        with self._lock:
            if self._goes_on:
                self._is_awaited = True
            else:
                self._is_asked = True
        self.go_on()
        self._wake.set()

    def pause(self) -> None:
        """Has the round wait, and begins none by itself."""
        self._steer(ASKED, waits=True)

    def go_on(self) -> None:
        """Takes `pause` back."""
        self._steer(ASKED, waits=False)

    def answering(self, is_answering: bool) -> None:
        """An answer is being written, or is no more. Returns at once."""
        self._steer(ANSWERING, waits=is_answering)

    def close(self) -> None:
        """Leaves a round that runs to be gone on with; returns within a second.

        A process that is slower to leave is not waited for: it ends by itself, as its input has ended.
        """
        with self._lock:
            self._is_closing = True
            self._say("leave")
            if self._child is not None and self._child.stdin is not None:
                with suppress(OSError):
                    self._child.stdin.close()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_LEAVES_WITHIN)

    def _steer(self, reason: str, *, waits: bool) -> None:
        with self._lock:
            (self._reasons.add if waits else self._reasons.discard)(reason)
            self._say(f"{'wait' if waits else 'go on'} {reason}")

    def _say(self, command: str) -> None:
        """With the lock held."""
        if self._child is not None and self._child.stdin is not None:
            with suppress(OSError, ValueError):  # it has just ended
                self._child.stdin.write(f"{command}\n".encode())

    def _run(self) -> None:
        while not self._is_closing:
            self._wake.wait(self._looks_every)
            self._wake.clear()
            if self._is_closing:
                return
            try:
                if self._is_asked or (self._by_itself and not self.is_paused and self._is_due()):
                    self._round()
            except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
                self._by_itself = False
                self._tell(f"Training in this chat ended ({type(error).__name__}); the log tells more.")
                _log.exception("the learner of the chat ended")

    def _round(self) -> None:
        with tempfile.TemporaryFile() as errors:
            heard = _Heard()
            child = self._begun(errors)
            if child is None:
                return
            assert child.stdout is not None, "its output is a pipe"
            for line in child.stdout:
                heard.hear(json.loads(line))
                self._goes_on = heard.ended is None
            code = child.wait()
            with self._lock:
                self._child, self._goes_on, is_asked = None, False, self._is_awaited
                child.stdout.close()
                if child.stdin is not None:
                    child.stdin.close()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
        if self._is_closing:
            return
        if heard.ended is None and heard.round_id is None:
            self._came_to_nothing()  # too few lessons, another learner, or settings that no longer hold
            if is_asked or code not in (1, 3):
                self._tell(f"No round was begun: {_reason(said)}.")
            return
        if notice := heard.notice(code, _reason(said), is_asked=is_asked, gains=self._gains):
            self._tell(notice)

    def _begun(self, errors: IO[bytes]) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._is_closing:
                return None
            self._is_asked, self._is_awaited = False, self._is_asked
            child = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                process_group=0,  # Ctrl+C stops a reply, not what is learned
            )
            give_way(child.pid)
            self._child, self._goes_on = child, True
            for reason in self._reasons:
                self._say(f"wait {reason}")
            return child


class _Heard:
    """What a round has told."""

    def __init__(self) -> None:
        self.round_id: int | None = None
        self.ended: Mapping[str, Any] | None = None
        self._at = ""
        self.began = time.monotonic()

    def hear(self, told: Mapping[str, Any]) -> None:
        """Takes in one line."""
        if told.get("phase") == "dropped":
            return  # that was an earlier round
        self.round_id = told["round"]
        if "state" in told:
            self.ended = told
        elif "step" in told:
            self._at = f"at step {told['step']} of {told['steps']}"
        else:
            self._at = f"while {in_words(told['phase'])}"

    def notice(self, code: int, said: str, *, is_asked: bool, gains: Mapping[str, str]) -> str:
        """What a person is told of it; empty where they know already, and where nothing changed unasked."""
        state, reason = ("failed", said) if self.ended is None else _state_and_reason(self.ended)
        if state == "promoted":
            learned = gains.get(str((self.ended or {}).get("recipe")), gains["retriever"])
            return f"Learned to {learned}, in round {self.round_id}. /train back takes it back."
        if state == "refused":
            _log.info("round %s was refused: %s", self.round_id, reason)
            told = f"Round {self.round_id} is over, and the model in use stays. /training tells why."
            return told if is_asked else ""
        if state == "stopped" or (state == "waiting" and code == 0):
            return ""
        return (
            f"Round {self.round_id} broke off {self._at}: {reason}. The model in use is untouched; "
            "training starts again at the next occasion."
        )


def _state_and_reason(ended: Mapping[str, Any]) -> tuple[str, str]:
    return str(ended["state"]), str(ended["reason"])


def _reason(said: Sequence[str]) -> str:
    """The last word of a command that was asked for JSON."""
    last = said[-1] if said else "it ended without a word"
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(last)["error"])
    return last
