"""The indexer: killed anywhere and run again, it ends where it would have ended."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_fixtures import DIMENSION, ENCODER, Stores, document, fake_encode, findable

from stores.base.errors import StoreUnavailable
from stores.base.passages import SHARED, own_space
from stores.database.database import Database
from stores.search.indexer import Indexer, next_step
from stores.search.live_models import LiveModels
from stores.search.shared_index import SharedIndex
from stores.vectors.exact import ExactVectors, Vector, Vectors
from stores.versions.changes import ask_to_index


class Killed(BaseException):
    """The process ends here."""


class Mortal:
    """Lets steps happen until one is fatal; the step may or may not have taken effect."""

    def __init__(self, *, dies_at: int, after: bool) -> None:
        self.dies_at, self.after, self.steps = dies_at, after, 0

    def step(self, act: Callable[[], Any]) -> Any:
        self.steps += 1
        if self.steps == self.dies_at and not self.after:
            raise Killed
        done = act()
        if self.steps == self.dies_at:
            raise Killed
        return done


class KeptVectors:
    """An index that keeps exactly what it is given."""

    def __init__(self, mortal: Mortal | None = None) -> None:
        self.mortal = mortal
        self.kept: dict[int, bytes] = {}

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        def act() -> None:
            self.kept.update({i: v.tobytes() for i, v in zip(version_ids, vectors, strict=True)})

        self._do(act)

    def remove(self, version_ids: Iterable[int]) -> None:
        def act() -> None:
            for version_id in version_ids:
                self.kept.pop(version_id, None)

        self._do(act)

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        raise AssertionError("the indexer does not search")

    def version_ids(self) -> set[int]:
        return set(self.kept)

    def _do(self, act: Callable[[], None]) -> None:
        if self.mortal is None:
            act()
        else:
            self.mortal.step(act)


def live_shared(stores: Stores) -> dict[int, bytes]:
    """What the shared index should hold."""
    return {i: fake_encode([written])[0].tobytes() for i, written in stores.texts(SHARED).items()}


def job_states(database: Database) -> list[tuple[int, bool]]:
    from sqlalchemy import text

    with database.reading() as sql:
        rows = sql.execute(text("SELECT id, done_at IS NOT NULL FROM jobs ORDER BY id"))
        return [(row[0], bool(row[1])) for row in rows]


# What is to be done, is done


def test_every_live_text_gets_a_vector_and_every_shared_one_stands_in_the_index(
    stores: Stores, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    said = stores.say(ann, "my cat", "my dog")
    index = KeptVectors()
    indexer = stores.indexer(index)
    assert indexer.waiting() == 2
    assert indexer.catch_up() == 2
    assert indexer.waiting() == 0
    assert index.kept == live_shared(stores)
    vectors = {row[0]: (row[1], row[2], row[3]) for row in findable(stores.database)["vectors"]}
    assert vectors[said[0]] == (own_space(ann), ENCODER, fake_encode(["my cat"])[0].tobytes())
    assert set(vectors) == {*stores.texts(SHARED), *said}


def test_a_title_is_encoded_with_its_text(stores: Stores, ann: int) -> None:
    stores.import_lines(ann, ['{"title": "Pets", "text": "a cat"}'])
    stores.indexer().catch_up()
    [vector] = findable(stores.database)["vectors"]
    assert vector[3] == fake_encode(["Pets\na cat"])[0].tobytes()


def test_catching_up_twice_changes_nothing(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.say(ann, "my cat")
    index = KeptVectors()
    stores.indexer(index).catch_up()
    before, kept = findable(stores.database), dict(index.kept)

    def encode(_: Sequence[str]) -> Vectors:
        raise AssertionError("there is nothing to encode")

    assert stores.indexer(index, encode=encode).catch_up() == 0
    assert (findable(stores.database), index.kept) == (before, kept)


def test_doing_a_job_twice_changes_nothing(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    said = stores.say(ann, "my cat")
    index = KeptVectors()
    stores.indexer(index).catch_up()
    before, kept = findable(stores.database), dict(index.kept)
    with stores.database.writing() as sql:
        ask_to_index(sql, SHARED, list(index.kept))
        ask_to_index(sql, own_space(ann), said)
    assert stores.indexer(index).catch_up() == 2
    assert (findable(stores.database), index.kept) == (before, kept)


def test_removed_versions_leave_the_index_and_revived_ones_return(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    index = KeptVectors()
    indexer = stores.indexer(index)
    indexer.catch_up()
    first = dict(index.kept)
    stores.add(ann, document("a.txt", "owl"))
    indexer.catch_up()
    assert index.kept == live_shared(stores)
    assert not set(index.kept) & set(first)
    stores.knowledge.undo(ann, stores.knowledge.receipts(ann)[0].id)
    indexer.catch_up()
    assert index.kept == first == live_shared(stores)


def test_what_was_added_and_removed_before_the_indexer_ran_is_never_encoded(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "a secret")
    stores.knowledge.set_aside(ann, [note])
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> Vectors:
        encoded.extend(texts)
        return fake_encode(texts)

    assert stores.indexer(encode=encode).catch_up() == 2
    assert encoded == []


def test_many_jobs_and_many_texts_are_done_in_parts(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.search.indexer._JOBS_AT_ONCE", 2)
    monkeypatch.setattr("stores.search.indexer.TEXTS_AT_ONCE", 3)
    sizes: list[int] = []

    def encode(texts: Sequence[str]) -> Vectors:
        sizes.append(len(texts))
        return fake_encode(texts)

    for number in range(5):
        stores.say(ann, f"one {number}", f"two {number}")
    assert stores.indexer(encode=encode).catch_up() == 5
    assert sizes == [3, 1, 3, 1, 2]
    assert len(findable(stores.database)["vectors"]) == 10


# While something is not there


def test_own_words_are_indexed_while_the_shared_index_is_anothers(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.search.indexer._JOBS_AT_ONCE", 2)
    for number in range(3):
        stores.add(ann, document(f"{number}.txt", f"cat {number}"))
    said = stores.say(ann, "my cat")
    assert stores.indexer(None).catch_up() == 1
    assert stores.indexer().waiting() == 3
    [found] = stores.spaces().of(ann).nearest(fake_encode(["my cat"])[0], 1)
    assert found == (said[0], 1.0)
    index = KeptVectors()
    assert stores.indexer(index).catch_up() == 3
    assert index.kept == live_shared(stores)


def test_a_shared_index_that_cannot_be_used_holds_up_nothing_else(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    for number in range(20):  # more than are done at once
        stores.knowledge.remember(bob, f"note {number}")
        stores.add(ann, document(f"{number}.txt", f"dog {number}"))
    tried = 0

    def down(_writes: bool) -> None:
        nonlocal tried
        tried += 1
        raise StoreUnavailable("the server is down")

    indexer = Indexer(
        stores.database,
        encoder_version=ENCODER,
        encode=fake_encode,
        shared_index=SharedIndex(
            stores.database,
            name="tests",
            encoder_version=ENCODER,
            dimension=DIMENSION,
            exact_up_to=0,
            open_index=down,
        ),
    )
    assert indexer.catch_up() == 20
    assert indexer.waiting() == 21
    assert tried == 1
    assert indexer.hindrance is not None
    assert indexer.hindrance.message == "the server is down"
    assert len(stores.spaces().of(bob).nearest(fake_encode(["note 3"])[0], 99)) == 41
    index = KeptVectors()
    back = stores.indexer(index)
    assert back.catch_up() == 21
    assert back.hindrance is None
    assert index.kept == live_shared(stores)


def test_jobs_of_a_user_do_not_open_the_shared_index(stores: Stores, ann: int) -> None:
    def open_index(_writes: bool) -> None:
        raise AssertionError("there is nothing to write to it")

    stores.say(ann, "my cat")
    shared_index = SharedIndex(
        stores.database,
        name="tests",
        encoder_version=ENCODER,
        dimension=DIMENSION,
        exact_up_to=0,
        open_index=open_index,
    )
    indexer = Indexer(stores.database, encoder_version=ENCODER, encode=fake_encode, shared_index=shared_index)
    assert indexer.catch_up() == 1


def test_a_failing_encoder_loses_no_job(stores: Stores, ann: int) -> None:
    def encode(_: Sequence[str]) -> Vectors:
        raise StoreUnavailable("not now")

    stores.say(ann, "my cat")
    with pytest.raises(StoreUnavailable):
        stores.indexer(encode=encode).catch_up()
    assert stores.indexer().waiting() == 1
    assert stores.indexer().catch_up() == 1


def test_a_version_removed_while_it_is_encoded_gets_no_vector(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "my cat")

    def encode(texts: Sequence[str]) -> Vectors:
        stores.knowledge.set_aside(ann, [note])
        return fake_encode(texts)

    stores.indexer(encode=encode).catch_up()
    assert findable(stores.database)["vectors"] == []
    assert stores.indexer().waiting() == 0
    stores.knowledge.undo(ann, stores.knowledge.receipts(ann)[0].id)
    stores.indexer().catch_up()
    assert len(findable(stores.database)["vectors"]) == 1


def test_two_indexers_at_once_write_each_vector_once(stores: Stores, ann: int) -> None:
    stores.say(ann, "my cat")

    def encode(texts: Sequence[str]) -> Vectors:
        stores.indexer().catch_up()  # another one is faster
        return fake_encode(texts)

    stores.indexer(encode=encode).catch_up()
    assert len(findable(stores.database)["vectors"]) == 1


# A new encoder, a lost index


def turned(texts: Sequence[str]) -> Vectors:
    return -fake_encode(texts)


def test_a_new_encoder_gets_vectors_of_its_own_for_all_that_is_live(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.say(ann, "my cat")
    stores.indexer(KeptVectors()).catch_up()
    indexer = stores.indexer(encode=turned, encoder_version="fake-2")
    assert indexer.catch_up() == 0
    assert sum(indexer.encode_everything(at_once=1)) == 2
    versions = [row[2] for row in findable(stores.database)["vectors"]]
    assert sorted(versions) == ["fake-1", "fake-1", "fake-2", "fake-2"]
    assert list(indexer.encode_everything()) == []


@given(st.integers(1, 256), st.floats(0.0, 100.0), st.floats(0.01, 10.0))
def test_a_step_grows_no_faster_than_twice_and_shrinks_to_what_was_wanted(
    texts: int, took: float, wanted: float
) -> None:
    following = next_step(texts, took, wanted)
    assert 1 <= following <= min(2 * texts, 256)
    if took > wanted:
        assert following == 1 or following * took / texts <= wanted * 1.001  # of the same speed


def test_steps_of_about_a_time_leave_nothing_out(stores: Stores, ann: int) -> None:
    stores.add(ann, *(document(f"{number}.txt", f"cat {number}") for number in range(20)))
    stores.indexer(KeptVectors()).catch_up()
    indexer = stores.indexer(encode=turned, encoder_version="fake-2")
    steps = list(indexer.encode_everything(at_once=1, seconds=60.0))
    assert steps[:4] == [1, 2, 4, 8]
    assert sum(steps) == 20


def test_an_encoder_that_is_not_live_marks_no_job_done(stores: Stores, ann: int) -> None:
    LiveModels(stores.database).make_live("encoder", "fake-2")
    stores.say(ann, "my cat")
    assert stores.indexer().catch_up() == 0  # fake-1, of a process that was opened before
    assert stores.indexer().waiting() == 1
    assert stores.indexer(encode=turned, encoder_version="fake-2").catch_up() == 1
    versions = [row[2] for row in findable(stores.database)["vectors"]]
    assert versions == ["fake-1", "fake-2"]


def test_a_lost_index_is_written_again_without_encoding(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    stores.add(ann, document("a.txt", "owl", "dog"))
    stores.indexer(KeptVectors()).catch_up()

    index = ExactVectors(DIMENSION)
    for _ in stores.shared_index(index).fill():
        pass
    assert index.version_ids() == set(stores.texts(SHARED))
    assert np.isclose(index.nearest(fake_encode(["owl"])[0], 1)[0][1], 1.0)


# Killed


def work_to_do(folder: Path) -> None:
    """A database with an indexed past and every kind of work waiting."""
    stores = Stores.fresh(folder)
    ann, bob = stores.journal.user_id("ann"), stores.journal.user_id("bob")
    stores.add(ann, document("a.txt", "cat", "dog", "owl"), document("b.txt", "elk"))
    old, _ = stores.knowledge.remember(ann, "an old note")
    stores.indexer(KeptVectors()).catch_up()
    stores.add(ann, document("a.txt", "dog", "ant"))
    stores.say(bob, "my cat", "my dog")
    stores.knowledge.set_aside(ann, [old])
    stores.knowledge.remember(ann, "a new note")
    stores.add(bob, document("c.txt", "bee"))
    stores.knowledge.undo(bob, stores.knowledge.receipts(bob)[0].id)
    stores.import_notes(bob, "bob's note")
    stores.database.close()


def run_until_killed(
    folder: Path, start: dict[int, bytes], mortal: Mortal, monkeypatch: pytest.MonkeyPatch
) -> KeptVectors:
    stores = Stores.over(Database.at(folder))
    index = KeptVectors(mortal)
    index.kept = dict(start)
    mark = Indexer._mark_done
    with monkeypatch.context() as patched:
        patched.setattr(Indexer, "_mark_done", lambda self, *what: mortal.step(lambda: mark(self, *what)))
        indexer = stores.indexer(index, encode=lambda texts: mortal.step(lambda: fake_encode(texts)))
        try:
            indexer.catch_up()
        except Killed:
            pass
        finally:
            stores.database.close()
    index.mortal = None
    return index


@pytest.mark.parametrize("after", [False, True], ids=["before its effect", "after its effect"])
def test_killed_at_any_step_and_run_again_it_ends_as_if_undisturbed(
    tmp_path: Path, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.search.indexer._JOBS_AT_ONCE", 2)
    monkeypatch.setattr("stores.search.indexer.TEXTS_AT_ONCE", 2)
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    work_to_do(prepared)
    start = {1: b"cat", 2: b"dog", 3: b"owl", 4: b"elk"}  # the first four versions are indexed

    def run(name: str, mortal: Mortal) -> tuple[dict[str, Any], dict[int, bytes], list[tuple[int, bool]]]:
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(prepared / "vouch.db", folder)
        index = run_until_killed(folder, start, mortal, monkeypatch)
        again = Stores.over(Database.at(folder))
        again.indexer(index).catch_up()
        ended = findable(again.database), index.kept, job_states(again.database)
        again.database.close()
        return ended

    undisturbed = Mortal(dies_at=0, after=after)
    expected = run("undisturbed", undisturbed)
    assert set(expected[1]) == {4, 6, 7}  # elk, dog and ant
    assert all(is_done for _, is_done in expected[2])
    assert undisturbed.steps >= 8
    for step in range(1, undisturbed.steps + 1):
        assert run(f"killed at {step}", Mortal(dies_at=step, after=after)) == expected
