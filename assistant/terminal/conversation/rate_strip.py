"""The strip of single keys that Ctrl+G opens for the last answer."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message as Posted
from textual.widget import Widget

from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import RATE

_NARROW = 60  # columns under which the keys alone are told
_LEAVES = "  Esc"
_NOTICES = "  n notices"
_EDGES = 2  # columns of padding
_ROOM = 12  # columns under which what is undone is not named: the notice stands above


class RateStrip(Widget, can_focus=True):
    """One row; the next key decides, and the prompt has the focus again."""

    BINDINGS = bindings(RATE)
    DEFAULT_CSS = """
    RateStrip { height: 1; display: none; padding: 0 1; background: $accent 30%; text-style: bold; }
    """

    undoes = ""  # what u takes back, as the notice told it when the strip was opened
    receipt_id: int | None = None

    class Chosen(Posted):
        """What was chosen: helped, not_helped, teach, why, undo, notices or back."""

        def __init__(self, choice: str, receipt_id: int | None) -> None:
            """receipt_id: that undo means; None for the latest write."""
            super().__init__()
            self.choice, self.receipt_id = choice, receipt_id

    def render(self) -> Content:
        width = self.app.size.width
        if width < _NARROW:
            return Content("+ -  t teach  w why  u undo  n notices")
        keys = "Last answer: + helped  - did not  t teach  w why  u undo"
        room = width - _EDGES - cell_len(keys) - cell_len(_LEAVES)
        if not self.undoes or room < _ROOM:
            return Content(f"{keys}{_NOTICES if room >= cell_len(_NOTICES) else ''}{_LEAVES}")
        return Content(f"{keys} “{Content(self.undoes).truncate(room - 3, ellipsis=True).plain}”{_LEAVES}")

    def open(self, undoes: str = "", receipt_id: int | None = None) -> None:
        """Waits for a key. undoes: what u takes back, and by which receipt; empty for the latest write."""
        self.undoes, self.receipt_id = undoes, receipt_id
        self.display = True
        self.refresh()
        self.focus()

    def on_blur(self) -> None:
        self.display = False

    def action_back(self) -> None:
        self.action_choose("back")

    def action_choose(self, choice: str) -> None:
        self.display = False
        self.post_message(self.Chosen(choice, self.receipt_id))
