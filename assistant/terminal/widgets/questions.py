"""Questions that need an answer before anything else, and the search of earlier prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from assistant.terminal.text.printable import printable
from assistant.terminal.widgets.marked_list import MarkedList
from stores.base.one_line import short

_LEFT_FREE = 4  # one row in so many stays with what a question is about
_HEADER = 2  # rows
_SCROLL = "   Up Down"
_FRAME = 3  # rows of a question around its words: border and keys
_BOX = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 90%; max-width: 90; height: auto; max-height: 80%;
    border: round $warning; border-title-color: $foreground; background: $surface; padding: 0 1;
}}
{name} Static {{ height: auto; }}
"""


class Question(ModalScreen[bool]):
    """Asks before what cannot be undone; anything but y is a no.

    It stands where the prompt is, so that what it is about can still be read above it. Text that is typed
    on is no answer: it closes the question, and goes into the field that had the focus before. So does a
    y that came before the question could be read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer(True)", "yes"),
        ("n,escape,enter", "answer(False)", "no"),
    ]
    _ANSWERS = ("y", "n")
    CSS = """
    Question { align: center bottom; }
    Question > Vertical { height: auto; border: round $warning; background: $surface; padding: 0 1; }
    Question VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
    Question VerticalScroll:focus { background-tint: $foreground 0%; }
    Question Static { height: auto; }
    """

    def __init__(self, question: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no
        self._is_painted = self._is_answered = False

    def on_mount(self) -> None:
        self.call_after_refresh(self._can_be_read)

    def _can_be_read(self) -> None:
        self._is_painted = True

    def on_key(self, event: events.Key) -> None:
        is_key = event.character in self._ANSWERS and self._is_painted and not self._is_answered
        if is_key or not event.is_printable or not event.character:
            return
        event.stop()
        event.prevent_default()
        self._type_on(event.character)
        self.action_answer(False)

    def _type_on(self, text: str) -> None:
        """Puts it where text went before the question came; where letters are keys, nowhere."""
        stack = self.app.screen_stack
        below = stack[stack.index(self) - 1] if self in stack else self.app.screen
        if isinstance(below.focused, TextArea):
            below.focused.insert(text)
        elif isinstance(below.focused, Input):
            below.focused.insert_text_at_cursor(text)

    def compose(self) -> ComposeResult:
        with Vertical():
            with VerticalScroll():
                yield Static(printable(self._question), markup=False, id="question")
            yield Static(self._keys, markup=False, id="question-keys")

    @property
    def _keys(self) -> str:
        return f"y {self._yes}   n, Esc {self._no}"

    def on_resize(self, event: events.Resize) -> None:
        """A long question scrolls: the keys are always there, and some lines of what it is about."""
        height = event.size.height
        words = self.query_one(VerticalScroll)
        words.styles.max_height = max(1, height - height // _LEFT_FREE - _HEADER - _FRAME)
        self.call_after_refresh(self._tell_keys)

    def _tell_keys(self) -> None:
        words = self.query_one(VerticalScroll)
        scrolls = words.max_scroll_y > 0 and len(self._keys) + len(_SCROLL) < words.size.width
        self.query_one("#question-keys", Static).update(self._keys + (_SCROLL if scrolls else ""))

    def action_answer(self, yes: bool) -> None:
        if not self._is_answered:
            self._is_answered = True
            self.dismiss(yes)


class PastPrompts(ModalScreen[str | None]):
    """Everything that was sent before, searched while one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "dismiss", "back"),
        ("down", "mark(1)", ""),
        ("up", "mark(-1)", ""),
    ]
    CSS = _BOX.format(name="PastPrompts") + "PastPrompts OptionList { height: auto; max-height: 14; }"

    def __init__(self, prompts: Sequence[str]) -> None:
        """prompts: newest first."""
        super().__init__()
        self._prompts = list(dict.fromkeys(prompts))
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Earlier prompts"
            box.border_subtitle = "Enter takes one · Esc back"
            yield Input(placeholder="Words of an earlier prompt", compact=True)
            yield MarkedList(markup=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._find(event.value)

    def on_input_submitted(self) -> None:
        marked = self.query_one(OptionList).highlighted
        self.dismiss(self._found[marked] if marked is not None else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])

    def action_mark(self, by: int) -> None:
        found = self.query_one(OptionList)
        if found.option_count:
            found.highlighted = ((found.highlighted or 0) + by) % found.option_count

    def _find(self, words: str) -> None:
        wanted = words.casefold().split()
        self._found = [p for p in self._prompts if all(word in p.casefold() for word in wanted)][:200]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(short(prompt, 200)) for prompt in self._found])
        options.highlighted = 0 if self._found else None
