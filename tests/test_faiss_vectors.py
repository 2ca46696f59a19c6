"""The index in files: whole after any kill, seen by other processes, and told when it is damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faiss_child import apply, change_of, open_index, vectors_of
from index_fixtures import TrueFaiss, TruthFile, clusters

import stores.vectors.build_snapshot
import stores.vectors.faiss_library
import stores.vectors.snapshot
from stores.base.errors import StoreUnavailable
from stores.vectors.build_snapshot import lists_for
from stores.vectors.exact import Vector
from stores.vectors.faiss_index import FaissVectors

DIMENSION = 4
EAST, NORTH, UP, BEYOND = np.eye(4, dtype=np.float32)
MANY = clusters(300, DIMENSION)
ROOT = Path(__file__).parent.parent


def opened(folder: Path, **settings: Any) -> TrueFaiss:
    return TrueFaiss(folder, DIMENSION, **settings)


def generation(folder: Path) -> Path:
    (found,) = folder.glob("shared-fake/generation-*")
    return found


@pytest.fixture
def inverted(tmp_path: Path) -> Iterator[TrueFaiss]:
    """300 vectors built as inverted lists, and 4 that came since."""
    index = opened(tmp_path, exact_up_to=100, rebuild_after=200)
    index.upsert(range(300), MANY)
    index.upsert([1_000, 1_001, 1_002, 1_003], np.eye(4, dtype=np.float32))
    yield index
    index.close()


# What is built when


def test_a_few_vectors_are_kept_in_the_log_alone(tmp_path: Path) -> None:
    index = opened(tmp_path, rebuild_after=300)
    index.upsert(range(300), MANY)
    assert index.index.description()["count"] == 0
    index.upsert([300], MANY[:1])
    assert index.index.description()["count"] == 301
    index.close()


def test_the_same_vectors_again_are_no_change(inverted: TrueFaiss) -> None:
    log = generation(inverted.index.folder.parent) / "changes.log"
    size = log.stat().st_size
    inverted.upsert(range(300), MANY)
    inverted.upsert([1_001], NORTH[np.newaxis])
    inverted.remove([5_000])
    assert log.stat().st_size == size


def test_removed_versions_count_as_changes(tmp_path: Path) -> None:
    index = opened(tmp_path, rebuild_after=100)
    index.upsert(range(300), MANY)
    assert index.index.description()["count"] == 300
    index.remove(range(101))
    assert index.index.description()["count"] == 199
    index.close()


def test_a_build_takes_what_the_database_holds_and_nothing_else(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.upsert([1, 2], MANY[:2])
    index.truth.drop([1])
    index.truth.put([7], MANY[7:8])
    index.index.rebuild()
    assert index.version_ids() == {2, 7}
    index.close()


def test_a_version_that_the_database_gives_twice_is_refused(tmp_path: Path) -> None:
    index = FaissVectors(tmp_path, "fake", DIMENSION, writes=True, all_vectors=lambda: [([1, 1], MANY[:2])])
    with pytest.raises(ValueError, match="twice"):
        index.rebuild()
    assert index.version_ids() == set()
    assert len(list(index.folder.iterdir())) == 2  # the lock and the generation
    index.close()


def test_of_a_version_given_twice_at_once_the_last_vector_counts(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.upsert([1], EAST[np.newaxis])
    index.upsert([1, 1], np.array([NORTH, EAST]))
    assert index.nearest(EAST, 1) == [(1, 1.0)]
    index.close()


def test_vectors_of_another_dimension_are_refused(tmp_path: Path) -> None:
    index = opened(tmp_path)
    with pytest.raises(ValueError, match="dimension 4"):
        index.index.upsert([1], np.ones((1, 5), dtype=np.float32))
    index.close()


@pytest.mark.parametrize(
    ("count", "lists"), [(1, 1), (3, 2), (100, 32), (100_000, 1_024), (1_000_000, 2_048), (10**8, 4_096)]
)
def test_lists_grow_with_the_root_of_the_count(count: int, lists: int) -> None:
    assert lists_for(count) == lists


def test_recall_is_measured_and_kept(inverted: TrueFaiss) -> None:
    built = json.loads((generation(inverted.index.folder.parent) / "description.json").read_text())
    assert built["count"] == 300
    assert min(built["recall"]["10"], built["recall"]["100"]) >= 0.98
    assert built["recall_queries"] == "256 stored vectors plus noise of length 1.5"
    assert 1 <= built["nprobe"]["10"] <= built["nprobe"]["100"] <= built["nlist"] == 64


def test_lists_are_probed_until_recall_is_enough_or_all_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probed = {}
    for wanted in (0.1, 0.98, 1.1):
        monkeypatch.setattr(stores.vectors.build_snapshot, "WANTED_RECALL", wanted)
        index = opened(tmp_path / str(wanted), exact_up_to=0, rebuild_after=10)
        index.upsert(range(300), MANY)
        probed[wanted] = index.index.description()["nprobe"]["10"]
        index.close()
    assert probed[0.1] == 1 < probed[0.98] < probed[1.1] == 64


# Across processes


def test_a_second_writer_is_refused_and_may_search(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.upsert([1], EAST[np.newaxis])
    with pytest.raises(StoreUnavailable, match="another process is writing"):
        opened(tmp_path)
    reader = first.reader()
    assert reader.nearest(EAST, 1) == [(1, 1.0)]
    with pytest.raises(StoreUnavailable, match="searching only"):
        reader.upsert([2], NORTH[np.newaxis])
    first.close()
    opened(tmp_path).close()


def test_a_reader_of_what_was_never_written_finds_nothing_and_then_what_is_written(tmp_path: Path) -> None:
    reader = FaissVectors(tmp_path, "fake", DIMENSION, writes=False, all_vectors=list)
    assert reader.nearest(EAST, 3) == []
    writer = opened(tmp_path)
    writer.upsert([1], EAST[np.newaxis])
    assert reader.nearest(EAST, 3) == [(1, 1.0)]
    reader.close()
    writer.close()


def test_the_fills_id_goes_where_the_vectors_go(tmp_path: Path) -> None:
    index = opened(tmp_path, rebuild_after=2)
    reader = index.reader()
    assert index.index.fill_id() == reader.fill_id() == ""
    index.index.set_fill_id("first")
    assert reader.fill_id() == "first"
    index.upsert(range(40), MANY[:40])  # is built again
    assert generation(index.index.folder.parent).name != "generation-00000001"
    assert reader.fill_id() == "first"
    with pytest.raises(StoreUnavailable, match="opened for searching only"):
        reader.set_fill_id("second")
    reader.close()
    index.close()
    shutil.rmtree(generation(tmp_path))
    index.reopen()
    assert index.index.fill_id() == ""
    index.close()


def test_a_reader_sees_changes_and_builds_of_another_process(tmp_path: Path) -> None:
    opened(tmp_path).close()
    reader = FaissVectors(tmp_path, "fake", DIMENSION, writes=False, all_vectors=list)
    script = """
        import sys
        import numpy as np
        from pathlib import Path
        from stores.vectors.faiss_index import FaissVectors
        axes = np.eye(4, dtype=np.float32)
        truth = [([2, 3], axes[1:3])]
        writer = FaissVectors(
            Path(sys.argv[1]), "fake", 4, writes=True, all_vectors=lambda: truth, exact_up_to=0
        )
        for step in sys.stdin:
            if step == "put\\n":
                writer.upsert([1, 2], axes[:2])
            elif step == "remove\\n":
                writer.remove([1])
            else:
                writer.rebuild()
            print("done", flush=True)
        """
    program = "\n".join(line[8:] for line in script.splitlines())
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdin
        assert writer.stdout

        def after(step: str) -> set[int]:
            assert writer.stdin
            assert writer.stdout
            writer.stdin.write(f"{step}\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "done\n"
            return {version_id for version_id, _ in reader.nearest(UP, 5)}

        assert after("put") == {1, 2}
        assert after("remove") == {2}
        assert after("rebuild") == {2, 3}
        assert after("rebuild") == {2, 3}
        writer.stdin.close()
    reader.close()


def test_indexes_of_two_encoder_versions_are_apart(tmp_path: Path) -> None:
    one, other = (
        FaissVectors(tmp_path, version, DIMENSION, writes=True, all_vectors=list)
        for version in ("../a b", "..")
    )
    one.upsert([1], EAST[np.newaxis])
    assert other.version_ids() == set()
    assert {place.parent for place in tmp_path.rglob("writer.lock")} == {
        tmp_path / "shared-..%2Fa%20b",
        tmp_path / "shared-..",
    }
    one.close()
    other.close()


# Damage


DAMAGES: dict[str, Callable[[Path], object]] = {
    "index cut": lambda folder: os.truncate(folder / "index.faiss", 100),
    "index gone": lambda folder: (folder / "index.faiss").unlink(),
    "vectors cut": lambda folder: os.truncate(folder / "vectors.f16", 2_399),
    "vectors gone": lambda folder: (folder / "vectors.f16").unlink(),
    "entries changed": lambda folder: flip(folder / "entries", 5),
    "entries gone": lambda folder: (folder / "entries").unlink(),
    "description changed": lambda folder: replace(
        folder / "description.json", '"count": 300', '"count": 299'
    ),
    "description cut": lambda folder: os.truncate(folder / "description.json", 50),
    "description no object": lambda folder: (folder / "description.json").write_text("[]"),
    "description gone": lambda folder: (folder / "description.json").unlink(),
    "log changed in the middle": lambda folder: flip(folder / "changes.log", 30),
    "log changed at a record's head": lambda folder: flip(folder / "changes.log", 6),
    "log gone": lambda folder: (folder / "changes.log").unlink(),
}


def flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def replace(file: Path, old: str, new: str) -> None:
    content = file.read_text()
    assert old in content
    file.write_text(content.replace(old, new))


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told_on_opening_and_deleting_the_folder_mends_it(
    inverted: TrueFaiss, tmp_path: Path, damage: str
) -> None:
    inverted.upsert([2_000], EAST[np.newaxis])  # a second record behind the first
    inverted.close()
    DAMAGES[damage](generation(tmp_path))
    with pytest.raises(StoreUnavailable, match="is damaged") as told:
        inverted.reopen()
    assert "`vouch doctor` fills it again" in told.value.hint
    with pytest.raises(StoreUnavailable, match="is damaged"):
        inverted.reader()
    shutil.rmtree(tmp_path / "shared-fake")
    inverted.reopen()
    inverted.index.rebuild()
    assert len(inverted.version_ids()) == 305


def test_a_flat_matrix_that_was_cut_is_told(tmp_path: Path) -> None:
    index = opened(tmp_path, rebuild_after=10)
    index.upsert(range(300), MANY)
    index.close()
    os.truncate(generation(tmp_path) / "vectors.f32", 1_600)
    with pytest.raises(StoreUnavailable, match="1,600 bytes instead of 4,800"):
        index.reopen()


def test_an_index_of_another_dimension_is_told(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with pytest.raises(StoreUnavailable, match="dimension is 4, not 5"):
        FaissVectors(tmp_path, "fake", 5, writes=False, all_vectors=list)


def test_a_log_that_a_kill_cut_short_ends_at_its_last_whole_record(
    inverted: TrueFaiss, tmp_path: Path
) -> None:
    inverted.close()
    log = generation(tmp_path) / "changes.log"
    whole = log.read_bytes()
    for cut in range(1, len(whole)):
        log.write_bytes(whole[:cut])
        inverted.reopen()
        assert inverted.version_ids() == set(range(300))
        inverted.close()
    log.write_bytes(whole[:-1])  # longer than the next record
    inverted.reopen()
    inverted.upsert([7_000], EAST[np.newaxis])  # written where the torn record began
    inverted.reopen()
    assert inverted.version_ids() == {*range(300), 7_000}


def test_a_file_that_grew_before_its_content_came_ends_at_its_last_whole_record(
    inverted: TrueFaiss, tmp_path: Path
) -> None:
    inverted.close()
    with (generation(tmp_path) / "changes.log").open("ab") as log:
        log.write(bytes(500))
    inverted.reopen()
    assert len(inverted.version_ids()) == 304


def test_what_was_built_and_vanishes_while_it_is_open_is_told(inverted: TrueFaiss, tmp_path: Path) -> None:
    reader = inverted.reader()
    shutil.rmtree(generation(tmp_path))
    for index in (reader, inverted.index):
        with pytest.raises(StoreUnavailable, match="is gone"):
            index.nearest(EAST, 1)
    reader.close()


def no_room_for_faiss(*_: object) -> None:
    raise RuntimeError("write error")


def test_a_place_where_no_folder_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for writes in (True, False):
        with pytest.raises(StoreUnavailable, match="the index cannot be used"):
            FaissVectors(tmp_path / "file", "fake", DIMENSION, writes=writes, all_vectors=list)


def test_a_full_disk_is_told_and_leaves_what_was_there(
    inverted: TrueFaiss, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(StoreUnavailable, match=r"cannot be written .*No space left"):
            inverted.upsert([7_000], EAST[np.newaxis])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreUnavailable, match=r"cannot be built .*No space left"):
            inverted.index.rebuild()
    with monkeypatch.context() as patch:
        patch.setattr("faiss.write_index", no_room_for_faiss)
        with pytest.raises(StoreUnavailable, match=r"cannot be built .*write error"):
            inverted.index.rebuild()
    assert len(inverted.version_ids()) == 304
    assert not list(inverted.index.folder.glob(".building-*"))
    inverted.reopen()
    assert len(inverted.version_ids()) == 304


# Kills


class Killed(BaseException):
    """As if the process had ended here: nothing later is done either."""


class Deadly:
    """Lets a number of steps on the disk happen, half of the next, and no more."""

    def __init__(self, patch: pytest.MonkeyPatch, steps: int) -> None:
        self.left = steps
        for place, name in [
            (os, "fsync"),
            (os, "ftruncate"),
            (Path, "rename"),
            (Path, "mkdir"),
            (Path, "unlink"),
            (shutil, "rmtree"),
        ]:
            patch.setattr(place, name, self._counted(getattr(place, name)))
        self._pwrite = os.pwrite
        patch.setattr(os, "pwrite", self._half_written)

    def _counted(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self._count()
            return step(*arguments, **named)

        return counted

    def _half_written(self, descriptor: int, content: memoryview, start: int) -> int:
        try:
            self._count()
        except Killed:
            self._pwrite(descriptor, content[: len(content) // 2], start)
            raise
        return self._pwrite(descriptor, content, start)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed


@pytest.mark.parametrize("exact_up_to", [0, 100])
def test_killed_at_any_step_on_the_disk_the_old_or_the_new_is_found_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact_up_to: int
) -> None:
    outcomes = []
    for steps in range(100):
        index = opened(tmp_path / str(steps), rebuild_after=5, exact_up_to=exact_up_to)
        index.upsert(range(6), MANY[:6])  # built
        index.remove([0])  # in the log
        before, after = set(range(1, 6)), set(range(1, 20))
        with monkeypatch.context() as patch:
            Deadly(patch, steps)
            try:
                index.upsert(range(1, 20), MANY[1:20])  # logged, then built
                is_done = True
            except Killed:
                is_done = False
        index.index._lock.release()  # as the end of a process does
        index.reopen()
        found = index.version_ids()
        assert found in (before, after)
        outcomes.append((is_done, found == after))
        for version_id in found:
            hits = dict(index.nearest(MANY[version_id], 20))
            assert hits[version_id] == pytest.approx(1, abs=1e-3)
        index.close()
        if is_done:
            break
    assert outcomes == sorted(outcomes)  # first the old, then the new, then the end
    assert {(False, False), (False, True), (True, True)} == set(outcomes)


def test_killed_at_any_step_of_its_making_an_index_is_empty_and_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = 0
    for steps in range(100):
        with monkeypatch.context() as patch:
            Deadly(patch, steps)
            try:
                opened(tmp_path / str(steps)).close()
            except Killed:
                kills += 1
        index = opened(tmp_path / str(steps))
        assert index.version_ids() == set()
        index.upsert([1], EAST[np.newaxis])
        assert index.nearest(EAST, 2) == [(1, 1.0)]
        index.close()
        if kills <= steps:
            break
    assert kills > 5


def test_what_was_acknowledged_before_a_kill_is_found_and_nothing_half(tmp_path: Path) -> None:
    chance = random.Random(7)
    expected: dict[int, Vector] = {}
    number, under_way = 1, 0
    for _ in range(10):
        acknowledged, begun = run_until_killed(tmp_path, number, lines=chance.randint(1, 30))
        for done in range(number, acknowledged + 1):
            after(done, expected)
        truth = TruthFile(tmp_path / "truth.db")
        index = open_index(tmp_path, truth)
        if begun > acknowledged:  # the indexer would do it again
            under_way += 1
            changed = after(begun, dict(expected))
            must_hold(index, expected, changed)
            apply(begun, truth, index)
            expected = changed
        must_hold(index, expected)
        assert set(truth.held()) == set(expected)
        assert not list(tmp_path.glob("shared-fake/.*-*"))
        index.close()
        truth.close()
        number = max(begun, acknowledged) + 1
    assert under_way > 0


def run_until_killed(folder: Path, first: int, lines: int) -> tuple[int, int]:
    """The last change that was acknowledged, and the last that was begun."""
    child = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("faiss_child.py"), folder, str(first)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert child.stdout
    told = [child.stdout.readline() for _ in range(lines)]
    child.send_signal(signal.SIGKILL)
    told += child.stdout.readlines()
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    acknowledged = first - 1 + told.count("done\n")
    begun = first - 1 + sum(line.startswith("[") for line in told)
    return acknowledged, begun


def after(number: int, held: dict[int, Vector]) -> dict[int, Vector]:
    sort, versions = change_of(number)
    if sort == "put":
        held.update(zip(versions, vectors_of(number, versions), strict=True))
    else:
        for version in versions:
            held.pop(version, None)
    return held


def must_hold(index: FaissVectors, *states: dict[int, Vector]) -> None:
    """One of the states, whole: its versions, each with its vector."""
    held = index.version_ids()
    assert any(
        held == set(state) and all(has(index, version_id, vector) for version_id, vector in state.items())
        for state in states
    )


def has(index: FaissVectors, version_id: int, vector: Vector) -> bool:
    return index.nearest(vector, 1)[0] == (version_id, pytest.approx(1, abs=1e-3))


# Threads and GPUs


def test_a_query_leaves_the_threads_of_others_as_they_were(inverted: TrueFaiss) -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        inverted.nearest(EAST, 3)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)


def test_searching_goes_on_while_all_is_built_again(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.upsert([1], EAST[np.newaxis])
    seen = []

    def slowly() -> Iterator[tuple[list[int], Any]]:
        seen.append(index.nearest(EAST, 1))
        yield [1, 2], np.array([EAST, NORTH])

    index.index._all_vectors = slowly
    index.index.rebuild()
    assert seen == [[(1, 1.0)]]
    assert index.version_ids() == {1, 2}
    index.close()


def test_without_a_gpu_asking_for_one_changes_nothing(
    inverted: TrueFaiss, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores.vectors.faiss_library, "gpus", lambda: 0)
    asked = inverted._open(writes=False, use_gpu=True)
    assert asked.nearest(MANY[7], 5) == inverted.nearest(MANY[7], 5)
    asked.close()


class FakeGpu:
    """What FAISS's index on a GPU does: no selector, and at most so many neighbours."""

    def __init__(self, file: Path) -> None:
        import faiss

        self._index = faiss.read_index(str(file))
        self.nprobe = 1
        self.searches = 0

    def search(self, queries: Any, k: int) -> Any:
        assert k <= 2_048
        self.searches += 1
        self._index.nprobe = self.nprobe
        return self._index.search(queries, k)


def test_on_a_gpu_what_was_removed_is_not_found_either(
    inverted: TrueFaiss, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[FakeGpu] = []

    def copied(file: Path) -> FakeGpu:
        made.append(FakeGpu(file))
        return made[-1]

    monkeypatch.setattr(stores.vectors.snapshot, "copy_on_gpu", copied)
    gone = [version_id for version_id, _ in inverted.nearest(EAST, 30) if version_id < 300]
    inverted.remove([*gone, 1_000])
    on_gpu = inverted._open(writes=False, use_gpu=True)
    found = on_gpu.nearest(EAST, 10)  # all that the GPU finds are removed ones: searched without it
    assert found == inverted.nearest(EAST, 10)
    assert len(found) == 10
    assert not {version_id for version_id, _ in found} & {*gone, 1_000}
    assert made[0].searches == 1
    on_gpu.close()
