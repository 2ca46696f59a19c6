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

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stores.vectors.exact import Vector, Vectors
from stores.vectors.faiss_library import copy_on_gpu, load_faiss, one_thread
from stores.vectors.log import Ids, damaged
from stores.vectors.snapshot_files import (
    ENTRIES,
    ENTRY_TYPE,
    FLAT,
    FORMAT,
    INVERTED,
    ROUNDED,
    check_size,
    read_checked,
    read_description,
    read_mapped,
)

CANDIDATES = 3  # times k: how many are scored again

_GPU_AT_MOST = 2_048  # neighbours that FAISS finds on a GPU at once

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
        return cls(np.empty(0, dtype=ENTRY_TYPE), _Matrix(nothing), {"count": 0, "form": "exact"})

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
        ids = self._ids[rows]
        best = np.lexsort((ids, -scores))[:k]  # by score, then by id
        return list(zip(ids[best].tolist(), scores[best].tolist(), strict=True))

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
        faiss = load_faiss()

        self._count = description["count"]
        self._probes = {int(k): int(probes) for k, probes in description["nprobe"].items()}
        shape = (self._count, description["dimension"])
        self._rounded = read_mapped(folder, ROUNDED, description, "<f2", shape)
        check_size(folder, INVERTED, description)
        try:
            self._index = faiss.read_index(str(folder / INVERTED), faiss.IO_FLAG_MMAP)
        except RuntimeError as error:
            raise damaged(folder / INVERTED, "FAISS cannot read it") from error
        if self._index.ntotal != self._count:
            raise damaged(folder / INVERTED, f"{self._index.ntotal} vectors instead of {self._count}")
        # else each query starts threads that read ahead, which takes longer than the query
        faiss.downcast_InvertedLists(self._index.invlists).prefetch_nthread = 0
        self._on_gpu = copy_on_gpu(folder / INVERTED) if use_gpu else None
        self._selector: dict[str, Any] | None = None
        self._hidden = np.zeros(self._count, dtype=np.bool_)

    def leave_out(self, hidden: npt.NDArray[np.bool_]) -> None:
        self._hidden = hidden
        self._selector = None  # made at the next query: changes come in numbers

    def nearest(self, vector: Vector, k: int) -> tuple[Rows, npt.NDArray[np.float32]]:
        """The best of the lists probed; of all lists when those hold fewer than k."""
        wanted = min(CANDIDATES * k, self._count)
        rows = self._found_on_gpu(vector, wanted, self._probes_for(k))
        if len(rows) < k:
            rows = self._found(vector, wanted, self._probes_for(k))
        if len(rows) < k:
            rows = self._found(vector, wanted, self._index.nlist)
        scores = self._rounded[rows].astype(np.float32) @ vector
        return rows, scores

    def _found(self, vector: Vector, wanted: int, probes: int) -> Rows:
        faiss = load_faiss()

        if self._selector is None:
            self._selector = _all_but(self._hidden)
        parameters = faiss.SearchParametersIVF(nprobe=probes, **self._selector)
        with one_thread():
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
    faiss = load_faiss()

    if not hidden.any():
        return {}
    return {"sel": faiss.IDSelectorBitmap(np.packbits(~hidden, bitorder="little"))}


def open_built_vectors(
    folder: Path, encoder_version: str, dimension: int, *, use_gpu: bool = False
) -> BuiltVectors:
    """Opens what `build_vectors` wrote. use_gpu: FAISS searches there, if it finds one.

    Raises `StoreUnavailable` when a file is not as it was written, or of another encoder.
    """
    description = read_description(folder)
    expected = {"format": FORMAT, "encoder_version": encoder_version, "dimension": dimension}
    for fact, value in expected.items():
        if description.get(fact) != value:
            raise damaged(folder, f"{fact} is {description.get(fact)!r}, not {value!r}")
    entries = np.frombuffer(read_checked(folder, ENTRIES, description), dtype=ENTRY_TYPE)
    shape = (len(entries), dimension)
    matrix = (
        _Inverted(folder, description, use_gpu=use_gpu)
        if INVERTED in description["files"]
        else _Matrix(read_mapped(folder, FLAT, description, "<f4", shape))
    )
    return BuiltVectors(entries, matrix, description)
