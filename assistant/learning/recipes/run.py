"""What every training that a round begins has in common: how it is begun, stopped, and what it says.

    options -> what is read -> steps, until a signal -> a folder, whole or not at all

Progress is lines of JSON on stdout, each with its `kind`; errors are sentences on stderr.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

import torch

from agents.models.exporters.onnx_export import said_by
from stores.base.errors import DEFECT, TryAgain, VouchError
from stores.base.shortages import shortage

SETTINGS = "settings.json"  # in the folder that is made: how it came about
STOPPED = 130  # exit code
_PR_SET_PDEATHSIG = 1  # of prctl(2)

Tell = Callable[..., None]


class Stopped(Exception):
    """The run was asked to stop."""


class StopSignal:
    """SIGTERM and SIGINT: noted while a step is taken, and obeyed at once where nothing can be lost."""

    def __init__(self) -> None:
        self.came = False
        self.is_urgent = True
        self._at_once = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Handles the signal."""
        self.came = True
        self.is_urgent = signum != signal.SIGINT
        if self._at_once:
            raise Stopped

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Within it, the signal raises Stopped wherever the run is."""
        self._at_once = True
        try:
            if self.came:
                raise Stopped
            yield
        finally:
            self._at_once = False


class CannotTrain(VouchError):
    """What was asked for cannot be trained; the message says why."""


class Trains(Protocol):
    """One training."""

    def train(self) -> None:
        """All steps that are left. Raises `Stopped` when told to stop."""

    def finish(self) -> None:
        """Puts the folder in its place."""


def run(
    options: Callable[[], argparse.Namespace],
    make: Callable[[argparse.Namespace, StopSignal, Tell], Trains],
) -> int:
    """Returns the exit code: 0, 130 when it was stopped and can go on, another one after an error.

    options: with `out`, `resume`, `threads` and `parent`, the process with which this one ends.
    """
    stop = StopSignal()
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        given = options()
        if given.parent is not None:
            _end_with(given.parent)
        if given.out.exists():
            if given.resume and (given.out / SETTINGS).is_file():
                shutil.rmtree(workplace(given.out), ignore_errors=True)
                return 0  # it was finished, and killed before it could say so
            raise CannotTrain(f"{given.out} exists already")
        torch.set_num_threads(given.threads)
        with stop.at_once():
            begun = make(given, stop, tell)
        begun.train()
        begun.finish()
    except Stopped:
        print("Stopped; the same command with --resume goes on.", file=sys.stderr)
        return STOPPED
    except VouchError as error:
        print(f"Error: {error.message}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # a full disk, mostly
        print(f"Error: {said_by(error)}", file=sys.stderr)
        return TryAgain.exit_code
    except Exception as error:  # noqa: BLE001 - the last place to catch it
        if lacking := shortage(error):
            print(f"Error: {lacking.message}", file=sys.stderr)
            return lacking.exit_code
        traceback.print_exc()
        print(f"Error: {type(error).__name__}: {said_by(error)}", file=sys.stderr)
        return DEFECT
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def workplace(out: Path) -> Path:
    """Where what is not whole yet lies."""
    return out.with_name(out.name + ".training")


def tell(kind: str, **facts: object) -> None:
    """A line of progress."""
    print(json.dumps({"kind": kind} | facts), flush=True)


def _end_with(parent: int) -> None:
    """On Linux the system ends this process with the one that started it, also while it is halted."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended just before
            raise Stopped
