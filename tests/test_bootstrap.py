"""The interval of a gain, and when a candidate may go live."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.learning.held_out.bootstrap import (
    WRONG_A_MONTH,
    Gain,
    allowed_chance,
    chance_of,
    interval,
    paired_gain,
    promotion,
)

RESAMPLES = 500
scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60)
pairs = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=60
)
seeds = st.integers(0, 5)


def gain(mean: float, *, spread: float = 0.005, questions: int = 300) -> Gain:
    return Gain(mean, mean - spread, mean + spread, questions, 0.0001 if mean > spread else 0.5)


# the interval


def test_the_interval_of_two_questions_by_hand() -> None:
    # Drawn again, (0, 1) has the means 0, 1/2, 1/2, 1: each end is reached by a quarter of the draws.
    assert interval([0.0, 1.0], seed=1) == (0.0, 1.0)
    assert interval([0.25], seed=1) == (0.25, 0.25)


def test_the_interval_is_that_of_drawing_one_resample_after_the_other() -> None:
    values = np.random.default_rng(7).normal(size=1_700)
    random = np.random.default_rng(3)
    means = [values[random.integers(0, len(values), len(values))].mean() for _ in range(400)]
    expected = (float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975)))
    assert interval(values, seed=3, resamples=400) == expected  # 400 is drawn in several stretches


@pytest.mark.parametrize("values", [[], [[0.0, 1.0]]])
def test_there_is_no_interval_of_nothing(values: list[float]) -> None:
    with pytest.raises(ValueError, match="shape"):
        interval(values, seed=1)


@given(pairs, seeds)
@settings(deadline=None)
def test_who_is_compared_with_whom_turns_the_gain_around(both: list[tuple[float, float]], seed: int) -> None:
    one, other = [a for a, _ in both], [b for _, b in both]
    there = paired_gain(one, other, seed=seed, resamples=RESAMPLES)
    back = paired_gain(other, one, seed=seed, resamples=RESAMPLES)
    assert (back.mean, back.low, back.high) == pytest.approx((-there.mean, -there.high, -there.low))
    assert there.low - 1e-12 <= there.high
    assert min(np.subtract(one, other)) <= there.low + 1e-12


def test_scores_must_be_paired_and_numbers() -> None:
    with pytest.raises(ValueError, match="2 scores of the candidate, but 1"):
        paired_gain([0.0, 1.0], [0.0], seed=1)
    with pytest.raises(ValueError, match="finite"):
        paired_gain([float("nan")], [0.0], seed=1)


# the rule


@given(scores, seeds, st.floats(0, 0.1))
@settings(deadline=None)
def test_what_is_identical_is_never_promoted(live: list[float], seed: int, threshold: float) -> None:
    same = paired_gain(live, live, seed=seed, resamples=RESAMPLES)
    assert not promotion({"R@5": same}, {}, threshold=threshold, fewest_questions=1).is_promoted


@given(scores, seeds, st.floats(0.01, 1))
@settings(deadline=None)
def test_what_is_worse_everywhere_is_refused(live: list[float], seed: int, loss: float) -> None:
    worse = paired_gain([score - loss for score in live], live, seed=seed, resamples=RESAMPLES)
    assert worse.high < 0
    assert not promotion({"R@5": worse}, {"news": worse}, fewest_questions=1).is_promoted


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=30, max_size=60), seeds, st.floats(0.01, 1))
@settings(deadline=None)
def test_what_is_better_everywhere_is_promoted(live: list[float], seed: int, more: float) -> None:
    better = paired_gain([score + more for score in live], live, seed=seed, resamples=RESAMPLES)
    assert promotion({"R@5": better}, {"news": better}).is_promoted


def test_a_promotion_tells_its_gains() -> None:
    decided = promotion({"R@5": gain(0.03), "nDCG@10": gain(0.02)}, {"news": gain(-0.004)})
    assert decided.is_promoted
    assert decided.reason == (
        "Promoted: R@5 +3.00 points [+2.50, +3.50], nDCG@10 +2.00 points [+1.50, +2.50], "
        "and news lost no more than 1.00 points."
    )


def test_a_promotion_names_three_of_what_kept_and_counts_the_others() -> None:
    kept = {name: gain(0.0) for name in ("R@5", "2026-08", "2026-09", "2026-10", "2026-11")}
    decided = promotion({"nDCG@10": gain(0.02)}, kept)
    assert decided.reason.endswith("and R@5, 2026-08, 2026-09 and 2 more lost no more than 1.00 points.")


def test_a_refusal_tells_every_reason() -> None:
    decided = promotion({"R@5": gain(0.03), "nDCG@10": gain(0.004)}, {"news": gain(-0.02), "talk": gain(0.0)})
    assert not decided.is_promoted
    assert decided.reason == (
        "Refused: nDCG@10 +0.40 points [-0.10, +0.90] is not surely above 0.00 points "
        "(chance gives as much once in 2 rounds; at most once in 100 is let through); "
        "it lost 2.00 points on news (300 questions), more than 1.00 points."
    )


def test_the_limits_themselves() -> None:
    exact = Gain(0.02, 0.01, 0.03, 300, allowed_chance(300))
    assert promotion({"R@5": exact}, {}).is_promoted  # at
    assert not promotion({"R@5": replace(exact, chance=0.0101)}, {}).is_promoted
    assert not promotion({"R@5": exact}, {}, threshold=0.02).is_promoted  # above, not at
    assert promotion({"R@5": exact}, {"news": gain(-0.01)}, margin=0.01).is_promoted  # at, not below
    assert promotion({"R@5": exact}, {"news": gain(-0.02, spread=0.03)}).is_promoted  # not surely lost
    assert not promotion({"R@5": exact}, {"news": gain(-0.0101)}, margin=0.01).is_promoted


def test_too_few_questions_prove_nothing() -> None:
    sure = paired_gain([1.0] * 29, [0.0] * 29, seed=1)
    assert sure.low == 1
    assert promotion({"R@5": sure}, {}) == promotion({"R@5": sure}, {}, threshold=0.5)
    assert "29 questions, fewer than 30" in promotion({"R@5": sure}, {}).reason


@pytest.mark.parametrize("place", ["gain", "slice"])
def test_what_is_no_number_is_refused(place: str) -> None:
    nothing = Gain(float("nan"), float("nan"), float("nan"), 300)
    gains = {"R@5": nothing if place == "gain" else gain(0.03)}
    assert not promotion(gains, {"news": nothing if place == "slice" else gain(0.03)}).is_promoted


def test_the_rule_wants_a_measure_and_sound_limits() -> None:
    with pytest.raises(ValueError, match="no measure"):
        promotion({}, {})
    for threshold, margin in ((-0.1, 0.0), (0.0, -0.1)):
        with pytest.raises(ValueError, match="0 or more"):
            promotion({"R@5": gain(1)}, {}, threshold=threshold, margin=margin)


def test_chance_alone_is_promoted_no_more_often_than_is_allowed() -> None:
    random = np.random.default_rng(5)
    promoted = 0
    for trial in range(400):
        differences = random.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=200)
        found = paired_gain(differences.tolist(), [0.0] * 200, seed=trial, resamples=RESAMPLES)
        promoted += promotion({"R@5": found}, {}).is_promoted
    assert promoted / 400 <= allowed_chance(200) + 0.0125  # 3 sigma of 400 trials


def test_the_chance_of_three_signs_by_hand() -> None:
    # Of the eight signs of (1, 2, 3), one has the sum 6, two have 4 or more, three 2 or more.
    for values, share in (([1.0, 2.0, 3.0], 1 / 8), ([-1.0, 2.0, 3.0], 2 / 8), ([1.0, -2.0, 3.0], 3 / 8)):
        assert chance_of(values, seed=1) == pytest.approx(share, abs=0.01)
    assert chance_of([0.0, 0.0], seed=1) == 1.0


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=40), seeds)
@settings(deadline=None)
def test_a_gain_is_chance_as_seldom_as_a_loss_is_often(values: list[int], seed: int) -> None:
    one, other = (chance_of([sign * value for value in values], seed=seed, draws=2_000) for sign in (1, -1))
    assert 0 < min(one, other) <= max(one, other) <= 1
    assert one + other >= 0.9  # both count what is equal


def test_a_month_spends_what_it_may_however_it_is_cut() -> None:
    for block in (30, 50, 100, 300, 1_500):
        assert 1_500 / block * allowed_chance(block) == pytest.approx(WRONG_A_MONTH)
    assert allowed_chance(9_000) == WRONG_A_MONTH
