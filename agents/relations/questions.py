"""Which of the things that somebody has one of a question asks for: "Where do I live?", "Who is my boss?".

What was told in other words answers it: "I moved to Bonn".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from agents.relations.comparison import relations, written_out
from agents.relations.parts import OWNER, whose
from agents.relations.things import EVENT, PERSON, SLOT, THING, event_name, slot_name, thing_name
from agents.values import content


class Asked(NamedTuple):
    """What is asked for, and of whom."""

    of: tuple[str, ...]
    names: tuple[str, ...]  # of relations; any of them answers
    says: tuple[str, ...] = ()  # stems that open what answers: "I play" for "What do I play?"


def asked(question: str) -> Asked | None:
    """What a question of one sentence asks for; None for most."""
    if len(question) > _LONGEST_READ:
        return None
    plain = _NOW.sub("", written_out(question))
    for wording, names in _QUESTIONS:
        match = wording.fullmatch(plain)
        of = whose(match.groupdict().get("who")) if match else None
        if match and of is not None:
            return Asked(of, names(match) if callable(names) else names)
    mirrored = _MIRRORED.fullmatch(plain)
    says = _stems(f"{mirrored['who']} {mirrored['rest']}") if mirrored else ()
    return Asked((), (), says) if mirrored and content(mirrored["rest"]) else None


def gives(statement: str, wanted: Asked) -> bool:
    """Whether a statement gives what is asked for, or says that it is so no more."""
    if any(one.of == wanted.of and one.name in wanted.names for one in relations(statement)):
        return True
    if wanted.says and _says_more_than(wanted.says, statement):
        return True
    if _OWN_NAME in wanted.names and _I_AM.match(statement):
        return True
    called = (name.removeprefix(_NAME_OF) for name in wanted.names if name.startswith(_NAME_OF))
    return any(_naming(role).search(statement) for role in called)


def _says_more_than(says: tuple[str, ...], statement: str) -> bool:
    """Whether a statement opens with these stems, and goes on; not what it denies or takes back."""
    said = _stems(written_out(statement)) if _OPENS_AS_ASKED.match(statement) else ()
    return len(said) > len(says) and said[: len(says)] == says and not _DENIES.search(statement)


def _stems(text: str) -> tuple[str, ...]:
    return tuple(content(_IN_BETWEEN.sub(" ", text)))


_IN_BETWEEN = re.compile(
    r"\b(?:also|usually|always|only|often|just|really|now|still|both|mostly)\b", re.IGNORECASE
)
_OPENS_AS_ASKED = re.compile(r"(?:I|We|My|Our|(?-i:[A-ZÀ-Þ])[\w'-]+)\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|no longer|any ?more|stopped|quit)\b|n['’]t\b", re.IGNORECASE)
_MIRRORED = re.compile(
    r"(?:what|which)(?: (?!time|day|date|year|month|age|hour|kind|sort)[\w-]+){0,2}? (?:do|does|am|is|are|"
    r"can) "
    r"(?P<who>i|we|(?:my|our) [\w-]+|(?-i:[A-ZÀ-Þ])[\w'-]+) (?P<rest>(?!like\b$)[^?]+)",
    re.IGNORECASE,
)
_NAME_OF = "name of "
_OWN_NAME = "own name"
_I_AM = re.compile(  # and not "I'm German"
    r"(?:(?:hi|hello|hey)\W+(?:there\W+)?)?(?:I am|I['’]m|i['’]?m|this is) "
    r"(?![A-Z]\w+(?:ish|ese|[aei]an|man)\b)[A-Z]\w+(?: [A-Z]\w+)?(?=[.,!]|$| and\b)"
)


@lru_cache(maxsize=64)
def _naming(role: str) -> re.Pattern[str]:
    """How somebody names one of theirs in passing: "my daughter Giulia", "a dog called Birba"."""
    return re.compile(
        rf"\b(?:my|our|an?)(?: [\w-]+)? {re.escape(role)}(?:,|['’]s name is| is)?(?: called| named)? "
        r"(?:(?:dr|mr|mrs|ms)\.? )?(?-i:[A-ZÀ-Þ])\w+",
        re.IGNORECASE,
    )


_LONGEST_READ = 200  # characters
_NOW = re.compile(
    r"\s+(?:now|currently|these days|nowadays|again|today|at the moment|then|please|once more)\b",
    re.IGNORECASE,
)
_WHO = (
    r"(?P<who>i|we|(?:my|our|the) [\w-]+(?: [\w-]+)?|"
    r"(?-i:[A-ZÀ-Þ])[\w'.-]*(?: (?-i:[A-ZÀ-Þ])[\w'.-]*){0,2})"
)
_LEAD = r"(?:(?:do you (?:know|remember)|tell me|remind me|can you tell me|and|so),? )?"
_BE = r"(?:am|is|are)"
_DO = rf"(?:do|does|{_BE})"
_TOWN = r"(?:what|which) (?:city|town|place|country|street)"
_NAME = r"(?:'s name| called| named)?"
_Names: TypeAlias = tuple[str, ...] | Callable[[re.Match[str]], tuple[str, ...]]
_SPOUSE = ("spouse", *(f"{_NAME_OF}{role}" for role in ("wife", "husband", "spouse")))
_WORDINGS: list[tuple[str, _Names]] = [
    (rf"where {_DO} {_WHO} (?:live|living|based|reside|residing)", ("home",)),
    (rf"where {_WHO} lives?", ("home",)),
    (rf"{_TOWN} {_DO} {_WHO} (?:live|living|based) in", ("home",)),
    (rf"(?:where|{_TOWN}) did {_WHO} move to", ("home",)),
    (rf"where {_DO} {_WHO} (?:work|working|employed)(?: in| at| for)?", ("workplace",)),
    (rf"where {_WHO} works?", ("workplace",)),
    (rf"(?:whom?|(?:what|which) company) {_DO} {_WHO} (?:work|working) (?:for|at)", ("workplace",)),
    (r"(?:who|what|where) is (?P<who>my|our) (?:employer|workplace)", ("workplace",)),
    (r"(?:what|where) is (?P<who>my) (?:job|work|profession|occupation|trade)", ("occupation", "workplace")),
    (rf"what {_DO} {_WHO} do(?: for (?:a living|work))?", ("occupation", "workplace")),
    (rf"what {_DO} {_WHO} (?:work|working) as", ("occupation",)),
    (rf"how old {_BE} {_WHO}", ("age",)),
    (r"what is (?P<who>my|our) age", ("age",)),
    (rf"who {_BE} {_WHO} married to", ("spouse",)),
    (rf"(?:who|what) is (?P<who>my) (?:wife|husband|spouse){_NAME}", _SPOUSE),
    (rf"{_BE} {_WHO} (?:married|single|engaged|divorced|widowed)", ("marriage", "spouse")),
    (r"when is (?P<who>my) birthday", ("birthday",)),
    (rf"when (?:was|were) {_WHO} born", ("birthday",)),
    (rf"where (?:is|are) (?:my|the|our) (?P<thing>{THING})", lambda m: (thing_name(m["thing"]),)),
    (
        rf"where did (?:i|we) (?:put|park|hide|leave|move) (?:my|the|our) (?P<thing>{THING})",
        lambda m: (thing_name(m["thing"]),),
    ),
    (r"(?:what is my (?:first |full )?name|what am i called|who am i)", ("name", "called", _OWN_NAME)),
    (r"what is (?P<who>my|our) (?:home |street )?address", ("address", "home")),
    (
        rf"(?:what|who|which|when) (?:is|are) {OWNER} (?P<slot>{SLOT}|{PERSON}){_NAME}",
        lambda m: (slot_name(m["slot"]), f"{_NAME_OF}{m['slot'].lower()}"),
    ),
    (
        rf"when (?:is|are|does|do) (?:my|the|our) (?P<thing>{EVENT})(?: leave| start| begin| take place| "
        rf"due)?",
        lambda m: (event_name(m["thing"]),),
    ),
    (
        r"when (?:is|are) (?P<thing>(?:the|my|our) [\w -]+?|(?-i:[A-ZÀ-Þ])[\w-]+) due",
        lambda m: (event_name(m["thing"]),),
    ),
    (r"who is (?:my|our) (?P<role>[\w-]+)", lambda m: (f"{_NAME_OF}{m['role'].lower()}",)),
    (
        r"(?:what|who) is (?:my|our) (?P<role>[\w-]+)(?:'s name| called| named)",
        lambda m: (f"{_NAME_OF}{m['role'].lower()}",),
    ),
]
_QUESTIONS = [(re.compile(_LEAD + wording, re.IGNORECASE), names) for wording, names in _WORDINGS]
