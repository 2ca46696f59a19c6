"""The documents that a user sees: their own and the shared ones, a file each.

A file of records, which are documents of their own in the database, is one here. A collection is what was put
together under a name: the files of a folder that was ingested, or what its user read or moved into it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from sqlalchemy import func, select
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound, WrongUsage
from stores.base.file_names import path_of, shown_path
from stores.base.file_states import FileState
from stores.base.one_line import one_line
from stores.base.passages import SHARED, own_space
from stores.database.database import Database
from stores.database.rows import rows
from stores.database.tables import Document, DocumentVersion, PassageIdentity, PassageVersion

OnDisk = Literal["", "changed", "gone"]
_NAMED = 5  # of several that a name may mean


@dataclass(frozen=True)
class KnownDocument:
    """A document, or all records of a file."""

    name: str  # of the file, or what a stream was called
    title: str
    source: str  # the file's path, or the same as the name
    is_shared: bool
    sources: tuple[str, ...]  # in the database; of a file of records one each
    passages: int
    added_at: datetime  # when its content was read last
    file_state: str | None = None  # as in `DocumentVersion`; None also where its file is not known
    collection: str = ""  # that it stands in; empty: in none

    def called_among(self, known: Iterable[KnownDocument]) -> str:
        """Its name, or its path where another one of these has the same name."""
        return self.name if [each.name for each in known].count(self.name) == 1 else self.source

    @property
    def file(self) -> Path:
        """The one that it was read from, where it `is_file`."""
        return path_of(self.source)

    @property
    def is_file(self) -> bool:
        """Whether it was read from one, as a stream was not."""
        return Path(self.source).is_absolute()

    def on_disk(self) -> OnDisk:
        """Whether its file has another content than was read, or is there no more.

        Where the times of the file do not tell, it is read.
        """
        if not self.is_file:
            return ""
        try:
            written = self.file.stat().st_mtime
            if self.file_state is None:  # read by a release that kept only when
                is_same = written <= self.added_at.timestamp() <= now().timestamp()
            else:
                is_same = bool(self.file_state) and FileState.of_text(self.file_state).holds(self.file)
        except OSError:
            return "gone"
        return "" if is_same else "changed"


class Library:
    """The documents of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, user_id: int) -> list[KnownDocument]:
        """Those that this user sees, by path; the user's own first."""
        spaces = (own_space(user_id), SHARED)
        statement = (
            select(
                col(Document.space),
                col(Document.source),
                func.max(col(PassageIdentity.external_id)),
                func.max(col(DocumentVersion.title)),
                func.max(col(DocumentVersion.created_at)),
                func.count(col(PassageVersion.id)),
                func.min(col(DocumentVersion.file_state)),
                col(Document.collection),
            )
            .join(PassageVersion, col(PassageVersion.document_id) == col(Document.id))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .join(DocumentVersion, col(DocumentVersion.document_id) == col(Document.id))
            .where(
                col(Document.space).in_(spaces),
                col(PassageIdentity.kind) == "document",
                col(PassageVersion.removed_at).is_(None),
                col(DocumentVersion.removed_at).is_(None),
            )
            .group_by(col(Document.id), col(Document.space), col(Document.source), col(Document.collection))
            .order_by(col(Document.id))
        )
        found: dict[tuple[str, str], list[KnownDocument]] = {}
        with self._database.reading() as sql:
            for space, source, record, title, added_at, passages, state, collection in sql.execute(statement):
                file = source.removesuffix(f"#{record}") if record else source
                one = KnownDocument(
                    Path(file).name,
                    title,
                    file,
                    space == SHARED,
                    (source,),
                    passages,
                    added_at,
                    state,
                    collection,
                )
                found.setdefault((space, file), []).append(one)
        known = [_together(some) if len(some) > 1 else some[0] for some in found.values()]
        return sorted(known, key=lambda each: (each.is_shared, each.source))

    def named(self, user_id: int, name: str, *, shared: bool | None = None) -> list[KnownDocument]:
        """Those that a name means: one by its path, name or title; of a collection or a folder, all in it.

        What is both the user's own and shared is the user's own. Raises `NotFound`, and
        `WrongUsage` where files of several folders are so called. shared: only of what is shared, or of the
        user's own.
        """
        by_source: dict[str, KnownDocument] = {}
        for each in self.all(user_id):
            if shared in (None, each.is_shared):
                by_source.setdefault(each.source, each)
        known = list(by_source.values())
        given = Path(os.path.expanduser(name.replace("\0", "")))  # noqa: PTH111 - "~nobody" stays as it is
        path, told = given.parent.resolve() / given.name, name if name.isprintable() else shown_path(name)
        exactly = [each for each in known if each.source in (name, str(path), shown_path(path))]
        together = [each for each in known if name and each.collection == name]
        own = [each for each in together if not each.is_shared]
        if own and all(each.is_shared for each in exactly):  # nobody else's name takes that one's place
            return own
        if not exactly and together:
            return together
        for meant in (exactly, _called(known, name), _called(known, shown_path(name))):
            if len(meant) > 1:
                listed = ", ".join(one_line(each.source) for each in meant[:_NAMED])
                raise WrongUsage(f"'{told}' may be {listed}", hint="Name one by its path.")
            if meant:
                return meant
        folder = str(given.resolve()).rstrip("/") + "/"
        within = [each for each in known if each.source.startswith((folder, shown_path(folder)))]
        if not within and shared is False and self.called(user_id, name):
            raise NotFound(f"'{told}' is shared, and none of yours", hint="--shared names that one.")
        if not within:
            raise NotFound(f"there is no document '{told}'", hint="`vouch docs list` names them.")
        return within

    def called(self, user_id: int, name: str) -> list[int]:
        """The live versions of the documents that a name means; none where it means none, or several."""
        try:
            return self.versions(self.named(user_id, name), user_id)
        except (NotFound, WrongUsage):
            return []

    def versions(self, documents: Sequence[KnownDocument], user_id: int) -> list[int]:
        """The live passages of documents, as versions, in their order."""
        found: list[int] = []
        with self._database.reading() as sql:
            for document in documents:
                for source in document.sources:
                    read = rows(
                        sql,
                        "SELECT p.id FROM passage_versions p JOIN documents d ON d.id = p.document_id "
                        "WHERE d.space = ? AND d.source = ? AND p.removed_at IS NULL "
                        "ORDER BY p.position, p.id",
                        [SHARED if document.is_shared else own_space(user_id), source],
                    )
                    found += [version_id for (version_id,) in read]
        return found

    def passages(self, document: KnownDocument, user_id: int) -> Iterator[tuple[str, str]]:
        """Title and text of each passage, in their order."""
        space = SHARED if document.is_shared else own_space(user_id)
        with self._database.reading() as sql:
            for source in document.sources:
                yield from rows(
                    sql,
                    "SELECT p.title, p.text FROM passage_versions p JOIN documents d ON d.id = p.document_id "
                    "WHERE d.space = ? AND d.source = ? AND p.removed_at IS NULL ORDER BY p.position, p.id",
                    [space, source],
                )


def _together(records: Sequence[KnownDocument]) -> KnownDocument:
    """Those of one file."""
    first = records[0]
    return replace(
        first,
        title=first.name,
        sources=tuple(source for each in records for source in each.sources),
        passages=sum(each.passages for each in records),
        added_at=max(each.added_at for each in records),
        file_state=min((e.file_state for e in records if e.file_state is not None), default=None),  # "" first
        collection=next((each.collection for each in records if each.collection), ""),
    )


def _called(known: Sequence[KnownDocument], name: str) -> list[KnownDocument]:
    """By the file's name, or else by title, or by the name without its ending."""
    ways = (
        [each for each in known if each.name == name],
        [each for each in known if each.title == name],
        [each for each in known if Path(each.name).stem == name],
    )
    return next(filter(None, ways), [])
