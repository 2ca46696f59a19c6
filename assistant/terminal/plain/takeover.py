"""A conversation that was on the screen and goes on in plain mode: what was said last, and what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assistant.terminal.actions.drafts import NEW, Drafts
from assistant.terminal.plain.standing_text import standing_there
from assistant.terminal.plain.transcript import transcript_lines

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_SHOWN = 3  # turns


class Takeover:
    """What the screen leaves to plain mode."""

    def __init__(self, assistant: Assistant, user: str, user_id: int, session_id: int) -> None:
        self._turns = assistant.journal.turns(user_id, session_id, limit=_SHOWN)
        self._drafts = Drafts(assistant.locations.state, assistant.locations.data, user)
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
