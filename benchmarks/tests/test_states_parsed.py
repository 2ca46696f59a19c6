"""Wishes against annotated states: what fits, and what is counted of a talk."""

from __future__ import annotations

import pytest

from agents.dialogue.knowledge_table import KnowledgeTable
from benchmarks.states_parsed import Talk, Wanted, _condition, counted
from stores.base.entities import Entity
from stores.base.wishes import Operator, Wish

TABLE = KnowledgeTable(
    "places", enumerate([Entity("A", {"area": "east", "food": "thai"}), Entity("B", {"area": "west"})])
)


@pytest.mark.parametrize(
    ("wanted", "operator", "values", "fits"),
    [
        (Wanted(("5 pm", "17:00")), "is", ("17:00",), True),  # two ways to write one
        (Wanted(("4",)), "least", ("4 stars",), True),  # whether it is a limit is not annotated
        (Wanted(("17:00",), ("is", "most")), "least", ("17:00",), False),  # but of times
        (Wanted(("east", "west"), ("is",), all_of=True), "is", ("west", "east"), True),
        (Wanted(("east", "west"), ("is",), all_of=True), "is", ("west",), False),
        (Wanted(("east",)), "is", ("west", "east"), False),
    ],
)
def test_a_wish_fits_what_is_annotated(
    wanted: Wanted, operator: Operator, values: tuple[str, ...], fits: bool
) -> None:
    assert wanted.fits(Wish("column", operator, values)) is fits


def test_turns_changes_and_what_was_said_are_counted() -> None:
    talk = Talk("places")
    talk.add("in the east", "A?", {"area": Wanted(("east",))})  # right
    talk.add("yes", "Done.", {"area": Wanted(("east",)), "food": Wanted(("thai",))})  # never said
    talk.add("rather west", "", {"area": Wanted(("west",)), "food": Wanted(("thai",))})  # the change is right
    assert counted(talk, TABLE, None, tells=False) == [3, 1, 3, 3, 5, 3, 3, 3, 2]


def test_conditions_of_star_are_read() -> None:
    assert _condition('api.is_one_of(["East","West"])') == Wanted(("East", "West"), ("is",), all_of=True)
    assert _condition("api.is_at_least(4)") == Wanted(("4",), ("least", "above"))
    assert _condition('"Thai"') == Wanted(("Thai",), ("is",))
    assert _condition("null") is None
