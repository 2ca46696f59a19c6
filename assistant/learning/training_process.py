"""A training in a process of its own, at low priority, so that it never touches a chat.

files -> child process -> what it tells, line by line -> the candidate's folder
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.learning.steering import Budget, Steering
from assistant.process.low_priority import give_way
from stores.base.errors import DEFECT, OverTime, VouchError
from stores.base.shortages import ended_by

SETTINGS = "settings.json"  # in the folder: how the candidate came about
_HEARD_EVERY = 0.2  # seconds: the longest silence before `tell` is called without news
_GENTLE_SECONDS = 0.25  # in which a child that is left may write a checkpoint
_WRITING_SECONDS = 30.0  # the same where nobody waits for it

Tell = Callable[[Mapping[str, Any] | None], None]


class TrainingFailed(VouchError):
    """The child ended without a candidate; the message is its last word."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        """exit_code: 3 where it may go better later, 70 for a defect of ours."""
        super().__init__(message)
        self.exit_code = exit_code


class TrainingKilled(TrainingFailed):
    """The child was killed from outside; what it had reached is kept."""

    def __init__(self, number: int) -> None:
        super().__init__(f"the training was ended by {ended_by(number)}", exit_code=3)


class TimeOver(OverTime):
    """The time given to the training is over; what it had reached is kept."""

    def __init__(self) -> None:
        super().__init__("the time given to it was over")


class Left(Exception):
    """The training was left to be gone on with at another time."""


@dataclass(frozen=True)
class Further:
    """How a model that comes with Vouch is trained further today."""

    program: str  # a module, of `recipes/from_shipped.py`
    settings: Mapping[str, Any]
    threads: int
    options: Sequence[str] = ()  # of the program, besides the settings
    train: Callable[..., Path] = field(default_factory=lambda: train_in_child)

    def on(self, folder: Path, rows: Iterable[Mapping[str, Any]], **how: Any) -> Path:
        """A candidate; its folder, in `folder`. rows: that its program reads. how: of `train_in_child`."""
        file = folder / "lessons.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for row in rows:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        options = ["--settings", json.dumps(dict(self.settings)), "--threads", str(self.threads)]
        return self.train(folder, self.program, [file], [*options, *self.options], **how)


def train_in_child(
    folder: Path,
    module: str,
    shown: Sequence[Path],
    options: Sequence[str],
    *,
    budget_seconds: float | None = None,
    steering: Steering | None = None,
    tell: Tell = lambda told: None,
) -> Path:
    """Runs a program of `recipes.run` and returns the candidate's folder, within `folder`, which exists.

    Where an earlier call left a checkpoint of the same lessons there, it goes on from that. Raises
    `TrainingFailed`, `TimeOver`, or `Left` when steered to.

    shown: what it reads, the lessons first; deleted as soon as they are read. tell: is given all that the
    child tells, as it tells it, and None a few times a second while it is silent; what it raises ends the
    child.
    """
    steering = steering or Steering()
    made, errors = folder / "candidate", folder / "errors.txt"
    command = [sys.executable, "-m", module, str(shown[0]), "--out", str(made), "--resume"]
    command += ["--parent", str(os.getpid()), *options]
    budget = Budget(budget_seconds, steering)
    try:
        with _child(command, errors, steering) as child:
            for line in _lines(child):
                told = json.loads(line) if line is not None else None
                if told and told.get("phase") == "training":
                    _forget(shown)
                if told and "device" in told:
                    steering.computes_on(told["device"])
                tell(told)
                if steering.is_left:
                    raise Left
                if budget.is_over():
                    _end(child, asked_by=signal.SIGINT, within=_WRITING_SECONDS)
                    raise TimeOver
            if steering.is_left:
                raise Left
            code = child.wait()
    finally:
        _forget(shown)
    if code != 0:
        raise _failure(code, errors)
    return made


def _forget(files: Sequence[Path]) -> None:
    """What was asked lies no longer beside the database than it takes to read it."""
    for file in files:
        file.unlink(missing_ok=True)


def _failure(code: int, errors: Path) -> TrainingFailed:
    if -code in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        return TrainingKilled(-code)
    said = errors.read_text(encoding="utf-8", errors="replace").strip()
    last = said.splitlines()[-1].removeprefix("Error: ") if said else f"exit code {code}"
    # with 2 it refuses a command line that was written here
    return TrainingFailed(f"the training failed: {last}", exit_code=code if code in (1, 3) else DEFECT)


def kept_its_start(made: Path) -> bool:
    """Whether no epoch was better than the weights that a training started from, and it kept these."""
    return bool(json.loads((made / SETTINGS).read_text(encoding="utf-8")).get("best_epoch") == 0)


@contextmanager
def _child(command: Sequence[str], errors: Path, steering: Steering) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends when we leave, done or not."""
    with errors.open("wb") as said:
        child = subprocess.Popen(
            command,
            # Python searches this folder first: never the person's, where anything could be named torch.
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            bufsize=0,
            process_group=0,  # Ctrl+C is ours to pass on
        )
    try:
        give_way(child.pid)
        with steering.steered(child.pid):
            yield child
    finally:
        if child.poll() is None:
            _end(child, asked_by=signal.SIGTERM if steering.is_left else None, within=_GENTLE_SECONDS)
        assert child.stdout is not None, "its output is a pipe"
        child.stdout.close()


def _end(child: subprocess.Popen[bytes], *, asked_by: signal.Signals | None, within: float) -> None:
    """Ends it with the exporter that it may have started.

    asked_by: a signal on which it may write down what it has reached, within so many seconds; see
    `stop_signal`. None: it is killed at once.
    """
    if asked_by is not None:
        os.killpg(child.pid, signal.SIGCONT)
        child.send_signal(asked_by)
        with suppress(subprocess.TimeoutExpired):
            child.wait(within)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _lines(child: subprocess.Popen[bytes]) -> Iterator[bytes | None]:
    """What it tells, line by line, and None whenever it has been silent for a while."""
    assert child.stdout is not None, "its output is a pipe"
    pipe, left = child.stdout.fileno(), b""
    while True:
        ready, _, _ = select.select([pipe], [], [], _HEARD_EVERY)
        if not ready:
            yield None
            continue
        part = os.read(pipe, 1 << 16)
        if not part:
            return
        *lines, left = (left + part).split(b"\n")
        yield from lines
