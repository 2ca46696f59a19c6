"""Numbers of passages, turns and receipts, as they are typed."""

from __future__ import annotations


def typed_id(text: str) -> int | None:
    """An id as it is typed; None when it is none."""
    return int(text) if text.isdecimal() and len(text) <= 18 else None  # the database counts no further
