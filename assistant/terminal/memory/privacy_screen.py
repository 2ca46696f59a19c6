"""What is kept about a user, who can read it, what left the machine, and the way to forget all of it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from assistant.terminal.facts.privacy import privacy_told
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import PRIVACY
from assistant.terminal.text.printable import printable
from assistant.terminal.widgets.work import Telling
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

SENTENCE = "forget everything of mine"  # to be typed


def privacy_lines(assistant: Assistant, user_id: int, *, width: int) -> list[str]:
    """The page, in lines of `width` columns."""
    return [
        line
        for told in privacy_told(assistant, user_id)
        for line in textwrap.wrap(told, max(20, width), subsequent_indent="  ") or [""]
    ]


class PrivacyScreen(Telling, Screen[bool]):
    """The page. Dismissed with True when everything is to be forgotten, which was typed."""

    place = "Privacy"
    BINDINGS = bindings(PRIVACY)
    DEFAULT_CSS = """
    PrivacyScreen > VerticalScroll { border: round $border; padding: 0 1; height: 1fr; }
    PrivacyScreen > VerticalScroll { border-title-color: $foreground; }
    PrivacyScreen Static { height: auto; }
    """

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll() as frame:
            frame.border_title = "Privacy"
            yield Static(printable("\n".join(self._lines)), markup=False, id="page")
        yield Static("x forget everything of mine  Esc back", markup=False, classes="keys")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def tell(self, sentence: str) -> None:
        """In the frame, below the text."""
        self.query_one(VerticalScroll).border_subtitle = one_line(sentence)

    def action_forget_everything(self) -> None:
        """Asks for a sentence first: nothing brings it back."""
        self.work(self._forget_everything())

    async def _forget_everything(self) -> None:
        from assistant.terminal.memory.memory_questions import AskLine

        question = (
            "Forget everything of yours for good: memory, documents, all transcripts, drafts and ratings? "
            f"Nothing brings it back. To mean it, type: {SENTENCE}"
        )
        if await self.app.push_screen_wait(AskLine(question, must_be=SENTENCE)) is not None:
            self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)
