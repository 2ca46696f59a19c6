"""What the columns of a knowledge base hold: numbers, truths or words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from stores.base.wishes import is_time, number_of, unit_of

Kind = Literal["number", "truth", "text"]

TRUE, FALSE = ("yes", "true"), ("no", "false")
TRUTHS = frozenset((*TRUE, *FALSE))


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    kind: Kind
    least: float = 0.0  # of numbers
    most: float = 0.0
    is_time: bool = False

    def truth(self, is_true: bool, values: Iterable[str]) -> str:
        """How the column writes that something is so."""
        wanted = TRUE if is_true else FALSE
        return next((value for value in values if value.lower() in wanted), wanted[0])


def column_of(name: str, values: Iterable[str]) -> Column:
    """What a column with these different values is."""
    different = list(values)
    if different and all(value.strip().lower() in TRUTHS for value in different):
        return Column(name, "truth")
    numbers = [number_of(value) for value in different]
    known = [number for number in numbers if number is not None]
    units = {unit_of(value) for value in different} - {""}
    if known and len(known) == len(different) and len(units) < 2:
        return Column(name, "number", min(known), max(known), is_time(different[0]))
    return Column(name, "text")
