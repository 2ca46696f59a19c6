"""Finds what a user stated with the built-in reader alone.

    message -> statements, by rule -> what they point to -> clause by clause -> no echo
      -> the reader sorts them -> claims

The rules say what states something; the reader says whether it is of the world, of the user or nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Literal

from agents.claim_interfaces import Claim, Said
from agents.claim_rules.clipped import is_of_oneself_there
from agents.claim_rules.doubts import without_doubt
from agents.claim_rules.echoes import Echoes
from agents.claim_rules.english import is_english
from agents.claim_rules.speaker import is_of_the_user, is_of_the_user_elsewhere, is_opinion, is_preference
from agents.claim_rules.statements import (
    LONGEST_CLAIM,
    MOST_CLAIMS,
    MOST_STATEMENTS,
    Statement,
    statements,
)
from agents.clause_slips import with_clause_put_right
from agents.ended_things import with_the_job, with_what_is_ended
from agents.interfaces import Reader, Sorting
from agents.joined_clauses import told_apart
from agents.pointed_to import standalone
from agents.relations.comparison import relations
from agents.relations.doses import with_medicine
from agents.sentences import sentences
from agents.slips import without_slip
from agents.told_before import clause_put_right, meant_by, tells_anew, when_put_right

# Of what the reader says of a sentence. To fit them: python -m benchmarks.claims_found --develop --sweep
WORLD_FROM = 0.6  # p(world) from which it is of the world, if the user is not in it
NOTHING_FROM = 0.5  # p(nothing) from which there is nothing to keep
NOTHING_FROM_IF_TOLD = 0.9  # where its user asked for it to be remembered, or a rule knows what it gives


class ReaderSummarizer:
    """A summarizer by rules and the reader's sorting."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def name(self) -> str:
        """The reader's."""
        return self._reader.name

    async def summarize(self, said: Said) -> list[Claim]:
        """See `Summarizer`. Needs no chat model, so it raises no `ModelError`.

        All that users say of themselves in the statements that are looked at; of the rest at most
        MOST_CLAIMS, as a message that tells more of the world is a pasted text.
        """
        return await asyncio.to_thread(self._summarize, said)

    def _summarize(self, said: Said) -> list[Claim]:
        claims: list[Claim] = []
        others = 0
        for statement in candidates(said):
            claim = self._claimed(statement)
            is_own = statement.is_wish or is_of_the_user(statement.text)
            if claim is None or (not is_own and others == MOST_CLAIMS):
                continue
            others += not is_own
            claims.append(claim)
        return claims

    def _claimed(self, statement: Statement) -> Claim | None:
        """What a statement claims, and of whom; None for nothing."""
        if statement.is_wish:
            return _claim(statement, "preference", "user")
        if not is_english(statement.text) or is_of_the_user_elsewhere(statement.text):
            return _claim(statement, "fact", "user")
        about = _about(statement, self._reader.sort([without_doubt(statement.text)])[0])
        if about is None:
            return None
        is_liking = about == "user" and is_preference(statement.text)
        return _claim(statement, "preference" if is_liking else "fact", about)


def candidates(said: Said) -> Iterator[Statement]:
    """The statements of a message that can be understood alone and repeat nothing, in its order.

    A sentence that states several things is as many statements; MOST_STATEMENTS are looked at.
    """
    echoes = Echoes(said)
    looked_at = 0
    before, resolved = "", ""  # the statement before this one, and what it became
    may_be_clipped = is_of_oneself_there(said.earlier[-1].message if said.earlier else "")
    for statement in statements(said.message):
        if statement.is_clipped and not may_be_clipped:
            continue
        known = resolved if statement.before == before else statement.before
        read = _understood if statement.is_right_words or is_english(statement.text) else _elsewhere
        text = read(statement, known, said)
        if text is None:
            continue
        before, resolved = statement.text, text
        for part in told_apart(statement, text)[: MOST_STATEMENTS - looked_at]:
            looked_at += 1
            text = part.text
            if len(text) <= LONGEST_CLAIM and (not echoes.repeats(text) or tells_anew(text, said)):
                yield part._replace(text=_as_thought(part, text))


def _as_thought(statement: Statement, text: str) -> str:
    """What users say of themselves, with the doubt in which they say it; an opinion of the world without."""
    return statement.doubt.on(text) if statement.doubt and is_of_the_user(text) else text


def _elsewhere(statement: Statement, before: str, said: Said) -> str | None:
    """What a statement in another language says: all of it, or nothing that is kept."""
    is_kept = is_of_the_user_elsewhere(statement.text) or statement.is_wish
    return statement.text if is_kept else None


def _understood(statement: Statement, before: str, said: Said) -> str | None:
    """What a statement says, so that it can be understood alone; None where that is not certain."""
    if (anew := clause_put_right(statement.quote, before, said.earlier)) is not None:
        return anew
    if statement.is_right_words:
        return meant_by(statement.text, before, said.earlier, said.known)
    if (moved := when_put_right(statement.quote, before, said.earlier)) is not None:
        return moved
    put_right = without_slip(with_clause_put_right(statement.text))
    put_right = with_medicine(put_right, _told_by_the_user(said, before))
    put_right = with_the_job(put_right, before, said.earlier, said.known) or put_right
    text = with_what_is_ended(put_right, before, said.earlier) or standalone(put_right, before, said.earlier)
    if text is None and statement.is_hearsay and _NAMES_WHO_SAYS.match(statement.quote):
        return statement.quote  # "My mother says she is ill" is kept whole, and so understood
    return text


def _told_by_the_user(said: Said, before: str) -> Iterator[str]:
    """The sentences of all that is known to be told by the user, without what they only think."""
    for text in (*said.known, *(exchange.message for exchange in said.earlier), before):
        yield from (without_doubt(each.text) for each in sentences(text))


_NAMES_WHO_SAYS = re.compile(
    r"(?:my|our) \w|(?!(?:it|this|that|he|she|they|somebody|someone)\b)(?-i:[A-ZÀ-Þ])\w+ "
    r"(?:says|said|thinks|told|claims) ",
    re.IGNORECASE,
)


def _claim(
    statement: Statement, kind: Literal["fact", "preference"], about: Literal["world", "user"]
) -> Claim:
    return Claim(statement.text, statement.quote, kind, about, statement.is_hearsay)


def _about(statement: Statement, sorting: Sorting) -> Literal["world", "user"] | None:
    """What a statement is of; unsure is of the user, and None is nothing."""
    # of a thing, "My locker is 214" would be an age
    is_something = statement.is_told or any(one.name != "age" for one in relations(statement.text))
    is_nothing = sorting.nothing >= (NOTHING_FROM_IF_TOLD if is_something else NOTHING_FROM)
    if is_nothing and not statement.is_right_words:  # who puts right what was told means it to be kept
        return None
    if sorting.world < WORLD_FROM or is_of_the_user(statement.text):
        return "user"
    return None if is_opinion(statement.text) else "world"
