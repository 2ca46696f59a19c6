"""What collections that learn cost: python -m benchmarks.collections_cost DATA [--pairs 200]

DATA holds friendsqa/. Sixteen collections of its passages stand in one store. Printed, CPU first since the
machine may be busy: training the adapter of one collection, and the memory of its process; encoding passages
plain and under an adapter; a question with 0, 1, 4 and 16 adapters, its encoding alone and the whole search;
putting one adapter in place of another; and whether any other vector changed. Adapters but the trained one
are drawn, as what they hold changes no time.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.models.encoders.adapted_encoder import AdaptedEncoder, Adapter
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.prepared import ADAPTED, prepare_encoder
from assistant.learning.recipes.collections.recipe import PROGRAM
from assistant.learning.training_process import Further
from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.replay.streams.datasets import ReplayPassage, read_set
from assistant.search.adapted import FILE, Adapted, read_adapters
from assistant.settings.config import EncoderSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED, searchable_text
from stores.database.rows import rows
from stores.search.adapted_vectors import key_of

COUNTS = (0, 1, 4, 16)
_RANK, _WRONG = 8, 10


def spent(run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of CPU in this process, and of wall time."""
    began, used = time.perf_counter(), time.process_time()
    run()
    return time.process_time() - used, time.perf_counter() - began


def each_ms(run: Callable[[str], Any], questions: Sequence[str]) -> float:
    """Milliseconds of CPU of a call, the median."""
    return 1000 * statistics.median(spent(lambda text=text: run(text))[0] for text in questions)  # type: ignore[misc]


def drawn(encoder: AdaptedEncoder, seed: int) -> Adapter:
    """One that changes something."""
    layers, _, _, width = encoder._shape
    draw = np.random.default_rng(seed)
    down, up = (
        0.02 * draw.normal(size=shape).astype(np.float32)
        for shape in ((layers, 2, _RANK, width), (layers, 2, width, _RANK))
    )
    return Adapter.of(down, up, encoder_version=encoder.version)


def name_of(place: int) -> str:
    """Of the collection of a passage."""
    return f"part {place % max(COUNTS)}"


def ingested(assistant: Assistant, passages: Sequence[ReplayPassage]) -> None:
    """Each passage as a document of its collection."""
    user = assistant.stores.journal.user_id("ann")
    assistant.catch_up()
    for part in range(max(COUNTS)):
        documents = (
            PreparedDocument(p.id, p.title, p.id, (PreparedPassage(p.title, p.text),))
            for place, p in enumerate(passages)
            if place % max(COUNTS) == part
        )
        for _ in assistant.turns.ingest.run(user, SHARED, documents, summary="costs", into=name_of(part)):
            pass


def training_rows(data: Path, passages: Sequence[ReplayPassage], pairs: int) -> Iterator[Mapping[str, Any]]:
    """Lessons of one collection, each with an answer and ten passages that are wrong."""
    texts = {p.id: searchable_text(p.title, p.text) for p in passages}
    draw, every = random.Random(0), sorted(texts.values())
    yield {"encoder": None}
    asked = [q for q in read_set(data, "friendsqa", "train").questions if q.gold and q.gold & texts.keys()]
    for question in asked[:pairs]:
        answers = [texts[id_] for id_ in sorted(question.gold or ()) if id_ in texts]
        wrong = [text for text in draw.sample(every, _WRONG + len(answers)) if text not in answers][:_WRONG]
        row = {"collection": key_of(SHARED, name_of(0)), "question": question.text, "measured": False}
        yield {**row, "answers": answers, "wrong": wrong}


def vectors_of(assistant: Assistant) -> dict[tuple[int, str], bytes]:
    """All that are stored, by version and encoder."""
    with assistant.stores.database.reading() as sql:
        found = rows(sql, "SELECT version_id, encoder_version, vector FROM passage_vectors", [])
        return {(version, encoder): bytes(vector) for version, encoder, vector in found}


def measure(data: Path, folder: Path, *, passages: int, pairs: int, queries: int) -> Iterator[str]:
    """A sentence a figure."""
    read = read_set(data, "friendsqa", "train")
    gold = {id_ for question in read.questions[: 2 * pairs] for id_ in question.gold or ()}
    some = sorted(read.passages, key=lambda passage: passage.id not in gold)[:passages]
    questions = [question.text for question in read_set(data, "friendsqa", "test").questions[:queries]]

    lessons, at = list(training_rows(data, some, pairs)), folder / "training"
    at.mkdir()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    made = Further(PROGRAM, {"seed": 0}, 1).on(at, lessons)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = after.ru_maxrss / 1024
    yield f"training {len(lessons) - 1} pairs: {used:.0f} s of CPU, {wall:.0f} s, at most {memory:.0f} MB"

    settings = Settings(encoder=EncoderSettings(threads=1))
    locations = find_locations(os.environ, data=str(folder / "data"))
    assistant = Assistant(settings, locations, offline=True)
    prepared = prepare_encoder(
        None, locations.cache / "adapted-encoders", tell=print, offline=True, exporter=ADAPTED
    )
    encoder = AdaptedEncoder(prepared, threads=1)
    plain = OnnxEncoder(next((locations.cache / "encoders").glob(f"{encoder.version}*")), threads=1)
    try:
        ingested(assistant, some)
        (trained,) = read_adapters(made / "served", encoder_version=encoder.version).values()
        size = sum(file.stat().st_size for file in (made / "served").iterdir() if file.name != FILE)
        yield f"an adapter is {size / 1000:.0f} kB"

        texts = [searchable_text(p.title, p.text) for p in some[:200]]
        encode = {
            "plain": lambda: plain.encode_passages(texts),
            "plain, in the form that takes adapters": lambda: encoder.encode_passages(texts),
            "under an adapter": lambda: encoder.encode_passages_under(texts, trained),
        }
        took = {what: min(spent(run)[0] for _ in range(3)) for what, run in encode.items()}
        for what, seconds in took.items():
            share = seconds / took["plain"]
            yield f"passages {what}: {1000 * seconds / len(texts):.1f} ms each, {share:.2f} times plain"

        adapters = [trained, *(drawn(encoder, seed) for seed in range(max(COUNTS) - 1))]
        keys = [key_of(SHARED, name_of(part)) for part in range(max(COUNTS))]
        stored, vectors = assistant.search.adapted_vectors, vectors_of(assistant)
        first = Adapted(dict(zip(keys[:1], adapters, strict=False)), stored, lambda: encoder)
        used, _ = spent(first.encode_missing)
        count = len(vectors_of(assistant)) - len(vectors)
        is_kept = all(vectors_of(assistant)[key] == vector for key, vector in vectors.items())
        yield f"encoding a collection of {count} passages: {used:.1f} s; other vectors as before: {is_kept}"
        Adapted(dict(zip(keys, adapters, strict=True)), stored, lambda: encoder).encode_missing()

        space, base = assistant.search.spaces.of(1), assistant.search.searching.retriever
        alone, whole = each_ms(lambda q: plain.encode_queries([q]), questions), 0.0
        found = {q: base.retrieve(q, space).candidates for q in questions}
        judged = each_ms(lambda q: assistant.models.reranker.rerank(q, found[q]), questions)
        yield f"judging what was found {judged:.1f} ms"
        for n in COUNTS:
            adapted = Adapted(dict(zip(keys[:n], adapters, strict=False)), stored, lambda: encoder)
            retriever = base.with_adapted(adapted) if n else base
            searched = each_ms(lambda q: retriever.retrieve(q, space), questions)  # noqa: B023
            whole = whole or searched
            under = each_ms(lambda q: encoder.encode_query(q, adapters[:n]), questions) if n else 0.0  # noqa: B023
            yield f"a question plainly encoded {alone:.1f} ms, under {n} adapters {under:.1f} ms more"
            share, total = searched / whole, (searched + judged) / (whole + judged)
            yield f"found with {n} adapters {searched:.1f} ms, {share:.2f} times none; judged {total:.2f}"

        file = next(file for file in (made / "served").iterdir() if file.name != FILE)
        swap = each_ms(lambda _: Adapter.read(file, encoder_version=encoder.version), questions)
        yield f"putting an adapter in place of another: {swap:.2f} ms"
    finally:
        assistant.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--passages", type=int, default=1600)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--queries", type=int, default=60)
    told = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        how = {"passages": told.passages, "pairs": told.pairs, "queries": told.queries}
        for sentence in measure(told.data, Path(folder), **how):
            print(sentence, flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
