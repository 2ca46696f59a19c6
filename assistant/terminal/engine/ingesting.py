"""/ingest: reads a file or a folder, tells how far it is, and what became of each file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.library import documents
from assistant.library.ingest import Ingested
from assistant.library.reading_process import ReadingProcess
from assistant.library.shelf import folders
from stores.base.errors import UnreadableDocument
from stores.base.one_line import one_line
from stores.base.passages import own_space

if TYPE_CHECKING:
    from assistant.library.documents import PreparedDocument, ReadFile
    from assistant.wiring.assistant import Assistant

_TELLS_EVERY_SECONDS = 10.0
_MOST_LISTED = 20  # files, each with a line of its own


def ingested(assistant: Assistant, user_id: int, path: str, *, tells: bool) -> Iterator[str]:
    """Reads it into the user's own memory. tells: how far it is, now and then."""
    place = Path(path).expanduser()
    found = documents.find_documents([place])
    for unreadable in found.unreadable:
        yield one_line(unreadable.message)
    counts: dict[str, Counter[str]] = {}  # by file; one of records holds many documents
    told_at, begun = time.monotonic(), 0

    def read() -> Iterator[PreparedDocument | UnreadableDocument | ReadFile]:
        nonlocal begun
        for file in found.files:
            begun += 1
            yield from reading.read(file)

    with ReadingProcess() as reading:
        for step in assistant.turns.ingest.run(
            user_id,
            own_space(user_id),
            read(),
            summary=f"ingested {path}",
            into=folders([place], assistant.stores.library.all(user_id), shared=False),
        ):
            if isinstance(step, UnreadableDocument):
                yield one_line(step.message)
            elif isinstance(step, Ingested):
                counted = counts.setdefault(step.source.partition("#")[0], Counter())
                counted.update({step.change: 1, "passages": step.passages})
            elif tells and time.monotonic() - told_at >= _TELLS_EVERY_SECONDS:
                told_at = time.monotonic()
                so_far = f"File {begun:,} of {len(found.files):,}, passages so far: {step.passages:,}."
                yield f"{so_far} Ctrl+C stops; what is done is kept."
    yield from _lines(counts)


def _lines(counts: Mapping[str, Counter[str]]) -> Iterator[str]:
    for file, counted in list(counts.items())[:_MOST_LISTED]:
        yield f"{one_line(file)}: {_became(counted)}"
    if len(counts) > 1:
        yield f"{len(counts):,} files: {_became(sum(counts.values(), Counter()))}"


def _became(counted: Counter[str]) -> str:
    changes = ", ".join(f"{n:,} {change}" for change, n in counted.items() if change != "passages")
    passages = counted["passages"]
    return f"{passages:,} passage{'s' if passages != 1 else ''}, {changes}"
