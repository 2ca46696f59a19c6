"""Which of the quoted sentences a user's own words, said at different times, let stand first.

quotes -> what gives the thing that is asked for is raised -> what changed since comes first
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.asked_for import how_it_gives
from agents.claim_rules.lead_ins import tells_hearsay
from agents.interfaces import Source
from agents.relations.comparison import relations
from agents.relations.questions import Asked
from agents.value_changes import began, effect
from stores.records import Passage

_TOLD = ("message", "note", "fact", "preference", "correction")  # kinds of passages that a user said
_GIVEN = 0.9  # probability of a statement of the user that gives the very thing that is asked for
_OF_ANOTHER_THING = 0.5  # share that is left to one that gives something else
_CHANGES = ("value", "negated", "withdrawn")  # effects of a later statement on an earlier one
_LOOKED_THROUGH = 50  # sentences, most probable first, for what changes those that are quoted


@dataclass(frozen=True)
class Quote:
    """A sentence of a source, and how probably it answers the question."""

    source: Source
    text: str
    probability: float
    answer: str = ""  # the words of it that answer, where the reader is sure of them
    is_sure: bool = True  # false: too improbable to be given as the answer
    is_earlier: bool = False  # the user said otherwise since: that is quoted before it
    is_only_now: bool = False  # it was asked what held before, and only this is known


def is_own_words(passage: Passage) -> bool:
    """Whether the user who searches said it; a fact that was shared is everybody's."""
    return passage.kind in _TOLD and not passage.is_shared


def as_asked_for(asking: Sequence[Asked], quotes: Sequence[Quote]) -> list[Quote]:
    """A user's own statement that gives what is asked for is probable, in whatever words it does.

    Beside it, one that gives something else of theirs is not: a home where a workplace is asked for. What
    they only passed on gives it where they never said so themselves.
    """
    own = [quote for quote in quotes if is_own_words(quote.source.passage)] if asking else []
    how = [how_it_gives(quote.text, asking) for quote in own]
    giving = [quote for quote, each in zip(own, how, strict=True) if each == "plainly"]
    giving = giving or [quote for quote, each in zip(own, how, strict=True) if each == "by hearsay"]
    beside = [quote for quote in own if giving and quote not in giving and relations(quote.text)]
    return [
        replace(quote, probability=max(quote.probability, _GIVEN))
        if quote in giving
        else replace(quote, probability=_OF_ANOTHER_THING * quote.probability)
        if quote in beside
        else quote
        for quote in quotes
    ]


def with_what_changed_since(
    best: Sequence[Quote], ranked: Sequence[Quote], asking: Sequence[Asked]
) -> list[Quote]:
    """Of what a user said of the same thing at different times, the latest holds and comes first.

    That is what was chosen, and, however improbable it is, what gives another value or denies it since.
    What somebody else said comes last. The other places stay. A later one that changes another thing than
    the one asked for is left out: "I moved to Berlin" says nothing of who "my wife Marta" is.
    """
    own = [quote for quote in best if is_own_words(quote.source.passage)]
    since = [
        quote
        for quote in ranked[:_LOOKED_THROUGH]
        if quote not in best and any(_is_changed_by(one, quote, asking) for one in own)
    ]
    beside = [
        quote
        for quote in ranked[:_LOOKED_THROUGH]
        if quote not in best and quote not in since and any(_is_of_one_list(one, quote) for one in own)
    ]
    since += beside
    in_order = iter(newest_first([*own, *since]))
    chosen = [*best, *since]
    return [next(in_order) if is_own_words(quote.source.passage) else quote for quote in chosen]


_LISTED = re.compile(r"((?:my|our|the) (?:[\w-]+ ){0,3}list): ", re.IGNORECASE)


def _is_of_one_list(one: Quote, other: Quote) -> bool:
    """Whether two statements of the user name things of the same list: "My shopping list: butter"."""
    lists = [_LISTED.match(quote.text) for quote in (one, other)]
    named = {found[1].casefold() for found in lists if found}
    return all(lists) and len(named) == 1 and is_own_words(other.source.passage)


def newest_first(own: Sequence[Quote]) -> list[Quote]:
    """In the order of what they say to hold since when, if all do, else of when they were said.

    Those that a newer one changes are marked.
    """
    years = [began(quote.text) or 0 for quote in own]
    is_dated = all(years)
    keys = [
        (not tells_hearsay(q.text), y if is_dated else 0, *told_at(q))
        for q, y in zip(own, years, strict=True)
    ]
    order = [own[i] for i in sorted(range(len(own)), key=lambda i: keys[i], reverse=True)]
    return [
        replace(quote, is_earlier=any(_changes(newer, quote) for newer in order[:place]))
        for place, quote in enumerate(order)
    ]


def _changes(newer: Quote, quote: Quote) -> bool:
    return not tells_hearsay(newer.text) and effect(quote.text, newer.text) in _CHANGES


def told_at(quote: Quote) -> tuple[datetime, int]:
    """When it was told; of one message, in the order of what it taught."""
    return quote.source.passage.created_at, quote.source.passage.version_id


def _is_changed_by(earlier: Quote, later: Quote, asking: Sequence[Asked]) -> bool:
    is_given = how_it_gives(earlier.text, asking) == "plainly"
    if is_given and relations(later.text) and how_it_gives(later.text, asking) != "plainly":
        return False
    return (
        is_own_words(later.source.passage)
        and told_at(later) > told_at(earlier)
        and effect(earlier.text, later.text) in _CHANGES
    )
