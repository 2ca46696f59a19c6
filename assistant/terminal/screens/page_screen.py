"""A page to read: help, a passage, what was learned. Esc goes back."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from assistant.terminal.screens.printable import printable


class PageScreen(Screen[None]):
    """Text that scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,f1,q", "dismiss", "back")]
    DEFAULT_CSS = """
    PageScreen > VerticalScroll { border: round $border; padding: 0 1; height: 1fr; }
    PageScreen > VerticalScroll { border-title-color: $foreground; }
    PageScreen Static { height: auto; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """The text in a frame that says what it is."""
        with VerticalScroll() as frame:
            frame.border_title = self._title
            yield Static(printable(self._text), markup=False, id="page")
        yield Static(" Up Down scroll  Esc back", markup=False, classes="keys")

    def on_mount(self) -> None:
        """The arrow keys scroll."""
        self.query_one(VerticalScroll).focus()
