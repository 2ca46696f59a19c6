"""Sums up what has left a conversation, behind an answer; the database says what is due, after a kill too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from agents.base.chat_interfaces import ChatModel
from agents.memory.session_summaries import summed_up
from assistant.background.steps import BackgroundSteps
from assistant.process.log import fields
from stores.base.errors import VouchError
from stores.conversation.summaries import Summaries

_log = logging.getLogger(__name__)


class Summing:
    """Writes the summaries that sessions lack."""

    def __init__(
        self,
        summaries: Summaries,
        chat: Callable[[], ChatModel | None],
        steps: BackgroundSteps,
        withheld: Callable[[Sequence[str]], Sequence[str]],
    ) -> None:
        """chat: the model that writes; None where none does. withheld: messages without their secrets."""
        self._summaries, self._chat, self._steps, self._withheld = summaries, chat, steps, withheld

    async def run_due(self, user_id: int) -> bool:
        """One request at most; whether a summary was kept. A model that is down is asked another time."""
        due = await self._steps.run(self._summaries.due, user_id)
        chat = self._chat() if due is not None else None
        if due is None or chat is None:
            return False
        told = await self._steps.run(self._withheld, [message for _, message, _ in due.said])
        said = [(message, answer) for message, (*_, answer) in zip(told, due.said, strict=True)]
        try:
            text = await summed_up(chat, due.before, said)
        except VouchError as error:
            _log.warning("not summed up yet", extra=fields(error=type(error).__name__))
            return False
        return bool(text) and await self._steps.run(self._summaries.keep, user_id, due, text)
