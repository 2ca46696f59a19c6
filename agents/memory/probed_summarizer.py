"""Whether a chat model finds what is stated is tried once, on twenty sentences; of one that does not, the
reader does it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agents.base.chat_interfaces import ChatModel
from agents.base.claim_interfaces import Claim, JoiningSummarizer, Said, Summarizer
from agents.prompts.claims import SCHEMA, messages
from stores.base.errors import MalformedReply

LEAST_RIGHT = 15  # of the twenty; quoting all of them makes 12 right, and none 8
_TOGETHER = 5  # sentences in a request
SENTENCES: Mapping[str, bool] = {  # whether each states something
    "My locker at the pool is number 31.": True,
    "Could you shorten that a little?": False,
    "The tram to Elm Hill stops running at midnight.": True,
    "I can't eat anything with sesame in it.": True,
    "Thanks, that was quick!": False,
    "Our meeting with Ruth moved to Thursday at nine.": True,
    "If I lived by the sea, I would sail every day.": False,
    "Please always answer me in metric units.": True,
    "What is the tallest tower in Lyon?": False,
    "My nephew Otis plays the cello now.": True,
    "I gave the spare key to Mrs Lindqvist.": True,
    "Tell me a joke about penguins.": False,
    "The bakery on Mill Street is closed on Mondays.": True,
    "I wish the weekend were longer.": False,
    "We paid 240 for the new boiler valve.": True,
    "I'm left-handed.": True,
    "Is there a shorter way to say this?": False,
    "The red folder is in the bottom drawer.": True,
    "Remember for everybody that the shop is shut.": False,
    "My flight to Oslo leaves from gate B12.": True,
}


class ProbedSummarizer:
    """The chat model where it was found able, else the reader; tried before its first message."""

    def __init__(
        self, chat: ChatModel, by_model: JoiningSummarizer, by_reader: Summarizer, *, kept: Path
    ) -> None:
        """kept: a file, by name of the model how many were right; one that cannot be read is made anew."""
        self._chat, self._by_model, self._by_reader, self._kept = chat, by_model, by_reader, kept
        self._right: int | None = None

    @property
    def name(self) -> str:
        return self._by_model.name if self._right is None or self._is_able else self._by_reader.name

    async def summarize(self, said: Said) -> list[Claim]:
        """See `Summarizer`."""
        await self._try()
        return await (self._by_model if self._is_able else self._by_reader).summarize(said)

    async def summarize_together(self, said: Sequence[Said]) -> list[list[Claim]]:
        """See `JoiningSummarizer`."""
        await self._try()
        if self._is_able:
            return await self._by_model.summarize_together(said)
        return [await self._by_reader.summarize(each) for each in said]

    @property
    def _is_able(self) -> bool:
        return self._right is not None and self._right >= LEAST_RIGHT

    async def _try(self) -> None:
        if self._right is None:
            known = await asyncio.to_thread(self._known)
            self._right = known.get(self._chat.name)
        if self._right is None:
            self._right = await rightly_sorted(self._chat)
            await asyncio.to_thread(self._keep, {**known, self._chat.name: self._right})

    def _known(self) -> dict[str, int]:
        with suppress(OSError, ValueError, RecursionError):
            read = json.loads(self._kept.read_text(encoding="utf-8"))
            if isinstance(read, dict):
                return {str(name): right for name, right in read.items() if isinstance(right, int)}
        return {}

    def _keep(self, known: Mapping[str, int]) -> None:
        new = self._kept.with_suffix(".new")
        with suppress(OSError):
            new.write_text(json.dumps(known, indent=1), encoding="utf-8")
            new.replace(self._kept)


async def rightly_sorted(chat: ChatModel) -> int:
    """How many of the twenty a model quotes where they state something, and only there.

    Raises a `ModelError` where it cannot be asked.
    """
    right, texts = 0, list(SENTENCES)
    for at in range(0, len(texts), _TOGETHER):
        some = texts[at : at + _TOGETHER]
        try:
            reply = await chat.structured(messages(Said("\n".join(some))), SCHEMA)
        except MalformedReply:
            continue
        claims = reply["claims"]
        quotes = [str(claim["quote"]).strip() for claim in claims] if isinstance(claims, list) else []
        right += sum(any(quote and quote in text for quote in quotes) == SENTENCES[text] for text in some)
    return right
