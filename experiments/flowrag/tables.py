"""Results as tables: what each variant gains over the frozen encoder, means over seeds, 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assistant.learning.held_out.bootstrap import interval
from experiments.flowrag.domains import BESIDE, TRAINED
from experiments.flowrag.store import MEASURES

Record = Mapping[str, Any]
Values = npt.NDArray[np.float64]  # a question's mean over seeds

FOUR = "mean of four"
COLUMNS = (*TRAINED, FOUR, *BESIDE)


def tables(records: Sequence[Record]) -> str:
    """Markdown: a table for each measure and what is searched, then forgetting, rates and costs."""
    made = [
        _table(records, measure, searched)
        for searched in ("store", "collection")
        for measure in MEASURES
        if _of(records, "frozen", searched, measure)
    ]
    return "\n\n".join([*made, _forgotten(records), _others(records)])


def _of(records: Sequence[Record], variant: str, searched: str, measure: str) -> dict[str, Values]:
    """By domain, a score a question."""
    found: dict[str, list[list[float]]] = {}
    for r in records:
        if r.get("variant") == variant and r["searched"] == searched and measure in r["scores"]:
            found.setdefault(r["domain"], []).append(r["scores"][measure])
    return {domain: np.mean(scores, axis=0) for domain, scores in found.items()}


def _columns(of: Mapping[str, Values]) -> dict[str, Values]:
    """The same with the mean of the four, in which each counts alike: its mean is that of their means."""
    if not of.keys() >= set(TRAINED):
        return dict(of)
    count = sum(len(of[name]) for name in TRAINED)
    four = np.concatenate([of[name] * count / (len(TRAINED) * len(of[name])) for name in TRAINED])
    return {**of, FOUR: four}


def _table(records: Sequence[Record], measure: str, searched: str) -> str:
    frozen = _of(records, "frozen", searched, measure)
    counts = {name: len(values) for name, values in frozen.items()}
    lines = [
        f"| {measure}, {searched} | seeds | {' | '.join(COLUMNS)} |",
        "| --- | ---: |" + " --- |" * len(COLUMNS),
        f"| questions | | {_row({n: str(c) for n, c in counts.items()})} |",
        f"| frozen | | {_row({n: f'{100 * v.mean():.1f}' for n, v in _columns(frozen).items()})} |",
    ]
    variants = dict.fromkeys(r["variant"] for r in records if "variant" in r)
    pairs = [(variant, "frozen") for variant in variants if variant != "frozen"]
    for variant, base in [*pairs, ("prompts", "lora")]:
        of, under = (_of(records, each, searched, measure) for each in (variant, base))
        if of.keys() == under.keys() == frozen.keys():
            seeds = {r["seed"] for r in records if r.get("variant") == variant and r["searched"] == searched}
            gains = _columns({name: of[name] - under[name] for name in of})
            name = variant if base == "frozen" else f"{variant} above {base}"
            lines.append(f"| {name} | {len(seeds)} | {_row({n: shown(v) for n, v in gains.items()})} |")
    return "\n".join(lines)


def _row(cells: Mapping[str, str]) -> str:
    return " | ".join(cells.get(name, "") for name in COLUMNS)


def shown(values: Values) -> str:
    """The mean in points, with its interval."""
    low, high = interval(values, seed=1)
    return f"{100 * values.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _forgotten(records: Sequence[Record]) -> str:
    """How far the encoder of both sides fell since it learned a collection, which is known."""
    lines = [f"| forgotten by both sides | {' | '.join(TRAINED[:-1])} |", "| --- |" + " --- |" * 3]
    ended = {r["seed"] for r in records if r.get("variant") == "both" and r["domain"] == BESIDE[-1]}
    whole = [r for r in records if r.get("seed") in ended]
    for measure in MEASURES[:3]:
        just, end = (_of(whole, name, "collection", measure) for name in ("both, just learned", "both"))
        cells = [shown(just[n] - end[n]) for n in TRAINED[:-1] if n in just and n in end]
        lines.append(f"| {measure} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _others(records: Sequence[Record]) -> str:
    """Dev figures of the rates tried; seconds of training and milliseconds of encoding, of CPU."""
    lines = []
    for r in records:
        if "dev of" in r:
            means = (f"{name} {100 * np.mean(values):.1f}" for name, values in r["scores"].items())
            lines.append(f"{r['dev of']} {r['rate']:g}, dev of {r['domain']}: {', '.join(means)}")
        elif "trained" in r:
            loss = " to ".join(f"{each:.2f}" for each in r["loss"])
            at = f"{r['trained']} {r['rate']:g}, seed {r['seed']}"
            lines.append(f"{at}: {r['domain']}, {r['seconds']:.0f} s, loss {loss}")
        elif "cost" in r:
            lines.append(f"{r['cost']}: {1e3 * r['seconds'] / r['tokens']:.3f} ms a token")
    return "\n".join(lines)
