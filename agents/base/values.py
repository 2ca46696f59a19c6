"""The values of a text: its numbers and its names, as they can be compared.

"twenty-five", "25", "25.0"  #25        "5 pm", "17:00"  #17:00
"2026-03-04"  #4 march #2026            "Jane Austen's"  jane austen
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from stores.words.lexical import tokens


class Value(NamedTuple):
    """A number or a name where it stands in a text."""

    start: int
    end: int
    kind: Literal["number", "name"]
    items: tuple[str, ...]  # what it is compared by


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_SMALL = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL_WORD = rf"(?:{'|'.join(sorted(_SMALL, key=len, reverse=True))})"
_SCALE = rf"(?:{'|'.join(_SCALES)})"
_NUMBER = re.compile(
    r"(?<![\w.])(?P<iso>\d{4}-\d{2}-\d{2})(?![\w-])"
    r"|(?<![\w.])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s?(?P<half>[ap])\.?m\b\.?"
    r"|(?<![\w.:])(?P<clock>\d{1,2}:\d{2})(?![\w:])"
    r"|(?<![\w.])(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)"
    rf"(?:(?P<suffix>st|nd|rd|th|s)\b|[ -](?P<scale>{_SCALE})\b)?"
    rf"|\b(?P<words>(?:a |{_SMALL_WORD}[ -])(?:(?:{_SMALL_WORD}|{_SCALE}|and)[ -])*(?:{_SMALL_WORD}|{_SCALE})"
    rf"|{_SMALL_WORD})\b"
    rf"|\b(?P<ordinal>{'|'.join(_ORDINALS)})\b",
    re.IGNORECASE,
)
_NO_NUMBER_BEFORE = re.compile(r"\b(?:no|this|that|which|each|every|any|some|the|per|at) $", re.IGNORECASE)
_NO_NUMBER_AFTER = re.compile(r" (?:of|another|day)\b|'s|’s", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december".split()
)  # July is compared as a word, so that "10 July" has a number and a name

_NAME = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’&-]*(?:\.(?=[A-Z]))?")
_NOT_NAMES = frozenset(
    "i i'm i've i'd i'll it's that's there's he's she's they're we're don't didn't isn't wasn't actually yes "
    "today now currently recently please note also however".split()
)


def numbers(text: str) -> list[Value]:
    """The numbers of a text in order, times of day and days of the calendar among them."""
    found: list[Value] = []
    for match in _NUMBER.finditer(text):
        items = _read_number(match)
        if match["ordinal"] or (match["words"] or "").lower() == "one":
            before, after = (
                text[max(0, match.start() - 8) : match.start()],
                text[match.end() : match.end() + 9],
            )
            if match["ordinal"] and match["ordinal"].lower() == "second":
                items = () if re.search(r"\b(?:per|a|each|one) $", before, re.IGNORECASE) else items
            elif not match["ordinal"] and (_NO_NUMBER_BEFORE.search(before) or _NO_NUMBER_AFTER.match(after)):
                items = ()
        if items:
            found.append(Value(match.start(), match.end(), "number", items))
    return found


def names(text: str) -> list[Value]:
    """The capitalised words of a text in order, one value for words that follow each other.

    The first word counts too, unless it is a word of every sentence: it may be a name.
    """
    found: list[Value] = []
    for match in _NAME.finditer(text):
        word = match[0].rstrip(".'’-")
        items = tuple(tokens(re.sub(r"['’]s$", "", word)))
        if not items or word.lower() in _NOT_NAMES:
            continue
        if found and text[found[-1].end : match.start()] in (" ", ". ", ".") and found[-1].end > 0:
            last = found.pop()
            found.append(Value(last.start, match.start() + len(word), "name", last.items + items))
        else:
            found.append(Value(match.start(), match.start() + len(word), "name", items))
    return found


def values(text: str) -> list[Value]:
    """The numbers and names of a text in order; none within another."""
    counted = numbers(text)
    free = [n for n in names(text) if not any(n.start < c.end and c.start < n.end for c in counted)]
    return sorted([*counted, *free])


def content(text: str) -> list[str]:
    """What a text says, in order: its numbers as "#25", its other words as stems, without stop words."""
    items: list[str] = []
    at = 0
    for value in numbers(text):
        items += _words(text[at : value.start])
        items += value.items
        at = value.end
    return items + _words(text[at:])


def pieces(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """The numbers and the other words of a text where they stand, with their content: none for stop words."""
    counted = numbers(text)
    found = [(value.start, value.end, value.items) for value in counted]
    for word in _WORD.finditer(text):
        if not any(value.start < word.end() and word.start() < value.end for value in counted):
            found.append((*word.span(), tuple(_words(word[0]))))
    return sorted(found)


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DENIED = re.compile(r"\b(?:can|won|shan)['’]t\b|n['’]t\b", re.IGNORECASE)
_SAME_WORD = {
    "km": "kilomet", "kilometr": "kilomet", "cm": "centimet", "centimetr": "centimet", "metr": "meter",
    "kg": "kilogram", "kilo": "kilogram", "hr": "hour", "min": "minut", "favorit": "favourit",
    "color": "colour",
    "mum": "mother", "mom": "mother", "dad": "father", "tv": "televis", "bike": "bicycl", "phone": "telephon",
}  # by stem  # fmt: skip


def _words(text: str) -> list[str]:
    return [_SAME_WORD.get(token, token) for token in tokens(_DENIED.sub(" ", text))]


def _read_number(match: re.Match[str]) -> tuple[str, ...]:
    if match["iso"]:
        year, month, day = match["iso"].split("-")
        if not 1 <= int(month) <= 12:
            return (f"#{match['iso']}",)
        return (f"#{int(day)}", *tokens(_MONTHS[int(month) - 1]), f"#{int(year)}")
    if match["half"]:
        hour = int(match["hour"]) % 12 + (12 if match["half"].lower() == "p" else 0)
        return (f"#{hour}:{match['minute'] or '00'}",)
    if match["clock"]:
        hours, minutes = match["clock"].split(":")
        return (f"#{int(hours)}:{minutes}",)
    if match["digits"]:
        value = float(match["digits"].replace(",", ""))
        value *= _SCALES.get((match["scale"] or "").lower(), 1)
        suffix = (match["suffix"] or "").lower()
        return (f"#{value:.15g}{'s' if suffix == 's' else '.' if suffix else ''}",)
    if match["ordinal"]:
        return (f"#{_ORDINALS.index(match['ordinal'].lower()) + 1}.",)
    return (f"#{_in_words(match['words'].lower())}",)


def _in_words(words: str) -> int:
    """The number that these words write: "two hundred and fifty thousand"."""
    total = part = 0
    for word in re.split(r"[ -]+", words):
        if word in _SMALL:
            part += _SMALL[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            total += max(part, 1) * _SCALES[word]
            part = 0
    return total + part
