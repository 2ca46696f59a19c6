"""Help on a screen of its own: all keys, those of this screen first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.terminal.screens.page_screen import PageScreen
from assistant.terminal.screens.work import Working, host

if TYPE_CHECKING:
    from assistant.terminal.screens.desk import Desk


class HasHelp(Working):
    """A screen with a key for that."""

    place = ""  # what its keys are listed under
    _desk: Desk

    def action_help(self) -> None:
        """All keys."""
        from assistant.terminal.screens.help_text import help_text

        keys, commands = host(self).changed_keys, self._desk.slash_commands
        text = help_text(keys, commands, width=self.app.size.width - 6, first=self.place)
        self.app.push_screen(PageScreen("Help", text))
