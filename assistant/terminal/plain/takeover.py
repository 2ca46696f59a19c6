"""A conversation that was on the screen and goes on in plain mode: what was said last, and what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assistant.terminal.actions.drafts import NEW, Drafts
from stores.base.one_line import one_line
from stores.database.tables import Turn

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant


def transcript_lines(turns: Iterable[Turn]) -> Iterator[str]:
    """Each turn with its message and answer, and an empty line between two of them."""
    for number, turn in enumerate(turns):
        if number:
            yield ""
        yield f"You: {one_line(turn.message) or '(forgotten)'}"
        yield f"Assistant: {_lines(turn.answer) or f'({turn.state})'}"


def _lines(text: str) -> str:
    return "\n".join(one_line(line) for line in text.splitlines())


@contextmanager
def standing_there(text: str) -> Iterator[None]:
    """What is read within it, at a terminal, begins with the text."""
    import readline

    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook(None)


_SHOWN = 3  # turns


class Takeover:
    """What the screen leaves to plain mode."""

    def __init__(self, assistant: Assistant, user: str, user_id: int, session_id: int) -> None:
        self._turns = assistant.stores.journal.turns(user_id, session_id, limit=_SHOWN)
        self._drafts = Drafts(assistant.given.locations.state, assistant.given.locations.data, user)
        self._key: int | str = session_id if self._turns else NEW

    def last_messages(self) -> Iterator[str]:
        """The end of the conversation, as its transcript; nothing where nothing was said."""
        yield from transcript_lines(self._turns)
        if self._turns:
            yield ""

    def asking(self, typed: Callable[[], str | None]) -> Callable[[], str | None]:
        """The same as `typed`, which first has what was not sent standing in its line, to be sent or changed.

        It stays kept until the line is sent.
        """
        draft = self._drafts.read(self._key)
        if not draft:
            return typed

        def ask() -> str | None:
            nonlocal draft
            if not draft:
                return typed()
            with standing_there(draft):
                line = typed()
            if line:
                self._drafts.write(self._key, draft := "")
            return line

        return ask
