"""A menu in plain mode: a numbered list, answered by a number."""

from __future__ import annotations

from collections.abc import Callable, Collection

from assistant.terminal.typed_ids import typed_id


def asked_number(ask: Callable[[], str | None], numbers: Collection[int]) -> int | None:
    """The number that is typed, as far as the list has it; None for anything else, such as Enter.

    ask: reads the answer to what was just said.
    """
    number = typed_id((ask() or "").strip())
    return number if number in numbers else None
