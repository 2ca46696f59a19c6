"""What is kept about a user, who can read it, what left the machine, and the way to forget all of it."""

from __future__ import annotations

import stat
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from assistant.terminal.screens.bindings import bindings
from assistant.terminal.screens.keys import PRIVACY
from assistant.terminal.screens.memory_detail import is_here, sent_lines, trained
from assistant.terminal.screens.printable import printable
from assistant.terminal.screens.work import Telling
from stores.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.memory_uses import Kept

SENTENCE = "forget everything of mine"  # to be typed


def privacy_lines(assistant: Assistant, user_id: int, *, width: int) -> list[str]:
    """The page, from stored facts, in lines of `width` columns."""
    return [
        line
        for told in _told(assistant, user_id)
        for line in textwrap.wrap(told, max(20, width), subsequent_indent="  ") or [""]
    ]


def _told(assistant: Assistant, user_id: int) -> tuple[str, ...]:
    from stores.memory_uses import MemoryUses

    kept = MemoryUses(assistant.database).kept(user_id)
    saw = trained(kept.rounds, None)
    return (
        "What is kept about you",
        *(f"  {line}" for line in _kept(kept)),
        "",
        "Who can read it",
        *(f"  {line}" for line in _readers(assistant, kept)),
        "",
        "What left this machine",
        *(f"  {line}" for line in _left(assistant, kept)),
        "",
        "What was trained on it",
        f"  {saw[0].upper()}{saw[1:]}.",
        "  What is forgotten is no lesson any more: the next round trains without it."
        if kept.rounds
        else "  Nothing of private sessions is ever a lesson.",
    )


def _kept(kept: Kept) -> Iterator[str]:
    kinds = ", ".join(f"{_count(n, kind)}" for kind, n in sorted(kept.live.items()))
    yield f"Found for you alone: {kinds or 'nothing'}."
    yield (
        f"Conversations: {_count(kept.turns, 'turn')} in {_count(kept.sessions, 'session')}, and in "
        f"{_count(kept.private_sessions, 'private session')}."
    )
    yield f"Ratings and marks of yours: {kept.marks}. Statements that wait for the check: {kept.waiting}."
    if kept.old_texts:
        yield f"Old texts, which answer nothing and can be read: {kept.old_texts}."
    if kept.erased:
        yield f"Forgotten for good: {_count(kept.erased, 'text')}; only their numbers are left."


def _readers(assistant: Assistant, kept: Kept) -> Iterator[str]:
    yield "Of the users of Vouch you alone find what is yours."
    yield f"Shared passages that you wrote or read in, which every user finds: {kept.shared}."
    file = assistant.database.file
    if file is None:
        yield f"It lies in the database at {assistant.database.place}: whoever runs that can read it."
        return
    mode = stat.S_IMODE(file.stat().st_mode)
    folder = stat.S_IMODE(file.parent.stat().st_mode)
    is_open = mode & 0o044 and folder & 0o011
    whom = "other accounts of this machine can read it too" if is_open else "your account alone can read it"
    yield f"It lies in {_shown_path(file)}: {whom}, and the administrator; it is not encrypted."


def _shown_path(file: Path) -> str:
    """A path as its owner knows it."""
    home = Path.home()
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)


def _left(assistant: Assistant, kept: Kept) -> Iterator[str]:
    told = sent_lines(assistant, kept.sent)
    for line in told:
        yield f"{line[0].upper()}{line[1:]}."
    if not told:
        yield "Nothing: no model elsewhere was asked."
    server = assistant.model_in_use.server
    if server and assistant.settings.memory.agents != "reader" and assistant.settings.memory.learn:
        where = "on this machine" if is_here(server) else "outside"
        yield f"When what you state is weighed, {server} ({where}) is asked too, with your nearest memories."
    if assistant.settings.index.url:
        yield "The server of the shared index gets shared passages and their vectors, and no memory of yours."
    yield "Files that you exported, and backups, are not counted here."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


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
        """The text in a frame."""
        with VerticalScroll() as frame:
            frame.border_title = "Privacy"
            yield Static(printable("\n".join(self._lines)), markup=False, id="page")
        yield Static("x forget everything of mine  Esc back", markup=False, classes="keys")

    def on_mount(self) -> None:
        """The arrow keys scroll."""
        self.query_one(VerticalScroll).focus()

    def tell(self, sentence: str) -> None:
        """In the frame, below the text."""
        self.query_one(VerticalScroll).border_subtitle = one_line(sentence)

    def action_forget_everything(self) -> None:
        """Asks for a sentence first: nothing brings it back."""
        self.work(self._forget_everything())

    async def _forget_everything(self) -> None:
        from assistant.terminal.screens.memory_questions import AskLine

        question = (
            "Forget everything of yours for good: memory, documents, all transcripts, drafts and ratings? "
            f"Nothing brings it back. To mean it, type: {SENTENCE}"
        )
        if await self.app.push_screen_wait(AskLine(question, must_be=SENTENCE)) is not None:
            self.dismiss(True)

    def action_back(self) -> None:
        """Back to the list."""
        self.dismiss(False)
