"""Rounds as a learner leaves them, for the screens that show them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from screen_fixtures import ChatOnScreen

from assistant.wiring.assistant import Assistant
from stores.base.clock import now
from stores.database.tables import Round
from stores.search.live_models import LiveModels

BEGAN = datetime(2026, 11, 18, 22, 3, tzinfo=UTC)
NAMES = ("first-1111", "second-2222", "third-3333")  # versions


def of(chat: ChatOnScreen) -> Assistant:
    return chat.app.chat.desk._known_assistant


def comparison(gain: float) -> dict[str, Any]:
    """R@5 of 0.700 against 0.710, R@10 of 0.800 twice, and nDCG@10 of 0.500 against as much more."""
    return {
        "R@5": {"live": 0.7, "candidate": 0.71, "gain": 0.01, "low": -0.002, "high": 0.022, "questions": 240},
        "R@10": {"live": 0.8, "candidate": 0.8, "gain": 0.0, "low": -0.01, "high": 0.01, "questions": 240},
        "nDCG@10": {
            "live": 0.5, "candidate": 0.5 + gain, "gain": gain, "low": gain - 0.005, "high": gain + 0.005,
            "questions": 240,
        },
        "slices": {"2026-10": {"gain": -0.004, "low": -0.01, "high": 0.002, "questions": 96}},
        "questions": 240,
    }  # fmt: skip


def settings(**more: Any) -> dict[str, Any]:
    return {
        "training": {"update_side": "query", "epochs": 4, "learning_rate": 1e-5, "seed": 1},
        "encoder_version": "minilm-0123456789ab",
        "live": None,
        "turns": list(range(1, 120)),
        "passages": [1, 2, 3],
        "held_out": 22,
        "last_turn": 119,
        "taught_sha256": "ab" * 32,
        **more,
    }


def curve(steps: int) -> list[list[float]]:
    return [[step, round(1.1 + 0.8 * math.exp(-step / 60), 4), 1] for step in range(1, steps + 1)]


def refused(number: int = 1) -> Round:
    reason = "Refused: nDCG@10 -1.40 points [-1.90, -0.90] is not surely above 0.00 points."
    figures = {"comparison": comparison(-0.014), "version": NAMES[0], "curve": curve(100)}
    return row(number, "refused", reason, figures)


def promoted(number: int = 2, version: str = NAMES[1]) -> Round:
    reason = (
        "Promoted: nDCG@10 +2.10 points [+1.60, +2.60], and R@5 and 2026-10 lost no more than 1.00 points."
    )
    figures = {"comparison": comparison(0.021), "version": version, "curve": curve(400)}
    return row(number, "promoted", reason, figures)


def running(number: int = 3, *, step: int = 210, **more: Any) -> Round:
    figures = {
        "phase": "training",
        "progress": {"step": step, "steps": 400, "loss": 1.21, "seconds_left": 240.0},
        "curve": curve(step),
        "measured": [
            {"epoch": 0, "ndcg_at_10": 0.5, "recall_at_5": 0.7, "reciprocal_rank": 0.4, "among": 900},
            {"epoch": 1, "ndcg_at_10": 0.53, "recall_at_5": 0.72, "reciprocal_rank": 0.41, "among": 900},
        ],
        "lease_until": (now() + timedelta(hours=1)).isoformat(),
        "owner": "another",
        **more,
    }
    return row(number, "running", "", figures)


def row(number: int, state: str, reason: str, figures: dict[str, Any]) -> Round:
    began = BEGAN + timedelta(days=number)
    return Round(
        id=number,
        recipe="retriever",
        state=state,
        reason=reason,
        settings=settings(),
        figures=figures,
        created_at=began,
        ended_at=None if state in ("running", "waiting") else began + timedelta(minutes=40),
    )


def keep(assistant: Assistant, *rows: Round) -> None:
    """Stores rounds; those with ids that are there are replaced. The promoted ones go live in their order."""
    with assistant.stores.database.writing() as sql:
        for each in rows:
            sql.merge(each)
    for each in rows:
        if each.state == "promoted":
            models = LiveModels(assistant.stores.database)
            if models.live("query encoder") is None:
                models.make_live("query encoder", "untrained")
            models.make_live("query encoder", each.figures["version"], details={"encoder_version": "none"})


class FakeLearner:
    """In place of the learner of the chat: notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_paused = self.is_leading = False

    def begin(self) -> None:
        self.asked.append("begin")

    def pause(self) -> None:
        self.asked.append("pause")
        self.is_paused = True

    def go_on(self) -> None:
        self.asked.append("go on")
        self.is_paused = False

    def answering(self, is_answering: bool) -> None:
        """An answer is being written, or is no more."""

    def close(self) -> None:
        """Nothing runs."""


@contextmanager
def led_by_fake(chat: ChatOnScreen) -> Iterator[FakeLearner]:
    assistant, fake = of(chat), FakeLearner()
    real = assistant.learning.__dict__["background_learner"]
    assistant.learning.__dict__["background_learner"] = fake
    try:
        yield fake
    finally:
        assistant.learning.__dict__["background_learner"] = real
