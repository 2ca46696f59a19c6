"""The domain of a lesson: where the passages come from that were judged best for its question.

A domain is a shared collection, else the folder of a file, the file of a record, or a stream's name; what
users told or keep to themselves is one domain, so that nobody's own files are named to others. While there is
one user, each of their collections is one, by a number: rounds keep the names of domains for whoever comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED
from stores.database.database import Database
from stores.database.rows import in_parts
from stores.database.tables import Document, PassageIdentity, PassageVersion, known_id
from stores.learning.lessons import Lesson, LessonDocument
from stores.learning.teachers import one_user_in

OWN = "own"  # what users told, and what they keep to themselves
NOTHING_HELPED = "nothing helped"  # the domain of a question for which no passage was judged to help
_BEST_FIRST = ("answer", "relevant")


def lesson_domains(database: Database, lessons: Sequence[Lesson]) -> dict[int, str]:
    """The domain of each lesson, by the id of its turn."""
    documents = {document.version_id for lesson in lessons for document in lesson.documents}
    origins: dict[int, str] = {}
    with database.reading() as sql:
        numbers = _numbers(sql) if one_user_in(sql) else {}
        for some in in_parts(sorted(documents)):
            for version, space, kind, external_id, source, collection in sql.execute(
                select(
                    col(PassageVersion.id),
                    col(PassageVersion.space),
                    col(PassageIdentity.kind),
                    col(PassageIdentity.external_id),
                    col(Document.source),
                    col(Document.collection),
                )
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .outerjoin(Document, col(Document.id) == col(PassageVersion.document_id))
                .where(col(PassageVersion.id).in_(some))
            ):
                if kind != "document" or source is None:
                    place = OWN
                elif space == SHARED:
                    place = collection or place_of(source, external_id)
                else:
                    place = numbers.get((space, collection), OWN)
                origins[known_id(version)] = place
    return {lesson.turn_id: domain_of(lesson.documents, origins) for lesson in lessons}


def _numbers(sql: SqlSession) -> dict[tuple[str, str], str]:
    """Of each user's own collections, by space and name, what it is called: "own 1" came first."""
    found = sql.execute(
        select(col(Document.space), col(Document.collection))
        .where(col(Document.space) != SHARED, col(Document.collection) != "")
        .group_by(col(Document.space), col(Document.collection))
        .order_by(func.min(col(Document.id)))
    ).all()
    return {(space, name): f"{OWN} {number}" for number, (space, name) in enumerate(found, start=1)}


def domain_of(documents: Sequence[LessonDocument], origins: Mapping[int, str]) -> str:
    """Where most of the best-judged ones come from; of equals, where the one found first does.

    documents: by rank. origins: by version id, of all of them.
    """
    for label in _BEST_FIRST:
        counts = Counter(origins[each.version_id] for each in documents if each.label == label)
        if counts:
            return counts.most_common(1)[0][0]
    return NOTHING_HELPED


def place_of(source: str, external_id: str = "") -> str:
    """What a shared document stands in: the folder of a file, the file of a record, or a stream's own name.

    source, external_id: as its document has them; a record's source is path#id.
    """
    if external_id and source.endswith(f"#{external_id}"):
        return source.removesuffix(f"#{external_id}")
    path = PurePath(source)
    return str(path.parent) if path.is_absolute() else source
