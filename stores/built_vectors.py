"""Vectors as they were at one moment, in files that never change: searched exactly, or by FAISS.

    description.json   counts, the form, recall, and what the other files should be
    entries            version id and checksum of each vector, row by row
    vectors.f32        up to a size: the matrix, searched by one product
    index.faiss        above it: IVF-SQ8, the vectors' residuals to the nearest of `nlist` centroids in 8 bits
    vectors.f16        and the vectors in 16 bits, by which the candidates it finds are scored again

Rounding to 8 bits alone costs up to 4 in 100 of the ten nearest where neighbours lie close; scored again
in 16 bits hardly any is lost. The large files are memory-mapped: opening reads none of them, and all
processes share one copy. A row is hidden when its version is removed or has a newer vector elsewhere.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stores.vector_log import Ids, damaged
from stores.vectors import Vector, Vectors

FORMAT = 1
DESCRIPTION, ENTRIES = "description.json", "entries"
FLAT, INVERTED, ROUNDED = "vectors.f32", "index.faiss", "vectors.f16"

_ENTRY = np.dtype([("id", "<i8"), ("checksum", "<u4")])
_CANDIDATES = 3  # times k: how many are scored again
_GPU_AT_MOST = 2_048  # neighbours that FAISS finds on a GPU at once

WANTED_RECALL = 0.98
_RECALL_AT = (10, 100)  # neighbours asked for: more of them lie in more lists
_RECALL_QUERIES = 256
# Length of the noise: a query's cosine with its own vector is about 0.55. In 45,743 passages encoded by
# MiniLM, 300 questions then found 0.988 of the 10 nearest and 0.991 of the 100; with 1.0, 0.967 and 0.972.
_RECALL_NOISE = 1.5
_LISTS_AT_MOST = 4_096
_SAMPLE_A_LIST = 40  # vectors a centroid is learned from
_ROWS_AT_ONCE = 20_000

Rows = npt.NDArray[np.int64]


class BuiltVectors:
    """What was built, open for searching. Not for two threads at once: its owner takes turns."""

    def __init__(
        self, entries: npt.NDArray[Any], matrix: _Matrix | _Inverted, description: dict[str, Any]
    ) -> None:
        self.description = description
        self._ids: Ids = entries["id"].astype(np.int64)
        self._checksums = entries["checksum"].astype(np.int64)
        self._order = np.argsort(self._ids, kind="stable")
        self._sorted = self._ids[self._order]
        self._hidden = np.zeros(len(self._ids), dtype=np.bool_)
        self._matrix = matrix

    @classmethod
    def empty(cls) -> BuiltVectors:
        """As if nothing had been built."""
        nothing = np.empty((0, 0), dtype=np.float32)
        return cls(np.empty(0, dtype=_ENTRY), _Matrix(nothing), {"count": 0, "form": "exact"})

    def __len__(self) -> int:
        """Rows, hidden ones too."""
        return len(self._ids)

    def version_ids(self) -> set[int]:
        """The versions that are not hidden."""
        return set(self._ids[~self._hidden].tolist())

    def hide(self, version_ids: Ids) -> None:
        """Makes these unfindable here until the folder is opened again. Unknown ones are passed over."""
        rows = self._rows(version_ids)
        self._hidden[rows[rows >= 0]] = True
        self._matrix.leave_out(self._hidden)

    def checksums_of(self, version_ids: Ids) -> npt.NDArray[np.int64]:
        """(N,): of each version's vector; -1 for one that is hidden or not here."""
        rows = self._rows(version_ids)
        found = np.full(len(rows), -1, dtype=np.int64)
        here = rows >= 0
        here[here] = ~self._hidden[rows[here]]
        found[here] = self._checksums[rows[here]]
        return found

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        """The k most similar versions that are not hidden, with their cosine, best first."""
        k = min(k, len(self._ids) - int(np.count_nonzero(self._hidden)))
        if k <= 0:
            return []
        rows, scores = self._matrix.nearest(np.asarray(vector, dtype=np.float32), k)
        hits = zip(self._ids[rows].tolist(), scores.tolist(), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]

    def _rows(self, version_ids: Ids) -> Rows:
        """(N,): where each version is; -1 where it is not."""
        if not len(self._ids):
            return np.full(len(version_ids), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._sorted, version_ids), len(self._ids) - 1)
        return np.where(self._sorted[places] == version_ids, self._order[places], -1)


class _Matrix:
    """Exact search: one product with the mapped matrix."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._hidden = np.zeros(len(vectors), dtype=np.bool_)

    def leave_out(self, hidden: npt.NDArray[np.bool_]) -> None:
        self._hidden = hidden

    def nearest(self, vector: Vector, k: int) -> tuple[Rows, npt.NDArray[np.float32]]:
        """All that are at least as good as the k-th."""
        scores = self._vectors @ vector
        scores[self._hidden] = -np.inf
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        rows = np.flatnonzero(scores >= least)
        return rows, scores[rows]


class _Inverted:
    """FAISS's inverted lists, memory-mapped; rows of the folder are its ids."""

    def __init__(self, folder: Path, description: dict[str, Any], *, use_gpu: bool) -> None:
        faiss = _faiss()

        self._count = description["count"]
        self._probes = {int(k): int(probes) for k, probes in description["nprobe"].items()}
        shape = (self._count, description["dimension"])
        self._rounded = _mapped(folder, ROUNDED, description, "<f2", shape)
        _check_size(folder, INVERTED, description)
        try:
            self._index = faiss.read_index(str(folder / INVERTED), faiss.IO_FLAG_MMAP)
        except RuntimeError as error:
            raise damaged(folder / INVERTED, "FAISS cannot read it") from error
        if self._index.ntotal != self._count:
            raise damaged(folder / INVERTED, f"{self._index.ntotal} vectors instead of {self._count}")
        # else each query starts threads that read ahead, which takes longer than the query
        faiss.downcast_InvertedLists(self._index.invlists).prefetch_nthread = 0
        self._on_gpu = _copy_on_gpu(folder / INVERTED) if use_gpu else None
        self._selector: dict[str, Any] | None = None
        self._hidden = np.zeros(self._count, dtype=np.bool_)

    def leave_out(self, hidden: npt.NDArray[np.bool_]) -> None:
        self._hidden = hidden
        self._selector = None  # made at the next query: changes come in numbers

    def nearest(self, vector: Vector, k: int) -> tuple[Rows, npt.NDArray[np.float32]]:
        """The best of the lists probed; of all lists when those hold fewer than k."""
        wanted = min(_CANDIDATES * k, self._count)
        rows = self._found_on_gpu(vector, wanted, self._probes_for(k))
        if len(rows) < k:
            rows = self._found(vector, wanted, self._probes_for(k))
        if len(rows) < k:
            rows = self._found(vector, wanted, self._index.nlist)
        scores = self._rounded[rows].astype(np.float32) @ vector
        return rows, scores

    def _found(self, vector: Vector, wanted: int, probes: int) -> Rows:
        faiss = _faiss()

        if self._selector is None:
            self._selector = _all_but(self._hidden)
        parameters = faiss.SearchParametersIVF(nprobe=probes, **self._selector)
        with _one_thread():
            _, rows = self._index.search(vector[np.newaxis], wanted, params=parameters)
        found: Rows = rows[0][rows[0] >= 0]
        return found

    def _probes_for(self, k: int) -> int:
        """As many lists as were enough when as many neighbours were asked for; beyond, in proportion."""
        most, lists = max(self._probes), int(self._index.nlist)
        if k > most:
            return min(lists, math.ceil(self._probes[most] * k / most))
        return min(probes for asked, probes in self._probes.items() if asked >= k)

    def _found_on_gpu(self, vector: Vector, wanted: int, probes: int) -> Rows:
        """A GPU knows no selector: what is hidden is taken out afterwards. Nothing without a GPU."""
        if self._on_gpu is None:
            return np.empty(0, dtype=np.int64)
        self._on_gpu.nprobe = min(probes, _GPU_AT_MOST)
        _, rows = self._on_gpu.search(vector[np.newaxis], min(wanted, _GPU_AT_MOST))
        found: Rows = rows[0][rows[0] >= 0]
        return found[~self._hidden[found]]


def _all_but(hidden: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """FAISS's search parameter that passes over the hidden rows; none when there are none."""
    faiss = _faiss()

    if not hidden.any():
        return {}
    return {"sel": faiss.IDSelectorBitmap(np.packbits(~hidden, bitorder="little"))}


def _faiss() -> Any:
    """The library: half a second to import, which only a process that needs it pays; half typed."""
    import faiss

    return faiss


def gpus() -> int:
    """How many GPUs FAISS can use; 0 for a build without."""
    return int(_faiss().get_num_gpus())


def _copy_on_gpu(file: Path) -> Any:
    """The index in the memory of the first GPU; None where there is none."""
    faiss = _faiss()

    if not gpus():
        return None
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, faiss.read_index(str(file)))


@contextmanager
def _one_thread() -> Iterator[None]:
    """A single query gains nothing by more, and waits for them on a busy machine. Of this thread only."""
    faiss = _faiss()

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def open_built_vectors(
    folder: Path, encoder_version: str, dimension: int, *, use_gpu: bool = False
) -> BuiltVectors:
    """Opens what `build_vectors` wrote. use_gpu: FAISS searches there, if it finds one.

    Raises `StoreUnavailable` when a file is not as it was written, or of another encoder.
    """
    description = _read_description(folder)
    expected = {"format": FORMAT, "encoder_version": encoder_version, "dimension": dimension}
    for fact, value in expected.items():
        if description.get(fact) != value:
            raise damaged(folder, f"{fact} is {description.get(fact)!r}, not {value!r}")
    entries = np.frombuffer(_checked(folder, ENTRIES, description), dtype=_ENTRY)
    shape = (len(entries), dimension)
    matrix = (
        _Inverted(folder, description, use_gpu=use_gpu)
        if INVERTED in description["files"]
        else _Matrix(_mapped(folder, FLAT, description, "<f4", shape))
    )
    return BuiltVectors(entries, matrix, description)


# Building


def build_vectors(
    folder: Path,
    batches: Iterable[tuple[Sequence[int], Vectors]],
    encoder_version: str,
    dimension: int,
    *,
    exact_up_to: int,
) -> None:
    """Writes a new folder for `BuiltVectors`, durable but for its own name.

    batches: all vectors, (N, D) and unit length, each version once. exact_up_to: above it, FAISS.
    While it works it needs 4 bytes a number on disk, and the rounded index in memory.
    """
    folder.mkdir(mode=0o700)
    entries = _write_vectors(folder / FLAT, batches, dimension)
    (folder / ENTRIES).write_bytes(entries.tobytes())
    facts: dict[str, Any] = {
        "format": FORMAT,
        "encoder_version": encoder_version,
        "dimension": dimension,
        "count": len(entries),
        "form": "exact",
    }
    big = [FLAT]
    if len(entries) > exact_up_to:
        facts |= _write_inverted(folder, len(entries), dimension)
        (folder / FLAT).unlink()
        big = [INVERTED, ROUNDED]
    facts["files"] = {name: {"bytes": (folder / name).stat().st_size} for name in [ENTRIES, *big]}
    facts["files"][ENTRIES]["checksum"] = zlib.crc32(entries.tobytes())
    facts["checksum"] = _checksum(facts)
    (folder / DESCRIPTION).write_text(json.dumps(facts, indent=1), encoding="utf-8")
    for name in [DESCRIPTION, ENTRIES, *big]:
        sync(folder / name)
    sync(folder)


def sync(place: Path) -> None:
    """Makes a file's content, or the names in a folder, durable."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def checksums(vectors: Vectors) -> npt.NDArray[np.int64]:
    """(N,): by which a vector is known again."""
    plain = np.ascontiguousarray(vectors, dtype="<f4")
    return np.fromiter((zlib.crc32(row) for row in plain), dtype=np.int64, count=len(plain))


def _write_vectors(
    file: Path, batches: Iterable[tuple[Sequence[int], Vectors]], dimension: int
) -> npt.NDArray[Any]:
    parts = [np.empty(0, dtype=_ENTRY)]
    with file.open("xb") as opened:
        for version_ids, vectors in batches:
            check_shape(len(version_ids), vectors, dimension)
            part = np.empty(len(version_ids), dtype=_ENTRY)
            part["id"], part["checksum"] = version_ids, checksums(vectors)
            parts.append(part)
            opened.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
    entries = np.concatenate(parts)
    if len(np.unique(entries["id"])) < len(entries):
        raise ValueError("a version was given twice")
    return entries


def check_shape(ids: int, vectors: Vectors, dimension: int) -> None:
    """Raises `ValueError` unless there is one vector of this dimension for each id."""
    if vectors.shape != (ids, dimension):
        raise ValueError(f"{ids} ids of dimension {dimension} for vectors of shape {vectors.shape}")


def _write_inverted(folder: Path, count: int, dimension: int) -> dict[str, Any]:
    """Learns, fills and measures the inverted lists; returns what the description says of them."""
    faiss = _faiss()

    vectors = np.memmap(folder / FLAT, dtype="<f4", mode="r", shape=(count, dimension))
    chance = np.random.default_rng(count)
    lists = lists_for(count)
    sample = np.sort(chance.choice(count, min(count, _SAMPLE_A_LIST * lists), replace=False))
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension),
        dimension,
        lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.cp.min_points_per_centroid = 1  # fewer are told on the screen, and are right for few vectors
    index.sq.rangestat_arg = 0.1  # room for vectors beyond the sample's extremes
    index.train(vectors[sample])
    with (folder / ROUNDED).open("xb") as rounded:
        for start in range(0, count, _ROWS_AT_ONCE):
            some = vectors[start : start + _ROWS_AT_ONCE]
            index.add(some)
            rounded.write(some.astype("<f2").tobytes())
    try:
        faiss.write_index(index, str(folder / INVERTED))
    except RuntimeError as error:  # a full disk, too
        raise OSError(f"{folder / INVERTED}: {error}") from error
    queries = _noisy(
        vectors[np.sort(chance.choice(count, min(count, _RECALL_QUERIES), replace=False))], chance
    )
    rounded_vectors = np.memmap(folder / ROUNDED, dtype="<f2", mode="r", shape=(count, dimension))
    probes, recall = _probe_enough(index, rounded_vectors, vectors, queries)
    return {
        "form": "IVF-SQ8",
        "nlist": lists,
        "nprobe": probes,
        "learned_from": len(sample),
        "recall": recall,
        "recall_queries": f"{len(queries)} stored vectors plus noise of length {_RECALL_NOISE}",
    }


def lists_for(count: int) -> int:
    """How many inverted lists: the power of two up to four times the root of the count, bounded."""
    room = max(1, min(math.isqrt(16 * count), count, _LISTS_AT_MOST))
    return 1 << (room.bit_length() - 1)


def _noisy(vectors: Vectors, chance: np.random.Generator) -> Vectors:
    """Queries that are near a stored vector and are none."""
    noise = chance.normal(size=vectors.shape) * (_RECALL_NOISE / math.sqrt(vectors.shape[1]))
    queries = vectors + noise
    unit: Vectors = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _probe_enough(
    index: Any, rounded: Any, vectors: Vectors, queries: Vectors
) -> tuple[dict[str, int], dict[str, float]]:
    """By how many neighbours are asked for: the lists to probe, and the share of exact search's found then.

    The lists are doubled until the share is as wanted or all are probed.
    """
    best = _best_scores(vectors, queries, min(max(_RECALL_AT), len(vectors)))  # (Q, K)
    enough: dict[str, int] = {}
    recall: dict[str, float] = {}
    probes = max(1, index.nlist // 128)
    for asked in _RECALL_AT:
        k = min(asked, len(vectors))
        while True:
            share = _share_found(index, rounded, vectors, queries, best[:, k - 1], k, probes)
            if share >= WANTED_RECALL or probes >= index.nlist:
                break
            probes = min(2 * probes, index.nlist)
        enough[str(asked)], recall[str(asked)] = probes, round(share, 4)
    return enough, recall


def _share_found(
    index: Any,
    rounded: Any,
    vectors: Vectors,
    queries: Vectors,
    least: npt.NDArray[np.float32],
    k: int,
    probes: int,
) -> float:
    """How many of the k nearest are found. least: (Q,), the cosine of the last of them."""
    parameters = _faiss().SearchParametersIVF(nprobe=probes)
    _, candidates = index.search(queries, min(_CANDIDATES * k, len(vectors)), params=parameters)
    found = 0
    for query, rows, enough in zip(queries, candidates, least, strict=True):
        known = rows[rows >= 0]
        best = known[np.argsort(-(rounded[known].astype(np.float32) @ query))[:k]]
        found += int(np.count_nonzero(vectors[best] @ query >= enough - 1e-6))
    return found / (k * len(queries))


def _best_scores(vectors: Vectors, queries: Vectors, k: int) -> npt.NDArray[np.float32]:
    """(Q, k): the k best cosines of each query over all vectors, best first."""
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        scores = np.concatenate([best, queries @ vectors[start : start + _ROWS_AT_ONCE].T], axis=1)
        best = np.partition(scores, scores.shape[1] - k, axis=1)[:, -k:]
    ranked: npt.NDArray[np.float32] = -np.sort(-best, axis=1)
    return ranked


# Checking what was built


def _read_description(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        checksum = facts.pop("checksum")
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(folder / DESCRIPTION, "it is not there, or not whole") from error
    if checksum != _checksum(facts):
        raise damaged(folder / DESCRIPTION, "it is not what was written")
    return dict(facts)


def _checksum(facts: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(facts, sort_keys=True).encode())


def _check_size(folder: Path, name: str, description: dict[str, Any]) -> int:
    expected: int = description["files"][name]["bytes"]
    try:
        found = (folder / name).stat().st_size
    except FileNotFoundError as error:
        raise damaged(folder / name, "it is not there") from error
    if found != expected:
        raise damaged(folder / name, f"{found:,} bytes instead of {expected:,}")
    return expected


def _checked(folder: Path, name: str, description: dict[str, Any]) -> bytes:
    _check_size(folder, name, description)
    content = (folder / name).read_bytes()
    if zlib.crc32(content) != description["files"][name]["checksum"]:
        raise damaged(folder / name, "it is not what was written")
    return content


def _mapped(folder: Path, name: str, description: dict[str, Any], number: str, shape: tuple[int, int]) -> Any:
    size = _check_size(folder, name, description)
    if size != shape[0] * shape[1] * np.dtype(number).itemsize:
        raise damaged(folder / name, f"{size:,} bytes do not hold {shape[0]:,} vectors")
    if not size:
        return np.empty(shape, dtype=number)  # nothing to map
    return np.memmap(folder / name, dtype=number, mode="r", shape=shape)
