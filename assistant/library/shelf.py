"""What is done with documents that were read, by commands and by the screen: told, removed, read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stores.base.errors import UnreadableDocument
from stores.base.file_names import shown_path
from stores.base.one_line import one_line
from stores.base.passages import SHARED, own_space
from stores.memory.collections import name_of_folder
from stores.memory.documents import OthersDocument

if TYPE_CHECKING:
    from assistant.library.ingest import Encoding, Ingest, Ingested
    from stores.memory.documents import StoredDocuments
    from stores.memory.library import KnownDocument

_ON_DISK = {"changed": "changed on disk", "gone": "no longer on disk", "": ""}
_NAMED = 3  # of several


def cells(document: KnownDocument) -> list[str]:
    """It in a list: name, whose, passages, the day it was read, what became of the file, where it is, and in
    which collection."""
    passages = f"{document.passages:,} passage{'' if document.passages == 1 else 's'}"
    records = f"{len(document.sources):,} records, " if len(document.sources) > 1 else ""
    return [
        one_line(document.name),
        "shared" if document.is_shared else "yours",
        records + passages,
        f"{document.added_at.astimezone():%Y-%m-%d}",
        _ON_DISK[document.on_disk()],
        one_line(document.source),
        f"in {one_line(document.collection)}" if document.collection else "",
    ]


def names(documents: Sequence[KnownDocument]) -> str:
    """Some of them by name, and how many more there are."""
    more = len(documents) - _NAMED
    named = ", ".join(one_line(each.name) for each in documents[:_NAMED])
    return named + (f" and {more} more" if more > 0 else "")


def remove(stored: StoredDocuments, user_id: int, documents: Sequence[KnownDocument]) -> list[int]:
    """Takes them out of answers; the files stay. Returns the receipts, one a space."""
    receipts = []
    for space in (own_space(user_id), SHARED):
        here = [each for each in documents if each.is_shared == (space == SHARED)]
        sources = [source for each in here for source in each.sources]
        if sources:
            summary = f"removed {names(here)}"
            receipts.append(stored.remove(user_id, space, sources, of_space=space, summary=summary))
    return receipts


def folders(paths: Iterable[Path], known: Sequence[KnownDocument], *, shared: bool) -> dict[str, str]:
    """By folder among these, as the sources in it begin: what its files are called together."""
    found: dict[str, str] = {}
    for path in paths:
        if path.is_dir() and (name := name_of_folder(path.resolve(), known, shared=shared)):
            found[f"{shown_path(path.resolve()).rstrip('/')}/"] = name
    return found


def move(
    stored: StoredDocuments, user_id: int, documents: Sequence[KnownDocument], collection: str
) -> list[str]:
    """Puts them into a collection, or out of any; returns where they were, each once."""
    sources = [source for each in documents if each.is_shared for source in each.sources]
    for source, owner in stored.of_others(user_id, SHARED, sources).items():
        raise OthersDocument(source, owner)  # before any of them is moved
    for space in (own_space(user_id), SHARED):
        here = [each for each in documents if each.is_shared == (space == SHARED)]
        names = dict.fromkeys((source for each in here for source in each.sources), collection)
        if names:
            stored.place(user_id, space, names, even_placed=True)
    return list(dict.fromkeys(each.collection for each in documents))


def read_again(
    ingest: Ingest, user_id: int, document: KnownDocument
) -> Iterator[Encoding | Ingested | UnreadableDocument]:
    """Reads a file that has changed, into the space in which it stands."""
    from assistant.library.reading_process import ReadingProcess

    space = SHARED if document.is_shared else own_space(user_id)
    with ReadingProcess() as reading:
        to_read = reading.read(document.file)
        summary, into = f"refreshed {one_line(document.name)}", placed([document])
        yield from ingest.run(user_id, space, to_read, summary=summary, into=into)


def placed(documents: Iterable[KnownDocument]) -> dict[str, str]:
    """Of those that stand in a collection, by file: which one. What is new in the file comes into it too."""
    return {each.source: each.collection for each in documents if each.collection}
