"""What a statement gives of which somebody has one at a time, and what a later one does to it.

    "I work at the harbour office.", "I changed jobs, I'm at the library now."    one workplace: the later "
    "holds
    "I work at the library.", "I work as a nurse.", "I also work at the zoo."     all of them may hold

By rules that say nothing in doubt: of two values both may hold, and one that is overwritten is lost to
whoever meant both. What is limited ("on Fridays", "also"), to come ("will") or long past gives no value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from agents.relations.amounts import OF_AMOUNTS
from agents.relations.clauses import (
    LIMITED,
    NEW,
    as_said,
    clauses,
    without_contrast,
    without_times,
    written_out,
)
from agents.relations.doses import DOSE_OF, TELLING_OF_A_DOSE, of_doses
from agents.relations.endings import (
    Death,
    WorkLeft,
    death_of,
    is_left,
    is_of_the_dead,
    is_said_of_the_dead,
    may_tell_death,
    of_death,
    work_left,
)
from agents.relations.exchanges import Exchange, ends_what_is_had, exchanged, may_tell_exchange, of_exchange
from agents.relations.habits import AS_WELL, DAY_OF, OF_DIETS, on_days, tells_days
from agents.relations.jobs import JOB_CHANGED, OF_JOBS
from agents.relations.loans import HOLDER_OF, OF_LOANS, TELLING_OF_A_LOAN
from agents.relations.named_persons import NamedPersons
from agents.relations.parts import Relation
from agents.relations.persons import BOTH_PARTED, HOME_CHANGED, OF_PERSONS
from agents.relations.places import place_kind
from agents.relations.possessions import COLOUR_OF, OF_POSSESSIONS, is_of_possession
from agents.relations.things import OF_THINGS, ONE_CHANGED
from agents.values import content, names

_LONGEST_READ = 300  # characters: to look through more takes too long, and it is no plain statement
RelationChange: TypeAlias = Literal["value", "negated", "withdrawn", "other"]


def relations(text: str) -> list[Relation]:
    """What a statement of one sentence gives; empty for most, and for long ones."""
    if len(text) > _LONGEST_READ or text.rstrip().endswith("?"):
        return []
    return list(_read(text))


@lru_cache(maxsize=16)  # a claim is laid beside many statements, one after the other
def _read(text: str) -> tuple[Relation, ...]:
    found = _by_clauses(text)
    if not found and may_tell_death(text):
        found = of_death(as_said(text))
    if not found and may_tell_exchange(text):
        found = of_exchange(as_said(text))
    return tuple(found)


def _by_clauses(text: str) -> list[Relation]:
    said = written_out(text)
    plain = without_contrast(said)
    is_new, is_said_new = (NEW.search(each) is not None for each in (plain, said))
    if tells_days(plain) and (of_days := on_days(without_times(plain))) is not None:
        return [relation._replace(is_new=is_said_new) for relation in of_days]
    if doses := of_doses(without_times(plain)):
        return [relation._replace(is_new=relation.is_new or is_said_new) for relation in doses]
    if LIMITED.search(plain):
        return []
    parts = [without_times(plain[start:end]) for start, end in clauses(plain)]
    joined = " : ".join(parts)
    is_one = len(parts) > 1 and any(wording.match(joined) for wording in _TOLD_IN_TWO)
    read = [joined] if is_one else parts
    found = [
        relation._replace(is_new=relation.is_new or (is_said_new if _is_loose(relation) else is_new))
        for clause in read
        for relation in _of_clause(clause)
    ]
    held = {relation.name for relation in found if not relation.over}
    return [relation for relation in found if not relation.over or relation.name not in held]


def relation_change(old: str, new: str) -> RelationChange | None:
    """What the new statement does to the old one, by what both give of the same person.

    "other" where both give something and both may hold; None where their words are left to decide.
    """
    persons = NamedPersons([old, new])
    before, after = relations(persons.named(old)), relations(persons.named(new))
    if not before or not after:
        return None
    pairs = [(one, other) for one in before for other in after if one.of == other.of]
    met = [_met(one, other) for one, other in pairs if one.name == other.name]
    if not met:
        return "other" if any(not _is_loose(one) and not _is_loose(other) for one, other in pairs) else None
    told = [each for each in met if each is not None]
    return min(told, key=_STRONGEST.index) if told else None


def exchange_change(old: str, new: str) -> RelationChange | None:
    """What a statement that its user has something does not hold against: having it no more, or another.

    "I drive a Skoda.", "I swapped my Skoda for a Fiat."    value: what takes its place is told with it
    None where the new statement ends nothing of the old one.
    """
    if max(len(old), len(new)) > _LONGEST_READ or new.rstrip().endswith("?"):
        return None
    if not may_tell_exchange(new) and not may_tell_death(new):
        return None
    before, after = as_said(old), as_said(new)
    if (left := work_left(new, after)) is not None:
        is_over = any(is_left(one, left) for one in relations(old)) and work_left(old, before) is None
        return ("value" if left.come else "negated") if is_over else None
    death = death_of(after)
    is_ended = death is not None and (is_of_the_dead(before, death) or is_said_of_the_dead(before, death))
    if is_ended and death_of(before) != death:
        return "negated"
    exchange = exchanged(after) if may_tell_exchange(new) else None
    if exchange is None or exchange == exchanged(before) or not ends_what_is_had(before, exchange):
        return None
    return "value" if exchange.come else "negated"


def exchange_of(text: str) -> Exchange | None:
    """What a statement says to be had no more, and what instead; None for most, and for long ones."""
    if len(text) > _LONGEST_READ or not may_tell_exchange(text) or text.rstrip().endswith("?"):
        return None
    return exchanged(as_said(text))


def death_told(text: str) -> Death | None:
    """Of whom a statement says that they died; None for most, for questions and for long ones."""
    if len(text) > _LONGEST_READ or text.rstrip().endswith("?") or not may_tell_death(text):
        return None
    return death_of(as_said(text))


def work_told_left(text: str) -> WorkLeft | None:
    """Whom a statement says its user to work for no more; None for most."""
    if len(text) > _LONGEST_READ or not may_tell_exchange(text):
        return None
    return work_left(text, as_said(text))


def ends_a_part(old: str, new: str) -> bool:
    """Whether a statement that something is over ends only a part of what an earlier one says.

    "I am a nurse at Acme.", "I left Acme."     "My dog Rex is a poodle.", "Rex died."
    """
    death = death_told(new)
    if death is not None and is_said_of_the_dead(as_said(old), death):
        return not is_of_the_dead(as_said(old), death)
    left = work_told_left(new)
    known = relations(old) if left is not None else ()
    return left is not None and any(is_left(one, left) for one in known) and len(known) > 1


def tells_to_have(text: str, of: tuple[str, ...], kind: str) -> bool:
    """Whether a statement says that somebody has something of a kind: "I wear glasses"."""
    if len(text) > _LONGEST_READ or text.rstrip().endswith("?"):
        return False
    return ends_what_is_had(as_said(text), Exchange(of, frozenset(kind.split()), frozenset(), kind))


def _is_loose(relation: Relation) -> bool:
    """Whether it says nothing of the other things of the same person."""
    return (
        relation.name.startswith((DAY_OF, DOSE_OF, COLOUR_OF))
        or relation.name == "diet"
        or is_of_possession(relation.name)
    )


def says_more(old: str, new: str) -> bool:
    """Whether a statement says more than the value that a later one gives otherwise: that would be lost.

    "I live in Turin with my husband Paolo", "I moved to Genoa"
    """
    before, given_anew = relations(old), {(one.of, one.name) for one in relations(new)}
    if any((one.of, one.name) not in given_anew for one in before):
        return True
    known = {item for one in before for item in (*one.value, *one.of, *content(one.name), *one.name.split())}
    if any(one.name in ("spouse", "marriage") for one in before):
        known |= _OF_MARRIAGE
    if any(one.name == "partner" for one in before):
        known |= _OF_A_PARTNER
    if any(one.name.startswith(DOSE_OF) for one in before):
        known = known.union(TELLING_OF_A_DOSE, *(one.kind.split() for one in before))
    if any(one.name == "workplace" for one in before):
        known |= _OF_WORK
    if any(one.name.startswith(HOLDER_OF) for one in before):
        known |= TELLING_OF_A_LOAN
    if any(one.name == "home" for one in before):
        known |= _wider_places(old)
    plain = without_times(written_out(old))
    left = set(content(plain)) - known.union(content(new), _OF_RELATIONS)
    return len(left) >= (1 if before else _MORE_WORDS)


def _wider_places(text: str) -> set[str]:
    """The items of the countries and states that a text names: "Lyon, France" is one place."""
    found = (text[name.start : name.end] for name in names(text))
    return {
        item
        for place in found
        if place_kind(place) in ("continent", "country", "state")
        for item in content(place)
    }


_MORE_WORDS = 2  # content words that are more than the value of a statement that is not understood
_OF_RELATIONS = frozenset(
    content(
        "live living reside based settle move home house flat place work working job position employ "
        "employer company profession occupation change switch leave name called year old age turn bear "
        "birthday number address phone new current last week month great happy project task report "
        "paper essay due pay earn weigh go went up down raise rise rose increase lower reduce drop fell "
        "every each do have"
    )
)
_OF_WORK = frozenset(content("nights days shifts full part time remotely freelance mostly mainly"))
_OF_MARRIAGE = frozenset(content("marry married wife husband spouse"))
_OF_A_PARTNER = frozenset(content("seeing going out guy man boy girl woman bloke lad someone"))
_STRONGEST: tuple[RelationChange, ...] = ("value", "negated", "withdrawn", "other")


def _met(old: Relation, new: Relation) -> RelationChange | None:
    """None where both give the same value, or one says more of it."""
    if old.over and old.name.startswith(DOSE_OF) and not new.over:
        return "value"  # it is taken again
    if old.over:
        return None if new.value == old.value else "other"
    if new.over:
        is_doubtful = new.needs_new and not new.is_new
        return new.over if new.value <= old.value and not is_doubtful else "other"
    if old.value <= new.value or new.value <= old.value:
        return None
    if AS_WELL in (old.kind, new.kind):
        return "other"
    if new.instead_of and new.instead_of.isdisjoint(
        old.value
    ):  # "I moved from Tarvik to Ombra": are they towns?
        return "other"
    if old.name == "home" and (old.kind != new.kind or new.kind == "unknown"):
        return "other"
    is_doubtful = old.kind != new.kind or old.needs_new or new.needs_new
    return "value" if new.is_new or not is_doubtful else "other"


_TOLD_IN_TWO = [
    re.compile(each, re.IGNORECASE)
    for each in (JOB_CHANGED, HOME_CHANGED, BOTH_PARTED, ONE_CHANGED, r".*\bnew [\w -]+ : ")
]
_ENDED = re.compile(
    r"\b(?:(?P<back>no longer )|(?P<past>used to )|(?P<denied>(?:do|does) not )(?=.*\banymore$)|"
    r"(?P<left>(?:have |has )?(?:stopped|quit|finished) )(?=working|living))",
    re.IGNORECASE,
)


def _of_clause(clause: str) -> list[Relation]:
    ended = _ENDED.search(clause)
    if ended is None:
        return [] if _DENIED.search(clause) else _given(clause)
    rest = (clause[: ended.start()] + clause[ended.end() :]).removesuffix(" anymore")
    over: Literal["negated", "withdrawn"] = "negated" if ended["past"] or ended["left"] else "withdrawn"
    return [relation._replace(over=over) for relation in _given(rest)]


_DENIED = re.compile(r"\b(?:not|never|cannot|hardly)\b", re.IGNORECASE)

_WORDINGS = [
    (re.compile(wording, re.IGNORECASE), read)
    for wordings, read in (
        *OF_AMOUNTS,
        *OF_LOANS,
        *OF_THINGS,
        *OF_JOBS,
        *OF_PERSONS,
        *OF_DIETS,
        *OF_POSSESSIONS,
    )
    for wording in wordings
]


def _given(clause: str) -> list[Relation]:
    """What a clause gives; nothing for most."""
    for wording, read in _WORDINGS:
        if (match := wording.match(clause)) and (found := list(read(match))):
            return found
    return []
