"""What is said of a key that nothing takes: one line, once, and no beep."""

from __future__ import annotations

import re
from typing import Any

from textual import events
from textual.screen import Screen

from assistant.terminal.input.keys import shown
from assistant.terminal.widgets.page_screen import PageScreen

_MEANT = re.compile(r"f\d+|ctrl\+[a-z]")  # those that move or edit are not pressed for an action


def untaken_told(event: events.Key, help_key: str, is_of_chat: bool, screen: Screen[Any]) -> str:
    """The line, or nothing where the key only moves.

    help_key: that lists the keys. is_of_chat: it acts there.
    """
    if event.is_printable and event.character is not None and not event.character.isspace():
        name = event.character
    elif _MEANT.fullmatch(event.key):
        name = shown(event.key)
    else:
        return ""
    if is_of_chat:
        return f"{name} is a key of the chat · Esc goes back there"
    leads_on = "Esc goes back" if isinstance(screen, PageScreen) else f"{help_key} lists keys"
    return f"{name} does nothing here · {leads_on}"
