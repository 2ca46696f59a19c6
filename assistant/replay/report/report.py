"""The report of a replay: the same bytes for the same inputs, with no time of day and no duration in it.

steps of every run -> figures by method, part and measure; gains; curves; trainings -> one JSON object

With several seeds the intervals are over seeds, and those over questions stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from assistant.replay.methods.choice import ALONE, FROZEN
from assistant.replay.methods.choice import OF_DIALOGUES as DIALOGUES
from assistant.replay.metrics.figure_names import FigureName
from assistant.replay.metrics.figures import Estimate, Played, curve, gains, means
from assistant.replay.metrics.measures import EVERY, FEWER_IS_BETTER, MAIN, OF_DIALOGUES, OF_FOLLOW_UPS
from assistant.replay.metrics.pooled import gains_over_questions, over_questions
from assistant.replay.report.trainings import learns, trainings_of
from assistant.replay.runs.steps import Steps
from stores.base.errors import WrongUsage

SCHEMA = 1
CURVES = (*OF_DIALOGUES, *OF_FOLLOW_UPS, "dense R@5", "fused R@5", MAIN, "tokens")
_DIGITS = 6
_LOSS_POINTS = 40  # of one training, at most
_WINDOWS = 12  # the stream is so many windows of a curve long
_SMALLEST_WINDOW = 20
_LUF = "luf"  # the one kind of method that hears users
_WHO_HEARS = (
    'Users spoke to luf alone: what it has over frozen comes of memory and training together; the rows "of '
    'the set" leave out what users said.'
)

Runs = Mapping[tuple[str, int], Steps]  # by method's label and seed


def report_of(identity: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """All that is told of a replay. identity: what was played."""
    labels, seeds = list(dict.fromkeys(label for label, _ in runs)), sorted({seed for _, seed in runs})
    played = {label: [_played(runs[label, seed]) for seed in seeds] for label in labels}
    frozen, others = played[FROZEN], [label for label in labels if label != FROZEN]
    window = max(_SMALLEST_WINDOW, len(frozen[0].rows) // _WINDOWS)
    return {
        "schema": SCHEMA,
        "replay": dict(identity),
        "questions": len(frozen[0].rows),
        "intervals": "95 %, over seeds" if len(seeds) > 1 else "95 %, over questions",
        "figures": {label: _rounded(means(played[label], EVERY), within=1.0) for label in labels},
        "gains": {label: _rounded(gains(played[label], frozen, EVERY)) for label in others},
        "over_questions": _over_questions(played, others) if len(seeds) > 1 else {},
        "curves": {
            measure: {
                label: [[x, round(y, _DIGITS)] for x, y in curve(played[label], measure, window=window)]
                for label in labels
            }
            for measure in CURVES
            if any(measure in row for row in frozen[0].rows)
        },
        "window": window,
        "trainings": {
            label: {str(seed): _trainings(runs[label, seed]) for seed in seeds} for label in others
        },
        "learning": {
            label: trainings_of(label, of_label, interval=identity["interval"])
            for label in others
            if learns(label, of_label := [runs[label, seed] for seed in seeds])
        },
        "feedback": {label: _feedback([runs[label, seed] for seed in seeds]) for label in others},
    }


def times_of(runs: Runs) -> dict[str, Any]:
    """What took how long, in seconds: kept apart, since it is never the same twice."""
    return {
        f"{label}, seed {seed}": {
            "questions": len(steps.asked),
            **{
                name: round(sum(step.seconds.get(name, 0.0) for step in steps.asked), 3)
                for name in ("turn", "search", "model", "hearing")
            },
            "training": round(sum(step.seconds for step in steps.learned), 3),
        }
        for (label, seed), steps in runs.items()
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


def _over_questions(played: Mapping[str, Sequence[Played]], others: Sequence[str]) -> dict[str, Any]:
    frozen = played[FROZEN]
    return {
        "figures": {label: _ends(over_questions(runs, EVERY)) for label, runs in played.items()},
        "gains": {label: _ends(gains_over_questions(played[label], frozen, EVERY)) for label in others},
    }


def _ends(table: Mapping[str, Mapping[str, tuple[float, float]]]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        part: {
            measure: {"low": round(low, _DIGITS), "high": round(high, _DIGITS)}
            for measure, (low, high) in row.items()
        }
        for part, row in table.items()
    }


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
    """Each training's facts, its losses as the means of some stretches."""
    found = []
    for step in steps.learned:
        facts = dict(step.facts)
        losses = facts.pop("losses", ())
        if facts or losses:
            found.append({"after": step.after, **facts, "losses": _thinned(losses)})
    return found


def _thinned(values: Sequence[float]) -> list[float]:
    if not values:
        return []
    size = -(-len(values) // _LOSS_POINTS)
    return [round(fmean(values[i : i + size]), _DIGITS) for i in range(0, len(values), size)]


def _feedback(all_steps: Sequence[Steps]) -> dict[str, int]:
    """How much of each kind users said, over all seeds."""
    said = [step.feedback for steps in all_steps for step in steps.asked if step.feedback]
    return {kind: said.count(kind) for kind in sorted(set(said))}


def is_percentage(measure: str) -> bool:
    """Whether a measure is a share, 0 to 1."""
    return measure not in FEWER_IS_BETTER


def shown(measure: str, told: Mapping[str, float], *, is_gain: bool = False) -> str:
    """A mean with its interval, for a person: shares in percent, gains with their sign."""
    return (
        f"{_number(measure, told['mean'], is_gain=is_gain)} {shown_interval(measure, told, is_gain=is_gain)}"
    )


def shown_interval(measure: str, told: Mapping[str, float], *, is_gain: bool = False) -> str:
    low, high = (_number(measure, told[name], is_gain=is_gain) for name in ("low", "high"))
    return f"[{low}, {high}]"


def _number(measure: str, value: float, *, is_gain: bool) -> str:
    factor, digits = (100, 1) if is_percentage(measure) else (1, 0)
    rounded = round(factor * value, digits) + 0.0  # never -0.0
    return f"{rounded:{'+' if is_gain else ''}.{digits}f}"


def head_of(report: Mapping[str, Any]) -> str:
    """How much was played, and what the intervals are over: a few sentences."""
    seeds = report["replay"]["seeds"]
    is_of_dialogues = DIALOGUES in report["figures"]
    asked, found = ("turns", "entities") if is_of_dialogues else ("questions", "passages")
    said = f"{report['questions']} {asked} over {report['replay']['data']['passages']} {found}, "
    said += f"{'seed' if len(seeds) == 1 else f'{len(seeds)} seeds:'} {', '.join(map(str, seeds))}. "
    judges = ALONE.keys().isdisjoint(report["figures"])
    said += f"Shares are in percent{' and tokens per question' if judges else ''}, "
    said += "with 95 % intervals over the "
    few = "; two seeds tell little" if len(seeds) == 2 else ""
    said += f"{asked} (bootstrap)." if len(seeds) == 1 else f"seeds (Student's t){few}."
    is_heard = report["replay"].get("user_feedback") and _LUF in {
        label.partition(":")[0] for label in report["figures"]
    }
    return f"{said} {_WHO_HEARS}" if is_heard else said


def table_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """The report as rows of cells: part, measure, then each method, with its gain."""
    labels = list(report["figures"])
    head = ["part", "measure", *labels, *(f"{label} - {FROZEN}" for label in report["gains"])]
    rows = [head]
    for part, measures in report["figures"][FROZEN].items():
        for measure in measures:
            cells = [_cell(report["figures"][label], part, measure) for label in labels]
            cells += [_cell(table, part, measure, is_gain=True) for table in report["gains"].values()]
            rows.append([part, measure, *cells])
    return rows


def _cell(
    table: Mapping[str, Mapping[str, Mapping[str, float]]], part: str, measure: str, *, is_gain: bool = False
) -> str:
    told = table.get(part, {}).get(measure)
    return "" if told is None else shown(measure, told, is_gain=is_gain)
