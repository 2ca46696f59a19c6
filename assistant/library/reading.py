"""Files read in their order: by a process here, or by workers where the settings have bulk work spread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import groupby
from pathlib import Path

from assistant.library.documents import Readable, record_files
from assistant.library.reading_process import ReadingProcess
from assistant.scale.spread import spread
from assistant.settings.config import ScaleSettings

_AHEAD = 16  # files that each worker has at a time: they are read while passages are encoded


def read_files(files: Iterable[Path], scale: ScaleSettings) -> Generator[Readable]:
    """The documents of files and what these were like, in their order; what cannot be read stops no other.

    Each file is read by a `ReadingProcess`, where a worker is. What holds records is read here: it may be of
    any size, and is handed out while it is read.
    """

    def is_here(file: Path) -> bool:
        return scale.engine == "here" or bool(record_files([file]))

    workers = spread(reads, scale, cpus=0, ahead=_AHEAD)
    with ReadingProcess() as reading, closing(workers):
        for stays, some in groupby(files, key=is_here):
            for documents in map(reading.read, some) if stays else workers.over(some):
                yield from documents


def reads() -> Callable[[Path], list[Readable]]:
    """What a worker does, made where it works: all that a file holds."""
    reading = ReadingProcess()
    return lambda file: list(reading.read(file))
