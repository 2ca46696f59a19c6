"""What a candidate came to, and how a round ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from stores.base.errors import DEFECT, TryAgain, VouchError


class Decision(Protocol):
    """Whether a candidate goes live, and why."""

    @property
    def is_promoted(self) -> bool:
        """Whether it does."""

    @property
    def reason(self) -> str:
        """In a person's words."""


@dataclass(frozen=True)
class Compared:
    """What the comparison of a candidate with the live model came to."""

    decision: Decision
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a round ended."""

    round_id: int
    state: str  # promoted, refused, stopped, failed, or waiting to be gone on with
    reason: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""  # of the candidate
    exit_code: int = 0  # of a command that ran it; as in stores/base/errors.py, and 70 for a defect


def failed(round_id: int, error: Exception) -> Ended:
    """The end of a round that this broke off."""
    if isinstance(error, VouchError):
        return Ended(round_id, "failed", error.message, exit_code=error.exit_code)
    if isinstance(error, OSError):
        reason = f"its files could not be kept: {error}"
        return Ended(round_id, "failed", reason, exit_code=TryAgain.exit_code)
    return Ended(round_id, "failed", f"{type(error).__name__}: {error}", exit_code=DEFECT)
