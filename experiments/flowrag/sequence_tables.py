"""ACC@5 and F1 of what was found in a sequence of collections: matrices, averages and forgetting.

ACC@5: an answer stands in one of the first five passages. F1: of what the reader answers from them, by words,
where the collection is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Literal, get_args

import numpy as np

from agents.base.interfaces import Vectors
from assistant.replay.metrics.forgetting import Matrix, final_average, forgetting
from assistant.replay.metrics.metrics import answer_f1, has_answer
from experiments.flowrag.domains import Domain
from experiments.flowrag.router import Centroid, How, Item, joined, routed
from experiments.flowrag.tables import Values, shown

Record = Mapping[str, Any]
Found = Mapping[str, Any]  # by index, by collection asked, of each question: places and cosines

Measure = Literal["ACC@5", "F1"]

_READ = 5
_PLAIN = "frozen"
_EVERY: tuple[How, ...] = get_args(How)


@dataclass
class Judge:
    """What tells whether a question was answered, and where it is asked."""

    domains: Mapping[str, Domain]
    questions: Mapping[str, Vectors]  # of test, by the frozen encoder
    centroids: Mapping[str, Centroid]
    answer: Callable[[str, Sequence[str]], str]  # a question, from five texts

    def score(
        self, measure: Measure, how: How, name: str, seen: Sequence[str], found: Found, plain: Found
    ) -> float:
        """Of a collection's test questions, in percent."""
        return 100 * fmean(self.scores(measure, how, name, seen, found, plain))

    def scores(
        self, measure: Measure, how: How, name: str, seen: Sequence[str], found: Found, plain: Found
    ) -> list[float]:
        """Of each test question of a collection, 0 to 1. plain: what the frozen encoder found."""
        known = {each: self.centroids[each] for each in seen}
        scores = list[float]()
        for number, question in enumerate(self.domains[name].test):
            asked = routed(how, name, self.questions[name][number], known)
            if asked:
                best = joined([[(i, int(place)) for place, _ in found[i][name][number]] for i in asked])
            else:  # cosines of one encoder can be compared
                near = ((cos, i, int(place)) for i in seen for place, cos in plain[i][name][number])
                best = [(i, place) for _, i, place in sorted(near, reverse=True)]
            texts = [self._text(item) for item in best[:_READ]]
            if measure == "ACC@5":
                scores.append(float(any(has_answer(text, question.answers) for text in texts)))
            else:
                scores.append(answer_f1(self.answer(question.text, texts), question.answers))
        return scores

    def right(self, name: str) -> tuple[float, float]:
        """The share of a collection's questions that the router sends there, and that it knows none for."""
        sent = [routed("centroid", name, each, self.centroids) for each in self.questions[name]]
        return 100 * fmean(each == (name,) for each in sent), 100 * fmean(not each for each in sent)

    def _text(self, item: Item) -> str:
        name, place = item
        return f"{self.domains[name].titles[place]} {self.domains[name].texts[place]}"


def sequence_tables(records: Sequence[Record], judge: Judge, orders: Sequence[Sequence[str]]) -> str:
    """Markdown: matrices and sums of each order, as far as it was run, then the router and the training."""
    parts = [part for measure in get_args(Measure) for part in _measured(records, judge, orders, measure)]
    return "\n\n".join("\n".join(part) for part in (*parts, _router(judge), _training(records)))


def _measured(
    records: Sequence[Record], judge: Judge, orders: Sequence[Sequence[str]], measure: Measure
) -> tuple[list[str], ...]:
    """Sums, gains of methods over each other, and matrices."""
    plain = {r["index"]: r["found"] for r in records if r["method"] == _PLAIN}
    methods = dict.fromkeys(r["method"] for r in records)
    sums, matrices = [_row("order", "method", measure, *judge.domains, "mean", "forgotten")], list[str]()
    sums.append("| --- | --- | --- |" + " ---: |" * (len(judge.domains) + 2))
    for order, names in enumerate(orders):
        for method in methods:
            stages = [_stage(records, method, order, stage) for stage in range(len(names))]
            if any(set(names[: stage + 1]) - set(found) for stage, found in enumerate(stages)):
                continue
            for how in _EVERY if measure == "ACC@5" else _EVERY[:1]:
                matrix = [
                    [judge.score(measure, how, name, seen, found, plain) for name in seen]
                    for found, seen in ((found, names[: t + 1]) for t, found in enumerate(stages))
                ]
                last = dict(zip(names, matrix[-1], strict=True))
                sums.append(
                    _row(
                        order + 1, method, how,
                        *(f"{last[name]:.1f}" for name in judge.domains),
                        f"{final_average(matrix):.1f}", f"{forgetting(matrix):.1f}",
                    )
                )  # fmt: skip
                matrices.append(f"{order + 1}, {method}, {how}: {_shown(matrix)}")
    return sums, _gains(records, judge, orders[0], list(methods), measure), matrices


def _stage(records: Sequence[Record], method: str, order: int, stage: int) -> Found:
    """By index, what a method found after a task; prompts are the same in every order and at every stage."""
    mine = (r for r in records if r["method"] == method)
    return {
        r["index"]: r["found"]
        for r in mine
        if (r.get("order"), r.get("stage")) in ((None, None), (order, stage))
    }


def _gains(
    records: Sequence[Record], judge: Judge, names: Sequence[str], methods: Sequence[str], measure: Measure
) -> list[str]:
    """Each method against those before it after the first order, by the oracle, with 95 % intervals."""
    scores, lines = dict[str, Values](), list[str]()
    for method in methods:
        found = _stage(records, method, 0, len(names) - 1)
        if found.keys() >= set(names):
            each = (judge.scores(measure, "oracle", name, names, found, found) for name in names)
            scores[method] = np.concatenate(list(each))
    for one, other in combinations(scores, 2):
        lines.append(f"{measure}, {other} over {one}: {shown(scores[other] - scores[one])}")
    return lines


def _router(judge: Judge) -> list[str]:
    shares = {name: judge.right(name) for name in judge.domains}
    return [f"router, {n}: {right:.0f} % right, {none:.0f} % of none" for n, (right, none) in shares.items()]


def _training(records: Sequence[Record]) -> list[str]:
    lines = list[str]()
    for r in records:
        if "seconds" in r:
            order = f", order {r['order'] + 1}" if "order" in r else ""
            before = "" if r["untrained"] is None else f", ACC@5 untrained {100 * r['untrained']:.1f}"
            losses = " to ".join(f"{each:.2f}" for each in r["loss"])
            lines.append(f"{r['method']}{order}, {r['index']}: {r['seconds']:.0f} s, loss {losses}{before}")
    return lines


def _shown(matrix: Matrix) -> str:
    return "; ".join(" ".join(f"{each:.1f}" for each in row) for row in matrix)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
