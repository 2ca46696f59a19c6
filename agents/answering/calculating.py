"""Sums and weekdays that a message asks for and nothing else: "what is 17*23?", "what day is 3 May?".

    message -> the sum or date in it, by a library -> the rest, near in meaning to asking for its value

A question of documents that holds a sum or a date ("what is on 3 May?") is thus looked up as any other.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache

from dateutil import parser
from simpleeval import InvalidExpression, simple_eval

from agents.base.interfaces import Encoder, Vectors
from stores.base.clock import now

_SUM = re.compile(r"[-(]*\d[\d\s.()]*(?:[-+*/^×÷%][-+*/^×÷%\d\s.()]*)+")
_WRITTEN = str.maketrans({"×": "*", "÷": "/", "^": "**"})
_ANY_SUM, _ANY_DAY = "12", "5 June"  # in a sum's and a date's place
_OF_SUMS = ("What is 12?", "How much is 12?", "Calculate 12", "What does 12 come to?")
_OF_DAYS = (
    "What day is 5 June?",
    "Which weekday is 5 June?",
    "What day of the week was 5 June?",
    "On what day does 5 June fall?",
)
_SUM_FROM, _DAY_FROM = 0.8, 0.9  # cosine; "how old is 12" has 0.73, "when is 5 June" 0.88
_LONGEST = 200  # characters of a message that is looked at


class Calculator:
    """Answers what needs no document."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors = cache(self._encoded)

    def answer(self, message: str) -> str | None:
        """The answer; None where the message asks for anything else."""
        if len(message) > _LONGEST or not any(letter.isdigit() for letter in message):
            return None
        said = message.strip().rstrip("?!. ")
        return self._sum(said) or self._weekday(said)

    def _sum(self, said: str) -> str | None:
        for found in _SUM.finditer(said):
            written = found[0].strip()
            try:
                value = simple_eval(written.translate(_WRITTEN))
            except (InvalidExpression, SyntaxError, ArithmeticError, TypeError, ValueError):
                continue
            rest = said.replace(written, _ANY_SUM).rstrip("= ")
            is_asked = not _is_date(said) if rest == _ANY_SUM else self._likeness(rest, _OF_SUMS) >= _SUM_FROM
            if is_asked and isinstance(value, int | float):
                return f"{written} = {value if isinstance(value, int) else format(value, '.10g')}"
        return None

    def _weekday(self, said: str) -> str | None:
        try:
            told = [
                parser.parse(said, fuzzy_with_tokens=True, ignoretz=True, default=start) for start in _STARTS
            ]
        except (ValueError, OverflowError):
            return None
        (first, rest), (other, _) = told
        if (first.month, first.day) != (other.month, other.day):
            return None
        before = rest[0] if rest and said.startswith(rest[0]) else ""
        asked = f"{before}{_ANY_DAY} {' '.join(rest[1:] if before else rest)}"
        if self._likeness(asked, _OF_DAYS) < _DAY_FROM:
            return None
        today, day = now().astimezone().date(), first.date()
        if first.year != other.year:
            day = _next(day, today)
        verb = "was" if day < today else "is"
        return f"{day.day} {day:%B %Y} {verb} a {day:%A}."

    def _likeness(self, text: str, examples: tuple[str, ...]) -> float:
        (vector,) = self._encoder.encode_queries([text])
        return float((self._vectors(examples) @ vector).max())

    def _encoded(self, examples: tuple[str, ...]) -> Vectors:
        return self._encoder.encode_queries(examples)


_STARTS = (datetime(2000, 1, 1), datetime(2004, 2, 2))  # leap years: what a date does not name differs


def _is_date(text: str) -> bool:
    try:
        parser.parse(text, ignoretz=True)
    except (ValueError, OverflowError):
        return False
    return True


def _next(day: date, today: date) -> date:
    """That day of this year or of one to come, not before today."""
    for year in range(today.year, today.year + 9):
        try:
            if (found := day.replace(year=year)) >= today:
                return found
        except ValueError:  # 29 February
            continue
    return day
