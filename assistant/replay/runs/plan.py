"""What is played, and how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from assistant.replay.methods.choice import FLOWRAG, FROZEN, MethodChoice

JudgeKind: TypeAlias = Literal["reader", "simulated"]


@dataclass(frozen=True, kw_only=True)
class ReplayPlan:
    """What is played, and how."""

    methods: tuple[MethodChoice, ...]  # the frozen one is played beside them, whether it is named or not
    judge: JudgeKind = "reader"
    accuracy: float = 0.9  # of the simulated judge, or of corrections
    interval: int = 400  # U, questions between two trainings
    seeds: tuple[int, ...] = (1,)
    first: int | None = None  # so many questions of each part
    training: Mapping[str, Any] = field(default_factory=dict)  # settings of luf's training; the seed apart
    threads: int = 1  # of the training

    @property
    def played(self) -> tuple[MethodChoice, ...]:
        """All methods, the frozen one first."""
        others = tuple(dict.fromkeys(choice for choice in self.methods if choice.kind != FROZEN))
        return (MethodChoice(FROZEN), *others)

    @property
    def is_by_sets(self) -> bool:
        """Whether each set is a collection, and methods learn when one has ended."""
        return any(choice.kind == FLOWRAG for choice in self.methods)


def plan_key(identity: Mapping[str, Any]) -> str:
    """Names a plan's folder where a person names none."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
