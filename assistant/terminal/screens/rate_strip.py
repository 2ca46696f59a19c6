"""The strip of single keys that Ctrl+G opens for the last answer."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message as Posted
from textual.widget import Widget

from assistant.terminal.screens.bindings import bindings
from assistant.terminal.screens.keys import RATE

_NARROW = 60  # columns under which the keys alone are told


class RateStrip(Widget, can_focus=True):
    """One row; the next key decides, and the prompt has the focus again."""

    BINDINGS = bindings(RATE)
    DEFAULT_CSS = """
    RateStrip { height: 1; display: none; padding: 0 1; background: $accent 30%; text-style: bold; }
    """

    class Chosen(Posted):
        """What was chosen: helped, not_helped, teach, why, undo or back."""

        def __init__(self, choice: str) -> None:
            super().__init__()
            self.choice = choice

    def render(self) -> Content:
        """The keys."""
        if self.app.size.width < _NARROW:
            return Content("+ good  - bad  t teach  w why  u undo")
        return Content("Last answer: + helped  - did not  t teach  w why  u undo  Esc")

    def open(self) -> None:
        """Waits for a key."""
        self.display = True
        self.focus()

    def on_blur(self) -> None:
        """Gone as soon as something else is looked at."""
        self.display = False

    def action_helped(self) -> None:
        """It helped."""
        self._choose("helped")

    def action_not_helped(self) -> None:
        """It did not."""
        self._choose("not_helped")

    def action_teach(self) -> None:
        """Write what it should have been."""
        self._choose("teach")

    def action_why(self) -> None:
        """Why it was given."""
        self._choose("why")

    def action_undo(self) -> None:
        """Take back what was learned."""
        self._choose("undo")

    def action_back(self) -> None:
        """Nothing."""
        self._choose("back")

    def _choose(self, choice: str) -> None:
        self.display = False
        self.post_message(self.Chosen(choice))
