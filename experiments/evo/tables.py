"""Finished runs as tables: means over seeds, and the standard error of the difference from SFT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean, stdev
from typing import Any

Run = Mapping[str, Any]


def accuracy(run: Run, *, number: int) -> float:
    """Of the model before a round, on the round."""
    return float(run["rounds"][number - 1]["figures"]["accuracy"])


def later(run: Run, name: str) -> float:
    """A figure's mean over R2 to R4, which M_1 to M_3 are measured by."""
    return fmean(each["figures"][name] for each in run["rounds"][1:])


def end(run: Run, name: str) -> float:
    """The last model on the kept parts of R1 to R3, which none was trained on."""
    return fmean(each[name] for each in run["rounds"][-1]["kept"][:-1])


def forgotten(run: Run) -> float:
    """How far the last model is below the best since a round was learned, mean over R1 to R3; accuracy."""
    rounds = run["rounds"]
    lost = []
    for number in range(len(rounds) - 1):
        by_model = [each["kept"][number]["accuracy"] for each in rounds[number:]]
        lost.append(max(by_model) - by_model[-1])
    return fmean(lost)


def told(run: Run, name: str) -> float:
    """A figure of the labels that were made, mean over the rounds that have it."""
    found = [each["labelling"][name] for each in run["rounds"] if name in each["labelling"]]
    return fmean(found) if found else float("nan")


COLUMNS: Mapping[str, Callable[[Run], float]] = {
    **{f"R{number}": partial(accuracy, number=number) for number in (1, 2, 3, 4)},
    "acc R2-4": lambda run: later(run, "accuracy"),
    "F1": lambda run: later(run, "f1"),
    "MRR": lambda run: later(run, "mrr"),
    "nDCG@5": lambda run: later(run, "ndcg"),
    "kept acc": lambda run: end(run, "accuracy"),
    "kept nDCG@5": lambda run: end(run, "ndcg"),
    "forgotten": forgotten,
    "confidence R4": lambda run: run["rounds"][-1]["figures"]["confidence"],
    "labels right": lambda run: told(run, "right"),
    "own right": lambda run: told(run, "own right"),
    "voted right": lambda run: told(run, "voted right"),
    "sure": lambda run: told(run, "sure"),
    "coverage": lambda run: told(run, "coverage"),
}
COMPARED = ("acc R2-4", "F1", "nDCG@5", "kept acc", "kept nDCG@5")


def tables(runs: Sequence[Run]) -> str:
    """Markdown, one table a set: a row a method, the mean of its seeds."""
    by_set: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_set[run["set"]][run["method"]].append(run)
    return "\n\n".join(_table(name, methods) for name, methods in by_set.items())


def _table(name: str, methods: Mapping[str, Sequence[Run]]) -> str:
    values = {
        method: {title: [_found(column, run) for run in runs] for title, column in COLUMNS.items()}
        for method, runs in methods.items()
    }
    titles = [title for title in COLUMNS if any(v == v for row in values.values() for v in row[title])]
    base = {run["seed"]: run for run in methods.get("sft", ())}
    head = f"| {name} | seeds | {' | '.join(titles)} |"
    lines = [head, "| --- |" + " ---: |" * (len(titles) + 1)]
    for method, runs in methods.items():
        cells = [_cell(title, values[method][title], runs, base) for title in titles]
        lines.append(f"| {method} | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _found(column: Callable[[Run], float], run: Run) -> float:
    try:
        return column(run)
    except KeyError:  # of three labels, or without lists
        return float("nan")


def _cell(title: str, values: Sequence[float], runs: Sequence[Run], base: Mapping[int, Run]) -> str:
    if any(value != value for value in values):
        return "-"
    shown = f"{fmean(values):.3f}"
    pairs = [(v, base[run["seed"]]) for v, run in zip(values, runs, strict=True) if run["seed"] in base]
    differences = [value - COLUMNS[title](other) for value, other in pairs]
    if title not in COMPARED or len(differences) < 2 or not any(differences):
        return shown
    return f"{shown} ({fmean(differences):+.3f} ± {stdev(differences) / len(differences) ** 0.5:.3f})"
