"""What stands around the conversation: title and counts, the status line, and how much is below."""

from __future__ import annotations

from textual.widgets import Static

from assistant.one_line import one_line
from assistant.terminal.screens.chat_parts import ChatParts
from assistant.terminal.screens.desk import Counts
from assistant.terminal.screens.key_line import KeyLine
from assistant.terminal.screens.two_sided_line import TwoSidedLine

_NARROW, _LOW = 60, 14  # columns and rows


class Surroundings(ChatParts):
    """The lines that tell how things are."""

    standing = ""  # what the status line tells where there is nothing newer
    _counts: Counts | None = None
    _lines_below = 0

    def tell_while_opening(self, sentence: str) -> None:
        """The same, and told again behind every other sentence until it is open."""
        if not self.desk.slash_commands:
            self.standing = sentence
        self.tell(sentence)

    def tell(self, sentence: str) -> None:
        """One sentence in the status line, until the next one; where there is none, among the keys."""
        told = one_line(sentence or self.standing)
        self.query_one("#status", TwoSidedLine).say(told)
        is_small = self.size.height < _LOW
        self.query_one(KeyLine).tell(told if is_small else "")

    def show_header(self) -> None:
        """The session's title, and what is known."""
        counts = self._counts
        right = f"{counts.yours} yours · {counts.shared} shared · {counts.model}" if counts else ""
        if counts and self.size.width < _NARROW:
            right = counts.model
        self.query_one("#header", TwoSidedLine).say(
            one_line(self.session_title) or "New session", one_line(right)
        )

    def show_counts(self, counts: Counts) -> None:
        """Other counts."""
        self._counts = counts
        self.talk.model_name = counts.model
        self.show_header()

    def on_resize(self) -> None:
        """The header tells what there is room for."""
        self.show_header()

    def on_conversation_followed(self) -> None:
        """Tells how much came while somebody reads above."""
        below = self.query_one("#below", Static)
        lines = self.conversation.lines_below
        if lines != self._lines_below:  # an update lays the whole screen out anew
            self._lines_below = lines
            below.display = lines > 0
            below.update(f"{lines} new line{'s' if lines != 1 else ''}, End to follow")

    def on_descendant_focus(self) -> None:
        """The line of keys tells those of what has the focus."""
        self.query_one(KeyLine).reads = self.conversation.has_focus
