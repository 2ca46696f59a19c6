"""The log of today: its last lines, filtered by words and level, followed while it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.message import Message as Posted
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.facts.log_lines import LEVELS, MOST_LINES, LogLine, last_lines, log_file
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import LOG
from assistant.terminal.widgets.marked_list import MarkedList
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.screen_help import HasHelp
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import Telling
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk
    from assistant.wiring.assistant import Assistant

_LOOKS_EVERY_SECONDS = 1.0


class LogRows(MarkedList):
    """The rows; a wheel that turns is told."""

    class Turned(Posted):
        """Somebody scrolls by the wheel."""

        def __init__(self, *, is_up: bool) -> None:
            super().__init__()
            self.is_up = is_up

    def on_mouse_scroll_up(self) -> None:
        self.post_message(self.Turned(is_up=True))

    def on_mouse_scroll_down(self) -> None:
        self.post_message(self.Turned(is_up=False))


class LogScreen(Screen[None], HasHelp, Telling):
    """Rows of the log; the newest is below."""

    place = "Log"
    BINDINGS = bindings(LOG)
    DEFAULT_CSS = """
    LogScreen > #log-title { padding: 0 1; }
    LogScreen > OptionList { height: 1fr; border: round $border; padding: 0; }
    LogScreen > OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    LogScreen > OptionList:focus { border: round $border; }
    LogScreen > Input { display: none; }
    LogScreen > Input.-open { display: block; }
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._lines: list[LogLine] = []
        self._shown: list[LogLine] = []
        self._level = LEVELS[0]
        self._follows = True
        self._is_looking = False
        self._file = ""

    def compose(self) -> ComposeResult:
        yield TwoSidedLine("Log", id="log-title")
        yield LogRows(markup=False)
        yield Input(placeholder="Words of a line; Enter goes back to the lines", compact=True)
        yield Static("", markup=False, classes="keys", id="log-keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._show()
        self._look()
        self.set_interval(_LOOKS_EVERY_SECONDS, self._look)

    def tell(self, sentence: str) -> None:
        """In the frame, below the rows."""
        self.query_one(OptionList).border_subtitle = one_line(sentence)

    def on_input_changed(self) -> None:
        self._show()

    def on_input_submitted(self) -> None:
        field = self.query_one(Input)
        field.set_class(bool(field.value), "-open")
        self.query_one(OptionList).focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Who goes up to read stays there; on the newest line it follows again."""
        if event.option_list.highlighted == event.option_index:
            self._follows = event.option_index == len(self._shown) - 1
            self._tell()

    def on_log_rows_turned(self, event: LogRows.Turned) -> None:
        if event.is_up:
            self._follows = False
            self._tell()
        elif not self._follows and self.query_one(LogRows).is_vertical_scroll_end:
            self.action_follow()

    def on_resize(self) -> None:
        self._keep_to_newest()
        self._tell()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        line = self._shown[event.option_index]
        self.app.push_screen(PageScreen("A line of the log", line.whole or line.event))

    def action_open(self) -> None:
        self.query_one(OptionList).action_select()

    def action_filter(self) -> None:
        field = self.query_one(Input)
        field.add_class("-open")
        field.focus()

    def action_level(self) -> None:
        self._level = LEVELS[(LEVELS.index(self._level) + 1) % len(LEVELS)]
        self._show()

    def action_follow(self) -> None:
        self._follows = True
        self._show()

    def action_back(self) -> None:
        if self.query_one(Input).has_focus:
            self.on_input_submitted()
        else:
            self.dismiss()

    def _look(self) -> None:
        if not self._is_looking and self.is_current:
            self._is_looking = True
            self.work(self._look_again())

    async def _look_again(self) -> None:
        def read(assistant: Assistant, _user_id: int) -> tuple[str, list[LogLine]]:
            file = log_file(assistant.given.locations.state)
            return f"{file}", last_lines(file, with_text=assistant.given.settings.log.log_text)

        try:
            self._file, lines = await self._desk.look(read)
        finally:
            self._is_looking = False
        if lines != self._lines and self.is_mounted:
            self._lines = lines
            self._show()

    def _show(self) -> None:
        words = self.query_one(Input).value.casefold().split()
        shown = [line for line in self._lines if line.fits(words, self._level)]
        options = self.query_one(OptionList)
        marked = options.highlighted
        if shown != self._shown:
            before = self._shown[marked] if marked is not None and marked < len(self._shown) else None
            self._shown = shown
            options.clear_options()
            options.add_options([Option(line.row) for line in shown])
            marked = shown.index(before) if before in shown else len(shown) - 1
        if shown:
            options.highlighted = len(shown) - 1 if self._follows else max(0, marked or 0)
        self._keep_to_newest()
        self._tell()

    def _keep_to_newest(self) -> None:
        """Behind the next layout, before which the list does not know how far it reaches."""
        self.call_after_refresh(self._scroll_to_newest)

    def _scroll_to_newest(self) -> None:
        if self._follows and self.is_attached:
            self.query_one(LogRows).scroll_end(animate=False)

    def _tell(self) -> None:
        several = f"the last {MOST_LINES} lines" if len(self._lines) >= MOST_LINES else "lines"
        told = f"Log · {len(self._shown)} of {len(self._lines)} {several} · {self._level}"
        if not self._lines:
            told = "Log · nothing was logged today (a day of UTC)"
        self.query_one("#log-title", TwoSidedLine).say(
            told, "following" if self._follows else "not following"
        )
        newest = "f newest" if self.size.width < 60 else "f follow the newest  Enter whole line"
        self.query_one("#log-keys", Static).update(f"/ filter  l level  {newest}  Esc back")
