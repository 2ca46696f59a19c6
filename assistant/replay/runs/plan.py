"""What a replay plays, and how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.replay.methods.choice import FROZEN, MethodChoice
from assistant.replay.methods.luf import Remembers
from assistant.replay.streams.datasets import Order

JudgeKind = Literal["reader", "simulated", "model"]
AnswererKind = Literal["own", "simulated"]


@dataclass(frozen=True, kw_only=True)
class ReplayPlan:
    """What is played, and how."""

    methods: tuple[MethodChoice, ...]  # the frozen one is played beside them, whether it is named or not
    judge: JudgeKind = "reader"
    accuracy: float = 0.9  # of the simulated judge
    answers: AnswererKind = "own"  # by the backend of the settings, or simulated
    interval: int = 400  # U, questions between two trainings
    remembers: Remembers = "all"  # a training is made of all lessons, or of those since the last one
    seeds: tuple[int, ...] = (1,)
    order: Order = "drift"
    first: int | None = None  # so many questions of each part
    min_judged: int = 5
    user_feedback: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)  # settings of the training; the seed apart
    threads: int = 1  # of the training

    @property
    def played(self) -> tuple[MethodChoice, ...]:
        """All methods, the frozen one first."""
        others = tuple(dict.fromkeys(choice for choice in self.methods if choice.kind != FROZEN))
        return (MethodChoice(FROZEN, ()), *others)


def plan_key(identity: Mapping[str, Any]) -> str:
    """Names a plan's folder where a person names none."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
