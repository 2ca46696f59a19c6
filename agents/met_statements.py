"""Which statements a claim meets: those of which it changes something by rule, however little alike they are.

    "I work at the library."                 "I work at the harbour office."
    "I swapped my Skoda for a Fiat."         "I drive a Skoda."
    "I no longer have a locker in Ulm."      "My locker in Ulm has the number 214."

The nearest in meaning are not always among them: of thirty lockers, each is as near as the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agents.claim_rules.lead_ins import tells_hearsay
from agents.interfaces import Candidate
from agents.relations.comparison import (
    death_told,
    exchange_change,
    exchange_of,
    relation_change,
    relations,
    work_told_left,
)
from agents.relations.listed import gone_one, is_of_what_one_has, says_as_much, without_listed
from agents.relations.mentions import openings
from agents.relations.named_persons import NamedPersons
from agents.relations.parts import MANY_OF_THEM
from agents.sentences import sentences
from agents.value_changes import effect, is_withdrawal, withdrawn_words

SAME_TOPIC = 0.6  # cosine from which a passage is on the claim's topic
CHANGEABLE = ("note", "fact", "preference", "correction")  # kinds of passages that a claim may change
_LOOKED_INTO = 1_000  # statements that share a word with what is ended, for one claim; about 0.3 ms each


def persons_of(claim: str, nearest: Sequence[Candidate]) -> NamedPersons:
    """Whom the user names, in the claim and in what is their own, with what they are."""
    own = (c.passage.text for c in nearest if not c.passage.is_shared and c.passage.kind in CHANGEABLE)
    told = (each.text for text in own for each in sentences(text) if not tells_hearsay(each.text))
    return NamedPersons([claim, *told])


def is_near(claim: str, candidate: Candidate, persons: NamedPersons | None = None) -> bool:
    """Whether a passage is on the claim's topic: by meaning, or as the user's own words of the same thing.

    "I work at the harbour office" and "I work at the library" mean little alike.
    """
    if candidate.dense >= SAME_TOPIC:
        return True
    passage = candidate.passage
    return not passage.is_shared and passage.kind in CHANGEABLE and is_met(claim, passage.text, persons)


def is_met(claim: str, text: str, persons: NamedPersons | None = None) -> bool:
    """Whether a claim changes what a text says by rule, however little alike they are."""
    return (
        gives_otherwise(claim, text, persons)
        or _takes_from_a_list(claim, text)
        or any(exchange_change(one.text, claim) is not None for one in sentences(text))
        or _is_withdrawn(claim, text)
    )


def ended_by(claim: str, told: Iterable[tuple[int, str]], *, most: int) -> list[int]:
    """Version ids of what a claim takes back or ends of all that its user told, as it is told: newest first.

    Empty for a claim that ends nothing. told: version ids and texts, the newest first.
    """
    words = _ended_words(claim)
    if not words:
        return []
    mentioning = re.compile("|".join(openings(words)) or r"\b", re.IGNORECASE)
    found: list[int] = []
    looked_into = 0
    for version_id, text in told:
        if text.isascii() and mentioning.search(text) is None:
            continue
        looked_into += 1
        if is_met(claim, text):
            found.append(version_id)
        if len(found) == most or looked_into == _LOOKED_INTO:
            break
    return found


def _ended_words(claim: str) -> set[str]:
    """The stems that name what a claim says to hold no more; none where it says no such thing."""
    if exchange := exchange_of(claim):
        return {*exchange.gone, *exchange.kind.split()}
    if left := work_told_left(claim):
        return set(left.gone)
    return words_of_the_gone(claim) if gone_one(claim) or is_withdrawal(claim) else set()


def is_of_one_thing(claim: str) -> bool:
    """Whether a claim says of one thing that it is gone: "Kit died", "I sold the Audi and got a Tesla"."""
    return bool(gone_one(claim)) or exchange_of(claim) is not None


def may_mean_another(claim: str) -> bool:
    """Whether a claim says that one died of whom there may be several, and not which: "My sister died"."""
    death = death_told(claim)
    if death is None or death.name:
        return False
    return death.is_animal or MANY_OF_THEM.search(claim) is not None


def words_of_the_gone(claim: str) -> set[str]:
    """The stems that name whom or what a claim that takes something back says to be gone."""
    exchange = exchange_of(claim)
    return gone_one(claim) or (set(exchange.gone) if exchange else set()) or withdrawn_words(claim)


def _is_withdrawn(claim: str, text: str) -> bool:
    return is_withdrawal(claim) and any(
        effect(one.text, claim) in ("withdrawn", "negated") for one in sentences(text)
    )


def _takes_from_a_list(claim: str, text: str) -> bool:
    """Whether a claim says that one of several things that a sentence lists holds no more."""
    return any(one_less(one.text, claim) is not None for one in sentences(text))


def one_less(sentence: str, claim: str) -> str | None:
    """A sentence without the ones of its list that a claim takes back or says to be gone; None for most."""
    if gone_one(claim) or exchange_of(claim):
        is_had = is_of_what_one_has(sentence)
        return without_listed(sentence, words_of_the_gone(claim)) if is_had else None
    if not is_withdrawal(claim) or not says_as_much(sentence, claim):
        return None
    return without_listed(sentence, withdrawn_words(claim))


def gives_otherwise(claim: str, text: str, persons: NamedPersons | None = None) -> bool:
    """Whether a claim gives another value of what a sentence of a text gives, of which there is one."""
    if not relations(claim):
        return False
    persons = persons or NamedPersons([claim, text])
    said, known = persons.named(claim), (persons.named(one.text) for one in sentences(text))
    return any(relation_change(one, said) not in (None, "other") for one in known)
