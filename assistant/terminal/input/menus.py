"""What is asked in plain mode: a numbered list, answered by a number, and what is answered by y or n."""

from __future__ import annotations

from collections.abc import Callable, Collection

from assistant.terminal.input.typed_ids import typed_id


def is_yes(answer: str | None) -> bool:
    """Whether a question was answered with yes; anything else is a no. None: nobody answered."""
    return (answer or "").strip().lower() in ("y", "yes")


def asked_number(ask: Callable[[], str | None], numbers: Collection[int]) -> int | None:
    """The number that is typed, as far as the list has it; None for anything else, such as Enter.

    ask: reads the answer to what was just said.
    """
    number = typed_id((ask() or "").strip())
    return number if number in numbers else None
