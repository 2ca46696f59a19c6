"""A command in the process of the tests, with pipes, environment and directory of its own.

    code, out, err = run_here(("ask", "when?"), stdin=b"", env=environment, cwd=folder)

What it prints goes through descriptors 1 and 2 as in a process of its own. A model that one command has
loaded is kept for the next. Signals, terminals, and what ends a process need a real one: `ForkedCommand`.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_MODELS = (
    ("agents.models.encoders.encoder", "OnnxEncoder"),
    ("agents.models.encoders.multilingual", "MultilingualEncoder"),
    ("agents.models.reader", "OnnxReader"),
    ("agents.models.dialogue_generator", "DialogueGenerator"),
)
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM)
_OURS = ("assistant", "agents", "stores")
_kept: dict[object, dict[str, Any]] = {}


def can_run_here() -> bool:
    """Signals need the main thread, and a command has an event loop of its own."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def run_here(
    arguments: Sequence[str], *, stdin: bytes, env: Mapping[str, str], cwd: Path, within_seconds: float
) -> tuple[int, bytes, bytes]:
    """Exit code, standard output and error; beyond its time the process of the tests ends with a trace."""
    from assistant.cli import run

    faulthandler.dump_traceback_later(within_seconds, exit=True, file=sys.__stderr__)
    try:
        with _as_in(env, cwd), _models_kept(), _piped(stdin) as printed:
            code = run(list(arguments))
    finally:
        faulthandler.cancel_dump_traceback_later()
    return code, *printed


@contextmanager
def _as_in(env: Mapping[str, str], cwd: Path) -> Iterator[None]:
    """The environment, directory, signals and log of a process that begins; afterwards those of the tests."""
    environment, folder, hook = dict(os.environ), Path.cwd(), sys.unraisablehook
    signals = {number: signal.getsignal(number) for number in _SIGNALS}
    log, root = list(logging.getLogger().handlers), logging.getLogger().level
    _become(env, cwd)
    for number in _SIGNALS[:3]:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in signals.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook
        for handler in set(logging.getLogger().handlers) - set(log):
            handler.close()
        logging.getLogger().setLevel(root)
        for name in _OURS:
            logging.getLogger(name).setLevel(logging.NOTSET)
        _become(environment, folder)


def _become(env: Mapping[str, str], cwd: Path) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.chdir(cwd)


@contextmanager
def _piped(stdin: bytes) -> Iterator[list[bytes]]:
    """Descriptors 0, 1 and 2 are pipes; afterwards the list holds what came through the latter two."""
    streams = (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__)
    saved = [os.dup(number) for number in range(3)]
    (typed, types), (out, prints), (err, complains) = os.pipe(), os.pipe(), os.pipe()
    printed: list[bytes] = [b"", b""]
    threads = [
        threading.Thread(target=_write, args=(types, stdin)),
        threading.Thread(target=_read, args=(out, printed, 0)),
        threading.Thread(target=_read, args=(err, printed, 1)),
    ]
    for number, pipe in enumerate((typed, prints, complains)):
        os.dup2(pipe, number)
        os.close(pipe)
        how = {"encoding": "utf-8", "errors": "backslashreplace" if number == 2 else "surrogateescape"}
        stream = open(number, "r" if number == 0 else "w", closefd=False, **how)  # noqa: SIM115
        name = ("stdin", "stdout", "stderr")[number]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    for thread in threads:
        thread.start()
    try:
        yield printed
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__) = streams  # type: ignore[misc]
        for number, own in enumerate(saved):
            os.dup2(own, number)
            os.close(own)
        for thread in threads:
            thread.join()


def _write(pipe: int, given: bytes) -> None:
    with os.fdopen(pipe, "wb") as stream:
        try:
            stream.write(given)
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), pipe)  # the command read no further


def _read(pipe: int, into: list[bytes], place: int) -> None:
    with os.fdopen(pipe, "rb") as stream:
        into[place] = stream.read()


@contextmanager
def _models_kept() -> Iterator[None]:
    """A model of a folder that has not changed is loaded once."""
    before = []
    for module, name in _MODELS:
        model = getattr(__import__(module, fromlist=[name]), name)
        before.append((model, model.__init__))
        model.__init__ = _keeping(model.__init__)
    try:
        yield
    finally:
        for model, init in before:
            model.__init__ = init


def _keeping(init: Callable[..., None]) -> Callable[..., None]:
    def kept(self: Any, folder: Path, *given: Any, **how: Any) -> None:
        files = tuple((path.name, path.stat().st_mtime_ns) for path in sorted(folder.resolve().glob("*")))
        key = (type(self), folder.resolve(), files, given, tuple(how.items()))
        if key not in _kept:
            init(self, folder, *given, **how)
            _kept[key] = dict(vars(self))
        vars(self).update(_kept[key])

    return kept
