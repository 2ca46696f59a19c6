"""The report of a replay: the same bytes for the same inputs, with no time of day and no duration in it.

steps of every run -> figures by method, part and measure; gains; trainings -> one JSON object
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assistant.replay.methods.choice import FROZEN
from assistant.replay.methods.choice import OF_DIALOGUES as DIALOGUES
from assistant.replay.metrics.figure_names import FigureName
from assistant.replay.metrics.figures import Estimate, Played, gains, means
from assistant.replay.metrics.measures import EVERY, FEWER_IS_BETTER
from assistant.replay.report.trainings import learns, sequence_of, trainings_of
from assistant.replay.runs.steps import Steps
from stores.base.errors import WrongUsage

SCHEMA = 2
_DIGITS = 6

Runs = Mapping[tuple[str, int], Steps]  # by method's label and seed


def report_of(identity: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """All that is told of a replay. identity: what was played."""
    labels, seeds = list(dict.fromkeys(label for label, _ in runs)), sorted({seed for _, seed in runs})
    played = {label: [_played(runs[label, seed]) for seed in seeds] for label in labels}
    frozen, others = played[FROZEN], [label for label in labels if label != FROZEN]
    more = {name for some in played.values() for run in some for row in run.rows for name in row}
    measures = [*EVERY, *sorted(more - set(EVERY))]
    return {
        "schema": SCHEMA,
        "replay": dict(identity),
        "questions": len(frozen[0].rows),
        "intervals": "95 %, over seeds" if len(seeds) > 1 else "95 %, over questions",
        "figures": {label: _rounded(means(played[label], measures), within=1.0) for label in labels},
        "gains": {label: _rounded(gains(played[label], frozen, measures)) for label in others},
        "trainings": {
            label: {str(seed): _trainings(runs[label, seed]) for seed in seeds} for label in others
        },
        "sequences": {
            label: sequence for label in labels if (sequence := sequence_of([runs[label, s] for s in seeds]))
        },
        "learning": {
            label: trainings_of(
                label, of_label, interval=identity["interval"], by_sets=identity.get("by_sets", False)
            )
            for label in others
            if learns(label, of_label := [runs[label, seed] for seed in seeds])
        },
    }


def figure(report: Mapping[str, Any], path: str) -> float:
    """One mean of the last method, by words: `reranked R@5`, `last third/dense R@5`, `gain/all/F1`.

    Upper and lower case count as one. Raises `WrongUsage` where there is no such figure.
    """
    label, figures = list(report["figures"].items())[-1]
    name = FigureName.read(path, figures, EVERY)
    table = report["gains"].get(label, {}) if name.is_gain else figures
    if (told := table.get(name.part, {}).get(name.measure)) is None:
        there_are = f"There are {', '.join(figures[name.part])}."
        raise WrongUsage(f"{label} has no figure {path!r}", hint=there_are)
    return float(told["mean"])


def _played(steps: Steps) -> Played:
    return Played(
        [step.question for step in steps.asked],
        [step.domain for step in steps.asked],
        [step.figures for step in steps.asked],
    )


def _rounded(
    table: Mapping[str, Mapping[str, Estimate]], *, within: float | None = None
) -> dict[str, dict[str, dict[str, float]]]:
    """within: no share is above this and nothing is below 0, nor are the ends of an interval."""

    def told(measure: str, each: Estimate) -> dict[str, float]:
        if within is not None and is_percentage(measure):
            each = replace(each, high=min(within, each.high))
        if within is not None:
            each = replace(each, low=max(0.0, each.low))
        return {name: round(value, _DIGITS) for name, value in vars(each).items()}

    return {
        part: {measure: told(measure, each) for measure, each in row.items()} for part, row in table.items()
    }


def _trainings(steps: Steps) -> list[dict[str, Any]]:
    """The facts of each training."""
    return [{"after": step.after, **step.facts} for step in steps.learned if step.facts]


def is_percentage(measure: str) -> bool:
    """Whether a measure is a share, 0 to 1."""
    return measure not in FEWER_IS_BETTER


def shown(measure: str, told: Mapping[str, float], *, is_gain: bool = False) -> str:
    """A mean with its interval, for a person: shares in percent, gains with their sign."""
    mean, low, high = (_number(measure, told[name], is_gain=is_gain) for name in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def _number(measure: str, value: float, *, is_gain: bool) -> str:
    factor, digits = (100, 1) if is_percentage(measure) else (1, 0)
    rounded = round(factor * value, digits) + 0.0  # never -0.0
    return f"{rounded:{'+' if is_gain else ''}.{digits}f}"


def head_of(report: Mapping[str, Any]) -> str:
    """How much was played, and what the intervals are over: a few sentences."""
    seeds = report["replay"]["seeds"]
    asked, found = ("turns", "entities") if DIALOGUES in report["figures"] else ("questions", "passages")
    over = f"the {asked} (bootstrap)" if len(seeds) == 1 else "the seeds (Student's t)"
    return (
        f"{report['questions']} {asked} over {report['replay']['data']['passages']} {found}, "
        f"{'seed' if len(seeds) == 1 else f'{len(seeds)} seeds:'} {', '.join(map(str, seeds))}. "
        f"Shares are in percent, with 95 % intervals over {over}."
    )


def table_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """The report as rows of cells: part, measure, then each method, with its gain."""
    labels = list(report["figures"])
    rows = [["part", "measure", *labels, *(f"{label} - {FROZEN}" for label in report["gains"])]]
    for part, measures in report["figures"][FROZEN].items():
        for measure in measures:
            cells = [cell(report["figures"][label], part, measure) for label in labels]
            cells += [cell(table, part, measure, is_gain=True) for table in report["gains"].values()]
            rows.append([part, measure, *cells])
    return rows


def cell(
    table: Mapping[str, Mapping[str, Mapping[str, float]]], part: str, measure: str, *, is_gain: bool = False
) -> str:
    """One figure as it is shown; empty where there is none."""
    told = table.get(part, {}).get(measure)
    return "" if told is None else shown(measure, told, is_gain=is_gain)
