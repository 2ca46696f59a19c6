"""The index of the shared space is never asked before it holds everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from store_fixtures import DIMENSION, Stores, document, fake_encode

from stores.records import SHARED
from stores.shared_index import SharedIndex
from stores.vectors import ExactVectors, Vector, Vectors


class WatchedVectors(ExactVectors):
    """Exact vectors that count how often they are asked, and may do something in the middle of a write."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.asked = 0
        self.meanwhile: list[object] = []

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        self.asked += 1
        return super().nearest(vector, k)

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        super().upsert(version_ids, vectors)
        for act in self.meanwhile:
            act()  # type: ignore[operator]
        self.meanwhile = []

    def remove(self, version_ids: Iterable[int]) -> None:
        super().remove(version_ids)


@pytest.fixture
def index() -> WatchedVectors:
    return WatchedVectors()


def is_filled(stores: Stores, shared_index: SharedIndex) -> bool:
    with stores.database.reading() as sql:
        return shared_index.is_filled(sql)


def search(stores: Stores, user: int, index: WatchedVectors, *, exact_up_to: int) -> list[str]:
    texts = stores.texts(SHARED)
    space = stores.spaces(index, exact_up_to=exact_up_to).of(user)
    return [texts[i] for i, _ in space.nearest(fake_encode(["cat"])[0], 1)]


def test_a_small_shared_space_has_no_index(stores: Stores, ann: int, index: WatchedVectors) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    assert stores.indexer(index, exact_up_to=2).catch_up() == 1
    assert index.version_ids() == set()
    assert search(stores, ann, index, exact_up_to=2) == ["cat"]
    assert index.asked == 0


def test_a_space_that_outgrows_exact_search_is_indexed_whole(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.indexer(index, exact_up_to=2).catch_up()
    stores.add(ann, document("b.txt", "owl"))
    assert search(stores, ann, index, exact_up_to=2) == ["cat"]
    assert index.asked == 0  # it is not filled yet
    stores.indexer(index, exact_up_to=2).catch_up()
    assert index.version_ids() == set(stores.texts(SHARED))
    assert search(stores, ann, index, exact_up_to=2) == ["cat"]
    assert index.asked == 1


def test_an_index_is_kept_up_when_the_space_has_shrunk_again(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    stores.indexer(index, exact_up_to=2).catch_up()
    stores.add(ann, document("a.txt", "cat"))
    stores.indexer(index, exact_up_to=2).catch_up()
    assert index.version_ids() == set(stores.texts(SHARED))


def test_an_index_that_was_deleted_is_not_asked(stores: Stores, ann: int, index: WatchedVectors) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.indexer(index).catch_up()
    lost = WatchedVectors()
    assert search(stores, ann, lost, exact_up_to=0) == ["cat"]
    assert lost.asked == 0


def test_what_is_written_while_an_index_is_filled_is_not_lost(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    index.meanwhile = [
        lambda: stores.add(ann, document("b.txt", "owl")),
        lambda: stores.add(ann, document("a.txt", "cat")),
        lambda: stores.indexer(None, exact_up_to=9).catch_up(),  # thinks that no index is wanted
    ]
    stores.indexer(index).catch_up()
    stores.indexer(index).catch_up()
    assert index.version_ids() == set(stores.texts(SHARED))
    assert stores.indexer().waiting() == 0


def test_a_fill_that_was_stopped_is_not_taken_for_whole(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    shared_index = stores.shared_index(index)
    filling = shared_index.fill()
    next(filling)
    filling.close()
    assert not is_filled(stores, shared_index)
    assert sum(shared_index.fill()) == 2
    assert is_filled(stores, shared_index)


def test_differences_are_what_is_missing_and_what_is_too_much(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    shared_index = stores.shared_index(index)
    assert shared_index.differences() is None
    stores.indexer(index).catch_up()
    assert shared_index.differences() == (set(), set())
    [cat, _] = sorted(stores.texts(SHARED))
    index.remove([cat])
    index.upsert([77], fake_encode(["planted"]))
    assert shared_index.differences() == ({cat}, {77})
    for _ in shared_index.fill():
        pass
    assert shared_index.differences() == (set(), set())


def test_an_index_of_another_encoder_version_is_another_index(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.indexer(index).catch_up()
    assert is_filled(stores, stores.shared_index(index))
    assert not is_filled(stores, stores.shared_index(index, encoder_version="fake-2"))
