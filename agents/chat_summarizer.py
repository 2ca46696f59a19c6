"""Finds what a user stated with a chat model, and believes it only what the rules bear out.

    message and its context -> chat model -> proposed claims -> guards -> claims

A guard drops a claim and never mends one: what the model makes up is lost, not remembered.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from agents.chat_interfaces import ChatModel
from agents.claim_interfaces import Claim, Said
from agents.claim_rules.distinctions import is_negated, names_and_numbers
from agents.claim_rules.echoes import Echoes, context_of
from agents.claim_rules.own_part import mixes_scripts, plain_text
from agents.claim_rules.requests import is_order_to_do, is_standing_wish
from agents.claim_rules.speaker import is_of_the_user
from agents.claim_rules.statements import (
    LONGEST_CLAIM,
    MOST_CLAIMS,
    MOST_STATEMENTS,
    Statement,
    stated_in,
    statements,
)
from agents.clause_slips import with_clause_put_right
from agents.joined_clauses import told_apart
from agents.prompts.claims import SCHEMA, messages
from agents.relations.clauses import clauses
from agents.slips import without_slip
from agents.told_before import put_right, tells_anew, when_put_right
from agents.values import content
from stores.errors import ContextTooLong
from stores.lexical import tokens

LONGEST_MESSAGE = 8_000  # characters that are put before the model; more is a pasted text

_SAID_SHARE = 0.5  # of a claim's content words, that its sentence holds; the rest are names for "it"
_LONGEST_PROPOSED = 4 * LONGEST_CLAIM  # characters of a claim or a quote that are looked at
_OF_A_WISH = frozenset(tokens("want wish prefer would like love please answer reply message"))
_POINTS = re.compile(r"(?:it|its|he|his|she|her|they|their|this|that|these|those)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d")


class ChatSummarizer:
    """A summarizer that asks a chat model."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The chat model's."""
        return self._chat.name

    async def summarize(self, said: Said) -> list[Claim]:
        """See `Summarizer`. Where the rules find that a message states nothing, no model is asked.

        As much is kept as of the reader's: all that users say of themselves in the statements that are looked
        at, and of the rest at most MOST_CLAIMS, as a message that tells more of the world is a pasted text.
        Where message and context are too long for the model, the message is put before it alone.
        """
        if len(said.message) > LONGEST_MESSAGE:
            return []
        stated = await asyncio.to_thread(_stated, said.message)
        if not stated:
            return []
        try:
            reply = await self._chat.structured(messages(said), SCHEMA)
        except ContextTooLong:
            reply = await self._chat.structured(messages(Said(said.message)), SCHEMA)
        return await asyncio.to_thread(_guarded, reply, said, stated)


def _stated(message: str) -> list[Statement]:
    """What a message states; a sentence that states several things stands behind each of these."""
    return [each for one in statements(message) for each in dict.fromkeys([*told_apart(one, one.text), one])]


def _guarded(reply: Mapping[str, object], said: Said, stated: list[Statement]) -> list[Claim]:
    """The proposed claims that the message bears out, in its order."""
    guards = _Guards(said, stated)
    found: dict[str, _Passed] = {}
    for proposed in cast("list[Mapping[str, object]]", reply["claims"])[:MOST_STATEMENTS]:
        passed = guards.passed(proposed)
        if passed is not None:
            found.setdefault(passed.claim.text.casefold(), passed)
    in_order = sorted(found.values(), key=lambda one: one.place)
    of_the_world = [one for one in in_order if not one.is_own][:MOST_CLAIMS]
    return [one.claim for one in in_order if one.is_own or one in of_the_world]


class _Passed(NamedTuple):
    """A claim that the guards let through."""

    place: int  # of its quote in the message
    claim: Claim
    is_own: bool  # by the user's words it is of themselves, whatever the model calls it


class _Guards:
    """What a proposed claim has to pass."""

    def __init__(self, said: Said, stated: list[Statement]) -> None:
        self._message = said.message
        self._said = said
        self._plain = plain_text(said.message)
        self._stated = stated
        self._echoes = Echoes(said)
        around = plain_text(f"{said.message}\n{context_of(said.earlier)}").text
        self._words = frozenset(tokens(around))
        self._known = self._words | names_and_numbers(around, opening=True)
        self._own = set(tokens(self._plain.text)) | names_and_numbers(self._plain.text, opening=True)
        # of the message, without spaces: a quote is found whatever spaces the model puts between its words
        self._places = [place for place, c in enumerate(self._plain.text) if not c.isspace()]
        self._unspaced = "".join(self._plain.text[place] for place in self._places)

    def passed(self, proposed: Mapping[str, object]) -> _Passed | None:
        """The claim, with where its quote stands; None where a guard drops it."""
        text, quoted = str(proposed["text"]), str(proposed["quote"])
        if len(text) > _LONGEST_PROPOSED or len(quoted) > _LONGEST_PROPOSED:
            return None
        text = " ".join(plain_text(text).text.split())
        place = self._place_of(quoted)
        if place is None or not text or len(text) > LONGEST_CLAIM or mixes_scripts(text):
            return None
        start, end = place
        statement = self._statement_around(self._message[start:end])
        if statement is None:
            return None
        is_preference = proposed["kind"] == "preference"
        if not self._is_said(text, statement, is_preference=is_preference):
            return None
        is_own = is_of_the_user(text) or is_of_the_user(statement.text)
        is_hearsay = bool(proposed["is_hearsay"]) or statement.is_hearsay
        claim = Claim(
            text,
            statement.quote if is_hearsay else self._quote(start, end, text, statement),  # who says it
            "preference" if is_preference else "fact",
            "user" if is_own or is_preference or proposed["about"] == "user" else "world",
            is_hearsay,
        )
        return _Passed(start, claim, is_own or statement.is_wish)

    def _is_known(self, name: str) -> bool:
        """Whether a capitalised word was said, or a number by the user; what is in every text counts."""
        known = self._own if _NUMBER.search(name) else self._known
        return name in known or known.issuperset(tokens(name))

    def _place_of(self, quote: str) -> tuple[int, int] | None:
        """Where the words of a quote stand in the message, whatever spaces are between them."""
        wanted = "".join(plain_text(quote).text.split())
        at = self._unspaced.find(wanted) if wanted else -1
        if at < 0:
            return None
        last = self._places[at + len(wanted) - 1]
        return self._plain.starts[self._places[at]], self._plain.ends[last]

    def _statement_around(self, quote: str) -> Statement | None:
        """The statement that a quote is of; None where it is of something else, or of two sentences."""
        return next((one for one in self._stated if quote in one.quote), None)

    def _quote(self, start: int, end: int, text: str, statement: Statement) -> str:
        """The quote, or the sentence it is of: what is quoted may be taken out of the message one day.

        So it is whole words, and those that the claim is made of.
        """
        quote = self._message[start:end]
        before, after = self._message[:start][-1:], self._message[end:][:1]
        is_whole = not (
            (before.isalnum() and quote[0].isalnum()) or (quote[-1].isalnum() and after.isalnum())
        )
        return quote if is_whole and _holds_most(quote, text) else statement.quote

    def _is_said(self, text: str, statement: Statement, *, is_preference: bool) -> bool:
        """Whether the claim says what the statement does: no order, nothing added or denied, no echo."""
        if statement.is_right_words:
            meant = put_right(statement.text, statement.before, self._said.earlier, self._said.known)
            if meant is not None:
                return content(meant) == content(text)
            plain = stated_in(statement.text, as_right_words=False)
            if plain is None:
                return False
            statement = plain._replace(quote=statement.quote)
        moved = when_put_right(statement.quote, statement.before, self._said.earlier)
        if moved is not None:
            return content(moved) == content(text)
        right = without_slip(with_clause_put_right(statement.text))
        if right != statement.text and not _is_of_what_is_meant(right, text):
            return False
        if _POINTS.match(text) or not all(map(self._is_known, names_and_numbers(text, opening=True))):
            return False
        said = self._words | _OF_A_WISH if is_preference else self._words
        if not said.issuperset(tokens(text)) or not _holds_most(
            statement.quote, text, is_preference=is_preference
        ):
            return False
        if is_negated(text) != is_negated(right) and not (is_preference and statement.is_wish):
            return False
        if not (statement.is_wish or is_standing_wish(text)) and (
            is_order_to_do(text) or stated_in(text) is None
        ):
            return False
        is_echo = self._echoes.repeats(statement.text) or self._echoes.repeats(text)
        return not is_echo or tells_anew(text, self._said)


def _is_of_what_is_meant(right: str, claim: str) -> bool:
    """Whether a claim says a sentence that was put right, or a clause of it, without the wrong words."""
    meant = [right, *(right[start:end] for start, end in clauses(right))]
    return content(claim) in [content(each) for each in meant]


def _holds_most(sentence: str, claim: str, *, is_preference: bool = False) -> bool:
    """Whether a sentence holds most content words of a claim, those of wishing apart where it is one."""
    stems = set(tokens(claim)) - (_OF_A_WISH if is_preference else frozenset())
    return len(stems & set(tokens(sentence))) >= _SAID_SHARE * len(stems)
