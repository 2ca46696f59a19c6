"""Finds what a user stated with the built-in reader alone.

    message -> statements, by rule -> what they point to -> no echo -> the reader sorts them -> claims

The rules say what states something; the reader says whether it is of the world, of the user or nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Literal

from agents.claim_rules.echoes import Echoes
from agents.claim_rules.english import is_english
from agents.claim_rules.speaker import is_of_the_user, is_of_the_user_elsewhere, is_opinion, is_preference
from agents.claim_rules.statements import LONGEST_CLAIM, MOST_CLAIMS, Statement, statements
from agents.interfaces import Claim, Reader, Said, Sorting
from agents.pointed_to import standalone
from agents.relations.comparison import relations
from agents.told_before import meant_by, tells_anew, without_slip

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
        """See `Summarizer`. At most MOST_CLAIMS; needs no chat model, so it raises no `ModelError`."""
        return await asyncio.to_thread(self._summarize, said)

    def _summarize(self, said: Said) -> list[Claim]:
        claims: list[Claim] = []
        for statement in candidates(said):
            if statement.is_wish:
                claims.append(_claim(statement, "preference", "user"))
            elif not is_english(statement.text) or is_of_the_user_elsewhere(statement.text):
                claims.append(_claim(statement, "fact", "user"))
            elif about := _about(statement, self._reader.sort([statement.text])[0]):
                kind: Literal["fact", "preference"] = (
                    "preference" if about == "user" and is_preference(statement.text) else "fact"
                )
                claims.append(_claim(statement, kind, about))
            if len(claims) == MOST_CLAIMS:
                break
        return claims


def candidates(said: Said) -> Iterator[Statement]:
    """The statements of a message that can be understood alone and repeat nothing, in its order."""
    echoes = Echoes(said)
    before, resolved = "", ""  # the statement before this one, and what it became
    for statement in statements(said.message):
        known = resolved if statement.before == before else statement.before
        read = _understood if statement.is_right_words or is_english(statement.text) else _elsewhere
        text = read(statement, known, said)
        if text is None:
            continue
        before, resolved = statement.text, text
        if len(text) <= LONGEST_CLAIM and (not echoes.repeats(text) or tells_anew(text, said)):
            yield statement._replace(text=text)


def _elsewhere(statement: Statement, before: str, said: Said) -> str | None:
    """What a statement in another language says: all of it, or nothing that is kept."""
    is_kept = is_of_the_user_elsewhere(statement.text) or statement.is_wish
    return statement.text if is_kept else None


def _understood(statement: Statement, before: str, said: Said) -> str | None:
    """What a statement says, so that it can be understood alone; None where that is not certain."""
    if statement.is_right_words:
        return meant_by(statement.text, before, said.earlier, said.known)
    text = standalone(without_slip(statement.text), before, said.earlier)
    if text is None and statement.is_hearsay and _NAMES_WHO_SAYS.match(statement.quote):
        return statement.quote  # "My mother says she is ill" is kept whole, and so understood
    return text


_NAMES_WHO_SAYS = re.compile(
    r"(?:my|our) \w|(?-i:[A-ZÀ-Þ])\w+ (?:says|said|thinks|told|claims) ", re.IGNORECASE
)


def _claim(
    statement: Statement, kind: Literal["fact", "preference"], about: Literal["world", "user"]
) -> Claim:
    return Claim(statement.text, statement.quote, kind, about, statement.is_hearsay)


def _about(statement: Statement, sorting: Sorting) -> Literal["world", "user"] | None:
    """What a statement is of; unsure is of the user, and None is nothing."""
    # of a thing, "My locker is 214" would be an age
    is_something = statement.is_told or any(one.name != "age" for one in relations(statement.text))
    if sorting.nothing >= (NOTHING_FROM_IF_TOLD if is_something else NOTHING_FROM):
        return None
    if sorting.world < WORLD_FROM or is_of_the_user(statement.text):
        return "user"
    return None if is_opinion(statement.text) else "world"
