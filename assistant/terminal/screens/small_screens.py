"""Questions that need an answer before anything else, and the search of earlier prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.screens.printable import printable
from stores.one_line import short

_BOX = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 90%; max-width: 90; height: auto; max-height: 80%;
    border: round $warning; border-title-color: $foreground; background: $surface; padding: 0 1;
}}
{name} Static {{ height: auto; }}
"""


class Question(ModalScreen[bool]):
    """Asks before what cannot be undone; anything but y or Enter on a link is a no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer(True)", "yes"),
        ("n,escape,enter", "answer(False)", "no"),
    ]
    CSS = _BOX.format(name="Question")

    def __init__(self, question: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        """The question and the keys."""
        with Vertical():
            yield Static(printable(self._question), markup=False, id="question")
            yield Static(f"\ny {self._yes}   n, Esc {self._no}", markup=False)

    def action_answer(self, yes: bool) -> None:
        """The answer."""
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
        """What is searched for, and what was found."""
        with Vertical() as box:
            box.border_title = "Earlier prompts"
            box.border_subtitle = "Enter takes one · Esc back"
            yield Input(placeholder="Words of an earlier prompt", compact=True)
            yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        """Shows the newest."""
        self.query_one(OptionList).can_focus = False
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Finds while one types."""
        self._find(event.value)

    def on_input_submitted(self) -> None:
        """Takes the marked one."""
        marked = self.query_one(OptionList).highlighted
        self.dismiss(self._found[marked] if marked is not None else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click takes one too."""
        self.dismiss(self._found[event.option_index])

    def action_mark(self, by: int) -> None:
        """Another one."""
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
