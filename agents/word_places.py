"""Puts right words into a statement, in the place of those that look like them.

    "My locker code is 4213."   4231        ->  "My locker code is 4231."
    "We meet Ben on Monday."    on Tuesday  ->  "We meet Ben on Tuesday."

A number's place is that of a number, a day's that of a day, a name's that of a name. There may be several
ways; which of them is meant, is for `agents/told_before.py` and `agents/slips.py` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from agents.relations.comparison import relations
from agents.values import content, numbers

LONGEST_READ = 300  # characters of a statement that is put right
SLIP = 0.6  # likeness from which one word is a slip of another
_MOST_WORDS = 6  # of a value
OPENS_WORDS = re.compile(r"(?:in|on|at|to|for|from|by|the|an?) ", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;!?()\"]*[^\s,;!?()\".]")
_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


class Put(NamedTuple):
    """A statement with the right words put into it."""

    text: str
    likeness: float  # of the words put in and those they take the place of, 0 to 1


class Part(NamedTuple):
    """A word, or a name of several, where it stands."""

    start: int
    end: int
    text: str
    looks: str  # what it can be exchanged for: "a number", "a name"; a plain word only for itself


def ways_to_put(old: str, right: str, wrong: str) -> Iterator[Put]:
    """Each way to put the right words into a statement, in place of others than they are."""
    if wrong:
        found = [m.span() for m in re.finditer(rf"(?<!\w){re.escape(wrong)}(?!\w)", old, re.IGNORECASE)]
        if len(found) == 1 and right.lower() not in old.lower():
            yield _replaced(old, *found[0], right)
        return
    ways = [right, OPENS_WORDS.sub("", right, count=1)] if OPENS_WORDS.match(right) else [right]
    for words in ways:
        if ways_there := list(windows(old, words)):
            yield from ways_there
            return
    value = _last_value(old)
    if value is not None and _is_of_plain_words(right) and _is_of_plain_words(old[slice(*value)]):
        yield _replaced(old, *value, right)


def _is_of_plain_words(text: str) -> bool:
    return all(part.looks == part.text.lower() for part in parts_of(text))


def windows(old: str, right: str) -> Iterator[Put]:
    """Each way to put words in the place of others that look like them."""
    wanted, there = parts_of(right), parts_of(old)
    for at in range(len(there) - len(wanted) + 1):
        window = there[at : at + len(wanted)]
        looks_alike = all(one.looks == other.looks for one, other in zip(wanted, window, strict=True))
        is_slip = len(wanted) == 1 and wanted[0].looks == wanted[0].text and _is_slip(wanted[0], window[0])
        is_same = [one.text.lower() for one in wanted] == [other.text.lower() for other in window]
        if (looks_alike or is_slip) and not is_same and (at > 0 or window[0].looks != "a name"):
            yield _replaced(old, window[0].start, window[-1].end, right)


def _is_slip(one: Part, other: Part) -> bool:
    return len(one.text) > 3 and other.looks == other.text and _likeness(one.text, other.text) >= 0.75


def _replaced(old: str, start: int, end: int, right: str) -> Put:
    return Put(f"{old[:start]}{right}{old[end:]}", _likeness(right, old[start:end]))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio()


def parts_of(text: str) -> list[Part]:
    """The words of a text, names of several as one."""
    found: list[Part] = []
    for match in _WORD.finditer(text):
        part = Part(match.start(), match.end(), match[0], _looks(match[0]))
        last = found[-1] if found else None
        if last and last.looks == part.looks == "a name" and text[last.end : part.start] in (" ", ". "):
            found[-1] = Part(last.start, part.end, text[last.start : part.end], "a name")
        else:
            found.append(part)
    return found


def _looks(word: str) -> str:
    plain = word.casefold()
    if plain in _MONTHS or plain in _WEEKDAYS:
        return "a month" if plain in _MONTHS else "a weekday"
    if "@" in word:
        return "mail address"
    if re.fullmatch(r"\d{1,2}[:.]\d{2}|\d{1,2}(?::\d{2})?[ap]m", plain):
        return "a time"
    counted = numbers(word)
    if counted and (counted[0].start, counted[0].end) == (0, len(word)):
        return "an ordinal" if counted[0].items[0].endswith(".") else "a number"
    if any(character.isdigit() for character in word):
        return "a code"
    is_name = word[0].isupper() and content(word) != [] and plain not in ("i", "i'm", "i've", "i'll", "i'd")
    return "a name" if is_name else plain


def _last_value(old: str) -> tuple[int, int] | None:
    """Where the value of a statement stands that gives one value and ends with it."""
    given, parts = relations(old), parts_of(old)
    for count in range(1, min(_MOST_WORDS, len(parts) - 1) + 1) if len(given) == 1 else ():
        start, end = parts[-count].start, parts[-1].end
        if frozenset(content(old[start:end])) == given[0].value:
            return start, end
    return None
