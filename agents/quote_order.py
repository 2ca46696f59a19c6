"""Which of the quoted sentences a user's own words, said at different times, let stand first.

quotes -> what gives the thing that is asked for is raised -> what changed since comes first
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.asked_for import GIVINGS, how_it_gives, may_be_meant
from agents.chat_interfaces import Source
from agents.claim_rules.doubts import is_thought
from agents.claim_rules.lead_ins import tells_hearsay, without_leads
from agents.claim_rules.suppositions import Supposition, asks_for_suppositions, supposition
from agents.hearsay import only_supposed
from agents.relations.comparison import exchange_change, relations
from agents.relations.named_persons import NamedPersons
from agents.relations.persons import DWELLING, WAY_OF_LIFE
from agents.relations.questions import NAME_OF, Asked, says_no_more
from agents.value_changes import began, effect
from stores.passages import Passage

_TOLD = ("message", "note", "fact", "preference", "correction")  # kinds of passages that a user said
_GIVEN = 0.9  # probability of a statement of the user that gives the very thing that is asked for
_OF_ANOTHER_THING = 0.5  # share that is left to one that gives something else
_NO_PLACE = 0.1  # share that is left to "I live in fear" where a home is asked for
_OF_AN_UNTOLD_KIND = 15.0  # by so much an exchange is likelier to be meant than its words alone say
_LEAST = 1e-9  # probability
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
    is_now: bool = False  # it was asked what held, and this holds now; what held before stands behind it
    only: Supposition | None = None  # how it says what is asked for, where it does not say that it is so


def is_own_words(passage: Passage) -> bool:
    """Whether the user who searches said it; a fact that was shared is everybody's."""
    return passage.kind in _TOLD and not passage.is_shared


def as_asked_for(
    asking: Sequence[Asked], quotes: Sequence[Quote], persons: NamedPersons | None = None
) -> list[Quote]:
    """A user's own statement that gives what is asked for is probable, in whatever words it does.

    Beside it, one that gives something else of theirs is not: a home where a workplace is asked for. What
    they only passed on gives it where they never said so themselves. "I live in fear" tells of no home,
    whatever else is known, and where a name is known "My boss is CEO" does not say who that is.
    persons: who the question is about; what names them by what they are alone gives it too.
    """
    own = [quote for quote in quotes if is_own_words(quote.source.passage)] if asking else []
    read = [persons.named(quote.text, even_of_many=True) if persons else quote.text for quote in own]
    how = [how_it_gives(text, asking) for text in read]
    best = next((each for each in GIVINGS if each in how), None)
    giving = [quote for quote, each in zip(own, how, strict=True) if best is not None and each == best]
    asks_for_home = any("home" in one.names for one in asking)
    found: list[Quote] = []
    for quote in quotes:
        share = 1.0
        if quote in own and quote not in giving:
            given = {one.name for one in relations(quote.text)}
            tells_more = giving and (given or _is_of_who_is_asked_for(quote.text, asking))
            share = _OF_ANOTHER_THING if tells_more else share
            if not giving and may_be_meant(quote.text, asking):
                share = min(_OF_AN_UNTOLD_KIND, _GIVEN / max(quote.probability, _LEAST))
            if asks_for_home and given & {DWELLING, WAY_OF_LIFE}:
                share = _NO_PLACE if WAY_OF_LIFE in given else _OF_ANOTHER_THING
        probability = max(quote.probability, _GIVEN) if quote in giving else share * quote.probability
        found.append(replace(quote, probability=probability))
    return found


def _is_of_who_is_asked_for(text: str, asking: Sequence[Asked]) -> bool:
    """Whether it only says more of somebody whose name is asked for: "My boss is a doctor"."""
    roles = (name.removeprefix(NAME_OF) for one in asking for name in one.names if name.startswith(NAME_OF))
    return any(re.match(rf"(?:my|our) (?:\w+ )?{re.escape(role)}\b", text, re.IGNORECASE) for role in roles)


def said_once(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes without what the user said again in the same words: "my wife's name is Nora".

    Of the same words that stays which is kept as knowledge, else the newest, as probable as any of them.
    """
    groups: dict[str, list[Quote]] = {}
    for quote in quotes:
        if is_own_words(quote.source.passage) and quote.source.passage.is_live:
            groups.setdefault(_words(quote.text), []).append(quote)
    kept = {
        id(max(group, key=lambda one: (one.source.passage.kind != "message", told_at(one)))): max(
            one.probability for one in group
        )
        for group in groups.values()
    }
    again = {id(quote) for group in groups.values() for quote in group} - set(kept)
    return [
        replace(quote, probability=kept.get(id(quote), quote.probability))
        for quote in quotes
        if id(quote) not in again
    ]


def _words(text: str) -> str:
    """What a sentence says, without what leads into it, case and stops."""
    lead = without_leads(" ".join(text.replace("’", "'").split()))
    stated = lead[0] if lead is not None and not lead[1] else text  # who else says it is part of it
    return stated.casefold().strip(" .!\"'")


def without_suppositions(question: str, ranked: Sequence[Quote], *, sure_from: float) -> list[Quote]:
    """The quotes without what the user only supposed or wished; where nothing else is sure, that alone.

    ranked: most probable first. sure_from: probability from which a quote answers. Who asks for what was
    supposed ("What would I call my boat?") is given it like anything else.
    """
    if asks_for_suppositions(question):
        return list(ranked)
    held: list[Quote] = []
    supposed: list[Quote] = []
    for quote in ranked:
        how = only_supposed(quote.text, question) if is_own_words(quote.source.passage) else None
        (supposed if how else held).append(replace(quote, answer="", only=how) if how else quote)
    is_answered = held and held[0].probability >= sure_from
    if is_answered or not supposed or supposed[0].probability < sure_from:
        return held
    return supposed[:1]


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
    in_order = iter(_without_what_is_over(newest_first([*own, *since]), asking))
    chosen = [*best, *since]
    return [next(in_order) if is_own_words(quote.source.passage) else quote for quote in chosen]


def _without_what_is_over(own: Sequence[Quote], asking: Sequence[Asked]) -> list[Quote]:
    """What gives what is asked for, and was said to be over since, is marked as earlier.

    own: newest first. "My girlfriend Marta lives in Ghent", "Marta and I broke up"
    """
    return [
        replace(quote, is_earlier=True)
        if any(_ends(newer, quote, asking) for newer in own[:place])
        else quote
        for place, quote in enumerate(own)
    ]


def _ends(newer: Quote, quote: Quote, asking: Sequence[Asked]) -> bool:
    """Whether a newer statement says that what the older one gives for what is asked holds no more."""
    if tells_hearsay(newer.text) or supposition(newer.text) is not None or says_no_more(quote.text, asking):
        return False
    return how_it_gives(quote.text, asking) == "plainly" and says_no_more(newer.text, asking, of=quote.text)


_LISTED = re.compile(r"((?:my|our|the) (?:[\w-]+ ){0,3}list): ", re.IGNORECASE)


def _is_of_one_list(one: Quote, other: Quote) -> bool:
    """Whether two statements of the user name things of the same list: "My shopping list: butter"."""
    lists = [_LISTED.match(quote.text) for quote in (one, other)]
    named = {found[1].casefold() for found in lists if found}
    return all(lists) and len(named) == 1 and is_own_words(other.source.passage)


def newest_first(own: Sequence[Quote]) -> list[Quote]:
    """In the order of what they say to hold since when, if all do, else of when they were said.

    What is live no more comes last, and what somebody else said, or the user only thought. Those that a newer
    one changes are marked.
    """
    years = [began(quote.text) or 0 for quote in own]
    is_dated = all(years)
    keys = [
        (
            q.source.passage.is_live,
            not tells_hearsay(q.text),
            not is_thought(q.text),
            y if is_dated else 0,
            *told_at(q),
        )
        for q, y in zip(own, years, strict=True)
    ]
    order = [own[i] for i in sorted(range(len(own)), key=lambda i: keys[i], reverse=True)]
    return [
        replace(quote, is_earlier=any(_changes(newer, quote) for newer in order[:place]))
        for place, quote in enumerate(order)
    ]


def _changes(newer: Quote, quote: Quote) -> bool:
    if is_thought(quote.text) and told_at(quote) > told_at(newer):
        return False  # what is only thought stands behind what is certain, and need not be earlier
    says_it_is_so = not tells_hearsay(newer.text) and supposition(newer.text) is None
    return says_it_is_so and effect(quote.text, newer.text) in _CHANGES


def all_over_are_replaced(best: Sequence[Quote]) -> bool:
    """Whether each quote that is live no more stands beside a live one that took its place."""
    live = [quote for quote in best if quote.source.passage.is_live]
    return all(
        any(effect(over.text, quote.text) in _CHANGES for quote in live)
        for over in best
        if not over.source.passage.is_live
    )


def told_at(quote: Quote) -> tuple[datetime, int]:
    """When it was told; of one message, in the order of what it taught."""
    return quote.source.passage.told(quote.text), quote.source.passage.version_id


def _is_changed_by(earlier: Quote, later: Quote, asking: Sequence[Asked]) -> bool:
    is_given = how_it_gives(earlier.text, asking) == "plainly"
    if exchange_change(earlier.text, later.text) is not None:
        is_given = False  # it need not tell of what: "I moved from O2 to Vodafone"
    if is_given and relations(later.text) and how_it_gives(later.text, asking) != "plainly":
        return False
    return (
        is_own_words(later.source.passage)
        and told_at(later) > told_at(earlier)
        and effect(earlier.text, later.text) in _CHANGES
    )
