"""A question about somebody, with both what they are and their name, where the user told both.

    "Lukas is my brother." "My brother lives in Graz."     Where does Lukas live?
                                                       ->  Where does my brother Lukas live?

What was told of one by what they are is found by who asks by name, and the other way round. Of two brothers
none is meant, and the statement that says who it is stands beside the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from agents.asked_for import how_it_gives
from agents.claim_rules.lead_ins import tells_hearsay
from agents.quote_order import Quote, is_own_words
from agents.relations.named_persons import (
    NAME,
    ROLE,
    NamedPersons,
    links,
    opens_with_name,
    opens_with_role,
    says_only_who,
)
from agents.relations.questions import Asked
from agents.sentences import sentences

_I = re.IGNORECASE
_LONGEST_READ = 200  # characters of a question
_LOOKED_INTO = 500  # statements that mention the person, the newest
_LONGEST_STATEMENT = 300  # characters
_BOTH = re.compile(rf"\b(?P<role>{ROLE}) (?P<name>(?!I\b){NAME})", _I)
_BY_ROLE = re.compile(rf"\b(?P<role>{ROLE})(?=['’]s? |[ ?.!,]|$)(?!-)(?! (?-i:[A-ZÀ-Þ])[a-zß-ÿ])", _I)
_BY_NAME = re.compile(r"(?<![\w'’-])(?P<name>[A-ZÀ-Þ][\w-]+)(?![\w-])")
_ASKS_WHO = re.compile(
    r"\bwho(?:['’]s| is| are| was)\b|\bname|\bcalled\b|\bremember\b|\bremind me of\b|\bknow (?:about|of)\b",
    _I,
)

_OF_PERSONS = frozenset(("home", "workplace", "occupation", "age", "spouse", "marriage"))


class Person(NamedTuple):
    """Somebody by what they are and by name: "my brother", "Lukas"."""

    role: str
    name: str


def person_in(question: str) -> Person | None:
    """Who a question names by both; None for most."""
    found = _BOTH.search(question) if len(question) <= _LONGEST_READ else None
    return Person(found["role"].lower(), found["name"]) if found else None


def with_both(question: str, told: Sequence[tuple[int, str]]) -> str:
    """The question with role and name of the one it is about, where something was told by the other alone.

    told: version ids and texts of what the user told, newest first. Most questions stay as they are.
    """
    if len(question) > _LONGEST_READ or asks_who(question) or _BOTH.search(question):
        return question
    roles = list(_BY_ROLE.finditer(question))
    if roles:
        person = _by_role(roles[0]["role"].lower(), told) if len(roles) == 1 else None
        at = roles[0].end()
        return f"{question[:at]} {person.name}{question[at:]}" if person else question
    named = [(one.start(), who) for one in _BY_NAME.finditer(question) if (who := _by_name(one[0], told))]
    if len(named) != 1:
        return question
    at, person = named[0]
    return f"{question[:at]}{person.role} {question[at:]}"


def naming(person: Person, told: Iterable[tuple[int, str]]) -> list[int]:
    """The version id of the newest statement that says who this is, in a list."""
    mentioning = _mentioning(person.name, told)
    return next(([i] for i, text in mentioning if _says_who_it_is(text, person)), [])


def giving_by_role(person: Person, asking: Sequence[Asked], told: Iterable[tuple[int, str]]) -> list[int]:
    """Version ids of what gives what is asked for of this person, by what they are alone; newest first."""
    persons = _persons(person)
    return [
        i
        for i, text in _mentioning(_kind(person.role), told)
        if any(how_it_gives(named_by_both(one.text, persons), asking) == "plainly" for one in sentences(text))
    ]


def named_by_both(text: str, persons: NamedPersons) -> str:
    """A sentence with role and name of the one it opens with."""
    return persons.named(text, even_of_many=True)


def of_person(question: str, quotes: Iterable[Quote]) -> NamedPersons | None:
    """Who the question names by both, where a user's own quote says who that is."""
    person = person_in(question)
    if person is None:
        return None
    own = (quote.text for quote in quotes if is_own_words(quote.source.passage))
    return _persons(person) if any(_says_who_it_is(text, person) for text in own) else None


def with_who_it_is(
    question: str, best: Sequence[Quote], ranked: Sequence[Quote], asking: Sequence[Asked]
) -> list[Quote]:
    """What is quoted, and behind it who is meant, where the first quote names the one asked about by half.

    Of that person everything is alike to the question by the words that were added to it: where a rule knows
    what is asked for, and nothing gives it, no quote is a sure answer.
    """
    person = person_in(question)
    own = [quote for quote in ranked if is_own_words(quote.source.passage)]
    who = next((quote for quote in own if person and _says_who_it_is(quote.text, person)), None)
    if person is None or who is None or not best or not is_own_words(best[0].source.passage):
        return list(best)
    if (
        not asks_who(question)
        and says_only_who(who.text)
        and (further := [quote for quote in best if quote.text != who.text])
    ):
        best = further
    first, persons = best[0], _persons(person)
    is_known = any(not _OF_PERSONS.isdisjoint(one.names) for one in asking)
    if is_known and how_it_gives(named_by_both(first.text, persons), asking) is None:
        best = [first] = [replace(first, answer="", is_sure=False)]
    if first.text == who.text or not _is_of(first.text, person) or _says_who_it_is(first.text, person):
        return list(best)
    beside = [quote for quote in best[1:] if quote.text != who.text]
    return [first, replace(who, answer="", is_sure=True), *beside]


def asks_who(question: str) -> bool:
    """Whether a question asks who somebody is, or what they are called."""
    return _ASKS_WHO.search(question) is not None


def _by_role(role: str, told: Sequence[tuple[int, str]]) -> Person | None:
    """Who is meant by what they are, if something was told of them by name alone."""
    of_role = _mentioning(_kind(role), told)
    names = {name for _, text in of_role for each, name in links(text) if each == role}
    if len(names) != 1 or _are_several(role, of_role):
        return None
    person = Person(role, next(iter(names)))
    by_name = _mentioning(person.name, told)
    is_told = any(opens_with_name(text) == person.name and role not in text.lower() for _, text in by_name)
    return person if is_told else None


def _by_name(name: str, told: Sequence[tuple[int, str]]) -> Person | None:
    """Who is meant by a name, if something was told of them by what they are alone."""
    of_name = [(role, known) for _, text in _mentioning(name, told) for role, known in links(text)]
    roles = {role for role, known in of_name if known == name or known.split()[0] == name}
    if len(roles) != 1:
        return None
    person = Person(next(iter(roles)), name)
    of_role = _mentioning(_kind(person.role), told)
    names = {known for _, text in of_role for role, known in links(text) if role == person.role}
    if len({known.split()[0] for known in names}) > 1 or _are_several(person.role, of_role):
        return None
    is_told = any(opens_with_role(text) == person.role and name not in text for _, text in of_role)
    return person if is_told else None


def _are_several(role: str, told: Iterable[tuple[int, str]]) -> bool:
    """Whether the user told of more than one who is this: "my other brother", "two brothers"."""
    kind = re.escape(_kind(role))
    owned = re.escape(role)
    several = re.compile(
        rf"\b{kind}s\b(?!['’])|\b(?:another|other) {kind}\b|\b(?:my|our|an?)(?: [\w-]+)? (?:other|second|"
        rf"eldest|"
        rf"oldest|youngest|older|younger|elder|middle|new|former|old|late) {kind}\b",
        _I,
    )
    return any(several.search(re.sub(rf"\b{owned}\b", "", text, flags=_I)) for _, text in told)


def _kind(role: str) -> str:
    """ "brother" of "my little brother"."""
    return role.removeprefix("my ").removeprefix("our ").rpartition(" ")[2]


def _persons(person: Person) -> NamedPersons:
    return NamedPersons([f"{person.name} is {person.role}."])


def _is_of(text: str, person: Person) -> bool:
    """Whether a sentence speaks of somebody by what they are or by name."""
    return re.search(rf"\b(?:{re.escape(person.role)}|{re.escape(person.name)})\b", text, _I) is not None


def _says_who_it_is(text: str, person: Person) -> bool:
    return any(
        role == person.role and person.name in (name, name.split()[0])
        for one in sentences(text[:_LONGEST_STATEMENT])
        for role, name in links(one.text)
    )


def _mentioning(word: str, told: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The newest of what was told that may be of this, without what is only heard."""
    low = word.casefold()
    mentioning = (
        (i, text)
        for i, text in told
        if len(text) <= _LONGEST_STATEMENT and low in text.casefold() and not tells_hearsay(text)
    )
    return list(islice(mentioning, _LOOKED_INTO))
