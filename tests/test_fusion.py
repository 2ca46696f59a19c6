"""Scores of several signals become one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.base.fusion import lifts, mixed, normalised, reciprocal_ranks

scores = st.dictionaries(
    st.integers(0, 50), st.floats(-1e3, 1e3, allow_nan=False, allow_infinity=False), max_size=20
)


def test_normalised_scores_run_from_nought_to_one() -> None:
    assert normalised({1: 2.0, 2: 4.0, 3: 3.0}) == {1: 0.0, 2: 1.0, 3: 0.5}


def test_equal_scores_say_nothing() -> None:
    assert normalised({1: 0.7, 2: 0.7}) == {1: 0.0, 2: 0.0}


def test_the_mix_of_two_signals_worked_out_by_hand() -> None:
    dense = {1: 0.9, 2: 0.5, 3: 0.1}  # normalised: 1, 1/2, 0
    lexical = {1: 0.0, 2: 8.0, 3: 4.0}  # normalised: 0, 1, 1/2
    assert mixed(dense, lexical, dense_weight=0.75) == pytest.approx({1: 0.75, 2: 0.625, 3: 0.125})


def test_both_signals_must_score_the_same_passages() -> None:
    with pytest.raises(ValueError, match="same passages"):
        mixed({1: 0.5}, {2: 0.5}, dense_weight=0.5)


@settings(deadline=None)  # a busy machine is no defect
@given(scores)
def test_a_weight_of_one_keeps_the_dense_order(dense: dict[int, float]) -> None:
    fused = mixed(dense, dict.fromkeys(dense, 1.0), dense_weight=1.0)
    for first in dense:
        for second in dense:
            if dense[first] > dense[second]:
                assert fused[first] >= fused[second]


@settings(deadline=None)  # a busy machine is no defect
@given(scores, st.floats(0.1, 10), st.floats(-50, 50))
def test_normalising_forgets_scale_and_offset(given_: dict[int, float], scale: float, offset: float) -> None:
    rounded = {key: round(score, 3) for key, score in given_.items()}
    moved = normalised({key: scale * score + offset for key, score in rounded.items()})
    assert moved == pytest.approx(normalised(rounded), abs=1e-6)


def test_a_passage_is_lifted_by_its_better_neighbour() -> None:
    score = {1: 1.0, 2: 0.2, 3: 0.6}
    stands = {1: (None, 2), 2: (1, 3), 3: (2, None)}
    lifted = lifts(score, stands, shares=dict.fromkeys(score, (0.4, 0.4)))
    assert lifted == pytest.approx({1: 0.08, 2: 0.4, 3: 0.08})


def test_the_passage_before_and_the_one_after_have_shares_of_their_own() -> None:
    score = {1: 0.5, 2: 0.0, 3: 1.0}
    stands = {2: (1, 3)}
    assert lifts(score, stands, shares={1: (1, 1), 2: (0.8, 0.3), 3: (1, 1)})[2] == pytest.approx(0.4)  # 0.3
    assert lifts(score, stands, shares={1: (1, 1), 2: (0.4, 0.3), 3: (1, 1)})[2] == pytest.approx(0.3)  # 0.2


def test_a_lift_is_not_passed_on() -> None:
    score = {1: 1.0, 2: 0.0, 3: 0.0}
    stands = {1: (None, 2), 2: (1, 3), 3: (2, None)}
    assert lifts(score, stands, shares=dict.fromkeys(score, (0.5, 0.5)))[3] == 0.0


def test_a_neighbour_that_was_not_scored_lifts_nothing() -> None:
    assert lifts({1: 0.5}, {1: (7, 8)}, shares={1: (0.4, 0.4)}) == {1: 0.0}


rows = st.lists(st.floats(0, 1), min_size=1, max_size=12)  # the scores of passages that stand in one row
share_pairs = st.tuples(st.floats(0, 1), st.floats(0, 1))


def standing_in_a_row(row: list[float]) -> dict[int, tuple[int | None, int | None]]:
    return {i: (i - 1 if i else None, i + 1 if i + 1 < len(row) else None) for i in range(len(row))}


@settings(deadline=None)  # a busy machine is no defect
@given(rows)
def test_no_share_no_lift(row: list[float]) -> None:
    shares = dict.fromkeys(range(len(row)), (0.0, 0.0))
    assert not any(lifts(dict(enumerate(row)), standing_in_a_row(row), shares=shares).values())


@settings(deadline=None)  # a busy machine is no defect
@given(rows, share_pairs)
def test_a_lift_is_at_most_the_larger_share_of_the_best_score(
    row: list[float], pair: tuple[float, float]
) -> None:
    lifted = lifts(dict(enumerate(row)), standing_in_a_row(row), shares=dict.fromkeys(range(len(row)), pair))
    assert all(0 <= lift <= max(pair) * max(row) for lift in lifted.values())


@settings(deadline=None)  # a busy machine is no defect
@given(rows, share_pairs)
def test_a_row_read_backwards_has_the_same_lifts_with_the_shares_exchanged(
    row: list[float], pair: tuple[float, float]
) -> None:
    forth = lifts(dict(enumerate(row)), standing_in_a_row(row), shares=dict.fromkeys(range(len(row)), pair))
    back = lifts(
        dict(enumerate(row[::-1])),
        standing_in_a_row(row),
        shares=dict.fromkeys(range(len(row)), pair[::-1]),
    )
    assert list(forth.values()) == list(back.values())[::-1]


def test_reciprocal_ranks_worked_out_by_hand() -> None:
    fused = reciprocal_ranks([[1, 2], [2]], damping=60)
    assert fused == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61})


@settings(deadline=None)  # a busy machine is no defect
@given(st.lists(st.lists(st.integers(0, 9), unique=True), max_size=5))
def test_the_order_of_rankings_does_not_matter(rankings: list[list[int]]) -> None:
    assert reciprocal_ranks(rankings) == pytest.approx(reciprocal_ranks(rankings[::-1]))
