"""What each method takes for 3,000 questions: retrieval, judging, training (LUF, Table 6).

    python -m benchmarks.method_times DATA --work DIR [--questions 150] [--judged 40] [--lessons 400]
        [--seeds 1 2 3] [--out DIR]

DATA and DIR are those of benchmarks.recall; searched are the 19,707 passages of squad. Each of --questions
is searched by every method in turn, so that whatever else the machine does meets all of them alike; some
before them only warm up. What the methods find is judged by the reader, 5 passages at least, for the first
--judged of them. LUF trains once on --lessons others, judged by an oracle, for 4 epochs. All is scaled to
3,000 questions: times of a question by their number, the training by how often so many lessons come. With
several seeds, each of which draws its own questions, means stand with their 95 % intervals. What a seed took
is kept in --out as it ends, with how busy the machine was, and is not measured again.

The writers of query rewriting and Query2Doc are simulated: what a chat model would take to write is not in
any figure. Seconds are wall time; CPU seconds are of all threads and children: steadier on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from agents.base.interfaces import Candidate
from agents.retrieval.reader_judge import ReaderJudge, Readings
from agents.retrieval.reranker import Reranked, Reranker
from assistant.learning.recipes.retriever.network import load_network
from assistant.replay.methods.luf import Luf
from assistant.replay.methods.method import Asked, Frozen, JudgedQuestion, Method, Search
from assistant.replay.methods.simulated_judge import SimulatedJudge, gold_truth
from assistant.replay.metrics.figures import estimate
from assistant.replay.streams.datasets import ReplayQuestion, read_set
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.recall import fusion_of
from benchmarks.recall_collections import COLLECTIONS, ingest_collection
from experiments.methods.entropy_minimisation import EntropyMinimisation
from experiments.methods.query2doc import Query2Doc
from experiments.methods.query_rewrite import QueryRewrite
from experiments.methods.rafe import Rafe
from experiments.methods.simulated_writers import SimulatedDocuments, SimulatedRewrites
from experiments.methods.tent import Tent
from stores.learning.lessons import Lessons

SCALED_TO = 3_000  # questions
WARM_UP = 10  # questions
MIN_JUDGED = 5
QUALITY = 0.7  # of the simulated writers


@dataclass(frozen=True)
class Spent:
    """What something took."""

    wall: float  # seconds
    cpu: float  # seconds, of all threads and ended children


class Clock:
    """Adds up what parts take."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str], list[Spent]] = defaultdict(list)  # by method and part

    @contextmanager
    def of(self, method: str, part: str) -> Iterator[None]:
        """Times what is done within."""
        wall, cpu = time.perf_counter(), _cpu_seconds()
        yield
        self.spent[method, part].append(Spent(time.perf_counter() - wall, _cpu_seconds() - cpu))

    def scaled(self, method: str, part: str, questions: int) -> Spent:
        """To `SCALED_TO` questions, from so many."""
        all_spent = self.spent.get((method, part), [])
        factor = SCALED_TO / questions if questions else 0.0
        return Spent(factor * sum(s.wall for s in all_spent), factor * sum(s.cpu for s in all_spent))


class Benchmark:
    """Times methods over one store."""

    def __init__(self, assistant: Assistant, questions: Sequence[ReplayQuestion], folder: Path) -> None:
        self._assistant = assistant
        self._questions = questions
        self._user = assistant.stores.journal.user_id("benchmark")
        self._encoder = assistant.search.encoder
        self._lessons = Lessons(assistant.stores.database)
        self._folder = folder
        self._reader_calls = 0
        self.clock = Clock()

    def vectors_of(self, version_ids: Sequence[int]) -> Mapping[int, bytes]:
        """The stored vectors of versions."""
        return self._lessons.vectors(version_ids, self._encoder.version)

    def search(self) -> Search:
        """A search of one question."""
        retrieval = self._assistant.given.settings.retrieval
        return Search(
            self._encoder,
            self._assistant.search.spaces.of(self._user),
            keep=retrieval.candidates,
            pool=retrieval.pool,
            fusion=fusion_of(self._assistant.given.settings),
        )

    def retrieval(self, methods: Mapping[str, Method], asked: Sequence[Asked], *, judged: int) -> None:
        """Every question by every method, and its judging for the first ones."""
        for number, question in enumerate(asked):
            counts = number >= WARM_UP
            for name, method in methods.items():
                search = self.search()
                with self.clock.of(name, "retrieval" if counts else "warm-up"):
                    found = method.retrieve(question, search)
                if counts and number < WARM_UP + judged:
                    reranker = self._reranker()
                    with self.clock.of(name, "judging"):
                        reranker(question.text, found.candidates)
            if number % 25 == 0:
                print(f"{number} of {len(asked)} questions", file=sys.stderr)

    def _reranker(self) -> Callable[[str, Sequence[Candidate]], Reranked]:
        """One that has read nothing yet."""
        judge = ReaderJudge(Readings(self._assistant.models.reader))
        reranking = self._assistant.given.settings.reranking
        return Reranker(
            judge, schedule=reranking.schedule, budget=reranking.budget, min_judged=MIN_JUDGED
        ).rerank

    def training(self, luf: Luf, rafe: Rafe, asked: Sequence[Asked]) -> None:
        """One training of LUF and one step of the rewriter, on questions judged by an oracle."""
        judge = SimulatedJudge(1.0, 1, is_relevant=gold_truth(self._questions))
        reranking = self._assistant.given.settings.reranking
        reranker = Reranker(
            judge, schedule=reranking.schedule, budget=reranking.budget, min_judged=MIN_JUDGED
        )
        judged = []
        for question in asked:
            found = rafe.retrieve(question, self.search())
            judged.append(
                JudgedQuestion(question, reranker.rerank(question.text, found.candidates).judgements)
            )
        for name, method in (("luf", luf), ("rafe-style", rafe)):
            with self.clock.of(name, "training"):
                method.learn(judged)


def methods_of(
    benchmark: Benchmark, questions: Sequence[ReplayQuestion], data: Path, folder: Path, *, seed: int
) -> dict[str, Method]:
    """All methods, none of which has learned anything."""
    passages = read_set(data, "squad", "dev").passages
    known: dict[str, Any] = {"questions": questions, "passages": passages}
    adapting = EntropyMinimisation(load_network())
    return {
        "retrieve and rerank": Frozen(),
        "query rewriting": QueryRewrite(SimulatedRewrites(QUALITY, seed, **known)),
        "query2doc": Query2Doc(SimulatedDocuments(QUALITY, seed, **known)),
        "rafe-style": Rafe(seed=seed),
        "tent": Tent(adapting, benchmark.vectors_of),
        "luf": Luf(
            benchmark.vectors_of,
            folder,
            dimension=adapting.encode([""]).shape[1],
            settings={"seed": seed, "epochs": 4, "patience": 4},
        ),
    }


def _cpu_seconds() -> float:
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def measure(options: argparse.Namespace, folder: Path, *, seed: int) -> dict[str, dict[str, Spent]]:
    """Spent by method and part, for `SCALED_TO` questions."""
    collection = next(collection for collection in COLLECTIONS if collection.name == "squad")
    directory = str(options.work / collection.store)
    assistant = Assistant(Settings(), find_locations(os.environ, data=directory), offline=True)
    try:
        same_as = ingest_collection(assistant, options.data, collection)
        questions = [
            replace(question, gold=frozenset(same_as.get(name, name) for name in question.gold))
            for question in read_set(options.data, "squad", "dev").questions
            if question.gold
        ]
        random.Random(seed).shuffle(questions)
        asked = [Asked(question.id, question.text) for question in questions]
        benchmark = Benchmark(assistant, questions, folder)
        methods = methods_of(benchmark, questions, options.data, folder, seed=seed)
        luf, rafe = methods["luf"], methods["rafe-style"]
        assert isinstance(luf, Luf), "as made above"
        assert isinstance(rafe, Rafe), "as made above"
        taught = WARM_UP + options.questions
        benchmark.training(luf, rafe, asked[taught : taught + options.lessons])
        benchmark.retrieval(methods, asked[:taught], judged=options.judged)
        counts = {
            "retrieval": options.questions,
            "judging": min(options.judged, options.questions),
            "training": options.lessons,
        }
        return {
            name: {part: benchmark.clock.scaled(name, part, count) for part, count in counts.items()}
            for name in methods
        }
    finally:
        assistant.close()


@dataclass(frozen=True)
class MeasuredSeed:
    """What one seed took, for `SCALED_TO` questions."""

    seed: int
    sizes: Mapping[str, int]  # questions, judged, lessons
    load: float  # of the machine, over five minutes, as it ended
    spent: Mapping[str, Mapping[str, Spent]]  # by method and part

    def write(self, file: Path) -> None:
        """There whole or not at all."""
        making = file.with_suffix(".making")
        making.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        making.rename(file)

    @classmethod
    def read(cls, file: Path) -> MeasuredSeed:
        """As it was written."""
        told = json.loads(file.read_text(encoding="utf-8"))
        spent = {
            name: {part: Spent(**each) for part, each in parts.items()}
            for name, parts in told.pop("spent").items()
        }
        return cls(**told, spent=spent)


def measured_seed(options: argparse.Namespace, seed: int) -> MeasuredSeed:
    """What is kept of a seed, or what it takes now; raises ValueError where other sizes were kept."""
    sizes = {name: getattr(options, name) for name in ("questions", "judged", "lessons")}
    file: Path = options.out / f"method-times-{seed}.json"
    if file.is_file():
        kept = MeasuredSeed.read(file)
        if kept.sizes != sizes:
            raise ValueError(f"{file} is of other sizes: {kept.sizes}; name another --out")
        return kept
    with tempfile.TemporaryDirectory() as folder:
        spent = measure(options, Path(folder), seed=seed)
    measured = MeasuredSeed(seed, sizes, round(os.getloadavg()[1], 1), spent)
    measured.write(file)
    return measured


def report(found: Sequence[MeasuredSeed]) -> Iterator[str]:
    """A line a method: CPU seconds, wall seconds in brackets, and retrieval against the first method's."""
    loads = ", ".join(f"{each.load}" for each in found)
    seeds = ", ".join(str(each.seed) for each in found)
    yield f"CPU seconds (wall) for {SCALED_TO} questions; seeds {seeds}, load {loads}"
    for name, parts in found[0].spent.items():
        cells = []
        for part in parts:
            taken = [each.spent[name][part] for each in found]
            cells.append(f"{part} {_shown([s.cpu for s in taken])} ({_shown([s.wall for s in taken])})")
        ratios = [
            each.spent[name]["retrieval"].cpu / next(iter(each.spent.values()))["retrieval"].cpu
            for each in found
        ]
        yield f"  {name:<20} {'  '.join(cells)}  retrieval x {_shown(ratios, places=2)}"


def _shown(values: Sequence[float], *, places: int = 0) -> str:
    """One value, or the mean of several with its 95 % interval."""
    if len(values) == 1:
        return f"{values[0]:.{places}f}"
    known = estimate([[value] for value in values])
    assert known is not None, "there is a value of each seed"
    return f"{known.mean:.{places}f} [{known.low:.{places}f}, {known.high:.{places}f}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--judged", type=int, default=40)
    parser.add_argument("--lessons", type=int, default=400)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=Path, help="where seeds are kept; else the folder of --work")
    options = parser.parse_args()
    options.out = options.out or options.work
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    found = []
    for seed in options.seeds:
        found.append(measured_seed(options, seed))
        print("\n".join(report(found[-1:])), flush=True)
    if len(found) > 1:
        print("\n".join(report(found)))


if __name__ == "__main__":
    main()
