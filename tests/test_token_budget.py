"""What fits is decided by counting; estimates can be worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.base.token_budget import estimated_tokens, fitting, kept_from

COSTS = st.lists(st.integers(1, 50), max_size=30)
BUDGETS = st.integers(0, 400)


def test_what_fits_ends_at_the_first_that_does_not() -> None:
    assert fitting([4, 3, 1], 6) == 1
    assert fitting([4, 3], 7) == 2
    assert fitting([4], 3) == 0


@given(BUDGETS, st.integers(0, 50), COSTS)
def test_what_fits_takes_no_more_than_the_budget_and_a_larger_one_takes_nothing_away(
    budget: int, more: int, costs: list[int]
) -> None:
    kept = fitting(costs, budget)
    assert sum(costs[:kept]) <= budget
    assert all(sum(costs[:kept]) + cost > budget for cost in costs[kept : kept + 1])
    assert fitting(costs, budget + more) >= kept


def test_a_conversation_is_whole_while_it_fits_and_then_leaves_in_steps_of_half_the_room() -> None:
    turns = [10] * 14
    assert [kept_from(turns[:n], 100) for n in range(8, 15)] == [0, 0, 0, 5, 5, 5, 5]
    assert kept_from([10] * 16, 100) == 10


@given(COSTS, BUDGETS)
def test_what_is_kept_of_a_conversation_fits_and_is_half_full_at_least(costs: list[int], room: int) -> None:
    start = kept_from(costs, room)
    assert sum(costs[start:]) <= room
    if start:
        assert sum(costs[start:]) + costs[start - 1] > room - max(1, room // 2) - max(costs)


@given(COSTS, st.integers(1, 50), BUDGETS)
def test_the_beginning_of_a_conversation_never_comes_back(
    costs: list[int], next_turn: int, room: int
) -> None:
    assert kept_from([*costs, next_turn], room) >= kept_from(costs, room)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("the", 1),
        ("harbour", 3),  # har-bou-r
        ("the harbour.", 5),  # a single space is free, a sign costs one
        ("2026", 4),
        ("a  b", 3),  # a run of spaces costs one
        ("a\n\nb", 4),
        ("ö", 1),  # two bytes
        ("利馬", 3),  # six bytes
        ("🌊", 4),  # four bytes
        ("\ud83d", 2),  # half a character
    ],
    ids=ascii,
)
def test_an_estimate_worked_out_by_hand(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_longer_text_is_never_estimated_shorter(beginning: str, end: str) -> None:
    assert estimated_tokens(beginning + end) >= estimated_tokens(beginning)


@given(st.text(max_size=60), st.text(max_size=60))
def test_two_texts_cost_together_what_they_cost_apart_and_a_blank_at_most(one: str, other: str) -> None:
    assert estimated_tokens(one + other) <= estimated_tokens(one) + estimated_tokens(other) + 1
