"""One round on a page: how it ended, its figures, its settings, and from what it learned."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assistant.terminal.facts.training import (
    TrainingFacts,
    comparison_of,
    held_out_of,
    percent,
    points,
    slices_of,
    version_of,
)
from assistant.terminal.facts.training_lines import slice_name, state_now
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.database.tables import Round
    from stores.learning.round_lineage import RoundLineage

_SPANS_TOLD = 40  # of turns, the last ones


def round_page(assistant: Assistant, user_id: int, facts: TrainingFacts, row: Round) -> tuple[str, str]:
    """A title and a text, for a user, who is told the names of what they can see."""
    from stores.learning.round_lineage import lineage_of

    lineage = lineage_of(assistant.stores.database, row)
    judges = (each for name in sorted(lineage.judged) for each in assistant.learning.worth_of(name))
    collections = _collections(assistant, user_id, row)
    learned = _learned_from(row, lineage)
    parts = [_ended(facts, row), _figures(row), collections, learned, judges, _settings(facts, row)]
    text = "\n\n".join("\n".join(lines) for part in parts if (lines := list(part)))
    return f"Round {row.id} · {state_now(facts, row)}", text


def _ended(facts: TrainingFacts, row: Round) -> Iterator[str]:
    yield one_line(row.reason) or "It has not ended yet."
    yield f"Recipe     {row.recipe}"
    began = row.created_at.astimezone()
    yield f"Began      {began:%Y-%m-%d %H:%M}"
    if row.ended_at is not None:
        yield f"Ended      {row.ended_at.astimezone():%Y-%m-%d %H:%M}"
    if version := version_of(row):
        yield f"Candidate  {one_line(version)}"
        if version == facts.live:
            yield f"It answers now; one step back is {facts.name_of(facts.previous)}."
    if times := row.figures.get("taken_over"):
        yield f"It was interrupted and continued {times} times."


def _figures(row: Round) -> Iterator[str]:
    from assistant.wiring.recipes import RECIPES

    compared = comparison_of(row)
    if compared:
        yield from _held_out(row)
        yield "in %       live  candidate  points and their interval"
    for name, told in compared.items():
        yield (
            f"{name:<9}{percent(told['live']):>6}{percent(told['candidate']):>11}  "
            f"{points(told['gain'])} [{points(told['low'])}, {points(told['high'])}]"
        )
    for name, gain, questions in slices_of(row):
        yield f"{slice_name(name)}  {points(gain)} points on {questions} questions"
    measured = row.figures.get("measured", ())
    chance_of = RECIPES.get(row.recipe, RECIPES["retriever"]).chance_of
    if measured:
        yield "While it was trained, on what was set aside to end the training:"
    for found in measured:
        when = f"epoch {found['epoch']}" if found.get("epoch") else "start"
        if "chance" in found:
            yield f"{when:<9} chance of {chance_of} {percent(found['chance'])}"
            continue
        yield (
            f"{when:<9} nDCG@10 {percent(found.get('ndcg_at_10', 0))}  "
            f"R@5 {percent(found.get('recall_at_5', 0))}  among {found.get('among', '?')} passages"
        )


def _collections(assistant: Assistant, user_id: int, row: Round) -> Iterator[str]:
    """What the adapter of each does to questions that were set aside while it was trained."""
    learned = assistant.learning.collections_of(user_id, version_of(row))
    if learned:
        yield "Collections, and MRR within each on what was set aside, before and after:"
    for name, figures in learned:
        told = f"{percent(figures['mrr_before'])} → {percent(figures['mrr'])}"
        yield f"{one_line(name)}: {figures['lessons']:.0f} lessons, {told}"


def _held_out(row: Round) -> Iterator[str]:
    questions, asked = held_out_of(row)
    if asked == questions:
        yield f"Held-out questions: {questions}"
    else:
        yield f"Held-out questions: {questions} of {asked}"
        yield f"For {asked - questions} of them the judge found no answer in what either model found."


def _learned_from(row: Round, lineage: RoundLineage) -> Iterator[str]:
    turns, held_out = len(lineage.turns), int(row.settings.get("held_out", 0))
    yield f"Learned from {turns - held_out} lessons; {held_out} more were held out to judge it by."
    judged = [f"{count} by {one_line(judge)}" for judge, count in sorted(lineage.judged.items())]
    if judged:
        yield f"Judged     {', '.join(judged)}"
    rated = [f"{count} {one_line(rating)}" for rating, count in sorted(lineage.rated.items())]
    yield f"Rated      {', '.join(rated) or 'by nobody'}"
    if lineage.forgotten:
        yield f"Forgotten  {lineage.forgotten} of its turns since; the next round learns without them."
    yield f"Passages   {len(row.settings.get('passages', ()))} versions"
    spans = list(_spans(lineage.turns))
    told = ", ".join(spans[-_SPANS_TOLD:])
    yield f"Turns      {'… ' if len(spans) > _SPANS_TOLD else ''}{told or 'none'}"


def _settings(facts: TrainingFacts, row: Round) -> Iterator[str]:
    training: Mapping[str, Any] = row.settings.get("training", {})
    for name, value in training.items():
        yield f"{one_line(name):<14} {one_line(json.dumps(value))}"
    yield f"{'began from':<14} {facts.name_of(str(row.settings.get('live') or ''))}"
    yield f"{'encoder':<14} {one_line(str(row.settings.get('encoder_version', '')))}"
    yield f"{'taught sha256':<14} {one_line(str(row.settings.get('taught_sha256', '')))}"


def _spans(numbers: tuple[int, ...]) -> Iterator[str]:
    start = last = 0
    for number in (*sorted(numbers), 0):
        if number == last + 1 and start:
            last = number
            continue
        if start:
            yield f"{start}" if start == last else f"{start}-{last}"
        start = last = number
