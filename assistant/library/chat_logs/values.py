"""Values of other programs' exports, taken for what they should be: whatever else they are is nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

LONGEST = 1_000_000  # characters of one message or answer; the rest is cut, and said to be
_FIRST_YEAR, _LAST_YEAR = 1970, 9998  # any time zone can show a moment of these
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
    """Seconds since 1970, or a moment as ISO 8601 writes it; None for anything else, and far off."""
    try:
        read = _moment(value)
    except (ValueError, OverflowError, OSError):
        return None
    return read if read is not None and _FIRST_YEAR <= read.year <= _LAST_YEAR else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC) if math.isfinite(value) else None
    if isinstance(value, str) and len(value) <= 64:
        read = datetime.fromisoformat(value)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    return None
