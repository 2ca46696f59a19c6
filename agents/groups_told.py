"""Which of a user's statements answer where all that they have of a group is asked for.

    "What pets do I have?"    "My dog is called Rex."  "I have a cat called Mia."  "Mia died."
    quoted                    "My dog is called Rex."

All that tell one that is there are quoted, the newest first. What is over is left out; where all of it is,
what ended it is quoted, and behind it what was told before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.asked_for import MOST_OF_A_GROUP, how_it_gives
from agents.claim_rules.lead_ins import tells_hearsay
from agents.claim_rules.suppositions import supposition
from agents.quote_order import Quote, is_own_words, told_at
from agents.relations.listed import gone_one
from agents.relations.mentions import openings
from agents.relations.questions import Asked
from agents.value_changes import effect
from agents.values import content

_I = re.IGNORECASE
_LOOKED_INTO = 50  # later statements that may end what was told, for one question; about 1 ms each
_MAY_END = re.compile(
    r"\b(?:died|dead|gone|no more|no longer|any ?more|ran away|passed away|disappeared|was|gave|given|give|"
    r"sold|sell|lost|rehomed|stopped|quit|not|never|used to)\b|n['’]t\b",
    _I,
)
_BY_THE_USER = re.compile(r"(?:I|We)\b", _I)


def quotes_of_a_group(best: Sequence[Quote], ranked: Sequence[Quote], asking: Sequence[Asked]) -> list[Quote]:
    """The quotes that tell what is there, or that nothing is any more; `best` where none tells one plainly.

    best: what is probable enough. ranked: all that can be quoted, most probable first.
    """
    giving = [q for q in best if is_own_words(q.source.passage) and how_it_gives(q.text, asking) == "plainly"]
    giving.sort(key=told_at, reverse=True)
    if not giving:
        return list(best)
    later = [quote for quote in ranked if is_own_words(quote.source.passage) and _MAY_END.search(quote.text)]
    ended = [(one, by) for one in giving for by in later[:_LOOKED_INTO] if _is_ended_by(one, by)]
    ends = list({id(by): by for _, by in ended}.values())
    doubtful = [by for by in ends if sum(other is by for _, other in ended) > 1]  # which cat died?
    over = [one for one, by in ended if by not in doubtful]
    there = sorted((q for q in giving if q not in over), key=told_at, reverse=True)
    if not there:
        before = [replace(quote, answer="", is_earlier=True) for quote in giving]
        return [replace(end, answer="") for end in [*ends, *before]][:MOST_OF_A_GROUP]
    quoted = sorted([*there, *doubtful], key=told_at, reverse=True)[:MOST_OF_A_GROUP]
    return [replace(quote, answer="") for quote in quoted] if len(quoted) > 1 else quoted


def _is_ended_by(one: Quote, later: Quote) -> bool:
    return told_at(later) > told_at(one) and ends(later.text, one.text)


def had_before(giving: Sequence[Quote], own: Sequence[Quote]) -> list[Quote]:
    """Those that tell one of a group of which the user said since that it is there no more."""
    later = [quote for quote in own if _MAY_END.search(quote.text)][:_LOOKED_INTO]
    return [one for one in giving if any(_is_ended_by(one, by) for by in later)]


def ends(later: str, told: str) -> bool:
    """Whether a later statement says that what an earlier one tells is there no more.

    "My sister Nell is no vet any more" changes what she is, and "Nell died" that she is there.
    """
    if tells_hearsay(later) or supposition(later) is not None:
        return False
    if gone_one(later) & set(content(told)):
        return True
    return _BY_THE_USER.match(later) is not None and effect(told, later) in ("negated", "withdrawn")


def that_end(told: Sequence[tuple[int, str]], giving: Sequence[int]) -> list[int]:
    """The version ids of statements that end one of those that give it, newest first.

    told: version ids and texts, the newest first. giving: version ids among them.
    """
    given = {version_id: text for version_id, text in told if version_id in set(giving)}
    stems = {stem for text in given.values() for stem in content(text)}
    is_plain = all(stem.isascii() and stem.isalpha() for stem in stems)
    sharing = re.compile("|".join(openings(stems)) if is_plain else "", _I)
    found: list[int] = []
    older = set(given)
    looked_into = 0
    for version_id, text in told:
        older.discard(version_id)
        if not older or looked_into == _LOOKED_INTO:
            break
        if version_id in given or not _MAY_END.search(text) or not sharing.search(text):
            continue
        looked_into += 1
        if any(ends(text, given[one]) for one in older):
            found.append(version_id)
    return found[: len(given)]
