"""Help on a screen of its own: all keys, those of the screen that is open first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.work import Working, host

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk


class HelpPage(PageScreen):
    """The page; the key that opened it closes it."""


def open_help(widget: Widget, desk: Desk, place: str) -> None:
    """Opens it. place: whose keys are told first; empty: those of the chat."""
    from assistant.terminal.widgets.help_text import help_text

    width = widget.app.size.width - 6  # border, padding and scroll bar
    text = help_text(host(widget).changed_keys, desk.slash_commands, width=width, first=place)
    widget.app.push_screen(HelpPage("Help", text))


class HasHelp(Working):
    """A screen with a key for that."""

    place = ""  # what its keys are listed under
    _desk: Desk

    def action_help(self) -> None:
        open_help(self, self._desk, self.place)
