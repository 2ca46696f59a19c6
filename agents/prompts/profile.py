"""What always holds of a user, as a chat model is told it."""

from __future__ import annotations

from collections.abc import Sequence

from stores.base.passages import with_room

_TOLD = "What the user told you that always holds. Follow it in all answers, whatever they are about:"


def profile_text(statements: Sequence[str]) -> str:
    """As many of the newest as there is room for, oldest first. statements: newest first."""
    kept = [f"- {' '.join(statement.split())}" for statement in with_room(statements)]
    return "\n".join([_TOLD, *kept[::-1]]) if kept else ""
