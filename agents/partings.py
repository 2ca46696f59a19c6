"""Who asks of somebody by name whom they have parted from is told that first.

    "My girlfriend Hannah lives in Ghent."
    "Hannah and I broke up."                    Who is Hannah?  Am I still with Hannah?

What was told later of being together again takes the parting back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.quote_order import Quote, is_own_words, told_at
from agents.relations.comparison import relations
from agents.values import content

_I = re.IGNORECASE
_LONGEST_READ = 200  # characters
_NAME = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?)"
_COUPLE = r"(?:girlfriend|boyfriend|partner|wife|husband|spouse|fianc[eé]e?)"
_TOGETHER = r"(?:with|together with|in touch with|dating|seeing|going out with|engaged to|married to)"
_ASKS = [
    re.compile(rf"\W*(?:(?:and|so|but),? )*{wording}(?: (?:again|now))*\W*", _I)
    for wording in (
        rf"who(?: is|['’]s) {_NAME}",
        rf"(?:am i|are we) (?:still )?{_TOGETHER} {_NAME}",
        rf"(?:are|is) {_NAME} and (?:i|me) (?:still )?(?:together|a couple|dating|married|engaged)",
        rf"(?:are|am) i and {_NAME} (?:still )?(?:together|a couple|dating|married|engaged)",
        rf"is {_NAME} (?:still )?my {_COUPLE}",
    )
]
_PARTED = re.compile(r"\b(?:broke|broken|split|divorc|separat|left|dumped)", _I)
_AS_A_COUPLE = re.compile(rf"\b(?:together|married|engaged|dating|seeing|made up|my {_COUPLE})\b", _I)


def with_the_parting(question: str, best: Sequence[Quote], ranked: Sequence[Quote]) -> list[Quote]:
    """What is quoted, behind what the user said of having parted from whom a question names, if they did."""
    name = _named_in(question)
    told = [q for q in ranked if name and is_own_words(q.source.passage) and name <= set(content(q.text))]
    partings = [quote for quote in told if _is_parting(quote.text, name)]
    if not partings:
        return list(best)
    parting = max(partings, key=told_at)
    couples = [q for q in told if q not in partings and _AS_A_COUPLE.search(q.text)]
    if any(told_at(quote) > told_at(parting) for quote in couples):
        return list(best)
    told_before = [replace(one, is_sure=True, is_earlier=True, answer="") for one in best if one in couples]
    others = [one for one in best if one not in couples and one not in partings and one.is_sure]
    behind = [*told_before, *others][: max(1, len(best) - 1)]
    return [replace(parting, is_sure=True, is_earlier=False, answer=""), *behind]


def _named_in(question: str) -> set[str]:
    """The stems of the name of whom a question asks; none for most questions."""
    if len(question) > _LONGEST_READ:
        return set()
    found = next((one for wording in _ASKS if (one := wording.fullmatch(question))), None)
    return set(content(found["name"])) if found else set()


def _is_parting(text: str, name: set[str]) -> bool:
    """Whether a sentence says that the user is no couple any more with somebody of this name."""
    return _PARTED.search(text) is not None and any(
        one.over and not one.of and one.value and one.value <= name for one in relations(text)
    )
