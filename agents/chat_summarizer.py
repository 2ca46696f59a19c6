"""Finds what a user stated with a chat model, and believes it only what the rules bear out.

    message and its context -> chat model -> proposed claims -> guards -> claims

A guard drops a claim and never mends one: what the model makes up is lost, not remembered.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import cast

from agents.claim_rules.distinctions import is_negated, names_and_numbers
from agents.claim_rules.echoes import Echoes, context_of
from agents.claim_rules.own_part import plain_text
from agents.claim_rules.requests import is_order_to_do, is_standing_wish
from agents.claim_rules.speaker import is_of_the_user
from agents.claim_rules.statements import LONGEST_CLAIM, MOST_CLAIMS, Statement, stated_in, statements
from agents.interfaces import ChatModel, Claim, Said
from agents.prompts.claims import SCHEMA, messages
from stores.lexical import tokens

LONGEST_MESSAGE = 8_000  # characters that are put before the model; more is a pasted text


_SAID_SHARE = (
    0.5  # of a claim's content words, how many the quoted sentence holds; the rest are names for "it"
)
_POINTS = re.compile(r"(?:it|its|he|his|she|her|they|their|this|that|these|those)\b", re.IGNORECASE)


class ChatSummarizer:
    """A summarizer that asks a chat model."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The chat model's."""
        return self._chat.name

    async def summarize(self, said: Said) -> list[Claim]:
        """See `Summarizer`. Where the rules find that a message states nothing, no model is asked."""
        if len(said.message) > LONGEST_MESSAGE:
            return []
        stated = await asyncio.to_thread(lambda: list(statements(said.message)))
        if not stated:
            return []
        reply = await self._chat.structured(messages(said), SCHEMA)
        return await asyncio.to_thread(_guarded, reply, said, stated)


def _guarded(reply: Mapping[str, object], said: Said, stated: list[Statement]) -> list[Claim]:
    """The proposed claims that the message bears out, in its order."""
    guards = _Guards(said, stated)
    found: dict[str, tuple[int, Claim]] = {}
    for proposed in cast("list[Mapping[str, object]]", reply["claims"]):
        passed = guards.passed(proposed)
        if passed is not None:
            found.setdefault(passed[1].text.casefold(), passed)
    return [claim for _, claim in sorted(found.values(), key=lambda one: one[0])][:MOST_CLAIMS]


class _Guards:
    """What a proposed claim has to pass."""

    def __init__(self, said: Said, stated: list[Statement]) -> None:
        self._message = said.message
        self._plain = plain_text(said.message)
        self._stated = stated
        self._echoes = Echoes(said)
        around = plain_text(f"{said.message}\n{context_of(said.earlier)}").text
        self._known = set(tokens(around)) | names_and_numbers(around, opening=True)

    def passed(self, proposed: Mapping[str, object]) -> tuple[int, Claim] | None:
        """The claim and where its quote stands; None where a guard drops it."""
        text = " ".join(plain_text(str(proposed["text"])).text.split())
        place = self._place_of(str(proposed["quote"]))
        if place is None or not text or len(text) > LONGEST_CLAIM:
            return None
        start, end = place
        quote = self._message[start:end]
        statement = self._statement_around(quote)
        if statement is None or not self._is_said(text, statement):
            return None
        if proposed["kind"] == "fact" and is_negated(text) != is_negated(statement.text):
            return None
        is_preference = proposed["kind"] == "preference"
        is_own = (
            proposed["about"] == "user"
            or is_preference
            or is_of_the_user(text)
            or is_of_the_user(statement.text)
        )
        claim = Claim(
            text,
            quote,
            "preference" if is_preference else "fact",
            "user" if is_own else "world",
            bool(proposed["is_hearsay"]) or statement.is_hearsay,
        )
        return start, claim

    def _is_known(self, name: str) -> bool:
        """Whether a capitalised word or a number was said; a word that is in every text counts as said."""
        return name in self._known or self._known.issuperset(tokens(name))

    def _place_of(self, quote: str) -> tuple[int, int] | None:
        """Where the words of a quote stand in the message, whatever spaces are between them."""
        wanted = "".join(plain_text(quote).text.split())
        places = [place for place, character in enumerate(self._plain.text) if not character.isspace()]
        at = "".join(self._plain.text[place] for place in places).find(wanted) if wanted else -1
        if at < 0:
            return None
        return self._plain.starts[places[at]], self._plain.ends[places[at + len(wanted) - 1]]

    def _statement_around(self, quote: str) -> Statement | None:
        """The statement that a quote is of; None where it is of something else, or of more than one "
        "sentence."""
        return next((one for one in self._stated if quote in one.quote), None)

    def _is_said(self, text: str, statement: Statement) -> bool:
        """Whether the claim says what the statement does: no order, nothing added, no echo."""
        if _POINTS.match(text) or not all(map(self._is_known, names_and_numbers(text, opening=True))):
            return False
        stems, said = set(tokens(text)), set(tokens(statement.quote))
        if len(stems & said) < _SAID_SHARE * len(stems):
            return False
        if not (statement.is_wish or is_standing_wish(text)) and (
            is_order_to_do(text) or stated_in(text) is None
        ):
            return False
        return not (self._echoes.repeats(statement.text) or self._echoes.repeats(text))
