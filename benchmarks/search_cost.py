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
import asyncio
import cProfile
import gzip
import hashlib
import json
import os
import pstats
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is there

import numpy as np

from agents.interfaces import Candidate, ReplyRequest, Vector, Vectors
from agents.responder import Responder
from agents.retriever import Retrieved
from agents.sentences import sentences
from assistant.config import IndexSettings, Settings
from assistant.locations import Locations, find_locations
from assistant.wiring import Assistant
from benchmarks.questions import read_questions
from stores.records import SHARED
from stores.stored_documents import NewDocument, NewPassage

DIMENSION = 384
_CENTRES = 2_000
_BATCH = 500  # passages stored at once
_NOISE = 0.7  # length of the noise against that of the centre


class Synthetic:
    """Passages and their vectors, the same for the same seed."""

    def __init__(self, data: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._numbers_of_queries = np.random.default_rng([seed, 1])  # whether a store is made before or not
        self._centres = unit(self._numbers.standard_normal((_CENTRES, DIMENSION)))
        with gzip.open(data / "squad" / "passages_train.jsonl.gz", "rt", encoding="utf-8") as lines:
            paragraphs = [json.loads(line)["text"] for line in lines]
        self._sentences = [s for paragraph in paragraphs for s in plain_sentences(paragraph)]

    def texts(self, count: int) -> list[str]:
        return [" ".join(self._chance.sample(self._sentences, 4)) for _ in range(count)]

    def vectors(self, count: int) -> Vectors:
        """Of passages."""
        return self._drawn(self._numbers, count)

    def near(self, count: int) -> Vectors:
        """Of queries, around the same centres."""
        return self._drawn(self._numbers_of_queries, count)

    def _drawn(self, numbers: np.random.Generator, count: int) -> Vectors:
        centres = self._centres[numbers.integers(0, _CENTRES, count)]
        noise = unit(numbers.standard_normal((count, DIMENSION))) * _NOISE
        return unit(centres + noise)


def plain_sentences(paragraph: str) -> list[str]:
    return [part.text if hasattr(part, "text") else str(part) for part in sentences(paragraph)]


def unit(vectors: Any) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


class PlacedEncoder:
    """Encodes for real, so that it costs what it costs, and then gives a vector among the synthetic ones."""

    def __init__(self, encoder: Any, near: Vectors) -> None:
        self._encoder, self._near = encoder, near
        self.dimension = DIMENSION
        self.version = "synthetic-1"

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError("vectors are stored with their texts")

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        self._encoder.encode_queries(texts)
        return np.array([self.place(text) for text in texts], dtype=np.float32)

    def place(self, text: str) -> Vector:
        row = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % len(self._near)
        return np.asarray(self._near[row], dtype=np.float32)


class CostAssistant(Assistant):
    """Vouch over a synthetic store."""

    def __init__(self, folder: Path, index: str, near: Vectors) -> None:
        real = find_locations(os.environ)
        settings = replace(
            Settings(),
            index=IndexSettings(kind=index),  # type: ignore[arg-type]
            reranking=replace(Settings().reranking, judge="scores"),
            answer=replace(Settings().answer, reader=False),
        )
        locations = Locations(data=folder, settings=folder / "none", cache=real.cache, state=folder / "state")
        super().__init__(settings, locations)
        self._near = near

    @cached_property
    def wanted_encoder(self) -> Any:
        encoder = self._prepared("", threads=1)
        return PlacedEncoder(encoder, self._near)


def build(folder: Path, synthetic: Synthetic, size: int) -> dict[str, float]:
    """Stores so many passages; CPU milliseconds a passage for the first and the last five hundred."""
    assistant = CostAssistant(folder, "exact", synthetic.vectors(1))
    assistant.catch_up()
    user_id = assistant.journal.user_id("benchmark")
    receipt = assistant.stored_documents.open_receipt(user_id, SHARED, "synthetic")
    spent: list[float] = []
    for start in range(0, size, _BATCH):
        count = min(_BATCH, size - start)
        texts, vectors = synthetic.texts(count), synthetic.vectors(count)
        documents = [
            NewDocument(f"d{start + n}", "", f"{start + n}", (NewPassage("", text),))
            for n, text in enumerate(texts)
        ]
        began = time.process_time()
        plan = assistant.stored_documents.plan(SHARED, documents)
        assistant.stored_documents.store(plan, vectors, encoder_version="synthetic-1", receipt_id=receipt)
        spent.append((time.process_time() - began) / count * 1000)
        if start % 50_000 == 0:
            print(f"{start} of {size} stored, {spent[-1]:.3f} CPU ms each", file=sys.stderr)
    assistant.close()
    # the median of three batches at either end: one batch is at the mercy of other work
    return {"first": statistics.median(spent[1:4] or spent), "last": statistics.median(spent[-3:])}


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
    from stores.shared_index import shared_vectors

    ids: list[int] = []
    parts = []
    for some, vectors in shared_vectors(assistant.database, "synthetic-1", DIMENSION):
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
    user_id = assistant.journal.user_id("benchmark")
    searching = assistant.searching
    for _ in searching.shared_index.fill() if wants_index(assistant) else ():
        pass
    assistant.indexer.catch_up()
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
    with assistant.database.reading() as sql:
        return assistant.searching.shared_index.is_wanted(sql)


def disk(folder: Path) -> dict[str, float]:
    """Megabytes of each part of the data directory."""
    parts: dict[str, float] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            name = path.relative_to(folder).parts[0]
            name = "vouch.db" if name.startswith("vouch.db") else name
            parts[name] = parts.get(name, 0.0) + path.stat().st_size / 1e6
    return {name: round(size, 1) for name, size in sorted(parts.items())}


class InstantChat:
    """A chat model that costs nothing."""

    name = "instant"
    can_score = False
    context_tokens = None

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        yield "It opens at ten [1]."

    def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    async def aclose(self) -> None: ...


def measure_turns(turns: int) -> None:
    """CPU milliseconds of a turn without encoder, search and model, and where they go."""
    with tempfile.TemporaryDirectory() as folder:
        synthetic_vector = unit(np.ones((1, DIMENSION)))
        assistant = CostAssistant(Path(folder), "exact", synthetic_vector)
        user_id = assistant.journal.user_id("benchmark")
        passages = [f"Passage {n} says when the room opens: at ten, in hall {n}." for n in range(40)]
        plan = assistant.stored_documents.plan(
            SHARED, [NewDocument("d", "", "h", tuple(NewPassage("", text) for text in passages))]
        )
        receipt = assistant.stored_documents.open_receipt(user_id, SHARED, "d")
        vectors = np.repeat(synthetic_vector, 40, axis=0)
        assistant.stored_documents.store(plan, vectors, encoder_version="synthetic-1", receipt_id=receipt)
        found = assistant.searching.retriever.retrieve(
            "When does it open?", assistant.searching.spaces.of(user_id)
        )
        pipeline = assistant.pipeline
        pipeline._responder = Responder(InstantChat(), keep=5, reply_tokens=64)  # type: ignore[arg-type]
        fixed = FixedSearching(assistant.searching, found)
        pipeline._searching = lambda: fixed  # type: ignore[assignment,return-value]
        session = assistant.journal.open_session(user_id)

        async def play(count: int) -> list[float]:
            spent = []
            for number in range(count):
                began = time.process_time()
                async for _ in pipeline.take(user_id, session, f"When does room {number} open?"):
                    pass
                spent.append((time.process_time() - began) * 1000)
            return spent

        async def both() -> tuple[list[float], pstats.Stats]:
            await play(20)
            spent = await play(turns)
            pipeline._on_thread = at_once  # type: ignore[method-assign]  # a profile sees one thread
            profile = cProfile.Profile()
            profile.enable()
            await play(turns)
            profile.disable()
            return spent, pstats.Stats(profile)

        spent, profile = asyncio.run(both())
        print(
            f"{turns} turns: CPU p50 {statistics.median(spent):.2f} ms, p95 {np.quantile(spent, 0.95):.2f} ms"
        )
        profile.sort_stats("cumulative").print_stats(25)
        assistant.close()


async def at_once(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """In place of the model thread."""
    return work(*args, **kwargs)


class FixedSearching:
    """Finds the same every time and encodes nothing."""

    def __init__(self, real: Any, found: Retrieved) -> None:
        self.encoder, self.spaces, self.shared_index = real.encoder, real.spaces, real.shared_index
        self.retriever = self
        self.indexer = self
        self._found = found

    def retrieve(self, query: str, space: Any, *, without: Any = ()) -> Retrieved:
        candidates: tuple[Candidate, ...] = self._found.candidates
        return replace(self._found, query=query, candidates=candidates)

    def catch_up(self) -> int:
        return 0


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
