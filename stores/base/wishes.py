"""What is wanted of a column of a table, and whether a value meets it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Operator = Literal["is", "not", "most", "least", "below", "above"]

TOLD: dict[Operator, str] = {"not": "not", "most": "at most", "least": "at least"}
TOLD |= {"below": "below", "above": "above"}
_SIGNS = re.compile(r"(?<=\w)[+#-]+(?!\w)|^-")  # that change what a word or number before or behind them is
_NUMBER = re.compile(
    r"[-−]?[€$£]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d{1,4})?|\d{1,9}(?:[.,]\d{1,4})?)\s?(?:[^\W\d]{1,8}\.?|[%€$£°'\"²]{1,2})?"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,4})?")
_TIME = re.compile(r"(\d{1,2}):(\d\d)", re.ASCII)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Wish:
    """One column with what is wanted of it."""

    column: str
    operator: Operator
    values: tuple[str, ...]  # any of these; of most, least, below and above the one number

    @property
    def told(self) -> str:
        """As a person reads it."""
        first = f"{TOLD[self.operator]} " if self.operator in TOLD else ""
        return f"{self.column}: {first}{' or '.join(self.values)}"

    def is_met(self, value: str) -> bool:
        """By the value of an entity. Nothing is met where there is none, or no number to compare."""
        if self.operator in ("is", "not"):
            return bool(value) and any(is_same(value, one) for one in self.values) == (self.operator == "is")
        has, wanted = number_of(value), number_of(self.values[0])
        if has is None or wanted is None:
            return False
        signs = {"most": has <= wanted, "least": has >= wanted, "below": has < wanted, "above": has > wanted}
        return signs[self.operator]


def is_same(one: str, other: str) -> bool:
    """Whether two values have the same words and signs ("A+", "C#"), or are the same number of the same."""
    if words(one) == words(other):
        return _SIGNS.findall(one.strip()) == _SIGNS.findall(other.strip())
    number, units = number_of(one), {unit_of(one), unit_of(other)} - {""}
    return number is not None and number == number_of(other) and len(units) < 2


def unit_of(value: str) -> str:
    """What a number is of, as it is written beside it: "kg" of "12 kg"; empty without one."""
    return "".join(c for c in value.casefold() if not (c.isdecimal() or c.isspace() or c in ".,:-−+"))


def number_of(value: str) -> float | None:
    """The number that a value is, with what stands beside it: "12 kg", "€ 4.50"; of a time its minutes."""
    if time := _TIME.fullmatch(value.strip()):
        return 60.0 * int(time[1]) + int(time[2])
    number = decimal_of(value)
    return None if number is None else float(number)


def decimal_of(value: str) -> Decimal | None:
    """The same with its decimal places as they are written; None of a time."""
    text = value.strip()
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    plain = found[1].replace(",", "") if _THOUSANDS.fullmatch(found[1]) else found[1].replace(",", ".")
    return -Decimal(plain) if text.startswith(("-", "−")) else Decimal(plain)


def is_time(value: str) -> bool:
    """Whether it is written as hours and minutes."""
    return _TIME.fullmatch(value.strip()) is not None


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in lower case."""
    return tuple(_WORD.findall(text.lower()))
