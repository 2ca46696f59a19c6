"""One message on the screen; an answer grows while it is written."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.message import Message as Posted
from textual.widgets import Static

from assistant.terminal.conversation.answer_text import AnswerText
from assistant.terminal.facts.messages import FORGOTTEN, Message
from assistant.terminal.text.printable import as_markdown, printable
from assistant.terminal.widgets.boxes import BlankBox
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from stores.base.one_line import open_end


class MessageView(BlankBox):
    """A message with who says it above, and what it rests on below."""

    DEFAULT_CSS = """
    MessageView { height: auto; padding: 0 1; margin-bottom: 1; max-width: 105; }
    MessageView > .speaker { text-style: bold; }
    MessageView > .words { margin: 0 1 0 2; height: auto; }
    MessageView > .thoughts { margin: 0 1 0 2; height: auto; color: $text-muted; display: none; }
    MessageView > .sources { padding: 0 1 0 2; height: auto; color: $text-muted; }
    MessageView.-queued > .words { color: $text-muted; }
    MessageView.-unsure > .words { color: $text-muted; text-style: italic; }
    MessageView.-current { border-left: thick $accent; padding-left: 0; }
    MessageView.-folded > .words, MessageView.-folded > .sources { display: none; }
    """

    class LacksSources(Posted):
        """The answer is shown, and what it cites is not looked up yet."""

        def __init__(self, view: MessageView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message
        self._shows_thoughts = False
        self._held = ""  # the end of what is written: what comes next may be joined to it
        self.set_class(message.state == "queued", "-queued")
        self.set_class(message.is_folded, "-folded")
        self.set_class(message.is_unsure, "-unsure")

    def compose(self) -> ComposeResult:
        message = self.message
        yield TwoSidedLine(message.speaker, message.label, classes="speaker")
        if message.speaker == "Assistant":
            yield Static(self._thoughts(), markup=False, classes="thoughts")
            shown = as_markdown(message.text, is_quoted=message.is_quoted)
            is_whole = message.state not in ("waiting", "writing")
            yield AnswerText(shown, is_whole=is_whole, classes="words")
        else:
            said = message.text or (FORGOTTEN if message.speaker == "You" else "")
            yield Static(printable(said), markup=False, classes="words")
        yield Static(self._below(), markup=False, classes="sources")

    def on_mount(self) -> None:
        """What stands below takes no row while there is nothing; its state may have changed meanwhile."""
        self.update()
        self._show_thoughts()
        if self.message.lacks_sources:
            self.post_message(self.LacksSources(self))

    def write(self, piece: str) -> None:
        """A further piece of an answer that is being written."""
        self.message.text += piece
        begun = self._held + piece
        self._held = open_end(begun)
        self._show(begun.removesuffix(self._held))

    def think(self, piece: str, *, is_all: bool) -> None:
        """A further piece of what is thought before the answer. is_all: what is written belongs to it."""
        if is_all:
            self.message.thoughts += self.message.text
            self.message.text = self._held = ""
            for text in self.query(AnswerText):
                text.clear()
        self.message.thoughts += piece
        self._show_thoughts()

    def open_thoughts(self) -> None:
        """Shows what was thought before the answer, or folds it again."""
        self._shows_thoughts = not self._shows_thoughts
        self._show_thoughts()

    def _show_thoughts(self) -> None:
        for line in self.query(".thoughts").results(Static):
            line.display = bool(self.message.thoughts.strip())
            line.update(self._thoughts())

    def _thoughts(self) -> str:
        thoughts = printable(self.message.thoughts.strip())
        count = f"thought in {len(thoughts.split())} words"
        lines = "".join(f"\n│ {line}" for line in thoughts.splitlines())
        return f"▾ {count}{lines}" if self._shows_thoughts else f"▸ {count}"

    def end(self) -> None:
        """The answer is whole: shows how it ended and what it rests on."""
        self._show(self._held)
        self._held = ""
        for text in self.query(AnswerText):
            text.end()
        self.update()

    def _show(self, piece: str) -> None:
        if piece:
            for text in self.query(AnswerText):
                text.write(as_markdown(piece, is_quoted=self.message.is_quoted))

    def say(self, line: str) -> None:
        """A further line of what a command says."""
        self.message.text = f"{self.message.text}\n{line}" if self.message.text else line
        for words in self.query(".words").results(Static):  # none where it is taken down already
            words.update(printable(self.message.text))

    def update(self) -> None:
        """Shows the message's state and sources as they are now."""
        self.set_class(self.message.state == "queued", "-queued")
        self.set_class(self.message.is_unsure, "-unsure")
        label = self.message.label
        if self.message.is_folded:
            lines = self.message.text.count("\n") + 1
            label = f"{label} · folded" if label else f"folded, {lines} line{'s' if lines > 1 else ''}"
        for line in self.query(TwoSidedLine):  # none before it is mounted, and where it is taken down
            line.say(self.message.speaker, label)
        for below in self.query(".sources").results(Static):
            below.update(self._below())
        self._show_below()

    def fold(self) -> None:
        """Hides the words, or shows them again."""
        self.message.is_folded = not self.message.is_folded
        self.set_class(self.message.is_folded, "-folded")
        self.update()

    def _below(self) -> str:
        sources = (f"[{source.number}] {source.words}" for source in self.message.sources)
        return "\n".join(filter(None, (self.message.failure, self.message.note, *sources)))

    def _show_below(self) -> None:
        for below in self.query(".sources"):
            below.display = bool(self._below())
