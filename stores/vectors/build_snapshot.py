"""Builds the files of vectors that never change: a matrix, or where it is large lists around centroids."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stores.base.syncing import sync
from stores.vectors.exact import Vectors
from stores.vectors.faiss_library import load_faiss
from stores.vectors.snapshot import CANDIDATES
from stores.vectors.snapshot_files import (
    DESCRIPTION,
    ENTRIES,
    ENTRY_TYPE,
    FLAT,
    FORMAT,
    INVERTED,
    ROUNDED,
    checksums,
    facts_checksum,
)

WANTED_RECALL = 0.98

_RECALL_AT = (10, 100)  # neighbours asked for: more of them lie in more lists

_RECALL_QUERIES = 256

# Length of the noise: a query's cosine with its own vector is about 0.55. In 45,743 passages encoded by
# MiniLM, 300 questions then found 0.988 of the 10 nearest and 0.991 of the 100; with 1.0, 0.967 and 0.972.
_RECALL_NOISE = 1.5

_LISTS_AT_MOST = 4_096

_SAMPLE_A_LIST = 40  # vectors a centroid is learned from

_ROWS_AT_ONCE = 20_000


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
    facts["checksum"] = facts_checksum(facts)
    (folder / DESCRIPTION).write_text(json.dumps(facts, indent=1), encoding="utf-8")
    for name in [DESCRIPTION, ENTRIES, *big]:
        sync(folder / name)
    sync(folder)


def _write_vectors(
    file: Path, batches: Iterable[tuple[Sequence[int], Vectors]], dimension: int
) -> npt.NDArray[Any]:
    parts = [np.empty(0, dtype=ENTRY_TYPE)]
    with file.open("xb") as opened:
        for version_ids, vectors in batches:
            check_shape(len(version_ids), vectors, dimension)
            part = np.empty(len(version_ids), dtype=ENTRY_TYPE)
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
    faiss = load_faiss()

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
    parameters = load_faiss().SearchParametersIVF(nprobe=probes)
    _, candidates = index.search(queries, min(CANDIDATES * k, len(vectors)), params=parameters)
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
