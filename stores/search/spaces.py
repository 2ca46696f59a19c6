"""What one user may search: the shared space and their own. The one place where that is decided.

A `Space` is made for a user and can name no other; that of a knowledge base holds its entities alone.
Whatever an index returns is looked up in the database among live passages of exactly these spaces before
anyone sees it; what is not found there does not exist for this user. An index that is wrong or behind can
therefore cost a hit, never show a passage that was removed or is somebody else's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

from sqlalchemy.orm import Session as SqlSession

from stores.base.passages import SHARED, STATEMENTS, Found, Passage, Worth, own_space
from stores.database.database import Database
from stores.database.rows import rows
from stores.search.knowledge_bases import KnownBase
from stores.search.shared_index import SharedIndex
from stores.vectors.exact import StoredVectors, Vector, VectorIndex, read_vectors
from stores.versions.links import linked_with
from stores.versions.live import (
    in_parts,
    live_among,
    live_of,
    live_passages,
    live_spaces,
    standing_among,
    stored_vectors,
    waiting_versions,
    within,
)
from stores.versions.statements import KeptStatements
from stores.words import lexical

_USERS_IN_MEMORY = 32  # whose vectors and statements are kept between turns


class Spaces:
    """Makes the space of each user, over one database and one shared index."""

    def __init__(
        self,
        database: Database,
        *,
        encoder_version: str,
        dimension: int,
        shared_index: SharedIndex,
    ) -> None:
        """shared_index: asked for the shared space when that is large; of the same encoder version."""
        self.database = database
        self.encoder_version = encoder_version
        self.dimension = dimension
        self._shared_index = shared_index
        self._stored: OrderedDict[str, StoredVectors] = OrderedDict()
        self._statements: OrderedDict[str, KeptStatements] = OrderedDict()

    def of(self, user_id: int) -> Space:
        """The space of one user."""
        return Space(self, own_space(user_id))

    def of_knowledge_base(self, base: KnownBase) -> Space:
        """The entities of one knowledge base, which `KnowledgeBases` hands out to those who may see it."""
        return Space(self, base.space, shared=())

    def nearest_in(self, sql: SqlSession, space: str, vector: Vector, k: int) -> list[tuple[int, float]]:
        """Live versions of one space, best first; (version id, cosine)."""
        if space == SHARED and (index := self._shared_index.to_search(sql)) is not None:
            return self._nearest_by_index(sql, index, vector, k)
        stored = self._stored_vectors(space)
        stored.refresh(sql)
        while True:
            hits = stored.nearest(vector, k)
            dead = {i for i, _ in hits} - live_among(sql, [i for i, _ in hits], (space,))
            if not dead:
                return hits
            stored.remove(dead)

    def similarities_in_memory(
        self, spaces: Sequence[str], vector: Vector, version_ids: Sequence[int]
    ) -> dict[int, float]:
        """Cosine of those versions whose vectors were read into memory for these spaces."""
        found: dict[int, float] = {}
        for space in spaces:
            if space in self._stored:
                found.update(self._stored[space].similarities(vector, version_ids))
        return found

    def statements_in(self, sql: SqlSession, space: str, most: int) -> list[tuple[int, str]]:
        """The `most` newest live statements of one user's space, newest first: version id and text."""
        kept = self._statements.pop(space, None)
        if kept is None or kept.most < most:
            kept = KeptStatements(space, most)
        self._statements[space] = kept  # the most recently used is last
        if len(self._statements) > _USERS_IN_MEMORY:
            self._statements.popitem(last=False)
        return kept.newest(sql)[:most]

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
        return _best(found)[:k]

    def _waiting_vectors(self, sql: SqlSession) -> _Waiting:
        ids = waiting_versions(sql, SHARED)
        return _Waiting(self.dimension, stored_vectors(sql, ids, (SHARED,), self.encoder_version))

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
        return _best(dict(zip(self._ids, scores.tolist(), strict=True)))[:k]


def _best(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))


class Space:
    """All that one user may search, and nothing else; a `SearchableSpace`."""

    def __init__(
        self,
        spaces: Spaces,
        own: str,
        *,
        shared: tuple[str, ...] = (SHARED,),
        only: Collection[int] | None = None,
    ) -> None:
        """shared: what may be searched beside its own; empty for a knowledge base.

        only: versions that are searched, and no other of these spaces; None for all.
        """
        self._spaces, self._only = spaces, only
        self._own, self._shared = own, shared
        self._allowed = (*shared, own)
        self._weighed: dict[str, tuple[lexical.WordStatistics, dict[int, float]]] = {}  # by query

    @property
    def own(self) -> str:
        """The user's; besides it only what is shared can be searched."""
        return self._own

    def by(self, spaces: Spaces) -> Space:
        """The same with the vectors of another encoder version."""
        return Space(spaces, self._own, shared=self._shared, only=self._only)

    def narrowed(self, version_ids: Collection[int]) -> Space:
        """The same user's, of which `found` finds these versions alone, and what stands beside them."""
        return Space(self._spaces, self._own, shared=self._shared, only=version_ids)

    def found(
        self,
        query: str,
        vector: Vector,
        k: int,
        *,
        without: Collection[int] = (),
        beside: Callable[[Passage], bool] = lambda passage: False,
        worth: Worth | None = None,
    ) -> Found:
        """What is nearest in meaning and in words, k of either, at one moment, scored by both signals.

        without: versions not looked for. beside: of which passages the one before and after come along.
        worth: which of the shared passages are read; None for all. What is the user's own always is.
        """
        deep = k + len(without)
        wanted = lexical.searched(query)
        allowed = self._allowed
        with self._spaces.database.reading() as sql:
            counts = lexical.passages_with(sql, allowed, wanted)
            near, sought = self._sought(sql, vector, wanted, counts, deep)
            space_of = live_spaces(sql, sought.union(near).difference(without), allowed)
            statistics = lexical.statistics_of(sql, allowed, wanted, counts)
            words = lexical.weighed(sql, space_of, wanted, statistics)
            matching = sought.intersection(space_of)
            if len(matching) > deep:  # the database gave some to spare: the best by BM25 stay
                kept = {*near, *sorted(matching, key=lambda i: (-words[i], i))[:deep]}
                space_of = {i: space for i, space in space_of.items() if i in kept}
            read_at_once = [i for i, space in space_of.items() if worth is None or space != SHARED]
            passages = live_passages(sql, read_at_once, allowed)
            pairs: dict[int, tuple[int | None, int | None]] = {}
            if beside_these := [i for i, passage in passages.items() if beside(passage)]:
                # a poor match next to a good one may hold the answer
                around = {i for pair in self._neighbours(sql, beside_these).values() for i in pair if i}
                new = live_passages(sql, around.difference(space_of, without), allowed)
                passages |= new
                pairs = self._neighbours(sql, [i for i, passage in passages.items() if beside(passage)])
                space_of |= {i: passage.space for i, passage in new.items()}
                words |= lexical.weighed(sql, {i: space_of[i] for i in new}, wanted, statistics)
            similar = near | self._similarities(sql, vector, [i for i in space_of if i not in near])
            dense = {i: similar.get(i, 0.0) for i in space_of}
            by_words = {i: words[i] for i in space_of}
            if worth is not None:
                shared = [i for i in space_of if i not in passages]
                passages |= live_passages(sql, worth(shared, dense, by_words), allowed)
        return Found(passages, dense, by_words, pairs)

    def _sought(
        self,
        sql: SqlSession,
        vector: Vector,
        wanted: Sequence[str],
        counts: Mapping[str, Mapping[str, int]],
        k: int,
    ) -> tuple[dict[int, float], set[int]]:
        """The k nearest with their cosines, and k or more of each space that hold rarer words.

        Of a narrowed space the k nearest, and all.
        """
        if self._only is not None:
            live = live_among(sql, self._only, self._allowed)
            return dict(_best(self._similarities(sql, vector, sorted(live)))[:k]), live
        holding = (lexical.holding_words(sql, s, wanted, k, counts[s]) for s in self._allowed)
        return dict(self._nearest(sql, vector, k)), {i for found in holding for i in found}

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """The k live versions most similar to a query vector: (version id, cosine), best first."""
        with self._spaces.database.reading() as sql:
            return self._nearest(sql, vector, k)

    def nearest_of(
        self, vector: Vector, k: int, *, scope: Literal["shared", "yours"]
    ) -> list[tuple[Passage, float]]:
        """The k live passages of one of its two scopes that are most similar to a vector, with cosines."""
        space = SHARED if scope == "shared" else self._own
        with self._spaces.database.reading() as sql:
            near = self._spaces.nearest_in(sql, space, vector, k)
            passages = live_passages(sql, [i for i, _ in near], (space,))
        return [(passages[i], cosine) for i, cosine in near if i in passages]

    def _nearest(self, sql: SqlSession, vector: Vector, k: int) -> list[tuple[int, float]]:
        spaces = self._allowed
        return _best(dict(hit for space in spaces for hit in self._spaces.nearest_in(sql, space, vector, k)))[
            :k
        ]

    def matching(self, query: str, k: int) -> list[int]:
        """The k live versions that share the query's rarer words, best first."""
        wanted = lexical.searched(query)
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
            statistics = lexical.statistics_of(sql, self._allowed, lexical.searched(query))
            self._weighed[query] = (statistics, {})
        statistics, known = self._weighed[query]
        new = [version_id for version_id in version_ids if version_id not in known]
        known.update(lexical.word_scores(sql, self._allowed, query, new, statistics))
        return {version_id: known[version_id] for version_id in version_ids}

    def statements(self, most: int) -> list[tuple[int, str]]:
        """The `most` newest live statements of its user, newest first: version id and text."""
        with self._spaces.database.reading() as sql:
            return self._spaces.statements_in(sql, self._own, most)

    def standing(self, most: int) -> list[Passage]:
        """What always holds of its user, of the newest statements of that kind; the newest first."""
        with self._spaces.database.reading() as sql:
            found = live_passages(sql, standing_among(sql, self._own, most), (self._own,)).values()
        return sorted((p for p in found if p.holds), key=lambda p: (p.created_at, p.version_id), reverse=True)

    def linked(self, passages: Iterable[Passage]) -> dict[int, Passage]:
        """What these statements took the place of, and what took theirs, where it is sure; by version id."""
        with self._spaces.database.reading() as sql:
            spaces = (self._own,)
            ids = {p.passage_id for p in passages if p.kind in STATEMENTS and not p.is_shared}
            return live_of(sql, linked_with(sql, ids, spaces), spaces)

    def similarities(self, vector: Vector, version_ids: Sequence[int]) -> dict[int, float]:
        """Cosine of each version that has a vector."""
        with self._spaces.database.reading() as sql:
            live = live_among(sql, version_ids, self._allowed)
            return self._similarities(sql, vector, [i for i in version_ids if i in live])

    def _similarities(self, sql: SqlSession, vector: Vector, live: Iterable[int]) -> dict[int, float]:
        """Of live versions of these spaces: from memory as far as they were read, else from the database."""
        ids = list(live)
        scores = self._spaces.similarities_in_memory(self._allowed, vector, ids)
        left = [version_id for version_id in ids if version_id not in scores]
        stored = stored_vectors(sql, left, self._allowed, self._spaces.encoder_version) if left else {}
        if stored:
            cosines = read_vectors(list(stored.values()), self._spaces.dimension) @ vector
            scores.update(zip(stored, cosines.tolist(), strict=True))
        return scores

    def passages(self, version_ids: Sequence[int]) -> dict[int, Passage]:
        """The live versions among these, by id."""
        with self._spaces.database.reading() as sql:
            return live_passages(sql, version_ids, self._allowed)

    def whole(self, version_id: int, *, most: int) -> list[Passage]:
        """The live passages of the document that a version stands in, in order; none where they are more."""
        with self._spaces.database.reading() as sql:
            read = rows(
                sql,
                "SELECT there.id FROM passage_versions AS here "
                "JOIN passage_versions AS there ON there.document_id = here.document_id "
                "AND there.removed_at IS NULL AND there.space || '' = here.space "
                f"WHERE here.id = ? AND {within(self._allowed, 'here')} ORDER BY there.position, there.id "
                "LIMIT ?",
                [version_id, most + 1],
            )
            if len(read) > most:
                return []
            live = live_passages(sql, [i for (i,) in read], self._allowed)
        return [live[i] for (i,) in read if i in live]

    def neighbours(self, version_ids: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """For each version, the live versions before and after it in its document or conversation."""
        with self._spaces.database.reading() as sql:
            return self._neighbours(sql, version_ids)

    def _neighbours(
        self, sql: SqlSession, version_ids: Sequence[int]
    ) -> dict[int, tuple[int | None, int | None]]:
        found: dict[int, tuple[int | None, int | None]] = dict.fromkeys(version_ids, (None, None))
        for some in in_parts(version_ids):
            read = rows(
                sql,
                "SELECT here.id, there.id, there.position - here.position "
                "FROM passage_versions AS here "
                "JOIN passage_versions AS there ON there.document_id = here.document_id "
                "AND there.position BETWEEN here.position - 1 AND here.position + 1 "
                "AND there.position <> here.position "
                "AND there.removed_at IS NULL AND there.space || '' = here.space "
                f"WHERE here.id IN ({some}) AND {within(self._allowed, 'here')}",
            )
            for version_id, neighbour, side in read:
                before, after = found[version_id]
                found[version_id] = (neighbour, after) if side < 0 else (before, neighbour)
        return found
