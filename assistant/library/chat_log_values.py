"""Values of other programs' exports, taken for what they should be: whatever else they are is nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

LONGEST = 1_000_000  # characters of one message or answer; the rest is cut, and said to be
_CUT = "\n… (cut: it was longer)"


def text(value: object) -> str:
    """A text; empty for anything else."""
    written = value if isinstance(value, str) else ""
    return written if len(written) <= LONGEST else written[:LONGEST] + _CUT


def mapping(value: object) -> Mapping[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[Any]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else ()


def moment(value: object) -> datetime | None:
    """Seconds since 1970, or a moment as ISO 8601 writes it; None for anything that is none."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC) if math.isfinite(value) else None
        if isinstance(value, str) and len(value) <= 64:
            read = datetime.fromisoformat(value)
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
