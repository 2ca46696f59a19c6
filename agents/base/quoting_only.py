"""What every built-in chat model has in common: it gives words that stand somewhere, and writes none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.base.chat_interfaces import ChatMessage, ContinuationScore
from agents.base.token_budget import estimated_tokens
from stores.base.errors import ModelRefused, NoLogProbabilities
from stores.base.passages import QUOTING

NOTHING_FOUND = "I found nothing about that."
NOTED = "Noted: "  # before what was stated; it is not weighed yet
_WRITE_INSTEAD = "Configure a chat model: [model] in settings.toml."


class QuotingOnly:
    """A chat model that only quotes, and refuses what needs one that writes."""

    name = QUOTING
    can_score = False
    refusal, hint = "the extractive model only quotes", _WRITE_INSTEAD
    context_tokens = None  # it reads its sources one by one, however many there are

    def count_tokens(self, text: str) -> int:
        """A high estimate; nothing is decided by it."""
        return estimated_tokens(text)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """Always refused: quoting fills no schema."""
        raise ModelRefused(self.refusal, hint=self.hint)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Always refused: it chooses sentences, not replies."""
        raise ModelRefused(self.refusal, hint=self.hint)

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """Always refused: quotes are found, not drawn from a distribution."""
        raise NoLogProbabilities(self.refusal, hint=self.hint)

    async def aclose(self) -> None:
        """Nothing to give back."""
