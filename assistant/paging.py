"""Long results at a terminal, shown by the person's own pager; in a pipe nothing changes."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

P = ParamSpec("P")
R = TypeVar("R")


def paged(
    command: Callable[Concatenate[click.Context, P], R],
) -> Callable[Concatenate[click.Context, P], R]:
    """Has what a command prints shown by `$PAGER`, where it is longer than the terminal is high.

    One that is to change something (its parameter `change`) may ask first, and is not paged.
    """

    @wraps(command)
    def run(ctx: click.Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        given: dict[str, Any] = ctx.find_root().ensure_object(dict)
        otherwise = given.get("json") or given.get("plain") or given.get("no_input") or kwargs.get("change")
        with _paged() if not otherwise and _can_page() else _as_it_comes():
            return command(ctx, *args, **kwargs)

    return run


def _can_page() -> bool:
    has_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return has_terminal and bool(os.environ.get("PAGER", "").strip())


class _ForTerminal(io.StringIO):
    """What is printed here is laid out as for a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def _as_it_comes() -> Iterator[None]:
    yield


@contextmanager
def _paged() -> Iterator[None]:
    """What was printed is shown also where the command fails: the reason follows it."""
    printed = _ForTerminal()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        _show(printed.getvalue())


def _show(text: str) -> None:
    size = shutil.get_terminal_size()
    rows = sum(max(1, -(-len(line) // size.columns)) for line in text.splitlines())
    if rows < size.lines or not _by_pager(text):
        click.echo(text, nl=False)


def _by_pager(text: str) -> bool:
    """Whether it was shown; the person may leave the pager before it has read everything."""
    try:
        command = shlex.split(os.environ["PAGER"])
        pager = subprocess.Popen(command, stdin=subprocess.PIPE)
    except (OSError, ValueError):
        return False
    try:
        pager.communicate(text.encode("utf-8", "replace"))
    except (BrokenPipeError, KeyboardInterrupt):  # Ctrl+C is the pager's
        pager.wait()
    return pager.returncode != 127  # a shell that found no such program
