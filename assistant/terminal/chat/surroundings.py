"""What stands around the conversation: title and counts, the status line, and how much is below."""

from __future__ import annotations

from textual.widgets import Static

from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.conversation.notice_line import NoticeLine
from assistant.terminal.conversation.prompt import ASKS, Prompt
from assistant.terminal.conversation.talk import Talk
from assistant.terminal.engine.engine import Counts, Desk, Opened
from assistant.terminal.widgets.key_line import KeyLine
from assistant.terminal.widgets.two_sided_line import TwoSidedLine, fits
from assistant.terminal.widgets.work import Working
from stores.base.errors import StoreUnavailable, VouchError
from stores.base.one_line import one_line


class ChatParts(Working):
    """The parts, and what the whole screen does with them."""

    desk: Desk
    talk: Talk
    session_title = ""  # empty while nothing was said
    stashed = ""  # what stood in the prompt before an answer was being corrected

    @property
    def conversation(self) -> Conversation:
        """What was said."""
        return self.query_one("#conversation", Conversation)

    @property
    def prompt(self) -> Prompt:
        """What is being typed."""
        return self.query_one("#prompt", Prompt)

    @property
    def notices(self) -> NoticeLine:
        """What was learned."""
        return self.query_one("#notice", NoticeLine)

    async def show_session(self, opened: Opened, *, brings_draft: bool = True) -> None:
        """Another session, with its draft, unless something is being typed already."""
        raise NotImplementedError

    def remember(self) -> None:
        """Has what was stated remembered, in the background."""
        raise NotImplementedError


PRIVATE_TITLE = "(private)"  # what such a session is called in the stores
PRIVATE = "Private: not remembered, trained on or found"
_PRIVATE_NARROW = "Private: not remembered or trained on"
_NARROW, _LOW = 60, 14  # columns and rows
_EDGES = 2  # columns of padding


class Surroundings(ChatParts):
    """The lines that tell how things are."""

    standing = ""  # what the status line tells where there is nothing newer
    is_read_only = False  # the last message could not be kept
    is_private = False  # the session that is on
    branch_told = ""  # which branch is on, where there are several
    _counts: Counts | None = None
    _lines_below = 0
    _told = ""  # the latest sentence
    _told_to_reader = ""  # what the status line tells of the keys of reading

    @property
    def is_ready(self) -> bool:
        """Whether the assistant is open; that it is not is told."""
        if not self.desk.slash_commands:
            self.tell("not yet: still opening")
        return bool(self.desk.slash_commands)

    def tell_while_opening(self, sentence: str) -> None:
        """The same, and told again behind every other sentence until it is open."""
        if not self.desk.slash_commands:
            self.standing = sentence
        self.tell(sentence)

    def tell(self, sentence: str, *, stays: bool = False) -> None:
        """One sentence in the status line, for a while; where there is none, among the keys.

        stays: it tells how things are, and stands until the next one.
        """
        told = one_line(sentence or self.standing)
        self.query_one("#status", TwoSidedLine).say(told)
        if sentence and self.desk.slash_commands:
            for notices in self.query(NoticeLine).results():  # it may be gone already, where this is left
                notices.note(told)
        self._told = told
        self._show_among_keys()

    def _show_among_keys(self) -> None:
        """Where there is no status line, what it would tell, but not how things stand anyway."""
        is_news = self._told != one_line(self.standing) or not self.desk.slash_commands
        self.query_one(KeyLine).tell(self._told if is_news and self.size.height < _LOW else "")

    def tell_reader(self, sentence: str) -> None:
        """The same, of keys that only reading has: it goes when the prompt is gone back to."""
        self.tell(sentence)
        self._told_to_reader = one_line(sentence)

    def show_header(self) -> None:
        """The session's title, and what is known."""
        called = one_line(self.session_title) or "New session"
        if self.is_private:
            told = PRIVATE if self.size.width >= _NARROW else _PRIVATE_NARROW
            called = told if self.session_title == PRIVATE_TITLE else f"{told} · {called}"
        title = " · ".join(filter(None, (self.branch_told, called)))
        if self.is_read_only:
            title = f"Read-only · {title}"
        self.query_one("#header", TwoSidedLine).say(title, self._known_told(title))

    def _known_told(self, title: str) -> str:
        """What is known beside the title: it gives way, the counts first, where the title would be cut."""
        if (counts := self._counts) is None or self.is_read_only:
            return ""
        models = one_line(_models_told(counts))
        whole, width = f"{counts.yours} yours · {counts.shared} shared · {models}", self.size.width
        if width >= _NARROW and fits(title, whole, width - _EDGES):
            return whole
        return "" if self.is_private and not fits(title, models, width - _EDGES) else models

    def show_stored(self, refused: VouchError | None) -> None:
        """Whether messages are kept; while they are not, the header says so."""
        self.is_read_only = isinstance(refused, StoreUnavailable)
        self.show_header()

    def show_counts(self, counts: Counts) -> None:
        self._counts = counts
        self.talk.model_name = counts.model
        self.show_header()

    def on_resize(self) -> None:
        """The header tells what there is room for, and the conversation shows what is read."""
        self.show_header()
        self._show_among_keys()
        self.conversation.keep_in_view(self.size, self._lines_below)

    def on_conversation_followed(self) -> None:
        below = self.query_one("#below", Static)
        lines = self.conversation.lines_below
        if lines != self._lines_below:  # an update lays the whole screen out anew
            self._lines_below = lines
            below.display = lines > 0
            below.update(f"{lines} new line{'s' if lines != 1 else ''}, End to follow")

    def on_descendant_focus(self) -> None:
        """The line of keys tells those of what has the focus, and the prompt says so while they read."""
        keys, reads = self.query_one(KeyLine), self.conversation.has_focus
        keys.reads = reads
        self.prompt.placeholder = keys.reading if reads else ASKS
        if self._told_to_reader and self.prompt.has_focus:
            if self.query_one("#status", TwoSidedLine).left == self._told_to_reader:
                self.tell("")
            self._told_to_reader = ""

    def on_descendant_blur(self) -> None:
        """The same where the focus went to nothing, as when a browser's window loses it."""
        self.on_descendant_focus()


def _models_told(counts: Counts) -> str:
    """Who answers, and the number of the trained model by which is searched."""
    return counts.model if counts.live_round is None else f"{counts.model} · model {counts.live_round}"
