"""What was said before, as the transcript of plain mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stores.base.one_line import one_line
from stores.database.tables import Turn


def transcript_lines(turns: Iterable[Turn]) -> Iterator[str]:
    """Each turn with its message and answer, and an empty line between two of them."""
    for number, turn in enumerate(turns):
        if number:
            yield ""
        yield f"You: {one_line(turn.message) or '(forgotten)'}"
        yield f"Assistant: {_lines(turn.answer) or f'({turn.state})'}"


def _lines(text: str) -> str:
    return "\n".join(one_line(line) for line in text.splitlines())
