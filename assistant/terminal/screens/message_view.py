"""One message on the screen; an answer grows while it is written."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message as Posted
from textual.widgets import Markdown, Static
from textual.widgets.markdown import MarkdownStream

from assistant.terminal.screens.messages import Message
from assistant.terminal.screens.printable import as_markdown, printable
from assistant.terminal.screens.streaming import cut_behind_blocks
from assistant.terminal.screens.two_sided_line import TwoSidedLine

_PART_CHARACTERS = 4_000  # of an answer in one widget: a longer one takes too long to lay out again


class MessageView(Vertical):
    """A message with who says it above, and what it rests on below."""

    DEFAULT_CSS = """
    MessageView { height: auto; padding: 0 1; margin-bottom: 1; }
    MessageView > .speaker { text-style: bold; }
    MessageView > .words { padding: 0 1 0 2; height: auto; }
    MessageView > Markdown { padding: 0 1 0 2; margin: 0; }
    MessageView > .sources { padding: 0 1 0 2; height: auto; color: $text-muted; }
    MessageView.-queued { opacity: 60%; text-style: dim; }
    MessageView.-current { border-left: thick $accent; padding-left: 0; }
    MessageView.-folded > .words, MessageView.-folded > Markdown { display: none; }
    MessageView.-folded > .sources { display: none; }
    """

    class LacksSources(Posted):
        """The answer is shown, and what it cites is not looked up yet."""

        def __init__(self, view: MessageView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message
        self.set_class(message.state == "queued", "-queued")
        self.set_class(message.is_folded, "-folded")
        self._stream: MarkdownStream | None = None
        self._part = ""  # what the last widget of an answer holds

    def compose(self) -> ComposeResult:
        """Speaker, words, sources."""
        message = self.message
        yield TwoSidedLine(message.speaker, message.label, classes="speaker")
        if message.speaker == "Assistant":
            yield from (_markdown(part) for part in _parts(message))
        else:
            yield Static(printable(message.text), markup=False, classes="words")
        yield Static(self._below(), markup=False, classes="sources")

    def on_mount(self) -> None:
        """What stands below takes no row while there is nothing."""
        self._show_below()
        if self.message.lacks_sources:
            self.post_message(self.LacksSources(self))

    async def write(self, piece: str) -> None:
        """A further piece of an answer that is being written."""
        shown = as_markdown(piece, is_quoted=self.message.is_quoted)
        self.message.text += piece
        while True:
            if self._stream is None:
                self._stream = Markdown.get_stream(self.query(Markdown).last())
            least = max(_PART_CHARACTERS, len(self._part))  # what is painted already stays where it is
            cut = cut_behind_blocks(self._part + shown, least)
            if cut is None:
                break
            fits = cut - len(self._part)
            await self._stream.write(shown[:fits])
            await self._begin_part()
            shown = shown[fits:]
        self._part += shown
        await self._stream.write(shown)

    async def end(self) -> None:
        """The answer is whole: shows how it ended and what it rests on."""
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
        self._close_up()
        self.update()

    def say(self, line: str) -> None:
        """A further line of what a command says."""
        self.message.text = f"{self.message.text}\n{line}" if self.message.text else line
        self.query_one(".words", Static).update(printable(self.message.text))

    def update(self) -> None:
        """Shows the message's state and sources as they are now."""
        self.set_class(self.message.state == "queued", "-queued")
        label = self.message.label
        if self.message.is_folded:
            lines = self.message.text.count("\n") + 1
            label = f"{label} · folded" if label else f"folded, {lines} line{'s' if lines > 1 else ''}"
        if self.is_mounted:
            self.query_one(TwoSidedLine).say(self.message.speaker, label)
            self.query_one(".sources", Static).update(self._below())
            self._show_below()

    def fold(self) -> None:
        """Hides the words, or shows them again."""
        self.message.is_folded = not self.message.is_folded
        self.set_class(self.message.is_folded, "-folded")
        self.update()

    def on_markdown_table_of_contents_updated(self) -> None:
        """An answer that was whole from the start is laid out."""
        if self._stream is None:
            self._close_up()

    def _close_up(self) -> None:
        """The sources follow the last block at once; a rule for last children would cost every block anew."""
        markdown = self.query(Markdown)
        if markdown and (blocks := markdown.last().children):
            blocks[-1].styles.margin = (0, 0, 0, 0)

    async def _begin_part(self) -> None:
        assert self._stream is not None, "a part is being written"
        await self._stream.stop()
        self._stream, self._part = None, ""
        await self.mount(_markdown(""), before=self.query_one(".sources"))

    def _below(self) -> str:
        lines = [f"[{source.number}] {source.words}" for source in self.message.sources]
        return "\n".join([self.message.note, *lines] if self.message.note else lines)

    def _show_below(self) -> None:
        self.query_one(".sources").display = bool(self.message.sources or self.message.note)


def _markdown(text: str) -> Markdown:
    return Markdown(text, open_links=False)


def _parts(answer: Message) -> list[str]:
    """A whole answer, divided as it is while it is written."""
    text, parts = as_markdown(answer.text, is_quoted=answer.is_quoted), []
    while (cut := cut_behind_blocks(text, _PART_CHARACTERS)) is not None:
        parts.append(text[:cut])
        text = text[cut:]
    return [*parts, text]
