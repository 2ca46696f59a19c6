"""Text from outside as any database can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def well_formed(text: str) -> str:
    """Text that any database can hold: half a character, as bad bytes on a command line become, is a ?.

    The character of code 0, which PostgreSQL cannot hold, is the sign for a missing one.
    """
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def well_formed_values(value: Any) -> Any:
    """A value as JSON can hold it, with `well_formed` texts and keys all the way down."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed(str(key)): well_formed_values(each) for key, each in value.items()}
    return [well_formed_values(each) for each in value] if isinstance(value, list | tuple) else value
