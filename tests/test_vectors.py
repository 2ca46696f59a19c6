"""Meaning: every index answers as exact search in memory does."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from chroma_server import ChromaServer
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from index_fixtures import SPACE, DatabaseVectors, TrueFaiss
from sqlalchemy import text
from store_fixtures import fresh_database

import stores.vectors.chroma_index
import stores.vectors.exact
from stores.base.clock import now
from stores.base.errors import StoreUnavailable
from stores.database.database import Database
from stores.database.tables import PassageVersion
from stores.vectors.chroma_index import ChromaServerVectors, ChromaVectors
from stores.vectors.exact import (
    ExactVectors,
    StoredVectors,
    Vector,
    VectorIndex,
    Vectors,
    read_vectors,
    vector_bytes,
)
from stores.versions.changes import NewVersion, add_versions

DIMENSION = 4
EAST, NORTH, UP, BEYOND = np.eye(4, dtype=np.float32)
NORTHEAST = np.array([0.6, 0.8, 0, 0], dtype=np.float32)


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaVectors]:
    opened = ChromaVectors(tmp_path_factory.mktemp("chroma"), "fake", writes=True)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseVectors]:
    database = fresh_database(tmp_path_factory.mktemp("database"))
    yield DatabaseVectors(database, DIMENSION)
    database.close()


@pytest.fixture(scope="module")
def served(chroma_server: ChromaServer) -> Iterator[ChromaServerVectors]:
    opened = ChromaServerVectors(chroma_server.url, "suite")
    yield opened
    opened.close()


@pytest.fixture
def flat(tmp_path: Path) -> Iterator[TrueFaiss]:
    opened = TrueFaiss(tmp_path, DIMENSION, rebuild_after=2)
    yield opened
    opened.close()


@pytest.fixture
def inverted(tmp_path: Path) -> Iterator[TrueFaiss]:
    opened = TrueFaiss(tmp_path, DIMENSION, rebuild_after=2, exact_up_to=0)
    yield opened
    opened.close()


@pytest.fixture(params=["exact", "chroma", "served", "stored", "flat", "inverted"])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    """An empty index of each kind; what takes long to open is opened once a module."""
    if request.param == "exact":
        return ExactVectors(DIMENSION)
    opened: VectorIndex = request.getfixturevalue(request.param)
    opened.remove(opened.version_ids())
    return opened


def rows(*vectors: Vector) -> Vectors:
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), DIMENSION)


def hits(index: VectorIndex, vector: Vector, k: int) -> list[tuple[int, float]]:
    near = 1e-3 if isinstance(index, TrueFaiss) else 1e-6  # inverted lists are scored in 16 bits
    return [(version_id, pytest.approx(cosine, abs=near)) for version_id, cosine in index.nearest(vector, k)]


# One suite over all of them


@pytest.mark.parametrize("kind", ["chroma", "served", "flat", "inverted"])
def test_the_fill_that_made_an_index_is_known_by_its_id(request: pytest.FixtureRequest, kind: str) -> None:
    index = request.getfixturevalue(kind)
    index.remove(index.version_ids())
    fillable = index.index if isinstance(index, TrueFaiss) else index
    fillable.set_fill_id("first")
    assert fillable.fill_id() == "first"
    index.upsert([1, 2, 3, 4], rows(EAST, NORTH, NORTHEAST, -EAST))  # some build all again
    assert fillable.fill_id() == "first"
    fillable.set_fill_id("second")
    assert fillable.fill_id() == "second"
    assert index.version_ids() == {1, 2, 3, 4}


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert index.nearest(EAST, 3) == []
    assert index.version_ids() == set()


def test_the_most_similar_comes_first_with_its_cosine(index: VectorIndex) -> None:
    index.upsert([1, 2, 3, 4], rows(EAST, NORTH, NORTHEAST, -EAST))
    assert hits(index, EAST, 4) == [(1, 1.0), (3, 0.6), (2, 0.0), (4, -1.0)]
    assert hits(index, NORTHEAST, 2) == [(3, 1.0), (2, 0.8)]


def test_all_are_found_when_there_are_fewer_than_asked_for(index: VectorIndex) -> None:
    index.upsert([7], rows(UP))
    assert hits(index, UP, 100) == [(7, 1.0)]


def test_none_are_found_when_none_are_asked_for(index: VectorIndex) -> None:
    index.upsert([7], rows(UP))
    assert index.nearest(UP, 0) == []


def test_of_equals_the_smaller_id_comes_first(index: VectorIndex) -> None:
    index.upsert([30, 9, 100], rows(UP, UP, UP))
    assert hits(index, UP, 3) == [(9, 1.0), (30, 1.0), (100, 1.0)]


def test_a_known_id_is_replaced(index: VectorIndex) -> None:
    index.upsert([1, 2], rows(EAST, NORTH))
    index.upsert([1], rows(UP))
    assert hits(index, UP, 3) == [(1, 1.0), (2, 0.0)]
    assert index.version_ids() == {1, 2}


def test_the_same_upsert_twice_changes_nothing(index: VectorIndex) -> None:
    for _ in range(2):
        index.upsert([1, 2], rows(EAST, NORTH))
    assert hits(index, EAST, 3) == [(1, 1.0), (2, 0.0)]


def test_what_is_removed_is_not_found(index: VectorIndex) -> None:
    index.upsert([1, 2, 3], rows(EAST, NORTH, UP))
    index.remove([1])
    assert index.version_ids() == {2, 3}
    assert hits(index, NORTH, 3) == [(2, 1.0), (3, 0.0)]


def test_removing_what_is_not_there_passes(index: VectorIndex) -> None:
    index.upsert([1], rows(EAST))
    index.remove([5, 6])
    index.remove([])
    index.remove(iter([5]))
    assert index.version_ids() == {1}


def test_what_was_removed_can_come_back_elsewhere(index: VectorIndex) -> None:
    index.upsert([1, 2], rows(EAST, NORTH))
    index.remove([1])
    index.upsert([1], rows(UP))
    assert hits(index, UP, 1) == [(1, 1.0)]


def test_no_vectors_upserted_is_no_change(index: VectorIndex) -> None:
    index.upsert([], rows())
    assert index.version_ids() == set()


def test_ids_and_vectors_must_be_as_many(index: VectorIndex) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says it in its own words
        index.upsert([1, 2], rows(EAST))
    assert index.version_ids() == set()


# 24 unit vectors whose cosines are exact: multiples of 1/4
SIGNS = [[s if bits >> i & 1 else -s for i in range(4)] for bits in range(16) for s in (0.5,)]
GRID = np.concatenate([np.eye(4), -np.eye(4), np.array(SIGNS)]).astype(np.float32)
PLACES = st.integers(0, len(GRID) - 1)
IDS = st.integers(1, 12)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.dictionaries(IDS, PLACES, max_size=5)),
        st.tuples(st.just("remove"), st.sets(IDS, max_size=4)),
        st.tuples(st.just("nearest"), st.tuples(PLACES, st.integers(0, 14))),
    ),
    max_size=12,
)


@given(changes=CHANGES)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # emptied below
)
def test_after_any_changes_the_answers_are_those_of_a_plain_list(
    index: VectorIndex, changes: list[tuple[str, object]]
) -> None:
    index.remove(index.version_ids())
    plain: dict[int, Vector] = {}
    for change, what in changes:
        if change == "upsert":
            assert isinstance(what, dict)
            index.upsert(list(what), rows(*(GRID[place] for place in what.values())))
            plain.update((version_id, GRID[place]) for version_id, place in what.items())
        elif change == "remove":
            assert isinstance(what, set)
            index.remove(what)
            for version_id in what:
                plain.pop(version_id, None)
        else:
            assert isinstance(what, tuple)
            must_agree(index, plain, GRID[what[0]], what[1])
    assert index.version_ids() == set(plain)
    must_agree(index, plain, EAST, len(plain))


def must_agree(index: VectorIndex, plain: dict[int, Vector], query: Vector, k: int) -> None:
    ranked = sorted(((i, float(v @ query)) for i, v in plain.items()), key=lambda hit: (-hit[1], hit[0]))
    found = index.nearest(query, k)
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in ranked[:k]], abs=1e-6)
    if is_approximate(index):  # which of equals are the last of k, the graph or the lists decide
        least = ranked[min(k, len(ranked)) - 1][1] if k and ranked else 2.0
        sure = {i for i, cosine in ranked if cosine > least + 1e-6}
        assert sure <= {i for i, _ in found} <= set(plain)
    else:
        assert [i for i, _ in found] == [i for i, _ in ranked[:k]]


def is_approximate(index: VectorIndex) -> bool:
    if isinstance(index, TrueFaiss):
        return bool(index.index.description()["form"] != "exact")
    return isinstance(index, (ChromaVectors, ChromaServerVectors))


# In the database


def test_stored_vectors_are_only_of_their_space_and_encoder(tmp_path: Path) -> None:
    database = fresh_database(tmp_path)
    with database.writing() as sql:
        mine, theirs = (
            add_versions(
                sql,
                space,
                [NewVersion(text="x", vector=EAST)],
                author="test",
                receipt_id=None,
                encoder_version="fake",
            )
            for space in (SPACE, "user:11")
        )
        add_versions(
            sql,
            SPACE,
            [NewVersion(text="y", vector=EAST)],
            author="test",
            receipt_id=None,
            encoder_version="older",
        )
    found = StoredVectors(SPACE, "fake", DIMENSION)
    with database.reading() as sql:
        found.refresh(sql)
    assert mine != theirs
    assert found.nearest(EAST, 10) == [(mine[0], 1.0)]
    database.close()


def test_what_is_read_in_parts_is_all_of_it(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.vectors.exact, "_AT_ONCE", 2)
    found = StoredVectors(SPACE, "fake", DIMENSION)
    expected: set[int] = set()
    for count in (5, 0, 4, 1):
        with database.writing() as sql:
            new = [NewVersion(text=f"{count} {number}", vector=EAST) for number in range(count)]
            added = add_versions(sql, SPACE, new, author="test", receipt_id=None, encoder_version="fake")
            for version_id in added[1:2]:
                sql.get_one(PassageVersion, version_id).removed_at = now()
        expected |= set(added) - set(added[1:2])
        with database.reading() as sql:
            found.refresh(sql)
        assert found.nearest(EAST, 100) == [(version_id, 1.0) for version_id in sorted(expected)]


def test_reading_all_vectors_takes_little_more_memory_than_they_do(tmp_path: Path) -> None:
    count, dimension = 8_000, 384
    database = fresh_database(tmp_path)
    plain = sqlite3.connect(tmp_path / "vouch.db")
    vector = vector_bytes(np.ones(dimension, dtype=np.float32))
    plain.executemany(
        "INSERT INTO passage_versions(id, passage_id, position, space, number, title, text, text_hash, "
        "author, created_at) VALUES (?, ?, 0, 'shared', 1, '', '', '', '', '2026-01-01')",
        ((i, i) for i in range(1, count + 1)),
    )
    plain.executemany(
        "INSERT INTO passage_vectors(version_id, space, encoder_version, vector) "
        "VALUES (?, 'shared', 'fake', ?)",
        ((i, vector) for i in range(1, count + 1)),
    )
    plain.commit()
    plain.close()
    found = StoredVectors("shared", "fake", dimension)
    with database.reading() as sql:
        sql.execute(text("SELECT 1"))
        tracemalloc.start()
        found.refresh(sql)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(found.nearest(np.ones(dimension, dtype=np.float32), count)) == count
    assert peak < 2 * count * dimension * 4
    database.close()


def test_a_vector_is_kept_bit_for_bit() -> None:
    vectors = rows(NORTHEAST, -UP)
    assert (read_vectors([vector_bytes(v) for v in vectors], DIMENSION) == vectors).all()
    assert vector_bytes(EAST) == bytes.fromhex("0000803f") + bytes(12)  # 1.0 in little-endian float32
    assert read_vectors([], DIMENSION).shape == (0, DIMENSION)


# In ChromaDB


def in_another_process(folder: Path, script: str) -> str:
    """What a script prints that has `folder`, `open_index`, and the four axes."""
    begin = """
        import sys
        import numpy as np
        from pathlib import Path
        from stores.vectors.chroma_index import ChromaVectors
        from stores.base.errors import StoreUnavailable
        folder = Path(sys.argv[1])
        axes = np.eye(4, dtype=np.float32)
"""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(begin) + textwrap.dedent(script), str(folder)],
        capture_output=True,
        text=True,
        cwd=Path(stores.vectors.chroma_index.__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_second_process_may_search_but_not_write(tmp_path: Path) -> None:
    writer = ChromaVectors(tmp_path, "fake", writes=True)
    writer.upsert([1, 2], rows(EAST, NORTH))
    told = in_another_process(
        tmp_path,
        """
        try:
            ChromaVectors(folder, "fake", writes=True)
        except StoreUnavailable as error:
            print("exit code", error.exit_code)
        print(ChromaVectors(folder, "fake", writes=False).nearest(axes[0], 1))
        """,
    )
    assert told == "exit code 3\n[(1, 1.0)]"
    writer.close()


def test_a_reader_finds_what_another_process_wrote_since(tmp_path: Path) -> None:
    first = ChromaVectors(tmp_path, "fake", writes=True)
    first.upsert([1], rows(EAST))
    first.close()
    reader = ChromaVectors(tmp_path, "fake", writes=False)
    assert hits(reader, EAST, 5) == [(1, 1.0)]  # the graph is in memory now
    in_another_process(
        tmp_path,
        """
        # more than the graph takes before it is written to disk; none of them points north
        many = np.random.default_rng(7).normal(size=(1500, 4)).astype(np.float32) * [1, 0.5, 1, 1]
        many /= np.linalg.norm(many, axis=1, keepdims=True)
        many = many[np.abs(many[:, 1]) < 0.9]
        writer = ChromaVectors(folder, "fake", writes=True)
        writer.upsert([*range(10, 10 + len(many)), 2], np.concatenate([many, axes[1:2]]))
        writer.remove([1])
        """,
    )
    assert hits(reader, NORTH, 1) == [(2, 1.0)]
    again = ChromaVectors(tmp_path, "fake", writes=True)  # who turns from reading to writing, too
    again.upsert([3], rows(BEYOND))
    assert hits(again, NORTH, 1) == [(2, 1.0)]
    assert hits(reader, BEYOND, 1) == [(3, 1.0)]
    reader.close()
    assert {1, 2, 3, 10, 11} & again.version_ids() == {2, 3, 10, 11}
    again.close()


@pytest.mark.slow
def test_a_reader_searches_on_while_another_process_writes(tmp_path: Path) -> None:
    # without taking turns, both bring one graph up to date and crash on each other's files
    first = ChromaVectors(tmp_path, "fake", writes=True)
    first.upsert([1], rows(EAST))
    first.close()
    reader = ChromaVectors(tmp_path, "fake", writes=False)
    script = """
        import sys
        import numpy as np
        from pathlib import Path
        from stores.vectors.chroma_index import ChromaVectors
        writer = ChromaVectors(Path(sys.argv[1]), "fake", writes=True)
        random = np.random.default_rng(7)
        for batch in range(8):
            ids = range(10 + 300 * batch, 310 + 300 * batch)
            writer.upsert(ids, random.normal(size=(300, 4)).astype(np.float32))
            writer.remove([ids[0]])
"""
    writing = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
        cwd=Path(stores.vectors.chroma_index.__file__).parents[2],
    )
    while writing.poll() is None:
        assert hits(reader, EAST, 1) == [(1, 1.0)]
    assert writing.returncode == 0
    assert len(reader.version_ids()) == 1 + 8 * 299
    assert len(reader.nearest(NORTH, 5000)) == 1 + 8 * 299


def test_a_use_that_another_process_never_ends_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores.vectors.chroma_index, "_PATIENCE_SECONDS", 0.05)
    reader = ChromaVectors(tmp_path, "fake", writes=False)
    with FileLock(tmp_path / "use.lock"), pytest.raises(StoreUnavailable, match="is using the shared index"):
        reader.nearest(EAST, 1)
    assert reader.nearest(EAST, 1) == []


def test_a_folder_that_vanishes_while_it_is_open_is_an_empty_one(tmp_path: Path) -> None:
    writer = ChromaVectors(tmp_path / "v1", "fake", writes=True)
    writer.upsert([1], rows(EAST))
    writer.set_fill_id("first")
    reader = ChromaVectors(tmp_path / "v1", "fake", writes=False)
    assert reader.fill_id() == "first"
    shutil.rmtree(tmp_path / "v1")
    assert reader.nearest(EAST, 1) == []
    assert reader.fill_id() == ""
    writer.close()
    reader.close()


def test_a_place_where_chromadb_can_have_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        ChromaVectors(tmp_path / "file" / "v1", "fake", writes=True)


def test_a_folder_that_cannot_be_written_is_told_and_the_lock_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", no_room)
        with pytest.raises(StoreUnavailable, match=": the disk is full"):
            ChromaVectors(tmp_path, "fake", writes=True)
    ChromaVectors(tmp_path, "fake", writes=True).close()


def test_closing_one_of_two_users_leaves_the_other_its_graph(tmp_path: Path) -> None:
    reader = ChromaVectors(tmp_path, "fake", writes=False)
    writer = ChromaVectors(tmp_path, "fake", writes=True)
    writer.upsert([1], rows(EAST))
    reader.close()
    writer.upsert([2], rows(NORTH))
    assert writer.version_ids() == {1, 2}
    writer.close()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be listed here")
def test_closing_frees_the_files(tmp_path: Path) -> None:
    index = ChromaVectors(tmp_path, "fake", writes=True)
    index.upsert([1], rows(EAST))
    assert open_files_below(tmp_path)
    index.close()
    for _ in range(600):  # ChromaDB closes its files on threads of its own
        if not open_files_below(tmp_path):
            return
        time.sleep(0.1)
    pytest.fail(f"still open: {open_files_below(tmp_path)}")


def open_files_below(folder: Path) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # it is closed just now
            found.append(str(entry.readlink()))
    return [file for file in found if file.startswith(str(folder))]


def test_the_lock_is_free_again_after_closing(tmp_path: Path) -> None:
    for _ in range(2):
        writer = ChromaVectors(tmp_path, "fake", writes=True)
        writer.close()


def test_vectors_of_another_encoder_are_another_collection(tmp_path: Path) -> None:
    first = ChromaVectors(tmp_path, "fake", writes=True)
    first.upsert([1], rows(EAST))
    first.close()
    second = ChromaVectors(tmp_path, "other", writes=True)
    assert second.version_ids() == set()
    second.close()
    again = ChromaVectors(tmp_path, "fake", writes=True)
    assert hits(again, EAST, 1) == [(1, 1.0)]  # kept over closing
    again.close()


def test_more_vectors_than_chromadb_takes_at_once_are_all_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores.vectors.chroma_index, "_BATCH", 10)
    writer = ChromaVectors(tmp_path, "fake", writes=True)
    writer.upsert(range(1, 26), np.tile(EAST, (25, 1)))
    assert writer.version_ids() == set(range(1, 26))
    writer.remove(range(2, 40))
    assert writer.version_ids() == {1}
    writer.close()


def test_a_folder_that_chromadb_cannot_read_is_told_and_the_lock_is_given_back(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreUnavailable, match="ChromaDB cannot use it"):
        ChromaVectors(tmp_path, "fake", writes=True)
    (tmp_path / "chroma.sqlite3").unlink()
    ChromaVectors(tmp_path, "fake", writes=True).close()


def test_telemetry_is_off_and_no_text_is_given_to_chromadb(chroma: ChromaVectors) -> None:
    client = chroma._collection._client
    assert client._system.settings.anonymized_telemetry is False
    chroma.upsert([1], rows(EAST))
    kept = chroma._collection.get(include=["documents", "metadatas"])
    assert set(kept["documents"]) == {None}
    assert set(kept["metadatas"]) == {None}
