"""The sessions of a user: open one, or begin a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.one_line import one_line
from assistant.terminal.screens.bindings import bindings
from assistant.terminal.screens.keys import SESSIONS

if TYPE_CHECKING:
    from stores.journal import SessionLine

NEW_SESSION = 0  # what is chosen for a new one
_PAGE = 200  # shown at once


class SessionsScreen(Screen[int | None]):
    """Dismissed with the session that was chosen."""

    BINDINGS = bindings(SESSIONS)
    DEFAULT_CSS = """
    SessionsScreen > Static { height: 1; padding: 0 1; }
    SessionsScreen > OptionList { height: 1fr; border: round $border; padding: 0; }
    SessionsScreen > OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    SessionsScreen > OptionList:focus { border: round $border; }
    SessionsScreen > Input { display: none; }
    SessionsScreen > Input.-open { display: block; }
    """

    def __init__(self, sessions: Sequence[SessionLine], current: int) -> None:
        """sessions: newest first."""
        super().__init__()
        self._sessions = list(sessions)
        self._shown: list[SessionLine] = []
        self._current = current

    def compose(self) -> ComposeResult:
        """The list, and a filter that opens with /."""
        yield Static("Sessions", markup=False, id="sessions-title")
        yield OptionList(markup=False)
        yield Input(placeholder="Words of a title; Enter goes back to the list", compact=True)
        yield Static("Enter open  / filter  n new  Esc back", markup=False, classes="keys")

    def on_mount(self) -> None:
        """The newest first."""
        self._show("")
        self.query_one(OptionList).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filters while one types."""
        self._show(event.value)

    def on_input_submitted(self) -> None:
        """Back to the list."""
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click opens one."""
        self.dismiss(self._shown[event.option_index].session_id)

    def action_open(self) -> None:
        """Opens the marked session."""
        self.query_one(OptionList).action_select()

    def action_filter(self) -> None:
        """Opens the filter."""
        field = self.query_one(Input)
        field.add_class("-open")
        field.focus()

    def action_new(self) -> None:
        """Begins a new session."""
        self.dismiss(NEW_SESSION)

    def action_back(self) -> None:
        """Out of the filter, and then out of the screen."""
        if self.query_one(Input).has_focus:
            self.query_one(OptionList).focus()
        else:
            self.dismiss(None)

    def _show(self, words: str) -> None:
        wanted = words.casefold().split()
        found = [s for s in self._sessions if all(word in s.title.casefold() for word in wanted)]
        self._shown = found[:_PAGE]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._told(session)) for session in self._shown])
        options.highlighted = 0 if self._shown else None
        more = f", the newest {_PAGE} shown" if len(found) > _PAGE else ""
        self.query_one("#sessions-title", Static).update(f"Sessions · {len(found)}{more}")

    def _told(self, session: SessionLine) -> str:
        began = f"{session.created_at.astimezone():%Y-%m-%d %H:%M}"
        here = "*" if session.session_id == self._current else " "
        turns = f"{session.turns} turn{'s' if session.turns != 1 else ''}"
        return f"{here}{session.session_id:>5}  {began}  {turns:>9}  {one_line(session.title)}"
