"""Help on a screen of its own: all keys, those of the screen that is open first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import TYPE_CHECKING

from textual.widget import Widget

from assistant.terminal.input.commands import OF_SCREEN, with_words
from assistant.terminal.input.keys import FIXED, PLACES, shown
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.work import Working, host
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk


def help_text(
    changed: Mapping[str, str],
    commands: Mapping[str, str],
    *,
    width: int,
    first: str = "",
    words: str = "",
) -> str:
    """Lines of `width` characters at most.

    changed: keys that differ from the table, by id. commands: those of plain mode. first: the place
    whose keys are told first. words: only lines with all of these.
    """
    lines = with_words(_lines(changed, commands, first), words)
    return "\n".join(fill(line, max(30, width), subsequent_indent=" " * 6) for line in lines)


def _lines(changed: Mapping[str, str], commands: Mapping[str, str], first: str) -> Iterator[str]:
    for place, keys in sorted(PLACES.items(), key=lambda entry: entry[0] != first):
        yield place
        for key in keys:
            yield f"  {shown(changed.get(key.id, key.keys)):<18} {key.words}  [{key.id}]"
        for pressed, words in FIXED.get(place, ()):
            yield f"  {pressed:<18} {words}"
        yield ""
    yield "Commands, typed into the prompt"
    if not commands:
        yield "  (more of them once the assistant is ready)"
    for name, about in sorted((dict(commands) | OF_SCREEN).items()):
        yield f"  {name:<10} {about}"
    yield "  //         sends a message that begins with a slash"
    yield ""
    yield 'The names in brackets are for the settings: [terminal.keys] why = "f9" moves that key.'


class HelpPage(PageScreen):
    """The page; the key that opened it closes it."""


def open_help(widget: Widget, desk: Desk, place: str, words: str = "") -> None:
    """Opens it. place: whose keys are told first; empty: those of the chat. words: see `help_text`."""

    width = widget.app.size.width - 6  # border, padding and scroll bar
    text = help_text(host(widget).changed_keys, desk.slash_commands, width=width, first=place, words=words)
    title = f"Help · {one_line(words)}" if words else "Help"
    widget.app.push_screen(HelpPage(title, text or "No key or command has these words. /help tells of all."))


class HasHelp(Working):
    """A screen with a key for that."""

    place = ""  # what its keys are listed under
    _desk: Desk

    def action_help(self) -> None:
        open_help(self, self._desk, self.place)
