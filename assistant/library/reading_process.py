"""Documents are read in a process of their own, which may fail, hang or grow without harm to this one.

    paths -> a process with limits on memory and time -> documents or entities, one JSON line each

Parsers run over files from anywhere. Whatever such a file does to its parser ends there: the file is an
`UnreadableDocument`, and the next one is read by a fresh process.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, Any

from assistant.library.documents import (
    PreparedDocument,
    PreparedPassage,
    Readable,
    ReadFile,
    read_file,
    read_stream,
)
from assistant.library.formats.outlines import TOO_MUCH_MEMORY
from assistant.library.knowledge_file import KnowledgeFile, read_knowledge
from stores.base.entities import Entity
from stores.base.errors import UnreadableDocument
from stores.base.file_names import shown_path
from stores.base.file_states import FileState

MEMORY_BYTES = 450_000_000  # the reading process's address space, so that its resident set is smaller yet
PROCESSOR_SECONDS = 60.0  # for one document, and as many again for each megabyte of the file
_MOST_PROCESSOR_SECONDS = 600.0


class ReadingProcess:
    """Reads documents as `read_file` and `read_stream` do, in another process.

    The process starts with the first document, and again after one that it did not survive. Use it as a
    context manager; it is ended at the end.

    memory_bytes: what that process may take. processor_seconds: what one document may take, with as much
    again for each megabyte of its file.
    """

    def __init__(
        self, *, memory_bytes: int = MEMORY_BYTES, processor_seconds: float = PROCESSOR_SECONDS
    ) -> None:
        self._memory_bytes = memory_bytes
        self._processor_seconds = processor_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: IO[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        """Of the process while it runs."""
        return self._process.pid if self._process else None

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._process and self._requests and self._process.stdout:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._requests.close()
            self._process.stdout.close()
            self._process.wait()
        self._process = self._requests = None

    def read(self, path: str | Path) -> Iterator[Readable]:
        """The documents of one file, and behind them what it was like."""
        path = Path(path).absolute()
        for kind, told in self._ask({"path": str(path)}, shown_path(path), _size(path)):
            yield _KINDS[kind](*told)

    def read_standard_input(self, name: str) -> Iterator[Readable]:
        """The one document that this process's standard input holds, under the name it is given."""
        for kind, told in self._ask({"name": name}, name, 0):
            yield _KINDS[kind](*told)

    def read_table(self, path: Path) -> KnowledgeFile:
        """See `read_knowledge`. Raises `UnreadableDocument`, also where the process does not survive it."""
        entities: list[Entity] = []
        with contextlib.closing(self._ask({"table": str(path)}, shown_path(path), _size(path))) as lines:
            for kind, told in lines:
                if kind == "unreadable":
                    raise UnreadableDocument(*told)
                if kind == "table":
                    columns, problems = map(tuple, told)
                    return KnowledgeFile(tuple(entities), columns, problems)
                entities.append(Entity(*told))
        raise AssertionError("the process tells of its end")

    def _ask(self, request: dict[str, Any], source: str, size: int) -> Generator[tuple[str, list[Any]]]:
        """What the process tells, and what it is: "unreadable" last where it ends before it is done."""
        seconds = min(self._processor_seconds * (1 + size / 1e6), _MOST_PROCESSOR_SECONDS)
        if self._process is None:
            self._process, self._requests = _start(self._memory_bytes)
        process = self._process
        assert self._requests is not None
        assert process.stdout is not None
        is_answered = False
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended: its exit code says why
                self._requests.write(_line({**request, "seconds": seconds}))
                self._requests.flush()
            while (line := process.stdout.readline()).endswith(b"\n"):
                kind, *told = json.loads(line)
                if kind == "done":
                    (is_full,) = told
                    is_answered = not is_full
                    return
                yield kind, told
            process.wait()
            yield "unreadable", [source, _cause(process.returncode, seconds)]
        finally:
            if not is_answered:  # dead, full, or in the middle of a document that nobody wants any more
                self.close()


def _start(memory_bytes: int) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    reading_end, writing_end = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "assistant.library.reading_process", str(reading_end), str(memory_bytes)],
            # Python searches this folder first: never the person's, where anything could be named docx.
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[reading_end],
        )
    except BaseException:
        os.close(writing_end)
        raise
    finally:
        os.close(reading_end)
    return process, os.fdopen(writing_end, "wb")


def _size(path: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return path.stat().st_size
    return 0


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _document(
    source: str, title: str, content_hash: str, passages: list[list[str]], external_id: str
) -> PreparedDocument:
    made = tuple(PreparedPassage(title, text) for title, text in passages)
    return PreparedDocument(source, title, content_hash, made, external_id)


def _file(source: str, state: str, holds_records: bool) -> ReadFile:
    return ReadFile(source, FileState.of_text(state), holds_records)


_KINDS: dict[str, Callable[..., Readable]] = {
    "document": _document,
    "unreadable": UnreadableDocument,
    "file": _file,
}


def _cause(exit_code: int, seconds: float) -> str:
    """Why a process that ended in the middle of a document did so, as the reason to refuse it."""
    if exit_code == -signal.SIGPROF:
        return f"takes longer than {seconds:.0f} s to read; cut it into smaller files"
    if exit_code in (_OUT_OF_MEMORY, -signal.SIGKILL):
        return TOO_MUCH_MEMORY
    told = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
    return f"cannot be read: it ended the process that read it ({told})"


# The other side

_OUT_OF_MEMORY = 3  # the exit code


def main() -> None:
    """Answers the requests that come over a pipe, under the limits it was started with."""
    requests_fd, memory_bytes = map(int, sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it was interrupted too, and will end it
    with contextlib.suppress(ValueError, OSError):  # not every system knows or allows it
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints is no answer
    try:
        with os.fdopen(requests_fd, "rb") as requests:
            while line := requests.readline():
                _answer(json.loads(line), answers)
                answers.write(_line(["done", _bytes_taken() > memory_bytes // 2]))
                answers.flush()
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except BrokenPipeError:  # nobody listens any more
        os._exit(0)


def _answer(request: dict[str, Any], answers: IO[bytes]) -> None:
    told: Iterator[list[Any]]
    if "path" in request:
        told = map(_told, read_file(request["path"]))
    elif "table" in request:
        told = _told_table(Path(request["table"]))
    else:
        told = map(_told, read_stream(sys.stdin, request["name"]))
    seconds = request["seconds"]
    while True:
        # Processor time alone is counted: waiting for who asks, or for a slow disk, is no sign of a hang.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        if (line := next(told, None)) is not None:
            answers.write(_line(line))
        answers.flush()
        signal.setitimer(signal.ITIMER_PROF, 0)
        if line is None:
            return


def _told(read: Readable) -> list[Any]:
    if isinstance(read, UnreadableDocument):
        return ["unreadable", read.source, read.reason]
    if isinstance(read, ReadFile):
        return ["file", read.source, read.state.text, read.holds_records]
    passages = [[passage.title, passage.text] for passage in read.passages]
    return ["document", read.source, read.title, read.content_hash, passages, read.external_id]


def _told_table(path: Path) -> Iterator[list[Any]]:
    try:
        read = read_knowledge(path)
    except UnreadableDocument as error:
        yield ["unreadable", error.source, error.reason]
        return
    for entity in () if read.problems else read.entities:
        yield ["entity", entity.name, dict(entity.values)]
    yield ["table", read.columns, read.problems]


def _bytes_taken() -> int:
    """The address space of this process, much of which a large document leaves behind; 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


if __name__ == "__main__":
    main()
