"""What a method's trainings came to, over all its runs: facts for programs, and a sentence for people.

Where a method never trained, or every training kept its start, it searches as the frozen one does: its
figures are then the same to the last digit, and the sentence says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assistant.replay.methods.choice import ALONE, CAUTIOUS, EVO, OF_DIALOGUES
from assistant.replay.runs.steps import Steps

_LEARNERS = ("luf", EVO, CAUTIOUS, *ALONE)  # kinds of methods that learn after every interval


def learns(label: str, runs: Sequence[Steps]) -> bool:
    """Whether a method learns in intervals. runs: of it, one a seed."""
    return label.partition(":")[0] in _LEARNERS or any(step.facts for run in runs for step in run.learned)


def trainings_of(label: str, runs: Sequence[Steps], *, interval: int) -> dict[str, Any]:
    """The facts over all runs, with the sentence as `told`. interval: questions between two trainings.

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
    return found | {"told": _told(label, found)}


def _told(label: str, found: Mapping[str, Any]) -> str:
    """One sentence without its full stop."""
    asked = "turns" if label == OF_DIALOGUES else "questions"
    played = ALONE.get(label)
    lacked = f"there were too few {played} to judge by" if played else "no passage was judged to help"
    if not found["due"]:
        why = f"the interval is {found['interval']} and there were {found['questions']} {asked} (--interval)"
        return f"{label}: never trained: {why}"
    if not found["trained"]:
        return f"{label}: never trained: after {found['due']} times {found['interval']} {asked} {lacked}"
    said = f"{label}: trained {_times(found['trained'])}, after every {found['interval']} {asked}, "
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
