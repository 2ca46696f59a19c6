"""Standard input, output and error as a command uses them: UTF-8 through a pipe, and errors told plainly."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from stores.base.errors import TryAgain


class OutputUnwritable(TryAgain):
    """What a command printed could not be written where it was sent to."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the output cannot be written: {reason}",
            hint="Make room where it is written to, or send it elsewhere.",
        )
        self.reason = reason


class _Results(io.FileIO):
    """Standard output: what cannot be written is an error of its own. A reader that went away is another."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputUnwritable(error.strerror or str(error)) from error


class _Narration(io.FileIO):
    """Standard error: nobody can be told that nobody can be told."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError:
            return len(data)


def prepare_streams() -> None:
    """Through a pipe text is UTF-8; a character that cannot be read or shown costs itself, no more."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed by who called us
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    for name, guarded in (("stdout", _Results), ("stderr", _Narration)):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__") and not stream.isatty():
            raw = guarded(stream.fileno(), "wb", closefd=False)
            text = io.TextIOWrapper(
                io.BufferedWriter(raw),
                encoding="utf-8",
                errors="replace",
                line_buffering=name == "stderr",
            )
            setattr(sys, name, text)


def drop_output() -> None:
    """Whatever is still in the buffer goes nowhere: nobody reads it, or it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    os.close(nowhere)
