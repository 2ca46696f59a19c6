"""Documents become findable, batch by batch.

    read -> plan (what is new?) -> encode -> store (one transaction) -> index

Killed or interrupted, it keeps every batch that was stored, and the same command again finds those
unchanged and goes on with the rest. A document that cannot be read is one error and stops nothing.
"""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from agents.base.interfaces import Encoder
from assistant.library.documents import PreparedDocument, Readable, ReadFile
from assistant.library.moved_files import MovedFiles
from stores.base.errors import UnreadableDocument
from stores.memory.documents import Change, NewDocument, NewPassage, OthersDocument, StoredDocuments
from stores.search.indexer import Indexer

_AT_ONCE = 256  # passages that are encoded at once, and in one transaction; a larger document is stored whole
_COUNTED_BLOCKS = 64  # of a megabyte, to tell how many records a file has


@dataclass(frozen=True)
class Ingested:
    """What became of one document."""

    document_id: int
    source: str
    passages: int
    change: Change


@dataclass(frozen=True)
class Encoding:
    """How far the encoding of a large batch is."""

    passages: int  # encoded since the start
    seconds: float


Step: TypeAlias = Ingested | Encoding | UnreadableDocument


class Ingest:
    """Stores documents in a space."""

    def __init__(
        self,
        stored_documents: StoredDocuments,
        encoder: Callable[[], Encoder],
        indexer: Callable[[], Indexer],
        at_once: int = _AT_ONCE,
    ) -> None:
        """encoder, indexer: those of the live version, asked once a batch. at_once: passages."""
        self._stored_documents = stored_documents
        self._encoder = encoder
        self._indexer, self._at_once = indexer, at_once

    def run(
        self,
        user_id: int,
        space: str,
        documents: Iterable[Readable],
        *,
        summary: str,
        of_space: str = "",
        into: Mapping[str, str] | str = MappingProxyType({}),
    ) -> Iterator[Step]:
        """Stores documents; each is durable when its `Ingested` is handed out.

        summary: of the receipt under which all of it can be undone. of_space: whose that is, where another.
        into: the collection they come into; or by folder, as sources begin, the one of what stands in none.
        """
        progress = _Progress()
        receipt = _Receipt(self._stored_documents, user_id, of_space or space, summary)
        moved = MovedFiles(self._stored_documents, user_id, space)
        not_stored: list[str] = []
        for batch in _batches(documents, self._at_once):
            if isinstance(batch, UnreadableDocument):
                yield batch
                continue
            moved.take_changed(batch.documents)
            plan = self._stored_documents.plan(space, batch.documents, user_id=user_id)
            for source, owner in plan.others.items():
                not_stored.append(source)
                yield UnreadableDocument(source, OthersDocument(source, owner).problem)
            encoder = self._encoder()
            vectors = np.empty((0, encoder.dimension), dtype=np.float32)
            if plan.changed:
                texts = plan.texts_to_encode()
                vectors = np.empty((len(texts), encoder.dimension), dtype=np.float32)
                for start in range(0, len(texts), self._at_once):
                    part = encoder.encode_passages(texts[start : start + self._at_once])
                    vectors[start : start + len(part)] = part
                    yield progress.encoded(len(part))
            stored = (
                self._stored_documents.store(
                    plan, vectors, encoder_version=encoder.version, receipt_id=receipt.id()
                )
                if plan.changed
                else {}
            )
            held = {source: done.document_id for source, done in stored.items() if done.change == "same"}
            moved.take_same(plan.same | held, batch.documents)
            known = [file for file in batch.files if not any(map(file.holds, not_stored))]
            self._stored_documents.note_files(
                space,
                {file.source: file.state.text for file in known if not file.holds_records},
                of_records={file.source: file.state.text for file in known if file.holds_records},
            )
            names = {each.source: _collection(each.source, into) for each in batch.documents}
            if any(names.values()):  # what somebody else shared stays where they have it
                others = self._stored_documents.of_others(user_id, space, list(names))
                placed = {source: name for source, name in names.items() if name and source not in others}
                self._stored_documents.place(user_id, space, placed, even_placed=isinstance(into, str))
            for document in batch.documents:
                if document.source in stored:
                    done = stored[document.source]
                    yield Ingested(done.document_id, document.source, done.passages, done.change)
                elif document.source in plan.same:
                    document_id = plan.same[document.source]
                    yield Ingested(document_id, document.source, len(document.passages), "same")
            self._indexer().catch_up()


def _collection(source: str, into: Mapping[str, str] | str) -> str:
    if isinstance(into, str):
        return into
    within = [folder for folder in into if source.startswith(folder)]
    return into[max(within, key=len)] if within else ""


class _Receipt:
    """Opened when there is something to write."""

    def __init__(self, stored_documents: StoredDocuments, user_id: int, space: str, summary: str) -> None:
        self._stored_documents, self._user_id = stored_documents, user_id
        self._space, self._summary = space, summary
        self._id: int | None = None

    def id(self) -> int:
        if self._id is None:
            self._id = self._stored_documents.open_receipt(self._user_id, self._space, self._summary)
        return self._id


class _Progress:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._passages = 0

    def encoded(self, passages: int) -> Encoding:
        self._passages += passages
        return Encoding(self._passages, time.monotonic() - self._began)


def count_documents(files: Iterable[Path]) -> int:
    """How many documents these files hold, for telling how much is left: a line of a .jsonl file is one."""
    return sum(_lines(file) if file.name.endswith((".jsonl", ".jsonl.gz")) else 1 for file in files)


def _lines(file: Path) -> int:
    """Counted at the beginning of the file, and from there on as many a byte."""
    try:
        with file.open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else raw
            lines = 0
            for _ in range(_COUNTED_BLOCKS):
                block = stream.read(1 << 20)
                if not block:
                    return lines
                lines += block.count(b"\n")
            return round(lines * max(1.0, file.stat().st_size / raw.tell()))
    except (OSError, EOFError, zlib.error):
        return 1  # the reader will say what is wrong with it


@dataclass(frozen=True)
class _Batch:
    """Documents that are stored together, and the files that end with them or ended before."""

    documents: list[NewDocument] = field(default_factory=list)
    files: list[ReadFile] = field(default_factory=list)


def _batches(documents: Iterable[Readable], at_once: int) -> Iterator[_Batch | UnreadableDocument]:
    """Documents of some hundred passages together, and errors as they come. A source names one document."""
    batch = _Batch()
    passages = 0
    seen: dict[str, str] = {}
    for document in documents:
        if isinstance(document, UnreadableDocument):
            yield document
            continue
        if isinstance(document, ReadFile):
            batch.files.append(document)
            continue
        if document.source in seen:
            if seen[document.source] != document.content_hash:
                yield UnreadableDocument(document.source, "stands there twice; the first was taken")
            continue
        seen[document.source] = document.content_hash
        batch.documents.append(_new(document))
        passages += len(document.passages)
        if passages >= at_once:
            yield batch
            batch, passages = _Batch(), 0
    if batch.documents or batch.files:
        yield batch


def _new(document: PreparedDocument) -> NewDocument:
    return NewDocument(
        document.source,
        document.title,
        document.content_hash,
        tuple(NewPassage(passage.title, passage.text) for passage in document.passages),
        document.external_id,
        document.kind,
    )
