"""Encoders change by one pointer, and a query never meets another version's vectors."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from store_fixtures import DIMENSION, Stores, document, fake_encode

from stores.base.errors import CannotUndo
from stores.base.passages import SHARED
from stores.search.encoder_versions import EncoderVersion, EncoderVersions
from stores.vectors.exact import ExactVectors, Vectors

OLD = EncoderVersion("fake-1", "", DIMENSION)
NEW = EncoderVersion("fake-2", "/models/new", DIMENSION)


def turned(texts: Sequence[str]) -> Vectors:
    return -fake_encode(texts)


@pytest.fixture
def versions(stores: Stores) -> EncoderVersions:
    made = EncoderVersions(stores.database)
    assert made.make_live(OLD)
    return made


def build(stores: Stores, index: ExactVectors | None = None) -> None:
    """Makes the new version's vectors and index beside the old."""
    newest_job = EncoderVersions(stores.database).newest_job()
    for _ in stores.indexer(encode=turned, encoder_version="fake-2").encode_everything():
        pass
    if index is not None:
        for _ in stores.shared_index(index, encoder_version="fake-2").fill(known_job=newest_job):
            pass


def test_the_first_encoder_is_live_at_once(stores: Stores) -> None:
    versions = EncoderVersions(stores.database)
    assert (versions.live(), versions.previous(), versions.declined()) == (None, None, "")
    assert versions.make_live(NEW)
    assert (versions.live(), versions.previous()) == (NEW, None)


def test_an_encoder_whose_vectors_are_not_all_there_does_not_go_live(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    assert versions.missing("fake-2") == 2
    assert not versions.make_live(NEW)
    assert versions.live() == OLD
    build(stores)
    assert versions.missing("fake-2") == 0
    stores.say(ann, "my cat")  # in the middle
    assert not versions.make_live(NEW)
    build(stores)
    assert versions.make_live(NEW)
    assert (versions.live(), versions.previous()) == (NEW, OLD)


def test_each_version_searches_its_own_vectors_before_and_after_the_swap(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    cat = next(i for i, written in stores.texts(SHARED).items() if written == "cat")
    old_spaces, new_spaces = stores.spaces(), stores.spaces(encoder_version="fake-2")
    query = fake_encode(["cat"])[0]
    assert old_spaces.of(ann).nearest(query, 1) == [(cat, 1.0)]
    assert new_spaces.of(ann).nearest(-query, 9) == []
    build(stores)
    assert versions.make_live(NEW)
    assert old_spaces.of(ann).nearest(query, 1) == [(cat, 1.0)]  # a process that was opened before
    assert new_spaces.of(ann).nearest(-query, 1) == [(cat, 1.0)]
    assert set(old_spaces.of(ann).similarities(query, [cat]).values()) == {1.0}
    assert set(new_spaces.of(ann).similarities(-query, [cat]).values()) == {1.0}


def test_what_was_written_between_fill_and_swap_is_indexed_afterwards(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    old_index, new_index = ExactVectors(DIMENSION), ExactVectors(DIMENSION)
    stores.indexer(old_index).catch_up()
    build(stores, new_index)
    stores.add(ann, document("a.txt", "cat"))  # dog goes
    stores.add(ann, document("b.txt", "owl"))
    stores.indexer(old_index).catch_up()  # these jobs are done, by the old version
    build(stores)
    assert versions.make_live(NEW)
    stores.indexer(new_index, encode=turned, encoder_version="fake-2").catch_up()
    assert new_index.version_ids() == set(stores.texts(SHARED))


def test_what_came_between_encoding_and_filling_is_indexed_afterwards(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    old_index, new_index = ExactVectors(DIMENSION), ExactVectors(DIMENSION)
    stores.indexer(old_index).catch_up()
    newest_job = versions.newest_job()
    for _ in stores.indexer(encode=turned, encoder_version="fake-2").encode_everything():
        pass
    stores.add(ann, document("b.txt", "owl"))
    stores.indexer(old_index).catch_up()  # its job is done, and the new version knows nothing of it
    for _ in stores.shared_index(new_index, encoder_version="fake-2").fill(known_job=newest_job):
        pass
    assert not versions.make_live(NEW)
    build(stores)
    assert versions.make_live(NEW)
    stores.indexer(new_index, encode=turned, encoder_version="fake-2").catch_up()
    assert new_index.version_ids() == set(stores.texts(SHARED))


def test_a_step_back_is_one_pointer_and_misses_nothing_in_the_end(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    old_index, new_index = ExactVectors(DIMENSION), ExactVectors(DIMENSION)
    stores.indexer(old_index).catch_up()
    build(stores, new_index)
    assert versions.make_live(NEW)
    new_indexer = stores.indexer(new_index, encode=turned, encoder_version="fake-2")
    new_indexer.catch_up()
    stores.add(ann, document("a.txt", "cat"))
    said = stores.say(ann, "my owl")
    new_indexer.catch_up()

    assert versions.step_back() == OLD
    assert (versions.live(), versions.previous(), versions.declined()) == (OLD, NEW, "fake-2")
    space = stores.spaces(old_index, exact_up_to=0).of(ann)
    assert space.matching("owl", 5) == list(said)  # by its words at once
    stores.indexer(old_index).catch_up()
    assert space.nearest(fake_encode(["my owl"])[0], 1) == [(said[0], 1.0)]
    assert old_index.version_ids() == set(stores.texts(SHARED))
    assert versions.step_back() == NEW  # and forward again
    assert versions.declined() == "fake-1"


def test_a_version_that_goes_live_again_knows_what_came_while_it_was_not(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    old_index, new_index = ExactVectors(DIMENSION), ExactVectors(DIMENSION)
    stores.indexer(old_index).catch_up()
    stores.add(ann, document("c.txt", "elk"))  # a job that waits when the version is replaced
    build(stores, new_index)
    assert versions.make_live(NEW)
    stores.add(ann, document("a.txt", "cat"))
    stores.add(ann, document("b.txt", "owl"))
    stores.indexer(new_index, encode=turned, encoder_version="fake-2").catch_up()
    for _ in stores.indexer().encode_everything():
        pass
    assert versions.make_live(OLD)  # named in the settings again: forward, not back
    stores.indexer(old_index).catch_up()
    assert old_index.version_ids() == set(stores.texts(SHARED))


def test_there_is_no_step_back_from_the_first(versions: EncoderVersions) -> None:
    with pytest.raises(CannotUndo, match="no encoder before"):
        versions.step_back()


def test_going_forward_again_forgets_what_was_declined(
    stores: Stores, versions: EncoderVersions, ann: int
) -> None:
    stores.say(ann, "my cat")
    build(stores)
    assert versions.make_live(NEW)
    versions.step_back()
    stores.indexer().catch_up()
    assert versions.make_live(NEW)
    assert (versions.live(), versions.declined()) == (NEW, "")
