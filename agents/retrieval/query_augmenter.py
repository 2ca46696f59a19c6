"""What a message is searched and read with: itself, and the exchange before it.

    "who runs it?"   is searched as "who runs it? (after: when does the pool open)", and as it is
                     or, where a query model writes it in time, as "who runs the pool?"

Which of both finds the answer, and whether a message is a follow-up at all, the reader decides: it reads
every question with what was asked before. The first search is not kept waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime

from agents.base.interfaces import AugmentedQuery, Exchange, QueryRewriter
from agents.base.memory_page import answered, asked_after, last_said


class QueryAugmenter:
    """Puts what was asked before behind a message, and has it made to stand alone."""

    def __init__(
        self,
        rewriter: Callable[[], QueryRewriter | None] = lambda: None,
        *,
        seconds: float = 0.0,
        only_states: Callable[[str], bool] = lambda message: False,
    ) -> None:
        """rewriter: None where there is no query model. seconds: that a question's rewriting has, in all.

        only_states: of which messages nothing is rewritten, since the model was taught questions alone.
        """
        self._rewriter, self._seconds, self._only_states = rewriter, seconds, only_states

    def augment(self, message: str, recent: Sequence[Exchange]) -> AugmentedQuery:
        """The query to search and to read with. recent: earlier exchanges, oldest first."""
        before = last_said(recent)
        if not before:
            return AugmentedQuery(message, "original")
        strategy = "with what was asked before"
        return AugmentedQuery(asked_after(message, before), strategy, self._begun(message, recent))

    def read_ahead(self, recent: Sequence[Exchange]) -> None:
        """Has the query model read what was said, before the next message comes. recent: oldest first."""
        rewriter = self._rewriter()
        if rewriter is not None and recent:
            rewriter.read_ahead(_with_answers(recent))

    def _begun(self, message: str, recent: Sequence[Exchange]) -> Callable[[], str]:
        rewriter = self._rewriter()
        if rewriter is None or self._only_states(message):
            return str
        rewriting = rewriter.begin(message, _with_answers(recent))
        until = time.monotonic() + self._seconds
        return lambda: within(rewriting, until - time.monotonic())


def _with_answers(recent: Sequence[Exchange]) -> list[tuple[str, str]]:
    return [(each.message, answered(each)) for each in recent]


def within(rewriting: Future[str], seconds: float) -> str:
    """What is written in time; what nobody waits for any longer is not begun."""
    try:
        return rewriting.result(timeout=max(0.0, seconds))
    except NotInTime:
        rewriting.cancel()
        return ""
