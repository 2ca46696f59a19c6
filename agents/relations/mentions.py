"""What a statement must at least mention to give what is asked for: quick to look for in thousands of them.

"Where do I live?"  ->  somebody's own word ("I", "my"), and a word like "live", "moved" or "address"

It may let through what gives nothing, and never stops what gives it: `gives` decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from agents.relations.doses import DOSE_OF
from agents.relations.groups import mentions_one
from agents.relations.habits import DAY_OF
from agents.relations.loans import HOLDER_OF
from agents.relations.possessions import CALLED, OWN
from agents.relations.questions import NAME_OF, OWN_NAME, Asked
from agents.values import same_words

_OWN = (  # and not "my colleague"
    r"\b(?:i|im|we|me)\b|\b(?:my|our) (?:new |current )?(?:home|house|flat|apartment|place|address|job|"
    r"position|post|role|work|employer|workplace|profession|occupation|trade|age|birthday|wife|husband|spouse)\b"
)
_OWNER = r"\b(?:i|im|we|my|our|the)\b"  # and not "Anna's phone number"
_TOWN = (
    r"\bliv|\bresid|\bbased\b|\bsettled\b|\bmoved\b|\brelocat|\bemigrat|"
    r"\b(?:home|house|flats?|apartment|place|address)\b"
)
_WORK = (
    r"work|employ|\bjobs?\b|position|\bpost\b|\brole\b|profession|occupation|\btrade\b|compan|retired|"
    r"resigned|fired|laid off|gave up|\blost\b|\bleft\b|\bquit\b|(?:\bam|\bis|'s|'m|\bim) an?\b|"
    r"\b(?:started|began|begun) at\b|redundant|\bsack|unemployed|jobless|between jobs|let go|dismissed"
)
_PARTED = r"divorc|separated|split up|br[eo]|\b(?:left|dumped) me\b"
_MARRIAGE = rf"marri|wife|husband|spouse|{_PARTED}|widow|\bsingle\b|engaged"
_BIRTH = r"\bborn\b|birthday"
_LONGEST_SENTENCE = 400  # characters that are looked through for a year: a longer one gives nothing
_AGE = (
    r"(?:\bi am|\bi?'?m|\bis|\bare|turned|became|\bage)\W+(?:\w+\W+){0,3}?(?:\d|(?:one|two|three|four|five|"
    rf"six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred)\b)|"
    rf"(?:{_BIRTH}).{{0,{_LONGEST_SENTENCE}}}\d{{4}}"
)
_OF_PERSONS = {  # by the relation's name
    "home": _TOWN,
    "workplace": _WORK,
    "occupation": _WORK,
    "age": _AGE,
    "spouse": _MARRIAGE,
    "marriage": _MARRIAGE,
    "birthday": _BIRTH,
    "partner": rf"partner|\bseeing\b|\bgoing out\b|{_PARTED}",
    "diet": r"vegetarian|vegan|veggie|pesc.tarian|teetotal|\bback to\b|\beat|\bdrink",
}
_IN_OTHER_WORDS = {
    OWN_NAME: r"\b(?:i'?m|i am|this is) (?-i:[A-Z])",
    "girlfriend": rf"girlf|{_PARTED}",
    "boyfriend": rf"boyf|{_PARTED}",
    "called": r"\bcall me\b",
    "salari": r"salar|\bearn",
}
_OF_WHAT = re.compile(rf"(?:{NAME_OF}|place of |time of |{DAY_OF}|{DOSE_OF}|{HOLDER_OF}|{OWN}|{CALLED})")
_OPENING = 4  # letters of a stem that all its forms begin with


def may_give(text: str, wanted: Asked) -> bool:
    """Whether a sentence of a text can give what is asked for; of most texts none can."""
    plain = text.replace("’", "'")  # "Café" is looked up as "cafe": what has accents is let through
    return not plain.isascii() or _mentioning(wanted).match(plain) is not None


@lru_cache(maxsize=64)
def _mentioning(wanted: Asked) -> re.Pattern[str]:
    ways = [_all_of(openings(wanted.of), _way(name, is_own=not wanted.of)) for name in wanted.names]
    if wanted.says:
        ways.append(_all_of(openings(wanted.says)))
    if wanted.group:
        ways.append(f"(?=.*{mentions_one(wanted.group)})")
    return re.compile("|".join(f"(?:{way})" for way in ways), re.IGNORECASE | re.DOTALL)


def _way(name: str, *, is_own: bool) -> list[str]:
    """What must stand in the text to give a relation of this name, each of them somewhere."""
    if (words := _OF_PERSONS.get(name)) is not None:
        return [words, _OWN] if is_own else [words]
    if (words := _IN_OTHER_WORDS.get(name)) is not None:
        return [words]
    named = [word.removesuffix("s") for word in _OF_WHAT.sub("", name).split()]  # "cats" by "my cat"
    is_owned = is_own and not name.startswith("time of ")  # and not "Physics is due on Friday"
    return [*openings(named), *([_OWNER] if is_owned else [])]


def openings(stems: Iterable[str]) -> list[str]:
    """How words of these stems begin; nothing for what is written in many ways, as numbers are."""
    return [
        "|".join(re.escape(each[:_OPENING].rstrip("eiy")) for each in same_words(stem))
        for stem in stems
        if stem.isascii() and stem.isalpha()
    ]


def _all_of(*needed: Iterable[str]) -> str:
    return "".join(f"(?=.*(?:{one}))" for some in needed for one in some)
