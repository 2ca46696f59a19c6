"""What a search costs in a warm process, by size, beside bare indexes over the same vectors.

    python -m benchmarks.search_cost DATA --size 200000 --folder DIR [--index faiss] [--queries 200]
    python -m benchmarks.search_cost DATA --turns 200

DATA holds squad/. A store of the given size is made in DIR, once: texts of sentences drawn from SQuAD's
paragraphs, vectors drawn around 2,000 centres, since a million texts are not encoded here. Each query is a
question of SQuAD, encoded for real, whose vector is then put near that of some passage. Printed: wall and
CPU milliseconds of the whole search (median and 95th percentile) and of its parts; the same for the encoder
with a numpy product, with FAISS and with Chroma; CPU of adding the first and the last 500 passages;
memory and disk.

--turns measures a turn's own cost instead: stores and pipeline, without encoder, search and chat model.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is there

import numpy as np

from agents.base.interfaces import Vectors
from assistant.wiring.assistant import Assistant
from benchmarks.questions import read_questions
from benchmarks.synthetic_store import DIMENSION, CostAssistant, PlacedEncoder, Synthetic, build
from benchmarks.turn_cost import measure_turns


def timed(run: Callable[[str], Any], queries: Sequence[str]) -> dict[str, float]:
    """Milliseconds of each call: medians and 95th percentiles."""
    wall, cpu = [], []
    for query in queries:
        began, used = time.perf_counter(), time.process_time()
        run(query)
        cpu.append((time.process_time() - used) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
    return {
        "wall p50": round(statistics.median(wall), 2),
        "wall p95": round(float(np.quantile(wall, 0.95)), 2),
        "cpu p50": round(statistics.median(cpu), 2),
        "cpu p95": round(float(np.quantile(cpu, 0.95)), 2),
    }


def all_vectors(assistant: Assistant) -> tuple[list[int], Vectors]:
    from stores.search.shared_index import shared_vectors

    ids: list[int] = []
    parts = []
    for some, vectors in shared_vectors(assistant.stores.database, "synthetic-1", DIMENSION):
        ids.extend(some)
        parts.append(vectors)
    return ids, np.concatenate(parts)


def bare_numpy(encoder: PlacedEncoder, matrix: Vectors) -> Callable[[str], Any]:
    def search(query: str) -> Any:
        scores = matrix @ encoder.encode_queries([query])[0]
        k = min(100, len(scores) - 1)
        best = np.argpartition(scores, -k)[-k:]
        return best[np.argsort(-scores[best])]

    return search


def bare_faiss(encoder: PlacedEncoder, matrix: Vectors) -> Callable[[str], Any]:
    """A flat index where that is quick, else inverted lists of eight-bit codes."""
    import faiss

    faiss.omp_set_num_threads(1)
    if len(matrix) <= 50_000:
        index = faiss.IndexFlatIP(DIMENSION)
    else:
        index = faiss.index_factory(DIMENSION, "IVF1024,SQ8", faiss.METRIC_INNER_PRODUCT)
        index.train(matrix[np.random.default_rng(0).permutation(len(matrix))[:40_960]])
        index.nprobe = 8
    index.add(matrix)
    return lambda query: index.search(encoder.encode_queries([query]), 100)


def bare_chroma(encoder: PlacedEncoder, ids: list[int], matrix: Vectors, folder: str) -> Callable[[str], Any]:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    client = chromadb.PersistentClient(path=folder, settings=ChromaSettings(anonymized_telemetry=False))
    collection = client.create_collection(
        "bare", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    for start in range(0, len(ids), 5_000):
        some = slice(start, start + 5_000)
        collection.upsert(ids=[str(i) for i in ids[some]], embeddings=matrix[some])
    return lambda query: collection.query(query_embeddings=encoder.encode_queries([query]), n_results=100)


def measure(assistant: CostAssistant, queries: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Lines of the table, as they are measured."""
    user_id = assistant.stores.journal.user_id("benchmark")
    searching = assistant.search.searching
    for _ in searching.shared_index.fill() if wants_index(assistant) else ():
        pass
    assistant.search.indexer.catch_up()
    encoder: Any = searching.encoder

    def whole(query: str) -> Any:
        return searching.retriever.retrieve(query, searching.spaces.of(user_id))

    def row(name: str, figures: dict[str, float]) -> str:
        return f"{name:<22}" + "".join(f"{key} {value:>9.2f}   " for key, value in figures.items())

    timed(whole, queries[:5])  # warm
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield row("encoder alone", timed(lambda query: encoder.encode_queries([query]), queries))
    yield row("whole search", timed(whole, queries))
    space = searching.spaces.of(user_id)
    yield row("  by meaning", timed(lambda query: space.nearest(encoder.place(query), 100), queries))
    yield row("  by words", timed(lambda query: searching.spaces.of(user_id).matching(query, 100), queries))
    yield f"peak memory of the process, before what follows: {memory:.0f} MB"
    ids, matrix = all_vectors(assistant)
    if "numpy" in others:
        yield row("encoder + numpy", timed(bare_numpy(encoder, matrix), queries))
    if "faiss" in others:
        yield row("encoder + FAISS", timed(bare_faiss(encoder, matrix), queries))
    if "chroma" in others:
        with tempfile.TemporaryDirectory() as folder:
            yield row("encoder + Chroma", timed(bare_chroma(encoder, ids, matrix, folder), queries))


def wants_index(assistant: Assistant) -> bool:
    with assistant.stores.database.reading() as sql:
        return assistant.search.searching.shared_index.is_wanted(sql)


def disk(folder: Path) -> dict[str, float]:
    """Megabytes of each part of the data directory."""
    parts: dict[str, float] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            name = path.relative_to(folder).parts[0]
            name = "vouch.db" if name.startswith("vouch.db") else name
            parts[name] = parts.get(name, 0.0) + path.stat().st_size / 1e6
    return {name: round(size, 1) for name, size in sorted(parts.items())}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--size", type=int, default=18_891)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--index", default="faiss", choices=["exact", "faiss", "chroma"])
    parser.add_argument("--beside", nargs="*", default=["numpy", "faiss", "chroma"])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.turns:
        measure_turns(arguments.turns)
        return
    synthetic = Synthetic(arguments.data, arguments.seed)
    folder = arguments.folder / str(arguments.size)
    if not (folder / "vouch.db").exists():
        added = build(folder, synthetic, arguments.size)
        ratio = added["last"] / added["first"]
        print(f"add: first {added['first']:.3f}, last {added['last']:.3f} CPU ms each, ratio {ratio:.3f}")
    questions = read_questions(
        arguments.data / "squad" / "train.jsonl.gz", count=arguments.queries, seed=arguments.seed
    )
    near = synthetic.near(1_000)
    assistant = CostAssistant(folder, arguments.index, near)
    print(
        f"{arguments.size} passages, index {arguments.index}, {len(questions)} queries, seed {arguments.seed}"
    )
    for line in measure(assistant, [entry["question"] for entry in questions], arguments.beside):
        print(line, flush=True)
    assistant.close()
    print(f"disk: {disk(folder)}")


if __name__ == "__main__":
    main()
