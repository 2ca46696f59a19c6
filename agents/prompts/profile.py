"""What always holds of a user, as a chat model is told it."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 1_200  # characters, about 300 tokens
_TOLD = "What the user told you that always holds. Follow it in all answers, whatever they are about:"


def profile_text(statements: Sequence[str]) -> str:
    """As many of the newest as there is room for, oldest first. statements: newest first."""
    kept: list[str] = []
    left = _MOST
    for statement in statements:
        line = f"- {' '.join(statement.split())}"
        left -= len(line)
        if left < 0:
            break
        kept.append(line)
    return "\n".join([_TOLD, *kept[::-1]]) if kept else ""
