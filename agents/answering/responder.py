"""Puts the best passages before the chat model and hands on its reply, with the citations checked.

    message, passages, earlier turns -> what fits -> request -> reply, piece by piece -> citations checked

What fits is decided by counting tokens, here and before the model is asked; `agents/base/token_budget.py`
says by which rule. What did not fit is named in the request.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from functools import cached_property

from agents.base.chat_interfaces import (
    ChatMessage,
    ChatModel,
    CitingText,
    CutAtLimit,
    LeftOut,
    ReplyRequest,
    Source,
)
from agents.base.interfaces import Exchange
from agents.base.memory_page import last_said
from agents.base.token_budget import MESSAGE_TOKENS, TEMPLATE_TOKENS, fit
from agents.prompts import answer
from stores.base.errors import ContextTooLong
from stores.base.passages import Passage

_WORD = re.compile(r"\[[^\[\]\n]{1,40}\]|\w+")  # a bracketed reference is one word
_LOOKED_BACK = 400  # characters of a reply before a number: the words in them are compared


class CopiedNumbers:
    """The reference numbers in the texts of sources."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._given = texts

    @cached_property
    def _texts(self) -> list[str]:
        return [_spaced(_words(text)) for text in self._given if "[" in text]

    def has(self, before: str, number: str, *, words: int) -> bool:
        """Whether a number is copied. before: the reply up to it. number: as it stands, like "[31]".

        words: how many words before it have to be the same, at least; fewer at the beginning of a quotation.
        """
        if not self._texts:
            return False
        quoted = _since_quotation(before)
        known = _words((before if quoted is None else quoted)[-_LOOKED_BACK:])[-words:] if words else []
        if len(known) < words and not (quoted is not None and known):
            return False
        return any(_spaced([*known, number]) in text for text in self._texts)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _since_quotation(text: str) -> str | None:
    """What stands behind the last quotation mark that is still open; None where none is."""
    opened = text.rfind("“")
    if opened > text.rfind("”"):
        return text[opened + 1 :]
    return text[text.rfind('"') + 1 :] if text.count('"') % 2 else None


_NUMBER = re.compile(r"\[(\d{1,4})\]")
_MAYBE_NUMBER = re.compile(r"\[\d{0,4}$")  # a citation that may go on in the next piece
_COPIED_WORDS = 4  # before the number of a source, that make it a copied one; fewer are the same by chance
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Responder:
    """Answers a question from passages."""

    def __init__(self, chat_model: ChatModel, *, keep: int, reply_tokens: int = 1024) -> None:
        """keep: how many passages the model sees, at most. reply_tokens: kept free for the reply."""
        self._chat_model = chat_model
        self._keep = keep
        self._reply_tokens = reply_tokens

    @property
    def model_name(self) -> str:
        """The name of the chat model, as shown on screen."""
        return self._chat_model.name

    def prepare(
        self,
        message: str,
        question: str,
        passages: Sequence[Passage],
        history: Sequence[Exchange],
        *,
        is_kept: bool,
        at_least: int = 0,
    ) -> ReplyRequest:
        """What to ask the model. question: the message made standalone. is_kept: it is remembered.

        history: earlier exchanges, oldest first. at_least: so many passages are put before the model, however
        few are kept, and the others behind them.
        Raises `ContextTooLong` where the message alone is too long. Asks no server; may load a model that
        runs in this process, so not for the event loop.
        """
        kept = passages[: self._keep + at_least]
        sources = tuple(Source(number, passage) for number, passage in enumerate(kept, start=1))
        turns = [exchange for exchange in history if exchange.answer]
        left_out: tuple[LeftOut, ...] = ()
        if (most := self._chat_model.context_tokens) is not None:
            sources, turns, left_out = self._fitting(message, sources, turns, most)
        messages = answer.messages(message, sources, turns)
        before = last_said(history)
        return ReplyRequest(messages, message, question, sources, is_kept, left_out, before)

    def respond(self, request: ReplyRequest, citations: Citations) -> AsyncIterator[str | CutAtLimit]:
        """The reply piece by piece, fit for a screen; `citations` gathers what it cites on the way."""
        return _checked(self._chat_model.stream(request), citations)

    async def bare_reply(self, text: str) -> str:
        """The model's reply to a text without sources."""
        request = ReplyRequest((ChatMessage("user", text),), text, text)
        pieces = _checked(self._chat_model.stream(request), Citations(()))
        return "".join([piece async for piece in pieces if isinstance(piece, str)])

    def _fitting(
        self, message: str, sources: Sequence[Source], turns: Sequence[Exchange], most: int
    ) -> tuple[tuple[Source, ...], list[Exchange], tuple[LeftOut, ...]]:
        """The sources and turns that the model can read beside the message, and those that it cannot."""
        count = self._chat_model.count_tokens
        needed = TEMPLATE_TOKENS + sum(
            MESSAGE_TOKENS + count(part.content) for part in answer.messages(message, (), ())
        )
        budget = most - self._reply_tokens - needed
        if budget < 0:
            raise ContextTooLong(
                f"The message takes {needed} tokens with its instructions, and {self.model_name} has"
                f" {max(0, most - self._reply_tokens)}: {most}, less {self._reply_tokens} for the reply",
                hint="Shorten the message, lower model.max_tokens, or choose a model with a longer context.",
            )
        of_sources = [count(answer.entry(source)) + 1 for source in sources]  # 1: the line between two
        newest_first = turns[::-1]
        of_turns = [2 * MESSAGE_TOKENS + count(turn.message) + count(turn.answer) for turn in newest_first]
        fitted = fit(budget=budget, passages=of_sources, turns=of_turns)
        left_out = (
            *(
                LeftOut("passage", source.passage.version_id, tokens)
                for source, tokens in list(zip(sources, of_sources, strict=True))[fitted.passages :]
            ),
            *(
                LeftOut("turn", turn.turn_id, tokens)
                for turn, tokens in list(zip(newest_first, of_turns, strict=True))[fitted.turns :]
            ),
        )
        return tuple(sources[: fitted.passages]), list(newest_first[: fitted.turns])[::-1], left_out

    async def aclose(self) -> None:
        await self._chat_model.aclose()


class Citations:
    """Which of the numbered sources a reply cites, found while it is being written.

    A number that is copied with the words before it is a source's own reference, and cites nothing.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._known = {source.number for source in sources}
        self._copied = CopiedNumbers([source.passage.text for source in sources])
        self._written = ""  # of the reply, as its model wrote it
        self._held = ""
        self.cited: list[int] = []  # in the order of their first use
        self.invented: list[int] = []  # numbers that stand for no source

    def feed(self, piece: str) -> str:
        """What can be shown of the reply so far; an invented [9] is shown as [9?]."""
        clean = _CONTROL.sub("", piece.replace("\r\n", "\n"))
        if isinstance(piece, CitingText):
            for number in piece.cites:
                self._cite(number)
            return self.rest() + clean
        written = self._held + clean
        unfinished = _MAYBE_NUMBER.search(written)
        cut = unfinished.start() if unfinished else len(written)
        self._held = written[cut:]
        shown = _NUMBER.sub(self._check, written[:cut])
        self._written += written[:cut]
        return shown

    def rest(self) -> str:
        """What was held back, once the reply has ended."""
        held, self._held = self._held, ""
        return held

    def _check(self, match: re.Match[str]) -> str:
        number = int(match.group(1))
        is_known = number in self._known
        before = self._written + match.string[: match.start()]
        if self._copied.has(before, match.group(), words=_COPIED_WORDS if is_known else 1):
            return match.group()
        if not is_known:
            self.invented.append(number)
            return f"[{number}?]"
        self._cite(number)
        return match.group()

    def _cite(self, number: int) -> None:
        if number not in self.cited:
            self.cited.append(number)


async def _checked(
    pieces: AsyncIterator[str | CutAtLimit], citations: Citations
) -> AsyncIterator[str | CutAtLimit]:
    cut: CutAtLimit | None = None
    async for piece in pieces:
        if isinstance(piece, CutAtLimit):
            cut = piece
        elif shown := citations.feed(piece):
            yield shown
    if rest := citations.rest():
        yield rest
    if cut is not None:
        yield cut
