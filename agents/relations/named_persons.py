"""Persons who are known by what they are and by name, so that "Nora" and "my wife" are one.

    "My wife is called Nora."        "My wife works at the mill."  ->  "My wife Nora works at the mill."
    "My daughter Signe is seven."    "Signe turned eight."         ->  "My daughter Signe turned eight."

Only where one sentence of the user's says both: of two wives, two names or two roles, none is meant.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from agents.relations.parts import ANIMAL, OFFICE, PEOPLE

_OF_ONE = (
    r"(?:ex-)?(?:wife|husband|girlfriend|boyfriend|partner)|spouse|fianc[eé]e?|(?:step)?(?:mother|father)|"
    r"(?:mother|father)-in-law|mum|mom|dad|physio|accountant|lawyer|piano teacher|nanny|"
    r"boss|manager|supervisor|doctor|gp|dentist|landlord|landlady|therapist|hairdresser|flatmate|roommate|"
    r"best friend"
)
_OF_MANY = (
    r"(?:brother|sister|son|daughter)-in-law|brother|sister|son|daughter|uncle|aunt|cousin|nephew|niece|grandson|granddaughter|grandmother|"
    r"grandfather|grandma|grandpa|child|kid|baby|boy|girl|lad|friend|colleague|neighbou?r|teacher|student|classmate|"
    rf"stepson|stepdaughter|{ANIMAL}|pet"
)
_AGE = r"(?:(?:older|younger|elder|eldest|oldest|youngest|little|big|twin) )?"
ROLE = rf"(?:my|our) {_AGE}(?:{_OF_ONE}|{_OF_MANY})"
_NO_NAME = (
    r"(?!(?:I|We|You|He|She|It|They|My|Our|The|This|That|Here|An?|Not|Is|Was|Vouch|(?:Mon|Tues|Wednes|"
    r"Thurs|Fri|Satur|Sun)day|"
    r"January|February|March|July|September|October|November|December|(?:April|May|June|August) \d+|"
    rf"Christmas|Easter)\b|{PEOPLE}|{OFFICE})"
)
NAME = rf"(?:(?-i:Dr|Mr|Mrs|Ms|Prof)\.? )?{_NO_NAME}(?-i:[A-ZÀ-Þ])[\w-]*(?: (?-i:[A-ZÀ-Þ])[\w-]*)?"
_NOW = r"(?:(?:now|actually|currently) )?"
_I = re.IGNORECASE
_BEFORE_A_PERSON = (
    r"(?:^|[.;:] |(?:\b(?:and|but|so|with|to|for|of|from|by|like|than|that|because|is|when|if),? ))"
)
_IN_PASSING = re.compile(  # and not "I taught my wife French"
    rf"{_BEFORE_A_PERSON}(?P<role>{ROLE}) (?P<name>{NAME})", _I
)
_APPOSED = re.compile(  # and not "my mother, Anna and Ben", nor "my doctor, Ben came along"
    rf"\b(?P<role>{ROLE}), (?P<name>{NAME})(?=[.!;]|$|, (?!(?:and|or)\b)(?-i:[a-z]))", _I
)
_IS_CALLED = re.compile(
    rf"(?P<role>{ROLE})(?:'s name)? is {_NOW}(?:called |named )?(?P<name>{NAME})(?=[.,;!]|$| and\b| who\b)",
    _I,
)
_IS_SUCH_A_ONE = re.compile(  # "our dog is a collie named Bran"
    rf"(?P<role>{ROLE}) is an? (?:(?-i:[a-z])[\w-]* ){{1,4}}(?:called|named) (?P<name>{NAME})(?=[.,;!]|$)", _I
)
_IS_ONE = re.compile(rf"(?P<name>{NAME}) is (?:now )?(?P<role>{ROLE})(?=[.,;!]|$| and\b| now\b)", _I)
_HAS_ONE = re.compile(
    rf"(?:I|We)(?: have|['’]ve got| have got| own| keep) an? (?P<kind>{_AGE}(?:{_OF_ONE}|{_OF_MANY})) "
    rf"(?:called|named) (?P<name>{NAME})(?=[.,;!]|$)",
    _I,
)
_GIVES_NAME = re.compile(rf"{ROLE}(?:['’]s name\b|,? is {_NOW}(?:called\b|named\b|{NAME}))", _I)
_OPENS_WITH_ROLE = re.compile(rf"(?P<role>{ROLE})(?=['’]s | (?!and |or )(?-i:[a-z]))", _I)
_OPENS_WITH_NAME = re.compile(rf"(?P<name>{NAME})(?=['’]s | (?!and |or )(?-i:[a-z]))", _I)
_IS_OF_ONE = re.compile(rf"(?:my|our) (?:{_OF_ONE})$", _I)


class NamedPersons:
    """Whom a user's statements name with what they are."""

    def __init__(self, texts: Iterable[str]) -> None:
        names: dict[str, set[str]] = defaultdict(set)
        roles: dict[str, set[str]] = defaultdict(set)
        for text in texts:
            for role, name in links(text):
                names[role].add(name)
                roles[name].add(role)
        self._names = {role: one for role, found in names.items() if (one := _only(found))}
        self._roles = {name: one for name, found in roles.items() if (one := _only(found))}

    def is_named(self, name: str) -> bool:
        """Whether somebody is known by this name."""
        return any(name.casefold() in known.casefold().split() for known in self._roles)

    def named(self, sentence: str, *, even_of_many: bool = False) -> str:
        """The sentence with both role and name of the person it opens with, where both are known.

        even_of_many: also where somebody may have another: "my sister" is the one that is named.
        """
        if not self._names or says_who(sentence):
            return sentence
        if opens := _OPENS_WITH_ROLE.match(sentence):
            role = opens["role"]
            name = self._names.get(role.lower()) if even_of_many or _IS_OF_ONE.match(role) else None
            return f"{role} {name}{sentence[opens.end() :]}" if name else sentence
        if (opens := _OPENS_WITH_NAME.match(sentence)) and (known := self._roles.get(opens["name"])):
            return f"{known[0].upper()}{known[1:]} {sentence}"
        return sentence


def says_who(sentence: str) -> bool:
    """Whether a sentence is there to say who somebody is: "My wife is called Nora", "Nora is my wife"."""
    return _GIVES_NAME.match(sentence) is not None or _IS_ONE.match(sentence) is not None


def says_only_who(sentence: str) -> bool:
    """Whether a sentence says who somebody is, and no more."""
    return any(wording.fullmatch(sentence.rstrip(" .!")) for wording in (_IS_CALLED, _IS_ONE, _HAS_ONE))


def opens_with_role(sentence: str) -> str:
    """What somebody is whom a sentence opens with by that alone: "my brother"; else nothing."""
    found = _OPENS_WITH_ROLE.match(sentence)
    return found["role"].lower() if found else ""


def opens_with_name(sentence: str) -> str:
    """The name of whom a sentence opens with by that alone; else nothing."""
    found = _OPENS_WITH_NAME.match(sentence)
    return found["name"] if found else ""


def _only(found: set[str]) -> str:
    return next(iter(found)) if len(found) == 1 else ""


@lru_cache(maxsize=1024)
def links(text: str) -> tuple[tuple[str, str], ...]:
    """Each role that a text gives together with a name."""
    whole = (_IS_CALLED.match(text), _IS_ONE.match(text), _IS_SUCH_A_ONE.match(text))
    found = [*filter(None, whole), *_IN_PASSING.finditer(text), *_APPOSED.finditer(text)]
    has_one = _HAS_ONE.match(text)
    owned = [(f"my {has_one['kind'].lower()}", has_one["name"])] if has_one else []
    return tuple(owned + [(one["role"].lower(), one["name"]) for one in found])
