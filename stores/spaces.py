"""What one user may search: the shared space and their own. The one place where that is decided.

A `Space` is made for a user and can name no other. Whatever an index returns is looked up in the
database among live passages of exactly these two spaces before anyone sees it; what is not found there
does not exist for this user. An index that is wrong or behind can therefore cost a hit, never show a
passage that was removed or is somebody else's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores import lexical
from stores.database import Database
from stores.records import SHARED, Job, Passage, UtcDateTime, own_space
from stores.vectors import StoredVectors, Vector, VectorIndex, read_vectors

_USERS_IN_MEMORY = 32  # whose vectors are kept between turns
_LOOK_UP = 5_000  # ids in one statement


class Spaces:
    """Makes the space of each user, over one database and one shared index."""

    def __init__(
        self,
        database: Database,
        *,
        encoder_version: str,
        dimension: int,
        exact_up_to: int,
        open_shared_index: Callable[[], VectorIndex | None] = lambda: None,
    ) -> None:
        """exact_up_to: shared passages searched exactly; with more of them, the shared index is opened."""
        self.database = database
        self.encoder_version = encoder_version
        self.dimension = dimension
        self._exact_up_to = exact_up_to
        self._open_shared_index = open_shared_index
        self._stored: OrderedDict[str, StoredVectors] = OrderedDict()

    def of(self, user_id: int) -> Space:
        """The space of one user."""
        return Space(self, own_space(user_id))

    def live_shared_versions(self) -> list[int]:
        """Every live version of the shared space: what its index should hold."""
        with self.database.reading() as sql:
            rows = sql.execute(
                text("SELECT id FROM passage_versions WHERE space = :space AND removed_at IS NULL"),
                {"space": SHARED},
            )
            return [row[0] for row in rows]

    def nearest_in(self, sql: SqlSession, space: str, vector: Vector, k: int) -> list[tuple[int, float]]:
        """Live versions of one space, best first; (version id, cosine)."""
        if space == SHARED and self._is_large(sql) and (index := self._open_shared_index()) is not None:
            return self._nearest_by_index(sql, index, vector, k)
        stored = self._stored_vectors(space)
        stored.refresh(sql)
        while True:
            hits = stored.nearest(vector, k)
            dead = {i for i, _ in hits} - live_among(sql, [i for i, _ in hits], (space,))
            if not dead:
                return hits
            stored.remove(dead)

    def _nearest_by_index(
        self, sql: SqlSession, index: VectorIndex, vector: Vector, k: int
    ) -> list[tuple[int, float]]:
        """The index's hits, and what is not in it yet, straight from the database."""
        waiting = self._waiting_vectors(sql)
        ask = k
        while True:
            hits = index.nearest(vector, ask)
            live = live_among(sql, [i for i, _ in hits], (SHARED,))
            if len(live) >= k or len(hits) < ask:
                break
            ask *= 2  # some were tombstones
        found = {i: score for i, score in hits if i in live}
        found.update(waiting.nearest(vector, k))
        return sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))[:k]

    def _waiting_vectors(self, sql: SqlSession) -> _Waiting:
        ids = waiting_versions(sql, SHARED)
        return _Waiting(self.dimension, stored_vectors(sql, ids, (SHARED,), self.encoder_version))

    def _is_large(self, sql: SqlSession) -> bool:
        count = sql.execute(
            text("SELECT passages FROM space_statistics WHERE space = :space"), {"space": SHARED}
        ).scalar()
        return int(count or 0) > self._exact_up_to

    def _stored_vectors(self, space: str) -> StoredVectors:
        stored = self._stored.pop(space, None) or StoredVectors(space, self.encoder_version, self.dimension)
        self._stored[space] = stored  # the most recently used is last
        for old in [s for s in self._stored if s != SHARED][:-_USERS_IN_MEMORY]:
            del self._stored[old]
        return stored


class _Waiting:
    """The few vectors that are committed and not yet in the shared index."""

    def __init__(self, dimension: int, stored: Mapping[int, bytes]) -> None:
        self._ids = list(stored)
        self._matrix = read_vectors(list(stored.values()), dimension)

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        scores = self._matrix @ vector
        ranked = sorted(zip(self._ids, scores.tolist(), strict=True), key=lambda hit: (-hit[1], hit[0]))
        return ranked[:k]


class Space:
    """All that one user may search, and nothing else; a `SearchableSpace`."""

    def __init__(self, spaces: Spaces, own: str) -> None:
        self._spaces = spaces
        self._allowed = (SHARED, own)
        self._weighed: dict[str, tuple[lexical.WordStatistics, dict[int, float]]] = {}  # by query

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """The k live versions most similar to a query vector: (version id, cosine), best first."""
        with self._spaces.database.reading() as sql:
            found = [hit for space in self._allowed for hit in self._spaces.nearest_in(sql, space, vector, k)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]

    def matching(self, query: str, k: int) -> list[int]:
        """The k live versions that share the query's rarer words, best first."""
        wanted = lexical.tokens(query)
        with self._spaces.database.reading() as sql:
            counts = lexical.passages_with(sql, self._allowed, wanted)
            found = [
                i
                for space in self._allowed
                for i in lexical.holding_words(sql, space, wanted, k, counts[space])
            ]
            live = live_among(sql, found, self._allowed)
            scores = self._word_scores(sql, query, sorted(live))
        return sorted(scores, key=lambda version_id: (-scores[version_id], version_id))[:k]

    def word_scores(self, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of each version for the query; 0 without a shared word."""
        with self._spaces.database.reading() as sql:
            return self._word_scores(sql, query, version_ids)

    def _word_scores(self, sql: SqlSession, query: str, version_ids: Sequence[int]) -> dict[int, float]:
        """Each version is weighed once a query, by the statistics of the query's first use."""
        if query not in self._weighed:
            statistics = lexical.statistics_of(sql, self._allowed, lexical.tokens(query))
            self._weighed[query] = (statistics, {})
        statistics, known = self._weighed[query]
        new = [version_id for version_id in version_ids if version_id not in known]
        known.update(lexical.word_scores(sql, self._allowed, query, new, statistics))
        return {version_id: known[version_id] for version_id in version_ids}

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        """Cosine of each version that has a vector."""
        with self._spaces.database.reading() as sql:
            stored = stored_vectors(sql, version_ids, self._allowed, self._spaces.encoder_version)
        if not stored:
            return {}
        scores = read_vectors(list(stored.values()), self._spaces.dimension) @ vector
        return dict(zip(stored, scores.tolist(), strict=True))

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        """The live versions among these, by id."""
        with self._spaces.database.reading() as sql:
            return live_passages(sql, version_ids, self._allowed)

    def neighbours(self, version_ids: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """For each version, the live versions before and after it in its document or conversation."""
        found: dict[int, tuple[int | None, int | None]] = dict.fromkeys(version_ids, (None, None))
        with self._spaces.database.reading() as sql:
            for some in _in_parts(version_ids):
                rows = sql.execute(
                    text(
                        "SELECT here.id, there.id, there.position - here.position "
                        "FROM passage_versions AS here "
                        "JOIN passage_versions AS there ON there.document_id = here.document_id "
                        "AND there.position BETWEEN here.position - 1 AND here.position + 1 "
                        "AND there.position <> here.position "
                        "AND there.removed_at IS NULL AND there.space || '' = here.space "
                        f"WHERE here.id IN ({some}) AND {_within(self._allowed, 'here')}"
                    )
                )
                for version_id, neighbour, side in rows:
                    before, after = found[version_id]
                    found[version_id] = (neighbour, after) if side < 0 else (before, neighbour)
        return found


def live_among(sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str]) -> set[int]:
    """Which of these versions are live and in these spaces."""
    live: set[int] = set()
    for some in _in_parts(version_ids):
        rows = sql.execute(
            text(
                f"SELECT id FROM passage_versions AS v WHERE id IN ({some}) "
                f"AND removed_at IS NULL AND {_within(spaces, 'v')}"
            )
        )
        live.update(row[0] for row in rows)
    return live


def live_passages(sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str]) -> dict[int, Passage]:
    """The live versions of these spaces among the given ones, by id."""
    found: dict[int, Passage] = {}
    for some in _in_parts(version_ids):
        rows = sql.execute(
            text(
                "SELECT v.id, v.passage_id, v.space, p.kind, v.title, v.text, v.document_id, v.position, "
                "coalesce(d.source, '') AS source, p.external_id, p.created_at "
                "FROM passage_versions AS v JOIN passages AS p ON p.id = v.passage_id "
                "LEFT JOIN documents AS d ON d.id = v.document_id "
                f"WHERE v.id IN ({some}) AND v.removed_at IS NULL AND {_within(spaces, 'v')}"
            ).columns(created_at=UtcDateTime())
        )
        found.update((row[0], Passage(*row)) for row in rows)
    return found


def stored_vectors(
    sql: SqlSession, version_ids: Iterable[int], spaces: Sequence[str], encoder_version: str
) -> dict[int, bytes]:
    """The vectors of these versions by one encoder version, as far as there are any and they are live."""
    found: dict[int, bytes] = {}
    for some in _in_parts(version_ids):
        rows = sql.execute(
            text(
                "SELECT v.id, x.vector FROM passage_versions AS v "
                "JOIN passage_vectors AS x ON x.version_id = v.id "
                f"WHERE v.id IN ({some}) AND v.removed_at IS NULL AND {_within(spaces, 'v')} "
                "AND x.encoder_version = :encoder"
            ),
            {"encoder": encoder_version},
        )
        found.update((row[0], row[1]) for row in rows)
    return found


def waiting_versions(sql: SqlSession, space: str) -> list[int]:
    """The versions of a space that a waiting job will index."""
    payloads = sql.scalars(
        select(col(Job.payload)).where(
            col(Job.kind) == "index", col(Job.done_at).is_(None), col(Job.space) == space
        )
    )
    return sorted({int(i) for payload in payloads for i in payload["version_ids"]})


def _in_parts(version_ids: Iterable[int]) -> Iterable[str]:
    ids = [int(i) for i in version_ids]  # numbers only: they are written into the statement
    for start in range(0, len(ids), _LOOK_UP):
        yield ",".join(map(str, ids[start : start + _LOOK_UP]))


def _within(spaces: Sequence[str], alias: str) -> str:
    names = ",".join(f"'{_checked(space)}'" for space in spaces)
    # The empty string keeps SQLite from walking all of a space by its index to find a few known ids.
    return f"{alias}.space || '' IN ({names})"


def _checked(space: str) -> str:
    kind, _, number = space.partition(":")
    if space != SHARED and not (kind == "user" and number.isdigit()):
        raise ValueError(f"{space!r} is no space")
    return space
