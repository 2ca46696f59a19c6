"""What a large shared space costs in files: python -m benchmarks.index_build [--count N ...] [--gpu]

Vectors of 384 numbers around 2,000 centres, the noise 0.7 as long as a centre; queries are made alike and
are none of the vectors. For each count: building, what it leaves on disk, opening, one query over the
mapped files, its recall against exact search, and the memory of a process that searched. Clusters this
clean are easy: take the recall as an upper figure. --shards: what two workers could take over of a build.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stores.vectors.exact import Vectors
from stores.vectors.faiss_index import EXACT_UP_TO, FaissVectors
from stores.vectors.faiss_library import gpus, load_faiss
from stores.vectors.snapshot_files import INVERTED

DIMENSION = 384
ROWS_AT_ONCE = 10_000
QUERIES = 200
K = 10


def clustered(count: int, seed: int) -> Vectors:
    """(N, D): unit vectors around the same centres, whatever the seed."""
    centres = np.random.default_rng(7).normal(size=(2_000, DIMENSION)) / np.sqrt(DIMENSION)
    chance = np.random.default_rng(seed)
    noise = chance.normal(size=(count, DIMENSION)) * (0.7 / np.sqrt(DIMENSION))
    vectors = centres[chance.integers(0, len(centres), count)] + noise
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def make_vectors(folder: Path, count: int) -> None:
    with (folder / "made").open("wb") as made:
        for start in range(0, count, ROWS_AT_ONCE):
            made.write(clustered(min(ROWS_AT_ONCE, count - start), seed=start + 1).tobytes())


def batches(folder: Path, count: int) -> Iterator[tuple[range, Vectors]]:
    made = np.memmap(folder / "made", dtype=np.float32, mode="r", shape=(count, DIMENSION))
    for start in range(0, count, ROWS_AT_ONCE):
        ids = range(start, min(start + ROWS_AT_ONCE, count))
        yield ids, made[start : start + len(ids)]


def exact_nearest(folder: Path, count: int, queries: Vectors) -> list[set[int]]:
    """The K nearest of each query by matrix products, block by block."""
    best = np.full((len(queries), K), -np.inf, dtype=np.float32)
    rows = np.zeros((len(queries), K), dtype=np.int64)
    for ids, vectors in batches(folder, count):
        scores = np.concatenate([best, queries @ vectors.T], axis=1)
        named = np.concatenate([rows, np.tile(np.array(ids), (len(queries), 1))], axis=1)
        first = np.argpartition(-scores, K - 1, axis=1)[:, :K]
        best, rows = np.take_along_axis(scores, first, 1), np.take_along_axis(named, first, 1)
    return [set(row) for row in rows.tolist()]


def opened(
    folder: Path, count: int, exact_up_to: int, *, writes: bool, use_gpu: bool = False
) -> FaissVectors:
    return FaissVectors(
        folder,
        "benchmark",
        DIMENSION,
        writes=writes,
        all_vectors=lambda: batches(folder, count),
        exact_up_to=exact_up_to,
        use_gpu=use_gpu,
    )


def build(folder: Path, count: int, exact_up_to: int) -> None:
    index = opened(folder, count, exact_up_to, writes=True)
    wall, cpu = time.perf_counter(), time.process_time()
    index.rebuild()
    took = time.perf_counter() - wall, time.process_time() - cpu
    size = sum(file.stat().st_size for file in folder.glob("shared-*/**/*") if file.is_file())
    print(
        f"build      {took[0]:8.1f} s  {took[1]:8.1f} s CPU   {memory('VmHWM'):6.0f} MB at most", flush=True
    )
    print(f"disk       {size / 1e6:8.1f} MB")
    print({name: value for name, value in index.description().items() if name != "files"})
    index.close()


def search(folder: Path, count: int, exact_up_to: int) -> None:
    queries = clustered(QUERIES, seed=0)
    before = memory("VmRSS")
    wall = time.perf_counter()
    index = opened(folder, count, exact_up_to, writes=False)
    open_ms = (time.perf_counter() - wall) * 1e3
    walls, cpus, found = [], [], []
    for query in queries:
        wall, cpu = time.perf_counter(), time.process_time()
        found.append({version_id for version_id, _ in index.nearest(query, K)})
        walls.append((time.perf_counter() - wall) * 1e3)
        cpus.append((time.process_time() - cpu) * 1e3)
    print(f"open       {open_ms:8.1f} ms, then the first query {walls[0]:.1f} ms")
    wall, cpu, p95 = statistics.median(walls), statistics.median(cpus), statistics.quantiles(walls, n=20)[-1]
    print(f"one query  {wall:8.2f} ms  {cpu:.2f} ms CPU  p95 {p95:.2f} ms")
    mapped = memory("VmRSS") - before
    print(f"memory     {mapped:8.1f} MB more with mapped files; {memory('RssAnon'):.0f} MB its own")
    exact = exact_nearest(folder, count, queries)
    print(f"recall@{K}  {sum(len(a & b) for a, b in zip(found, exact, strict=True)) / (K * QUERIES):8.4f}")


def search_on_gpu(folder: Path, count: int, exact_up_to: int) -> None:
    """The same queries with and without the GPU, after a thousand versions were removed."""
    if not gpus():
        sys.exit("FAISS sees no GPU here: docs/gpu.md says how to install its GPU build")
    removed = set(range(0, count, count // 1_000))
    writer = opened(folder, count, exact_up_to, writes=True)
    writer.remove(removed)
    writer.close()
    queries = clustered(QUERIES, seed=0)
    found: dict[bool, list[set[int]]] = {False: [], True: []}
    for use_gpu in (False, True):
        index = opened(folder, count, exact_up_to, writes=False, use_gpu=use_gpu)
        walls = []
        for query in queries:
            wall = time.perf_counter()
            found[use_gpu].append({version_id for version_id, _ in index.nearest(query, K)})
            walls.append((time.perf_counter() - wall) * 1e3)
        print(f"{'GPU' if use_gpu else 'CPU':9}  {statistics.median(walls):8.2f} ms a query")
    shared = sum(len(a & b) for a, b in zip(found[False], found[True], strict=True))
    print(f"the same   {shared / (K * QUERIES):8.4f}, removed: {sum(len(a & removed) for a in found[True])}")


def shards(folder: Path, count: int, exact_up_to: int) -> None:
    """All added to one index, and each half to a shard with the same centroids, which are merged."""
    del exact_up_to
    faiss = load_faiss()
    file = next(folder.glob(f"shared-*/generation-*/{INVERTED}"))

    def filled(name: str, begin: int, end: int) -> Any:
        index = faiss.read_index(str(file))
        index.reset()
        cpu = time.process_time()
        for ids, vectors in batches(folder, count):
            if begin <= ids.start < end:
                index.add(vectors)
        print(f"{name:10} {time.process_time() - cpu:8.1f} s CPU to add")
        return index

    half = count // ROWS_AT_ONCE // 2 * ROWS_AT_ONCE
    whole, *parts = filled("whole", 0, count), filled("shard 1", 0, half), filled("shard 2", half, count)
    cpu = time.process_time()
    parts[0].merge_from(parts[1], half)
    print(f"merge      {time.process_time() - cpu:8.1f} s CPU")
    queries, probes = clustered(QUERIES, seed=0), faiss.SearchParametersIVF(nprobe=16)
    found = [index.search(queries, 10 * K, params=probes) for index in (whole, parts[0])]
    print(f"the same   {all(np.array_equal(a, b) for a, b in zip(*found, strict=True))}")


def memory(fact: str) -> float:
    """MB, of this process, as Linux tells it."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(f"{fact}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description="What a large shared space costs in files")
    parser.add_argument("--count", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--exact-up-to", type=int, default=EXACT_UP_TO)
    parser.add_argument("--folder", type=Path, help="where to build; needs 2 to 3.5 kB a vector")
    parser.add_argument("--gpu", action="store_true", help="search on the GPU, too")
    parser.add_argument("--shards", action="store_true", help="fill it in shards, too")
    parser.add_argument("--step", choices=["build", "search", "gpu", "shards"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:  # in a process of its own, whose memory is measured
        step = {"build": build, "search": search, "gpu": search_on_gpu, "shards": shards}[arguments.step]
        step(arguments.folder, arguments.count[0], arguments.exact_up_to)
        return
    for count in arguments.count:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            print(f"\n{count:,} vectors", flush=True)
            make_vectors(Path(folder), count)
            further = [name for name in ("gpu", "shards") if getattr(arguments, name)]
            for step_name in ("build", "search", *further):
                own = [
                    sys.executable,
                    "-m",
                    "benchmarks.index_build",
                    "--step",
                    step_name,
                    "--folder",
                    folder,
                ]
                given = ["--count", str(count), "--exact-up-to", str(arguments.exact_up_to)]
                subprocess.run([*own, *given], check=True)


if __name__ == "__main__":
    main()
