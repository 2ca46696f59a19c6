"""Find: words are typed, and the turns that hold them follow, of this session first, then of all others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import FIND
from assistant.terminal.widgets.marked_list import MarkedList
from assistant.terminal.widgets.work import Telling
from stores.base.clock import local
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from stores.conversation.turn_search import FoundTurn

_WAITS_SECONDS = 0.12  # after a key, for the next one
_NARROW = 60
_KEYS = "Enter open  Esc back{}  Up Down choose  Tab list"
_FROM_READING = "  Esc Esc prompt"
_SHORTEST_COMMAND = 2  # letters of what may be meant for one
Finds = Callable[[str], Awaitable[Sequence["FoundTurn"]]]


class FindScreen(Telling, Screen["tuple[str, list[FoundTurn], int] | None"]):
    """Dismissed with the words, the turns that hold them, and which of them was chosen."""

    place = "Find"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(FIND),
        Binding("ctrl+c", "back", show=False, priority=True),  # the field would copy
    ]
    DEFAULT_CSS = """
    FindScreen > Static { height: 1; padding: 0 1; }
    FindScreen > #find-title { height: auto; max-height: 3; }
    FindScreen > OptionList { height: 1fr; border: round $border; padding: 0; }
    FindScreen > OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    FindScreen > OptionList:focus { border: round $primary; }
    """

    def __init__(
        self,
        finds: Finds,
        *,
        session_id: int,
        words: str = "",
        is_private: bool = False,
        commands: Sequence[str] = (),
    ) -> None:
        """finds: what holds the words. session_id: of the session that is on. words: looked for at once.

        commands: of the prompt, where somebody who reads has typed `/`, and may have meant one of them.
        """
        super().__init__()
        self._finds = finds
        self._session_id = session_id
        self._words = words
        self._is_private = is_private
        self._commands = sorted(commands)
        self._found: list[FoundTurn] = []
        self._chosen: list[int | None] = []  # by row: which of those found; None for a heading
        self._looked_for = ""  # what those shown hold
        self.typed = words  # until now

    def compose(self) -> ComposeResult:
        yield Static("Find", markup=False, id="find-title")
        yield Input(self._words, placeholder="Words of a message or an answer", compact=True)
        yield MarkedList(markup=False)
        yield Static(_KEYS.format(_FROM_READING if self._commands else ""), markup=False, classes="keys")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        if self._is_private:
            self.tell("what is said in a private session is not searched; all other sessions are")
        if self._words:
            self.work(self._find(self._words))

    def tell(self, sentence: str) -> None:
        self.query_one("#find-title", Static).update(f"Find · {one_line(sentence)}" if sentence else "Find")

    def on_input_changed(self, event: Input.Changed) -> None:
        self.typed = event.value
        self.set_timer(_WAITS_SECONDS, lambda words=event.value: self._look(words))

    def _look(self, words: str) -> None:
        if self.is_attached and words == self.query_one(Input).value != self._looked_for:
            self.work(self._find(words))

    async def _find(self, words: str) -> None:
        found = list(await self._finds(words)) if words.strip() else []
        if not self.is_attached or words != self.query_one(Input).value:
            return  # something else is looked for by now
        self._found, self._looked_for = found, words
        self._show()

    def _show(self) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        self._chosen = []
        here = [n for n, each in enumerate(self._found) if each.session_id == self._session_id]
        elsewhere = [n for n, each in enumerate(self._found) if each.session_id != self._session_id]
        for heading, numbers in (("In this session", here), ("In other sessions", elsewhere)):
            if numbers:
                options.add_option(Option(f"{heading} · {len(numbers)}", disabled=True))
                options.add_options([Option(self._told(self._found[number])) for number in numbers])
                self._chosen += [None, *numbers]
        options.highlighted = 1 if self._found else None
        if self._found:
            self.tell(f"{len(self._found)} with {one_line(self._looked_for)}")
        else:
            self.tell(
                f"nothing with {one_line(self._looked_for)}{self._meant}" if self._looked_for.strip() else ""
            )

    @property
    def _meant(self) -> str:
        """How to get to the command that may have been meant, where there is one."""
        typed = self._looked_for.split()[0].lower().removeprefix("/")
        is_long = len(typed) >= _SHORTEST_COMMAND
        name = next((name for name in self._commands if is_long and name[1:].startswith(typed)), "")
        return f" · {name} is a command: Esc Esc, then type it" if name else ""

    def _told(self, found: FoundTurn) -> str:
        speaker = "Assistant" if found.is_answer else "You"
        day = f"{local(found.at):%Y-%m-%d}"
        if self.app.size.width < _NARROW:
            return f"{day} {one_line(found.excerpt)}"
        title = "" if found.session_id == self._session_id else f"{short(found.title, 24):<24}  "
        return f"{day}  {title}{speaker:<9}  {one_line(found.excerpt)}"

    # Keys

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Opens the marked one; what was typed just now is looked for first."""
        event.stop()
        self.work(self._open())

    async def _open(self) -> None:
        if self.query_one(Input).value != self._looked_for:
            await self._find(self.query_one(Input).value)
        marked = self.query_one(OptionList).highlighted
        number = self._chosen[marked] if marked is not None else None
        if number is not None:
            self.dismiss((self._looked_for, self._found, number))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        number = self._chosen[event.option_index]
        if number is not None:
            self.dismiss((self._looked_for, self._found, number))

    def action_mark(self, by: int) -> None:
        options = self.query_one(OptionList)
        for _ in range(abs(by)):
            options.action_cursor_down() if by > 0 else options.action_cursor_up()

    def action_list(self) -> None:
        if self.query_one(Input).has_focus and self._found:
            self.query_one(OptionList).focus()
        else:
            self.action_words()

    def action_words(self) -> None:
        self.query_one(Input).focus()

    def action_back(self) -> None:
        self.dismiss(None)
