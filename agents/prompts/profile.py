"""What always holds of a user, as a chat model is told it."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 1_200  # characters, about 300 tokens
LONGEST = 400  # characters of one statement
_TOLD = "What the user told you that always holds. Follow it in all answers, whatever they are about:"


def profile_text(statements: Sequence[str]) -> str:
    """As many of the newest as there is room for, oldest first. statements: newest first."""
    kept = [f"- {' '.join(statement.split())}" for statement in with_room(statements)]
    return "\n".join([_TOLD, *kept[::-1]]) if kept else ""


def with_room(statements: Sequence[str]) -> list[str]:
    """Those of these that there is room for; one that is too long leaves it to the others."""
    kept, left = [], _MOST
    for statement in statements:
        if len(statement) <= min(left, LONGEST):
            kept.append(statement)
            left -= len(statement)
    return kept
