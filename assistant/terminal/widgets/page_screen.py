"""A page to read: help, a passage, what was learned. Esc goes back."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from assistant.terminal.text.printable import printable
from assistant.terminal.widgets.work import Telling
from stores.base.one_line import one_line


class PageScreen(Screen[None], Telling):
    """Text that scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss", "back")]
    DEFAULT_CSS = """
    PageScreen > VerticalScroll { border: round $border; padding: 0 1; height: 1fr; }
    PageScreen > VerticalScroll { border-title-color: $foreground; }
    PageScreen Static { height: auto; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll() as frame:
            frame.border_title = self._title
            yield Static(printable(self._text), markup=False, id="page")
        yield self.keys()

    def keys(self) -> Widget:
        return Static(" Up Down scroll  Esc back", markup=False, classes="keys")

    def show(self, text: str) -> None:
        """Another text in its place."""
        self.query_one("#page", Static).update(printable(text))

    def tell(self, sentence: str) -> None:
        """In the frame, below the text."""
        self.query_one(VerticalScroll).border_subtitle = one_line(sentence)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
