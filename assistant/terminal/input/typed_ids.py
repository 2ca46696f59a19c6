"""Numbers of passages, turns and receipts, as they are typed."""

from __future__ import annotations


def typed_id(text: str) -> int | None:
    """An id as it is typed; None when it is none."""
    if not text.isdecimal() or len(text) > 18:
        return None
    return number if (number := int(text)) < 2**31 else None  # no database counts further


def turn_and_text(typed: str) -> tuple[int | None, str]:
    """What stands behind `/change`: the turn that is meant, and the text in its place.

    None: the last turn. An empty text: none was typed.
    """
    first, *rest = typed.split(maxsplit=1)[:2] or [""]
    number = typed_id(first)
    return (None, typed) if number is None else (number, " ".join(rest))
