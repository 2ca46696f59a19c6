"""Sums up, with a chat model, what has left a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.chat_interfaces import ChatModel, ReplyRequest
from agents.base.thinking import without_thoughts
from agents.prompts.summing import LONGEST, messages

_CHARACTERS_A_TOKEN = 2  # fewer than a token has, so that what is read fits
_USUAL_TOKENS = 4_096


async def summed_up(chat: ChatModel, before: str, said: Sequence[tuple[str, str]]) -> str:
    """A summary of what was said, and of the summary before it; empty where the model writes none.

    said: messages with their answers, oldest first. Raises a `ModelError`.
    """
    room = _CHARACTERS_A_TOKEN * (chat.context_tokens or _USUAL_TOKENS) // 2
    pieces = [piece async for piece in chat.stream(ReplyRequest(messages(before, said, room=room)))]
    return without_thoughts("".join(piece for piece in pieces if isinstance(piece, str))).strip()[:LONGEST]
