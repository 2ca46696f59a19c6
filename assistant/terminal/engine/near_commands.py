"""Which commands a mistyped one is near to."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_MOST = 3
_NEAR, _AS_NEAR = 0.6, 0.1  # least likeness of letters, and how much less than the nearest one's
_OTHER_LETTERS = 4  # of both names together, at most: two letters wrong, or two pairs swapped


def did_you_mean(name: str, commands: Iterable[str]) -> str:
    """A question that names the nearest, as `Did you mean /find or /forget?`; empty where none is near.

    name: as it was typed, with its slash.
    """
    known, typed = list(commands), name.lower()
    begin_so = [command for command in known if len(typed) > 1 and command.startswith(typed)]
    likeness = {command: SequenceMatcher(None, command, typed).ratio() for command in known}
    least = max(_NEAR, max(likeness.values(), default=0.0) - _AS_NEAR)
    near = sorted(
        (c for c in known if likeness[c] >= least and _others(likeness[c], c, typed) <= _OTHER_LETTERS),
        key=lambda c: -likeness[c],
    )
    *others, last = list(dict.fromkeys([*begin_so, *near]))[:_MOST] or [""]
    named = f"{', '.join(others)} or {last}" if others else last
    return f"Did you mean {named}?" if named else ""


def _others(likeness: float, name: str, typed: str) -> int:
    """How many letters of both stand in one of them alone; likeness is 2 * common / all."""
    return round((1 - likeness) * (len(name) + len(typed)))
