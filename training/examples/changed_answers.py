"""An answer exchanged for another of its kind, so that a true statement becomes a false one.

A number, year, date or number word is exchanged for one of the same form; a name for another name asked
for in the same way ("what city ..."), from the same passage, article or data set, in this order.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["year", "date", "number", "number word", "name", "phrase"]

_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_COUNTING = (_NUMBER_WORDS, _ORDINALS, "twenty thirty forty fifty sixty seventy eighty ninety".split())
_WORD_IN_NAME = re.compile(r"(?:[A-Z0-9][\w.'’&-]*|of|the|and|de|la|von|van|du|for|in|on|al|bin)$")
_NOT_PLAIN = re.compile(r"[;:()\[\]\"?!]")
_FACTORS = (0.2, 0.5, 0.6, 0.75, 0.8, 0.9, 1.1, 1.2, 1.25, 1.5, 2, 3, 10)


def kind_of(answer: str) -> Kind:
    """What an answer is, by its form."""
    if _MONTH.search(answer) and re.search(r"\d", answer):
        return "date"
    if _YEAR.search(answer) and not re.search(r"\d,\d|[$£€%]", answer):
        return "year"
    if re.search(r"\d", answer):
        return "number"
    words = answer.split()
    if any(word.lower() in series for word in words for series in _COUNTING):
        return "number word"
    if words and words[-1][0].isupper() and all(_WORD_IN_NAME.match(word) for word in words):
        return "name"
    return "phrase"


def asked_for(question: str) -> str:
    """What a question asks for, as one word: "city" of "what city ...", "who", "where"."""
    words: list[str] = re.findall(r"[\w'-]+", question.lower())
    if named := re.match(
        r"(?:what|who) (?:is|was|are|were) the (?:name of the )?(.+)", question.lower().strip(" ?")
    ):
        until = re.split(r" (?:of|for|in|that|which|who|at|on|to|from|by|used|called)\b", named[1])[0]
        return str(re.findall(r"[\w'-]+", until)[-1])
    for place, word in enumerate(words):
        if word in ("who", "whom", "where", "when"):
            return word.replace("whom", "who")
        if word in ("what", "which"):
            asked = words[place + 1 : place + 2]
            return asked[0] if asked and asked[0] not in _SAYS_NOTHING else word
        if word == "how":
            return " ".join(words[place : place + 2])
    return ""


_SAYS_NOTHING = frozenset(
    "is was are were did does do has had the other two type kind of can would 's".split()
)


@dataclass
class Answers:
    """The answers that others are exchanged for: of an article, and of the whole data set."""

    _of_article: defaultdict[tuple[str, str, Kind], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _of_all: defaultdict[tuple[str, Kind], list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, article: str, question: str, answer: str) -> None:
        """Makes an answer one that others can be exchanged for."""
        answer = answer.strip(" .,;:'\"")
        if not answer or _NOT_PLAIN.search(answer):
            return
        kind, asked = kind_of(answer), asked_for(question)
        self._of_article[article, asked, kind].append(answer)
        self._of_all[asked, kind].append(answer)

    def like(self, article: str, question: str, answer: str, passage: str, rng: random.Random) -> list[str]:
        """Other answers of the same kind, the most misleading first; in seeded order."""
        kind, asked = kind_of(answer), asked_for(question)
        near = list(dict.fromkeys(self._of_article[article, asked, kind]))
        far = self._of_all[asked, kind]
        rng.shuffle(near)
        within = [other for other in near if other in passage]
        drawn = [rng.choice(far) for _ in range(8)] if far and kind != "phrase" else []
        # a name of the very passage is the hardest, but it must not be the sign of a false statement
        if kind == "phrase":  # a clause does not fit where a noun stood
            length = len(answer.split())
            within, near = (
                [one for one in many if abs(len(one.split()) - length) < 2] for many in (within, near)
            )
        return [*within, *near, *drawn] if rng.random() < 0.6 else [*near, *drawn]


def changed(
    answer: str, right: Iterable[str], others: Sequence[str], passage: str, rng: random.Random
) -> str | None:
    """An answer that differs from every right one, of the same kind; None when none is known."""
    kind = kind_of(answer)
    if kind in ("name", "phrase"):
        candidates: Iterable[str] = others
    else:
        candidates = (_changed_number(answer, kind, passage, rng) for _ in range(6))
    right = [*right, answer]
    return next((one for one in candidates if all(_differ(one, known) for known in right)), None)


def _changed_number(answer: str, kind: Kind, passage: str, rng: random.Random) -> str:
    if kind == "number word":
        return _change_word(answer, rng)
    if kind == "date" and rng.random() < 0.3:
        return _MONTH.sub(lambda month: rng.choice([m for m in _MONTHS if m != month[0]]), answer, count=1)
    if kind in ("date", "year") and (year := _YEAR.search(answer)):
        return answer[: year.start()] + _other_year(year[0], passage, rng) + answer[year.end() :]
    numbers = list(_NUMBER.finditer(answer))
    number = rng.choice(numbers)
    text = answer[: number.start()] + _other_number(number[0], passage, rng) + answer[number.end() :]
    return re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", lambda ordinal: _ordinal(int(ordinal[1])), text)


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _other_year(year: str, passage: str, rng: random.Random) -> str:
    named: list[str] = sorted(set(_YEAR.findall(passage)) - {year})
    if named and rng.random() < 0.5:
        return rng.choice(named)
    return str(
        max(1000, int(year) + rng.choice((-1, 1)) * rng.choice((1, 2, 3, 4, 5, 7, 10, 12, 20, 30, 50, 100)))
    )


def _other_number(number: str, passage: str, rng: random.Random) -> str:
    if re.fullmatch(r"\d{3}0", number):  # of a decade, "the 1960s"
        return str(int(number) + rng.choice((-30, -20, -10, 10, 20, 30)))
    named: list[str] = sorted(
        {other for other in _NUMBER.findall(passage) if len(other) == len(number)} - {number}
    )
    if named and rng.random() < 0.4:
        return rng.choice(named)
    value = float(number.replace(",", ""))
    decimals = len(number.partition(".")[2])
    if not decimals and value <= 31:
        return str(max(1, int(value) + rng.choice((-5, -3, -2, -1, 1, 2, 3, 5))))
    changed_value = float(round(value * rng.choice(_FACTORS), decimals))
    if not decimals and value >= 100:
        kept = 10 ** (len(str(int(value))) - len(str(int(value)).rstrip("0")))  # 6,700 stays a round number
        changed_value = round(changed_value / kept) * kept
    return f"{changed_value:,.{decimals}f}" if "," in number else f"{changed_value:.{decimals}f}"


def _change_word(answer: str, rng: random.Random) -> str:
    words = answer.split(" ")
    for place, word in enumerate(words):
        for series in _COUNTING:
            if word.lower() in series:
                other = rng.choice([one for one in series if one != word.lower()])
                words[place] = other.capitalize() if word[0].isupper() else other
                return " ".join(words)
    return answer


def _differ(one: str, other: str) -> bool:
    """Whether neither holds the other: "Paris" and "the city of Paris" may be the same thing."""
    a, b = plain_words(one), plain_words(other)
    return bool(a and b) and not (set(a) <= set(b) or set(b) <= set(a))


def plain_words(text: str) -> list[str]:
    """The words of a text in lower case, without articles."""
    return [word for word in re.findall(r"[\w.,]*\w", text.casefold()) if word not in ("the", "a", "an")]
