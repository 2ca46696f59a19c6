"""The index of the shared space is never asked before it holds everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import text
from store_fixtures import DIMENSION, Stores, document, fake_encode, forget_fill

import stores.database.database
from stores.base.passages import SHARED
from stores.database.database import Database
from stores.search.shared_index import SharedIndex
from stores.vectors.exact import ExactVectors, Vector, Vectors
from stores.versions.changes import NewVersion, add_versions


class WatchedVectors(ExactVectors):
    """Exact vectors that count how often they are asked, and may do something in the middle of a write."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.asked = 0
        self.written: set[int] = set()
        self.meanwhile: list[Callable[[], object]] = []
        self.before_removing: list[Callable[[], object]] = []

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        self.asked += 1
        return super().nearest(vector, k)

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        super().upsert(version_ids, vectors)
        self.written |= set(version_ids)
        meanwhile, self.meanwhile = self.meanwhile, []
        for act in meanwhile:
            act()

    def remove(self, version_ids: Iterable[int]) -> None:
        before, self.before_removing = self.before_removing, []
        for act in before:
            act()
        super().remove(version_ids)


@pytest.fixture
def index() -> WatchedVectors:
    return WatchedVectors()


def lose(index: WatchedVectors) -> None:
    """As if its folder had been deleted: what is asked or written next is a new one."""
    index.remove(index.version_ids())
    forget_fill(index)


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


def test_an_index_that_was_deleted_is_filled_anew_by_the_next_write(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl", "elk"))
    stores.indexer(index).catch_up()
    lost = WatchedVectors()
    stores.add(ann, document("b.txt", "wolf"))
    stores.indexer(lost).catch_up()
    assert lost.version_ids() == set(stores.texts(SHARED))
    assert search(stores, ann, lost, exact_up_to=0) == ["cat"]
    assert lost.asked == 1


def test_an_index_that_is_lost_while_it_is_filled_is_not_taken_for_whole(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    index.meanwhile = [lambda: lose(index)]
    stores.indexer(index).catch_up()
    assert search(stores, ann, index, exact_up_to=0) == ["cat"]
    assert index.asked == 0
    assert stores.indexer(index).catch_up() == 1
    assert index.version_ids() == set(stores.texts(SHARED))


def test_an_index_that_is_lost_while_it_is_open_is_not_asked(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.indexer(index).catch_up()
    spaces = stores.spaces(index, exact_up_to=0)  # of a process that lives long
    assert len(spaces.of(ann).nearest(fake_encode(["cat"])[0], 9)) == 2
    lose(index)
    index.upsert([77], fake_encode(["of the next life"]))
    assert len(spaces.of(ann).nearest(fake_encode(["cat"])[0], 9)) == 2
    assert index.asked == 1


# Another index of the same space, by other settings or on another machine


@pytest.fixture
def other() -> WatchedVectors:
    return WatchedVectors()


def test_what_was_done_under_another_name_is_brought_in_afterwards(
    stores: Stores, ann: int, index: WatchedVectors, other: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"), document("c.txt", "elk"))
    stores.indexer(index).catch_up()
    stores.add(ann, document("a.txt", "cat"))  # dog goes
    stores.add(ann, document("b.txt", "owl"))
    stores.indexer(other, name="other").catch_up()
    assert other.version_ids() == set(stores.texts(SHARED))
    assert search(stores, ann, index, exact_up_to=0) == ["cat"]
    assert index.asked == 0  # until it knows
    index.written.clear()
    assert stores.indexer(index).catch_up() == 0  # no job waits
    assert index.version_ids() == set(stores.texts(SHARED))
    assert index.written == set(stores.texts(SHARED)) - {3}  # not elk: it is not filled anew
    assert search(stores, ann, index, exact_up_to=0) == ["cat"]
    assert index.asked == 1


def test_what_was_done_where_no_index_is_wanted_is_brought_in_afterwards(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.indexer(index).catch_up()
    stores.add(ann, document("b.txt", "owl"))
    stores.indexer(None, exact_up_to=99, name="exact").catch_up()
    stores.indexer(index).catch_up()
    assert index.version_ids() == set(stores.texts(SHARED))


def test_two_indexes_of_one_space_agree_and_come_to_rest(
    stores: Stores, ann: int, index: WatchedVectors, other: WatchedVectors
) -> None:
    for number in range(4):
        stores.add(ann, document(f"{number}.txt", f"cat {number}"))
        stores.indexer(index).catch_up()
        stores.indexer(other, name="other").catch_up()
    stores.add(ann, document("0.txt", "dog"))
    stores.indexer(other, name="other").catch_up()
    assert stores.indexer(index).catch_up() + stores.indexer(other, name="other").catch_up() == 0
    assert index.version_ids() == other.version_ids() == set(stores.texts(SHARED))
    index.written.clear()
    other.written.clear()
    assert stores.indexer(index).catch_up() + stores.indexer(other, name="other").catch_up() == 0
    assert index.written | other.written == set()


def test_one_index_under_two_names_is_filled_once(stores: Stores, ann: int, index: WatchedVectors) -> None:
    """As one server whose address is written in two ways."""
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.indexer(index).catch_up()
    stores.add(ann, document("b.txt", "owl"))
    index.written.clear()
    assert not stores.shared_index(index, name="other").is_due()
    stores.indexer(index, name="other").catch_up()
    stores.indexer(index).catch_up()
    assert index.written == {3}
    assert stores.shared_index(index, name="other").differences() == (set(), set())
    assert search(stores, ann, index, exact_up_to=0) == ["cat"]
    assert index.asked == 1


def test_a_job_done_elsewhere_while_an_index_is_filled_is_not_lost(
    stores: Stores, ann: int, index: WatchedVectors, other: WatchedVectors
) -> None:
    """It waited when the fill began, and its passage had no vector yet when the fill came by."""
    with stores.database.writing() as sql:
        [owl] = add_versions(sql, SHARED, [NewVersion(text="owl")], author="test", receipt_id=None)
    stores.add(ann, document("a.txt", "cat", "dog"))
    index.meanwhile = [lambda: stores.indexer(other, name="other").catch_up()]
    for _ in stores.shared_index(index).fill():
        pass
    stores.indexer(index).catch_up()
    assert owl in index.version_ids()


def test_what_another_process_revives_and_brings_meanwhile_stays(
    stores: Stores, ann: int, index: WatchedVectors
) -> None:
    """Two processes write one server; the slower one has not seen yet that a version is live again."""
    stores.add(ann, document("a.txt", "cat"))
    stores.indexer(index).catch_up()
    stores.add(ann, document("a.txt", "dog"))

    def revive() -> None:
        stores.knowledge.undo(ann, stores.knowledge.receipts(ann)[0].id)
        stores.indexer(index).catch_up()

    index.before_removing = [revive]
    stores.indexer(index).catch_up()
    assert index.version_ids() == set(stores.texts(SHARED))


# While it is filled


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


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_an_earlier_release_noted_as_filled_is_filled_again(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    engine = stores.database.database._engine(url)
    stores.database.database._migrate(engine, "0002")
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as sql:
        sql.execute(text("INSERT INTO filled_indexes VALUES ('tests', 'fake-1', CURRENT_TIMESTAMP, 7)"))
    engine.dispose()
    house = Stores.over(Database(url, migrates=True))
    index = WatchedVectors()
    assert not is_filled(house, house.shared_index(index))
    house.add(house.journal.user_id("ann"), document("a.txt", "cat", "dog"))
    house.indexer(index).catch_up()
    assert is_filled(house, house.shared_index(index))
    assert index.version_ids() == set(house.texts(SHARED))
    house.database.close()
