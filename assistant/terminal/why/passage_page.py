"""A passage of an answer on a page: its text, why it was found, and the keys that act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from assistant.terminal.facts.why import FoundRow, found_row, passage_page
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import WHY
from assistant.terminal.why.passage_actions import Marks, PassageActions
from assistant.terminal.widgets.key_line import FittingKeys
from assistant.terminal.widgets.page_screen import PageScreen

if TYPE_CHECKING:
    from assistant.terminal.actions.written_here import Written
    from assistant.terminal.engine.engine import Desk

KEYS = {
    "why_back": "back",
    "why_helped": "helped",
    "why_not_helped": "did not",
    "why_remove": "remove",
    "why_undo": "undo",
    "why_compare": "compare",
}
_FEW_KEYS = {
    "why_helped": "",
    "why_not_helped": "",
    "why_remove": "remove",
    "why_undo": "undo",
    "why_back": "back",
}


class PassagePage(PageScreen, PassageActions):
    """One passage of one turn."""

    place = "Why this answer"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        key for key in WHY if key.id not in ("why_open", "why_back")
    )

    def __init__(
        self,
        desk: Desk,
        turn_id: int,
        row: FoundRow,
        page: tuple[str, str],
        *,
        marks: Marks | None = None,
        removals: list[Written] | None = None,
    ) -> None:
        """page: its title and text. marks, removals: what was done where it was opened; written to."""
        super().__init__(*page)
        self._desk = desk
        self._turn_id = turn_id
        self._row = row
        self._marks = {} if marks is None else marks
        self._removals = [] if removals is None else removals

    @classmethod
    async def of(cls, desk: Desk, turn_id: int, version_id: int) -> PassagePage:
        """A passage that a turn found, as it is now. Raises KeyError where the turn did not find it."""
        row = await desk.look(lambda assistant, user: found_row(assistant, user, turn_id, version_id))
        page = await desk.look(lambda assistant, user: passage_page(assistant, user, row))
        return cls(desk, turn_id, row, page)

    @property
    def turn_id(self) -> int:
        return self._turn_id

    @property
    def passage(self) -> FoundRow:
        return self._row

    async def read_anew(self) -> None:
        """Its uses and its history may have changed."""
        _, text = await self._desk.look(lambda assistant, user: passage_page(assistant, user, self._row))
        if self.is_attached:
            self.show(text)

    def told_marked(self, rating: str) -> None:
        self.tell("marked as helping" if rating == "good" else "marked as not helping")

    def keys(self) -> Widget:
        """Those that act on the passage."""
        return FittingKeys(KEYS, few=_FEW_KEYS)
