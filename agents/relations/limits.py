"""What a statement gives once the words are left out that only say when it holds, for whoever asks for it.

    "I work at the library on Mondays"      ->  "I work at the library"
    "I have a dentist appointment at 10"    ->  "my dentist appointment is at 10"

It answers, and it takes the place of nothing: a workplace on Mondays may be one of two.
"""

from __future__ import annotations

import re

from agents.relations.clauses import clauses, closed_up
from agents.relations.things import EVENT

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters
_A_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DAYS = rf"(?:{_A_DAY}|weekend)s"
_PART_OF_DAY = r"(?:morning|afternoon|evening|night)s?"
_SEASON = r"(?:summer|winter|spring|autumn)s?"
_AT_TIMES = re.compile(
    rf"\b(?:(?:on |mostly on )?{_DAYS}(?:(?:,| and|, and) (?:on )?{_DAYS})*|(?:on|at) (?:the )?weekend"
    rf"|(?:every|each) (?:other )?\w+|in (?:the )?(?:{_PART_OF_DAY}|{_SEASON})"
    rf"|during (?:the )?(?:week|day|holidays|{_PART_OF_DAY}|{_SEASON})"
    rf"|this (?:week|month|year|term|{_SEASON})"
    rf"|for (?:now|the (?:moment|time being|{_SEASON}))"
    r"|(?:until|till) [\w:]+|half (?:the|of the) \w+"
    r"|sometimes|occasionally|often|usually|mostly|part[- ]time|tomorrow)(?!\w)",
    _I,
)
_ALWAYS = re.compile(r"\bstill\b|,? if (?:you|anyone|anybody|somebody|someone)\b.*$", _I)
_ON_THE_NEXT = re.compile(rf"\b(?:on )?(?:next|this) (?={_A_DAY}\b)", _I)
_GOT = re.compile(r"\b(i|we)['’]ve got\b", _I)
_HAVING_AN_EVENT = re.compile(
    rf"(?:i|we) have (?:got )?(?:an?|my|our) (?P<event>{EVENT})(?= (?:on|at|in|tomorrow)\b)", _I
)
_EVENT_AT = re.compile(
    r"\bmy (?P<event>appointment|lesson|exam|class) (?:at|with) (?:the|my) (?P<at>\w+)", _I
)
_ON_CONDITION = re.compile(r"\b(?:if|when|whenever|unless|in case)\b", _I)


def as_answers(sentence: str) -> list[str]:
    """What of a sentence may give something without any limit: clauses of it, and it without "still"."""
    if len(sentence) > _LONGEST_READ or sentence.rstrip().endswith("?"):
        return []
    said = closed_up(_ALWAYS.sub(" ", sentence.rstrip(" .!")))
    parts = [] if _ON_CONDITION.search(said) else [said[start:end] for start, end in clauses(said)]
    return [each for each in dict.fromkeys((said, *parts)) if each != sentence]


def without_limits(sentence: str) -> str:
    """A sentence without the words that say when it holds; empty where it has none."""
    if len(sentence) > _LONGEST_READ or sentence.rstrip().endswith("?") or _ON_CONDITION.search(sentence):
        return ""
    plain = _ON_THE_NEXT.sub("on ", sentence.rstrip(" .!"))
    told = _HAVING_AN_EVENT.sub(r"my \g<event> is", _GOT.sub(r"\1 have", plain))
    said = closed_up(_AT_TIMES.sub(" ", _EVENT_AT.sub(r"my \g<at> \g<event>", told)))
    return said if said != sentence.rstrip(" .!") else ""
