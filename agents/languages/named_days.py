"""Days, spans and repetitions that an English text names: "on 3 May", "next week", "every Tuesday".

text, the day on which it was told -> parsedatetime finds dates and how exact they are, recurrent repetitions
"""

from __future__ import annotations

import calendar
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Any

_UNITS = ("year", "month", "week", "day")
_LONGEST = 500  # characters of a text that are read
_KEPT = 20_000  # texts, read once
_ORDINAL_OF = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)? of (?=[a-z]{3,})", re.IGNORECASE)
_OFTEN = re.compile(r"FREQ=(?:SECONDLY|MINUTELY|HOURLY)")  # steps that are no days
_BEGINS = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s*(?:-|–|to|and|until|till)\s*(?:the\s*)?$", re.IGNORECASE)
_MAY_REPEAT = re.compile(r"\b(?:every|each|daily|weekly|fortnightly|monthly|yearly|\w+days)\b", re.IGNORECASE)
_WEEKEND = re.compile(r"\bweekend\b", re.IGNORECASE)
_OTHER_WORDS = re.compile(
    r"(?<!\d )(?<!\bin )(?<!\bof )(?<!\bfor )(?<!\bby )\b(?:may|march|sat|sun)\b(?! \d)"
)
_NO_DATE = re.compile(r"\s*(?:[\d\s.,:/-]*|an? \w+)\s*", re.IGNORECASE)  # "112", "1,400 a month"


@dataclass(frozen=True)
class Days:
    """A day or several, the first and the last included."""

    first: date
    last: date

    def meet(self, other: Days) -> bool:
        """Whether they have a day in common."""
        return self.first <= other.last and other.first <= self.last


@lru_cache(maxsize=_KEPT)
def named_days(text: str, told_on: date) -> tuple[Days, ...]:
    """The days and spans that a text names, in its order. A date without a year is the nearest."""
    written = _OTHER_WORDS.sub(lambda found: "-" * len(found[0]), text[:_LONGEST])
    is_weekend = bool(_WEEKEND.search(written))
    written = _ORDINAL_OF.sub(r"\1 ", _WEEKEND.sub("saturday", written))
    with suppress(ValueError, OverflowError, AttributeError, IndexError, KeyError):  # of odd numbers
        return tuple(_found(written, told_on, is_weekend=is_weekend))
    return ()


@lru_cache(maxsize=_KEPT)
def repeated_in(text: str, told_on: date, window: Days) -> Days | None:
    """The first of these days on which something comes about that a text, once told, says to repeat."""
    if not _MAY_REPEAT.search(text):
        return None
    from dateutil.rrule import rrulestr

    begin, (first, last) = datetime.combine(told_on, time()), (window.first, window.last)
    with suppress(ValueError, OverflowError, AttributeError, IndexError, KeyError, TypeError):
        rule = _repetition(text[:_LONGEST], begin)
        if isinstance(rule, str) and not _OFTEN.search(rule):
            found = rrulestr(rule.removeprefix("RRULE:"), dtstart=begin, ignoretz=True)
            day = found.after(datetime.combine(first, time()), inc=True)
            return Days(day.date(), day.date()) if day is not None and day.date() <= last else None
    return None


def _repetition(text: str, begin: datetime) -> Any:
    """An RRULE; anything else where nothing is said to repeat."""
    from recurrent.event_parser import RecurringEvent

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the older style in which it asks parsedatetime
        return RecurringEvent(now_date=begin).parse(text)


def asked_days(question: str, today: date) -> Days | None:
    """The days that a question names, from the first to the last; of the week that runs, those left."""
    found = named_days(question, today)
    if not found:
        return None
    days = Days(min(one.first for one in found), max(one.last for one in found))
    runs = days.first < today <= days.last and days.last - days.first < timedelta(days=7)
    return Days(today, days.last) if runs else days


def _found(written: str, told_on: date, *, is_weekend: bool) -> Iterator[Days]:
    for moment, context, start, _, phrase in (
        _calendar().nlp(written, datetime.combine(told_on, time(9))) or ()
    ):
        if _NO_DATE.fullmatch(phrase):
            continue
        units = {unit for unit in _UNITS if context.accuracy & getattr(context, f"ACU_{unit.upper()}")}
        if (days := _span(moment.date(), units)) is None:
            continue
        if "month" in units and "year" not in units:
            days = _nearest(days, told_on)
        if "day" in units and (begins := _BEGINS.search(written[: start + _space(phrase)])):
            days = _begun(days, int(begins[1]))
        elif is_weekend and days.first.weekday() == calendar.SATURDAY:
            days = Days(days.first, days.last + timedelta(days=1))
        yield days


def _begun(days: Days, day: int) -> Days:
    """From this day of the month, or of the month before where that is later."""
    month = days.first.replace(day=1)
    first = month - timedelta(days=1) if day > days.first.day else days.first
    with suppress(ValueError):
        return Days(first.replace(day=day), days.last)
    return days


def _span(day: date, units: set[str]) -> Days | None:
    if "day" in units:
        return Days(day, day)
    if "week" in units:
        monday = day - timedelta(days=day.weekday())
        return Days(monday, monday + timedelta(days=6))
    if "month" in units:
        return Days(day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1]))
    return Days(date(day.year, 1, 1), date(day.year, 12, 31)) if "year" in units else None


def _nearest(days: Days, told_on: date) -> Days:
    """Those of the year in which they are nearest."""
    years = [days]
    for shift in (-1, 1):
        with suppress(ValueError):  # 29 February
            years.append(Days(*(d.replace(year=d.year + shift) for d in (days.first, days.last))))
    return min(years, key=lambda one: max(one.first - told_on, told_on - one.last, timedelta()))


def _space(phrase: str) -> int:
    return len(phrase) - len(phrase.lstrip())


@cache
def _calendar() -> Any:
    import parsedatetime

    return parsedatetime.Calendar(version=parsedatetime.VERSION_CONTEXT_STYLE)
