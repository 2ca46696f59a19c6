"""The retriever's training in a process of its own, at low priority, so that it never touches a chat.

lessons, vectors -> files -> child process -> what it tells, line by line -> the candidate's folder
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from stores.errors import VouchError
from stores.lessons import Lesson
from stores.vectors import read_vectors

MODULE = "assistant.learning.train_retriever"
SETTINGS = "settings.json"  # in the folder: how the candidate came about
_HEARD_EVERY = 0.5  # seconds: the longest silence before `tell` is called without news
_NICE = 10

Tell = Callable[[Mapping[str, Any] | None], None]


class TrainingFailed(VouchError):
    """The child ended without a candidate; the message is its last word."""


def train_apart(
    folder: Path,
    lessons: Sequence[Lesson],
    vectors: Mapping[int, bytes],
    *,
    dimension: int,
    settings: Mapping[str, Any],
    threads: int,
    encoder: Path | None = None,
    measured_on: Callable[[Lesson], bool] = lambda lesson: lesson.is_held_out,
    budget_seconds: float | None = None,
    tell: Tell = lambda told: None,
) -> Path:
    """The candidate's folder, within `folder`, which exists and is empty. Raises `TrainingFailed`.

    vectors: of every document of the lessons, each (dimension,) as stored. encoder: what to start from; else
    the packaged one. measured_on: lessons that the child decides by when to end, and never learns from.
    tell: is given all that the child tells, as it tells it, and None twice a second while it is silent; what
    it raises ends the child.
    """
    folder = folder.resolve()
    rows, arrays, made = folder / "lessons.jsonl", folder / "vectors.npz", folder / "candidate"
    _write_lessons(rows, lessons, measured_on)
    np.savez(
        arrays,
        ids=np.array(list(vectors), dtype=np.int64),
        vectors=read_vectors(list(vectors.values()), dimension),
    )
    command = [
        sys.executable, "-m", MODULE, str(rows), "--out", str(made), "--vectors", str(arrays),
        "--settings", json.dumps(dict(settings)), "--threads", str(threads),
        *(("--encoder", str(encoder.resolve())) if encoder else ()),
    ]  # fmt: skip
    ends = None if budget_seconds is None else time.monotonic() + budget_seconds
    errors = folder / "errors.txt"
    with _child(command, errors) as child:
        for line in _lines(child):
            tell(json.loads(line) if line is not None else None)
            if ends is not None and time.monotonic() > ends:
                raise TrainingFailed("the time given to the round was over before it was trained")
        code = child.wait()
    if code != 0:
        said = errors.read_text(encoding="utf-8", errors="replace").strip()
        last = said.splitlines()[-1].removeprefix("Error: ") if said else f"exit code {code}"
        raise TrainingFailed(f"the training failed: {last}")
    return made


def started_from(made: Path) -> str:
    """The version of the encoder that a candidate was trained from."""
    return str(json.loads((made / SETTINGS).read_text(encoding="utf-8"))["start_version"])


def _write_lessons(file: Path, lessons: Sequence[Lesson], measured_on: Callable[[Lesson], bool]) -> None:
    with file.open("w", encoding="utf-8") as out:
        for lesson in lessons:
            documents = [
                {**{k: v for k, v in asdict(d).items() if k != "version_id"}, "id": d.version_id}
                for d in lesson.documents
            ]
            row = {
                "id": str(lesson.turn_id),
                "question": lesson.question,
                "documents": documents,
                "held_out": measured_on(lesson),
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def _child(command: Sequence[str], errors: Path) -> Iterator[subprocess.Popen[bytes]]:
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
        os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)  # before it has threads, which inherit it
        yield child
    finally:
        if child.poll() is None:  # nothing of it is kept, so there is nothing to wait for
            os.killpg(child.pid, signal.SIGKILL)  # with the exporter that it may have started
            child.wait()
        assert child.stdout is not None, "its output is a pipe"
        child.stdout.close()


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
