"""Numbers of passages, turns and receipts, as they are typed."""

from __future__ import annotations


def typed_id(text: str) -> int | None:
    """An id as it is typed; None when it is none."""
    if not text.isdecimal() or len(text) > 18:
        return None
    return number if (number := int(text)) < 2**31 else None  # no database counts further
