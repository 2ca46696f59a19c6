"""Records of the files of a data set, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from assistant.learning.recipes.examples.table_rows import Record, read_table, unreadable

T = TypeVar("T")


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Records of one file of the data folder, in order. Raises `UnreadableDocument`, FileNotFoundError."""
    return (dict(row.record) for row in read_table(path))


def read_as(path: Path, make: Callable[[Record], T]) -> Iterator[T]:
    """What is made of the records of one file of the data folder, in order.

    make: raises ValueError where it cannot. Raises as `read_records`, and where there is none.
    """
    made = None
    for row in read_table(path):
        try:
            made = make(row.record)
        except ValueError as error:
            raise unreadable(row.file, f"{row.place}: {error}") from error
        yield made
    if made is None:
        raise unreadable(path, "it is empty")
