"""How far a round got, and how often it was gone on with in vain."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.learning.learner import attempted, reached
from stores.learning.rounds import _PHASES


def at(phase: str, **progress: int) -> dict[str, Any]:
    return {"phase": phase, "progress": progress}


@pytest.mark.parametrize(
    ("nearer", "further"),
    [
        ({}, at("training")),
        (at("reading"), at("training", step=1)),
        (at("training", step=9), at("training", step=10)),
        (at("training", step=900), at("exporting")),
        (at("exporting"), at("encoding", passages=0, passages_in_all=50)),
        (at("encoding", passages=30, passages_in_all=50), at("encoding", passages=1, passages_in_all=20)),
        (at("encoding", passages=20, passages_in_all=20), at("indexing", passages=16)),
        (at("indexing", passages=99), at("comparing", questions=0)),
        (at("comparing", questions=3, questions_in_all=9), at("comparing", questions=4, questions_in_all=9)),
        (at("comparing", questions=9), at("going live")),
    ],
)
def test_what_is_further(nearer: dict[str, Any], further: dict[str, Any]) -> None:
    assert reached(nearer) < reached(further)


def test_every_phase_has_its_place_but_those_before_the_training() -> None:
    assert {phase for phase in _PHASES if reached(at(phase))[0] == 0} == {"", "reading"}


def test_a_phase_of_another_release_and_figures_without_progress_count_as_the_start() -> None:
    assert reached(at("distilling", step=5)) == reached({"phase": "reading", "progress": None}) == (0, 0)


def test_in_vain_is_counted_in_a_row_and_against_the_furthest() -> None:
    figures: dict[str, Any] = {}
    counts = []
    for step in (3, 3, 2, 4, 3, 4, 4, 5):
        figures |= at("training", step=step)
        figures |= attempted(figures)
        counts.append(figures["in_vain"])
    assert counts == [0, 1, 2, 0, 1, 2, 3, 0]
    assert figures["reached"] == [2, 5]
