"""What fits is decided by counting; estimates can be worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.base.token_budget import estimated_tokens, fit

COSTS = st.lists(st.integers(1, 50), max_size=8)
BUDGETS = st.integers(0, 400)


def test_passages_then_newest_turns_fill_the_budget() -> None:
    fitted = fit(budget=10, passages=[4, 3], turns=[3, 1])
    assert (fitted.passages, fitted.turns, fitted.tokens) == (2, 1, 10)


def test_passages_end_at_the_first_that_does_not_fit() -> None:
    assert fit(budget=6, passages=[4, 3, 1], turns=[]).passages == 1


def test_turns_end_at_the_first_that_does_not_fit() -> None:
    assert fit(budget=6, passages=[], turns=[4, 3, 1]).turns == 1


@given(BUDGETS, COSTS, COSTS)
def test_what_is_kept_never_takes_more_than_the_budget(
    budget: int, passages: list[int], turns: list[int]
) -> None:
    fitted = fit(budget=budget, passages=passages, turns=turns)
    kept = sum(passages[: fitted.passages]) + sum(turns[: fitted.turns])
    assert fitted.tokens == kept <= budget


@given(BUDGETS, COSTS, COSTS)
def test_nothing_is_left_out_that_would_have_been_next_and_fits(
    budget: int, passages: list[int], turns: list[int]
) -> None:
    fitted = fit(budget=budget, passages=passages, turns=turns)
    room = budget - fitted.tokens
    assert all(cost > room for cost in turns[fitted.turns : fitted.turns + 1])
    room += sum(turns[: fitted.turns])
    assert all(cost > room for cost in passages[fitted.passages : fitted.passages + 1])


@given(BUDGETS, st.integers(0, 50), COSTS, COSTS)
def test_a_larger_budget_never_takes_a_passage_away(
    budget: int, more: int, passages: list[int], turns: list[int]
) -> None:
    small = fit(budget=budget, passages=passages, turns=turns)
    large = fit(budget=budget + more, passages=passages, turns=turns)
    assert (large.passages, large.turns) >= (small.passages, small.turns)  # turns yield to a passage alone


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
