"""What the Memory screen asks for: another text, a line, and a sentence typed to mean it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from assistant.terminal.text.printable import printable

_BOX = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 90%; max-width: 100; height: auto; max-height: 90%;
    border: round $warning; border-title-color: $foreground; background: $surface; padding: 0 1;
}}
{name} Static {{ height: auto; }}
"""


class TextBox(TextArea):
    """Text of several lines; Enter is done with it, Ctrl+J is a new line."""

    class Done(Message):
        """The text is as it shall be."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            event.stop()
            self.post_message(self.Done())
        elif event.key in ("ctrl+j", "shift+enter"):
            event.prevent_default()
            event.stop()
            self.insert("\n")
        else:
            await super()._on_key(event)


class EditText(ModalScreen[tuple[bool, str]]):
    """A text to be changed. Dismissed with whether it is to be kept, and what stands there."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "leave")]
    CSS = _BOX.format(name="EditText") + "EditText TextArea { height: auto; max-height: 12; border: none; }"

    def __init__(self, title: str, text: str, about: str) -> None:
        super().__init__()
        self._title, self._text, self._about = title, text, about

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            yield TextBox(printable(self._text), id="text", highlight_cursor_line=False)
            yield Static(self._about, markup=False)
            yield Static("\nEnter keeps it  ^J new line  Esc leaves it as it was", markup=False)

    def on_mount(self) -> None:
        box = self.query_one(TextBox)
        box.focus()
        box.move_cursor(box.document.end)

    def on_text_box_done(self) -> None:
        self.dismiss((True, self.query_one(TextBox).text))

    def action_leave(self) -> None:
        self.dismiss((False, self.query_one(TextBox).text))


class AskLine(ModalScreen[str | None]):
    """Asks for one line; None where it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "back")]
    CSS = _BOX.format(name="AskLine")

    def __init__(self, question: str, line: str = "", *, must_be: str = "") -> None:
        """must_be: what has to be typed; anything else is told and changes nothing."""
        super().__init__()
        self._question, self._line, self._must_be = question, line, must_be

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(printable(self._question), markup=False, id="question")
            yield Input(self._line, compact=True, id="line")
            yield Static("", markup=False, id="answer")
            yield Static("Enter goes on  Esc back", markup=False)

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.select_on_focus = False
        field.focus()
        field.cursor_position = len(self._line)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._must_be and event.value.strip() != self._must_be:
            self.query_one("#answer", Static).update(f"That is not “{self._must_be}”: nothing was changed.")
        else:
            self.dismiss(event.value)
