"""What one look found, and how it is looked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

SAMPLE = 200  # vectors encoded again, or asked for, without --thorough


@dataclass(frozen=True)
class Check:
    """What one look found. A fault that was repaired leaves it ok."""

    name: str
    state: Literal["ok", "warning", "missing", "broken"]  # a warning: all works, and is not as it should be
    found: str
    advice: str = ""  # what to do
    repaired: tuple[str, ...] = ()  # what was done, a sentence each


@dataclass(frozen=True)
class Look:
    """How it is looked."""

    repairs: bool = True  # what is derived; False only looks
    is_thorough: bool = False  # all vectors, not a sample
    show: Callable[[str], None] = lambda line: None  # is told how far it is

    @property
    def sample(self) -> int | None:
        """How many vectors are looked at; None for all."""
        return None if self.is_thorough else SAMPLE

    def counting(self, what: str) -> Callable[[int], None]:
        """Shows how many there were so far; to be called with how many came."""
        done = 0

        def looked_at(count: int) -> None:
            nonlocal done
            done += count
            self.show(f"{done:,} {what}")

        return looked_at


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
