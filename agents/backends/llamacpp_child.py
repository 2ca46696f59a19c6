"""Starts llama.cpp in a child process, and ends it.

The child listens on loopback, for who knows its key, and ends with the process that started it. What it may
take of memory and of time goes by its files and settings: a GGUF file comes from anywhere.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents.prompts.structured_replies import in_short
from stores.base.errors import BackendMissing, UnknownModel
from stores.base.shortages import ended_by

LOADING_SECONDS = 60.0
_GOODBYE_SECONDS = 2.0  # to end by itself
_SPARE_BYTES = 2_000_000_000  # beyond what grows with the model
_USUAL_CONTEXT_TOKENS = 8192
_ENDING_SECONDS = 0.5  # from the end of what it says to its own


@dataclass(frozen=True)
class Started:
    """A child that has loaded its model."""

    process: subprocess.Popen[str]
    address: str
    key: str
    context_tokens: int


def start(
    path: Path,
    *,
    context_tokens: int,
    threads: int,
    adapters: Path | None = None,
    seconds: float = LOADING_SECONDS,
    loading: Callable[[subprocess.Popen[str] | None], None] = lambda process: None,
) -> Started:
    """Takes as long as the model loads. Raises `UnknownModel`, or `BackendMissing` without xllamacpp.

    path: of a GGUF file. adapters: of another, put on the model. seconds: the longest that loading may take.
    loading: is told which process loads, then None.
    """
    files = (path, *((adapters,) if adapters else ()))
    for file in files:
        if not file.is_file():
            raise UnknownModel(f"There is no file {file}", hint="Set model.path to a GGUF file.")
    process = subprocess.Popen(
        [sys.executable, "-m", "agents.backends.llamacpp_server"],
        # Python searches this folder first: never the person's, where anything could be named json.
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # Ctrl+C is for who started it
    )
    loading(process)
    assert process.stdin is not None
    assert process.stdout is not None
    key = secrets.token_urlsafe()
    asked = {
        "path": str(path.absolute()),  # the child runs elsewhere
        "name": path.stem,
        "adapters": str(adapters.absolute()) if adapters else "",
        "context_tokens": context_tokens,
        "threads": threads,
        "key": key,
        "memory_bytes": _most_bytes(sum(file.stat().st_size for file in files), context_tokens),
    }
    is_late = threading.Event()

    def give_up() -> None:
        is_late.set()
        process.kill()

    until = threading.Timer(seconds, give_up)
    until.daemon = True
    until.start()
    try:
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        told = json.loads(line or _ended_at_once(process))
    except BaseException as error:
        process.kill()
        if not isinstance(error, (OSError, ValueError)):
            raise
        told = {"failed": str(error)}
    finally:
        until.cancel()
        loading(None)
    if is_late.is_set():
        told = {"failed": f"it did not load within {seconds:g} s"}
    if "address" not in told:
        end(process)
        raise _not_started(path, told)
    return Started(process, told["address"], key, told["context_tokens"])


def _most_bytes(model_bytes: int, context_tokens: int) -> int:
    """What a child may write to: the weights once more, arranged for the processor, and what it keeps of each
    token, which in a small model takes more than its file. A generous bound, and no measure.
    """
    kept = 3 * max(1.0, context_tokens / _USUAL_CONTEXT_TOKENS)
    return _SPARE_BYTES + int((1 + kept) * model_bytes)


def _ended_at_once(process: subprocess.Popen[str]) -> str:
    killed = killed_by(process)
    return json.dumps({"failed": f"it was ended by {killed}" if killed else "it ended at once"})


def killed_by(process: subprocess.Popen[str]) -> str:
    """The signal that ended it, as it is told; empty where none did. Waits a moment for its end."""
    with suppress(subprocess.TimeoutExpired):
        if (code := process.wait(_ENDING_SECONDS)) < 0:
            return ended_by(-code)
    return ""


def _not_started(path: Path, told: Mapping[str, str]) -> BackendMissing | UnknownModel:
    if "missing" in told:
        return BackendMissing(
            f"model.backend is 'llamacpp', but xllamacpp cannot be imported: {in_short(told['missing'])}",
            hint="Install it with pip install 'vouch[local]', or set model.backend to another.",
        )
    return UnknownModel(
        f"llama.cpp cannot load {path}: {in_short(told['failed'])}",
        hint="Is it a whole GGUF file, and does it fit into memory? A large one may take longer than"
        " model.timeout_seconds. Else name another in model.path.",
    )


def end(process: subprocess.Popen[str]) -> None:
    """Its standard input closed, it ends by itself; else it is killed."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.close()
        process.wait(_GOODBYE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
    process.stdout.close()
