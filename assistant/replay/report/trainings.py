"""What a method's trainings came to, over all its runs: facts for programs, and a sentence for people.

Where a method never trained, or every training kept its start, it searches as the frozen one does: its
figures are then the same to the last digit, and the sentence says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from assistant.learning.recipes.collections.recipe import FEWEST
from assistant.replay.methods.choice import ALONE, CAUTIOUS, EVO, FLOWRAG, OF_DIALOGUES
from assistant.replay.metrics.forgetting import final_average, forgetting
from assistant.replay.runs.steps import Steps

_LEARNERS = ("luf", EVO, CAUTIOUS, FLOWRAG, *ALONE)  # kinds of methods that learn from what was asked


def learns(label: str, runs: Sequence[Steps]) -> bool:
    """Whether a method learns in intervals. runs: of it, one a seed."""
    return label.partition(":")[0] in _LEARNERS or any(step.facts for run in runs for step in run.learned)


def trainings_of(
    label: str, runs: Sequence[Steps], *, interval: int, by_sets: bool = False
) -> dict[str, Any]:
    """The facts over all runs, with the sentence as `told`. interval: questions between two trainings.

    by_sets: there was one behind each set instead.

    due: how often an interval ended before the stream did. trained: how often something could be learned from
    then; `lessons` and `best_epochs` have an entry for each of these. kept: how many of these gave new
    weights, as their best epoch is not their start, or as no questions were set aside to compare the two.
    """
    due = [step for run in runs for step in run.learned]
    trained = [step.facts for step in due if step.facts]
    best = [facts.get("best_epoch") for facts in trained]
    found: dict[str, Any] = {
        "interval": interval,
        "runs": len(runs),
        "questions": max((len(run.asked) for run in runs), default=0),
        "due": len(due),
        "trained": len(trained),
        "lessons": [facts["lessons"] for facts in trained],
        "best_epochs": best,
        "kept": sum(epoch != 0 for epoch in best),
    }
    return found | {"told": _told(label, found, by_sets=by_sets)}


def sequence_of(runs: Sequence[Steps]) -> dict[str, Any]:
    """How well what is held out of each set is found after each set, over the runs; empty where not asked.

    matrix: fused R@5, a row a set that has ended. mean: after the last. forgotten: how far the sets before
    it have fallen since their best.
    """
    rows = [[step.held_out for step in run.learned] for run in runs]
    if not all(row and all(row) for row in rows):
        return {}
    matrix = [[round(fmean(cells), 6) for cells in zip(*row, strict=True)] for row in zip(*rows, strict=True)]
    facts = {"mean": round(final_average(matrix), 6), "forgotten": round(forgetting(matrix), 6)}
    shown = "; ".join(" ".join(f"{100 * cell:.1f}" for cell in row) for row in matrix)
    told = f"fused R@5 of what is held out, after each set: {shown}"
    return {"matrix": matrix, **facts, "told": f"{told}; {100 * facts['forgotten']:.1f} points forgotten"}


def _told(label: str, found: Mapping[str, Any], *, by_sets: bool) -> str:
    """One sentence without its full stop."""
    asked = "turns" if label == OF_DIALOGUES else "questions"
    played = ALONE.get(label)
    lacked = f"there were too few {played} to judge by" if played else "no passage was judged to help"
    if label == FLOWRAG:
        lacked = f"no collection answered {FEWEST} questions"
    every = "each set" if by_sets else f"every {found['interval']} {asked}"
    if not found["due"]:
        why = f"the interval is {found['interval']} and there were {found['questions']} {asked} (--interval)"
        return f"{label}: never trained: {why}"
    if not found["trained"]:
        due = f"{found['due']} sets" if by_sets else f"{found['due']} times {found['interval']} {asked}"
        return f"{label}: never trained: after {due} {lacked}"
    said = f"{label}: trained {_times(found['trained'])}, after {every}, "
    fewest, most = min(found["lessons"]), max(found["lessons"])
    said += f"on {fewest if fewest == most else f'{fewest} to {most}'} lessons"
    if idle := found["due"] - found["trained"]:
        said += f"; {_times(idle)} {lacked}"
    if played:
        return f"{said}; {found['kept']} of {found['trained']} won on what was held out and went live"
    if not found["kept"]:
        return f"{said}; none was better than its start, so its weights are the frozen ones"
    return f"{said}; {found['kept']} of {found['trained']} better than the start, or nothing told"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
