"""What the reader can do: python -m benchmarks.reader_quality DATA [--tasks answer ...] [--limit N]

Everything is measured on parts that were never trained on, through the served reader.

    answer     exact match and F1 on SQuAD's dev questions, given the passage that answers them
    no_answer  the same questions with that passage, and with the best other one: how many right answers are
               kept, and how many questions are still answered that cannot be, at each threshold
    judge      three classes: accuracy, macro-F1, calibration error; by data set
    verify     the same, by data set
    sort       the same, by where the sentences come from
    speed      pairs a CPU-second, one turn of 40 passages, and the memory of the process
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from agents.models.reader import OnnxReader
from agents.models.reader_files import SMALL
from benchmarks.questions import holds_answer, normalised_answer, read_questions, token_f1
from training.examples.example import JUDGE_LABELS, SORT_LABELS, VERIFY_LABELS, Example
from training.examples.mixture import examples
from training.examples.pairs import read_corpus
from training.examples.passage_search import PassageSearch
from training.reader.temperature_fit import expected_calibration_error

TASKS = ("answer", "no_answer", "judge", "verify", "sort", "speed")
KEPT = (0.99, 0.95, 0.9, 0.8, 0.7)  # shares of right answers at which the no-answer curve is read
TURN_PASSAGES = 40


@dataclass(frozen=True)
class Answered:
    """The likeliest answer to one question from one passage."""

    text: str
    exact: bool
    f1: float
    confidence: float  # 1 - p(no answer)


def answered(reader: OnnxReader, question: str, passage: str, answers: Sequence[str]) -> Answered:
    (found,) = reader.answer(question, [passage], best=1)
    text = found.spans[0].text if found.spans else ""
    exact = normalised_answer(text) in {normalised_answer(answer) for answer in answers}
    f1 = max(token_f1(text, answer) for answer in answers)
    return Answered(text, exact, f1, 1 - found.no_answer)


class Squad:
    """SQuAD's dev questions, their passages, and the best other passage of the whole set for each."""

    def __init__(self, data: Path, limit: int | None) -> None:
        self.questions = read_questions(data / "squad/dev.jsonl.gz", count=limit, seed=1, answered=True)
        self.gold = read_corpus(data / "squad/passages_dev.jsonl.gz").by_id
        train = read_corpus(data / "squad/passages_train.jsonl.gz").passages
        self._texts = [passage.text for passage in (*self.gold.values(), *train)]
        self._search: PassageSearch | None = None

    def found(self, question: str, count: int) -> list[str]:
        """The passages that share most with a question, best first."""
        self._search = self._search or PassageSearch(self._texts)
        return [self._texts[place] for place in self._search.ranked(question, count)]

    def best_other(self, question: str, answers: list[str]) -> str:
        """The best passage in which none of the answers stands."""
        return next((text for text in self.found(question, 50) if not holds_answer(text, answers)), "")


def answer(reader: OnnxReader, squad: Squad) -> None:
    results = [_on_gold(reader, squad, question) for question in squad.questions]
    exact, f1 = fmean(r.exact for r in results), fmean(r.f1 for r in results)
    confidences = np.array([r.confidence for r in results])
    print(f"answer: {len(results)} questions of SQuAD dev, given the passage: EM {exact:.1%}, F1 {f1:.1%}")
    print(f"answer: taken to be there with p > 1/2 in {(confidences > 0.5).mean():.1%}")


def _on_gold(reader: OnnxReader, squad: Squad, question: dict[str, object]) -> Answered:
    passage = squad.gold[question["passage_ids"][0]].text  # type: ignore[index]
    return answered(reader, str(question["question"]), passage, question["answers"])  # type: ignore[arg-type]


def no_answer(reader: OnnxReader, squad: Squad) -> None:
    right, other = [], []
    for question in squad.questions:
        result = _on_gold(reader, squad, question)
        if result.exact:
            right.append(result.confidence)
        passage = squad.best_other(question["question"], question["answers"])
        other.append(answered(reader, question["question"], passage, question["answers"]).confidence)
    print(f"no_answer: {len(right)} right answers; the passage of {len(other)} questions replaced")
    print("| right answers kept | threshold on 1 - p(no answer) | still answered without the passage |")
    print("| ---: | ---: | ---: |")
    for kept in KEPT:
        threshold = float(np.quantile(right, 1 - kept))
        print(f"| {kept:.0%} | {threshold:.4f} | {np.mean(np.array(other) >= threshold):.1%} |")


@dataclass(frozen=True)
class Classified:
    """What a head says of one example."""

    source: str
    label: int
    probabilities: tuple[float, ...]


def by_source(name: str, labels: Sequence[str], found: Sequence[Classified]) -> None:
    """A row for each source and one for all."""
    groups: dict[str, list[Classified]] = defaultdict(list)
    for one in found:
        groups[one.source].append(one)
    print(f"\n| {name} | examples | accuracy | macro-F1 | calibration error | F1 of {', '.join(labels)} |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for source, some in (*sorted(groups.items()), ("all", list(found))):
        right = np.array([one.label for one in some])
        probabilities = np.array([one.probabilities for one in some])
        said = probabilities.argmax(1)
        scores = [_f1(said == place, right == place) for place in range(len(labels))]
        present = [score for place, score in enumerate(scores) if (right == place).any()]
        error = expected_calibration_error(probabilities.max(1), said == right)
        each = ", ".join(f"{s:.2f}" if (right == p).any() else "-" for p, s in enumerate(scores))
        print(
            f"| {source} | {len(some)} | {(said == right).mean():.1%} | {fmean(present):.3f} "
            f"| {error:.3f} | {each} |"
        )


def _f1(said: np.ndarray, right: np.ndarray) -> float:
    return float(2 * (said & right).sum() / max(1, said.sum() + right.sum()))


def held_out(data: Path, task: str, limit: int | None) -> list[Example]:
    """Test examples of a task, at most `limit` of each source, in seeded order."""
    wanted = [e for e in examples(data, "test", tasks=(task,)) if getattr(e, task) is not None]  # type: ignore[arg-type]
    groups: dict[str, list[Example]] = defaultdict(list)
    for example in wanted:
        groups[example.source].append(example)
    chance = random.Random(1)
    return [
        e
        for _, some in sorted(groups.items())
        for e in chance.sample(some, min(len(some), limit or len(some)))
    ]


def judge(reader: OnnxReader, data: Path, limit: int | None) -> None:
    found = []
    for example in held_out(data, "judge", limit):
        probabilities = reader.judge_probabilities(example.first, [example.second])[0]
        found.append(Classified(example.source, example.judge or 0, probabilities))
    by_source("judge", JUDGE_LABELS, found)


def verify(reader: OnnxReader, data: Path, limit: int | None) -> None:
    wanted = held_out(data, "verify", limit)
    rows = reader.verify([(example.first, example.second) for example in wanted])
    pairs = zip(wanted, rows, strict=True)
    by_source("verify", VERIFY_LABELS, [Classified(e.source, e.verify or 0, row) for e, row in pairs])


def sort(reader: OnnxReader, data: Path, limit: int | None) -> None:
    wanted = held_out(data, "sort", limit)
    rows = reader.sort([example.first for example in wanted])
    pairs = zip(wanted, rows, strict=True)
    by_source("sort", SORT_LABELS, [Classified(e.source, e.sort or 0, row) for e, row in pairs])


def speed(reader: OnnxReader, squad: Squad) -> None:
    turns, cpu, tokens = [], [], []
    for question in squad.questions[:20]:
        passages = squad.found(question["question"], TURN_PASSAGES)
        wall, busy = time.perf_counter(), time.process_time()
        readings = reader.read(question["question"], passages)
        turns.append(time.perf_counter() - wall)
        cpu.append(time.process_time() - busy)
        tokens.append(sum(reading.tokens for reading in readings))
    p50, p95 = np.quantile(turns, (0.5, 0.95)) * 1000
    print(
        f"\nspeed: {TURN_PASSAGES} passages, {np.mean(tokens):.0f} tokens: p50 {p50:.0f} ms, "
        f"p95 {p95:.0f} ms, {np.median(cpu) * 1000:.0f} ms of CPU"
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"speed: {memory:.0f} MB at most, the benchmark's own data included")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--reader", type=Path, default=SMALL, help="the folder of an exported reader")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--limit", type=int, help="questions, and examples of a source, at most")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    began = time.perf_counter()
    reader = OnnxReader(arguments.reader, threads=arguments.threads)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{reader.name}: loaded in {time.perf_counter() - began:.2f} s, {memory:.0f} MB so far")
    squad = Squad(arguments.data, arguments.limit)
    work: dict[str, Callable[[], None]] = {
        "answer": lambda: answer(reader, squad),
        "no_answer": lambda: no_answer(reader, squad),
        "judge": lambda: judge(reader, arguments.data, arguments.limit),
        "verify": lambda: verify(reader, arguments.data, arguments.limit),
        "sort": lambda: sort(reader, arguments.data, arguments.limit),
        "speed": lambda: speed(reader, squad),
    }
    for task in arguments.tasks:
        work[task]()


if __name__ == "__main__":
    main()
