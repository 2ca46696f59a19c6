"""The losses of a round in few points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store_fixtures import Stores
from test_learner import World

from assistant.learning.progress import MOST_POINTS, LossCurve


def test_a_short_curve_is_kept_as_it_is() -> None:
    curve = LossCurve()
    curve.add(1, 2.0)
    curve.add(2, 1.0)
    assert curve.points == [(1, 2.0, 1), (2, 1.0, 1)]


def test_a_long_one_has_the_means_of_neighbours_and_stays_short() -> None:
    curve = LossCurve()
    for step in range(1, MOST_POINTS + 2):
        curve.add(step, float(step))
    assert curve.points[:2] == [(2, 1.5, 2), (4, 3.5, 2)]  # the means of 1, 2 and of 3, 4
    assert curve.points[-1] == (MOST_POINTS + 1, MOST_POINTS + 1.0, 1)
    curve.add(MOST_POINTS + 2, 0.0)  # it fills the last point up first
    assert curve.points[-1] == (MOST_POINTS + 2, (MOST_POINTS + 1) / 2, 2)
    for step in range(MOST_POINTS + 3, 20 * MOST_POINTS):
        curve.add(step, 1.0)
        assert len(curve.points) <= MOST_POINTS
    assert sum(of for _, _, of in curve.points) == 20 * MOST_POINTS - 1  # no step was lost
    assert [step for step, _, _ in curve.points] == sorted({step for step, _, _ in curve.points})


def test_a_round_that_is_gone_on_with_replaces_what_it_trains_again() -> None:
    curve = LossCurve([[1, 2.0, 1], [2, 1.0, 1], [3, 0.5, 1]])
    curve.add(2, 1.25)
    assert curve.points == [(1, 2.0, 1), (2, 1.25, 1)]


def test_a_round_keeps_its_curve_and_what_was_measured_between(tmp_path: Path) -> None:
    world = World(Stores.fresh(tmp_path), tmp_path)
    measured = {"epoch": 0, "recall_at_5": 0.5, "ndcg_at_10": 0.25, "among": 2}

    def trained(folder: Path, lessons: Any, vectors: Any, **more: Any) -> Path:
        more["tell"]({"kind": "held_out", **measured})
        for step in (1, 2):
            more["tell"]({"kind": "step", "step": step, "steps": 2, "loss": 1.0 / step})
        return world.training(folder, lessons, vectors, **more)

    world.learner(train=trained).run()
    assert world.last.figures["curve"] == [[1, 0.5, 1]]  # the fake trains step 1 once more, with this loss
    assert world.last.figures["measured"] == [measured]
