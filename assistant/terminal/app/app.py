"""The program on the screen: it opens, paints, and gives the screen back however it ends."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import sys
import termios
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.filter import LineFilter
from textual.screen import ModalScreen, Screen

from assistant.terminal.actions.drafts import Drafts
from assistant.terminal.app.everywhere import COMES_FIRST
from assistant.terminal.app.palette import Palette
from assistant.terminal.chat.chat_screen import ChatScreen
from assistant.terminal.conversation.prompt import BURST_SECONDS
from assistant.terminal.engine.engine import Desk, SessionChoice
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import APP, CHAT, shown
from assistant.terminal.why.passage_actions import PassageActions
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.work import Telling
from stores.base.errors import VouchError
from stores.base.one_line import one_line

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
        return f"{name} works in the chat · Esc goes back there"
    leads_on = "Esc goes back" if isinstance(screen, PageScreen) else f"{help_key} lists keys"
    return f"{name} does nothing here · {leads_on}"


REVERSED = """
    CommandList:nocolor > .option-list--option-highlighted { text-style: bold underline; }
    Input:nocolor > .input--selection, TextArea:nocolor .text-area--selection { text-style: reverse; }
    Input:nocolor > .input--cursor, TextArea:nocolor .text-area--cursor { text-style: reverse; }
    Screen:nocolor > .screen--selection { text-style: reverse; }
"""


class WithoutColour(LineFilter):
    """Takes the colours out of what is painted; bold, dim, reverse, links and what a click does stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in the terminal's own two colours."""
        return [
            Segment(text, None if style is None else _bare(style), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _bare(style: Style) -> Style:
    bare = style.without_color
    return bare + Style.from_meta(style.meta) if style.meta else bare


T = TypeVar("T")

_GIVES_BACK_SECONDS = 1.0  # the screen, at last
_HEEDS_SECONDS = 1.0  # a signal, at the latest
_ENDS_WITHIN_SECONDS = 8.0  # what runs; then it is left as a killed process leaves it


class ChatApp(Palette):
    """Returns the exit code."""

    BINDINGS = bindings(APP)
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (40, "-narrow"), (60, "-normal"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (11, "-low"), (14, "-tall")]  # noqa: RUF012
    TITLE = "Vouch"
    CSS = (
        """
    .keys { height: 1; padding: 0 1; color: $text-muted; }
    Input > .input--placeholder { color: $text-muted; }
    OptionList > .option-list--option-disabled { color: $text-muted; }
    OptionList:focus > .option-list--option-highlighted { background: $primary-darken-1; }
    """
        + REVERSED
    )

    def __init__(
        self,
        desk: Desk,
        drafts: Drafts,
        choice: SessionChoice,
        *,
        theme: str,
        keep_theme: Callable[[str], None] = lambda name: None,
        follows: bool,
        changed_keys: Mapping[str, str],
        burst_seconds: float = BURST_SECONDS,
        status: str = "",
    ) -> None:
        """keep_theme: keeps one that was chosen. changed_keys: by binding id.

        burst_seconds: 0 takes every Enter for one that was pressed.
        status: what the status line tells where there is nothing newer.
        """
        super().__init__()
        self._without_colour = WithoutColour()
        self.theme = theme
        self._keep_theme = keep_theme
        self.changed_keys = dict(changed_keys)
        self.set_keymap(self.changed_keys)
        self.leading_keys = frozenset(
            pressed for key in (*CHAT, *APP) for pressed in self.changed_keys.get(key.id, key.keys).split(",")
        )
        self.failure: VouchError | None = None  # why it could not be opened
        self.defect: Exception | None = None  # of ours
        self._leaving: asyncio.Task[None] | None = None
        self._breaking_off: threading.Timer | None = None
        self._is_left = False
        self.chat = ChatScreen(
            desk,
            drafts,
            choice,
            follows=follows,
            changed_keys=self.changed_keys,
            burst_seconds=burst_seconds,
            status=status,
        )

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Without colour, the library would paint in greys."""
        return [self._without_colour] if self.no_color else super().get_line_filters()

    def get_default_screen(self) -> Screen[Any]:
        return self.chat

    def on_mount(self) -> None:
        """Told to end or hung up, leave by the usual way out; the library would not give the screen back."""
        self.theme_changed_signal.subscribe(self, lambda theme: self._theme_chosen(theme.name))
        if self.is_headless:
            return
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._heed(number)
        self.set_interval(1.0, self._look_for_the_terminal)
        # Behind `fg` the terminal shows nothing any more, and the library would draw only what has changed.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def _theme_chosen(self, name: str) -> None:
        try:
            self._keep_theme(name)
        except VouchError as error:
            self.chat.tell(f"{name} until you leave: {error.message}. {error.hint}")
        else:
            self.chat.tell(f"{name} from now on")

    # Leaving

    def leave(self, code: int) -> None:
        """Keeps what runs and what is typed, gives the screen back, and ends with this code."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave(code))
            if not self.is_headless:
                self._breaking_off = _later(2 * _ENDS_WITHIN_SECONDS, self._break_off, code)

    async def _leave(self, code: int) -> None:
        try:
            await asyncio.wait_for(self.chat.end(), _ENDS_WITHIN_SECONDS)
        except TimeoutError:
            pass
        except Exception as error:  # noqa: BLE001 - reported when the screen is given back
            self.defect = self.defect or error
        self.exit(code)

    def _heed(self, number: signal.Signals) -> None:
        """Leaves at this signal. Where the loop hangs, the end is forced."""
        loop = asyncio.get_running_loop()
        code = 128 + number

        def heed(_number: int, _frame: object) -> None:
            _later(_HEEDS_SECONDS, self._end_if_it_hangs, code)
            gone = number == signal.SIGHUP and not _has_terminal()
            loop.call_soon_threadsafe(self._hung_up if gone else lambda: self.leave(code))

        signal.signal(number, heed)

    def _end_if_it_hangs(self, code: int) -> None:
        if self._leaving is None and not self._is_left:
            with suppress(Exception):
                self.chat.save_draft()
            self._break_off(code)

    def has_left(self) -> None:
        """The library has ended: nothing is to be broken off any more."""
        self._is_left = True
        if self._breaking_off is not None:
            self._breaking_off.cancel()

    def _break_off(self, code: int) -> None:
        """Where the library's own end hangs: the data directory would stay taken, and no signal be heeded.

        On a thread of its own, since the loop may be what hangs.
        """
        _later(_GIVES_BACK_SECONDS, os._exit, code)
        # On another thread than its own the library leaves the mouse as it is; closing writes what is queued.
        for step in ("_disable_mouse_support", "stop_application_mode", "close"):
            with suppress(Exception):
                getattr(self._driver, step)()
        os._exit(code)

    def action_help_quit(self) -> None:
        """Ctrl+C where nothing is selected, on another screen than the chat."""
        self.tell("Esc goes back · Ctrl+Q leaves")

    async def action_quit(self) -> None:
        self.leave(0)

    async def or_leave(self, opening: Awaitable[T]) -> T:
        """What is awaited; a chat that cannot be opened is left with the reason."""
        try:
            return await opening
        except VouchError as error:
            self.failure = error
            self.leave(error.exit_code)
            raise

    def fail(self, error: Exception) -> None:
        """A defect of ours: leaves, and has it reported."""
        self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        self.defect = self.defect or error
        try:
            self.chat.save_draft()
        except Exception:  # noqa: BLE001 - the first error is the one to report
            self.log.error("the draft could not be kept")
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """The library would print a page; the report holds it, and one sentence names the report."""
        self._close_messages_no_wait()

    def panic(self, *renderables: Any) -> None:
        """The library's threads end here, such as the one that reads keys when the terminal closes."""
        if not self.is_headless and not (_has_server() if self.is_web else _has_terminal()):
            self._hung_up()
        else:
            self.defect = self.defect or RuntimeError("a thread of the screen library failed")
            super().panic(*renderables)

    async def _on_exit_app(self) -> None:
        """The browser's tab was closed: what runs and what is typed is kept first."""
        if self.is_web and self._leaving is None:
            self.leave(128 + signal.SIGHUP)
        else:
            await super()._on_exit_app()

    def _look_for_the_terminal(self) -> None:
        if not (_has_server() if self.is_web else _has_terminal()):  # it was closed, and nobody told us
            self._hung_up()

    def _hung_up(self) -> None:
        """Nobody sees or types anything any more, and writing to a closed terminal would fail."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        self.leave(128 + signal.SIGHUP)

    # Telling

    def tell(self, sentence: str) -> None:
        """One sentence, where the person looks."""
        if self.screen is self.chat:
            self.chat.tell(sentence)
        elif isinstance(self.screen, Telling):
            self.screen.tell(sentence)
        else:
            told = one_line(sentence)
            if all(known.message != told for known in self._notifications):
                self.notify(told, markup=False)

    # Why this answer, on the chat or on a screen of its own

    def on_passage_actions_wants_comparison(self, event: PassageActions.WantsComparison) -> None:
        self.chat.compare_turn(event.turn_id)

    def on_passage_actions_changed(self, event: PassageActions.Changed) -> None:
        self.chat.heard_of_removal(event.told, event.receipt_id, is_undone=event.is_undone)

    # Keys

    async def on_key(self, event: events.Key) -> None:
        """A key that no text took: its action, or else one line that says that it has none here."""
        event.prevent_default()  # or the library would act on it once more
        if await self._check_bindings(event.key):
            return
        is_of_chat = event.key in self.leading_keys and self.screen is not self.chat
        if isinstance(self.screen, ModalScreen):
            if is_of_chat:
                self.tell(COMES_FIRST)
        elif told := untaken_told(event, shown(self._help_keys[0]), is_of_chat, self.screen):
            self.tell(told)

    @property
    def _help_keys(self) -> list[str]:
        return self.changed_keys.get("help", "f1").split(",")


def _later(seconds: float, do: Callable[[int], object], code: int) -> threading.Timer:
    timer = threading.Timer(seconds, do, (code,))
    timer.daemon = True
    timer.start()
    return timer


def _has_terminal() -> bool:
    """Whether the terminal is still there."""
    try:
        termios.tcgetattr(sys.__stdin__.fileno() if sys.__stdin__ else 0)
    except (termios.error, OSError, ValueError):
        return False
    return True


def _has_server() -> bool:
    """Whether what shows the screen in a browser is still there."""
    found = select.poll()
    found.register(0, select.POLLHUP)
    return not found.poll(0)
