"""The chat is opened, and sessions in it: what was said last first, and what takes longer behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widgets import Static

from assistant.terminal.chat.chat_actions import ChatActions
from assistant.terminal.chat.draft_keeping import PRIVATE
from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.engine.engine import Counts, Opened, SessionChoice
from assistant.terminal.facts.messages import Message, past_messages, sources_of
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import host
from stores.base.errors import NotFound, VouchError
from stores.base.one_line import one_line
from stores.base.passages import quotes_only

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned


class WritingAgain(ChatActions):
    """Looks now and then whether it can be written again."""

    _looks_whether_writable = False

    def waits_to_write(self, refusal: VouchError) -> None:
        """It was opened to be read; what is sent waits."""
        self.show_stored(refusal)
        reason = refusal.message.rpartition(": ")[2]  # behind the address of the store
        self.tell(one_line(f"read-only: {reason}. What you send waits until it has ended"), stays=True)

    def look_whether_writable(self) -> None:
        """Begins what had to wait once it can be written; to be called now and then."""
        if self.is_read_only and self.desk.slash_commands and not self._looks_whether_writable:
            self._looks_whether_writable = True
            self.work(self._write_again())

    async def _write_again(self) -> None:
        try:
            if await self.desk.is_writable():
                await self._begin_writing()
        finally:
            self._looks_whether_writable = False

    async def _begin_writing(self) -> None:
        had_to_wait = self.desk.refusal is not None
        if had_to_wait:
            self.talk.session_id = await self.desk.begin_writing(self.talk.session_id)
            if self.desk.refusal is not None:
                return
        self.show_stored(None)
        if had_to_wait:
            self.tell("")
            self.show_counts(await self.desk.counts())
            self.talk.ready()


def first_start_text(counts: Counts) -> str:
    """A few lines on a normal screen; empty for somebody who has said something."""
    if counts.has_spoken:
        return ""
    lines = ["Vouch answers with its sources and remembers what you tell it. Things to try:"]
    lines.append("  tell something   My sister Mia moved to Porto in May.")
    lines.append("  ask for it       Where does Mia live?")
    lines.append("  read a folder    /ingest ~/Documents/notes")
    if quotes_only(counts.model):
        lines.append("No chat model yet: answers quote what was found. /model find looks for one here.")
    lines.append("F1 lists all keys and commands, / opens a menu of them.")
    return "\n".join(lines)


_TALL = 14  # rows
_OLDER_TURNS = 60  # read at a time


class ChatOpening(WritingAgain):
    """From the first paint until it is ready, and from one session to another."""

    status: str  # what the status line tells beside what is lacking
    when_loaded: Callable[[], None] = staticmethod(lambda: None)  # libraries were loaded that stay

    async def ask(self) -> str:
        """What the person answers to the question that a command has just asked."""
        raise NotImplementedError

    def heard(self, learned: Learned) -> None:
        """Something was learned."""
        raise NotImplementedError

    def heard_of_training(self, sentence: str) -> None:
        """Something is told of a round."""
        raise NotImplementedError

    async def open(self) -> None:
        """Everything behind the first paint, until it is ready."""
        app = host(self)
        seen = await self.desk.glance(self.choice)
        if seen is not None:
            await self.show_session(seen)
            await self._painted()  # before the stores are loaded, for which the screen would wait
        opened = await app.or_leave(self.desk.open_records(self.choice, self.tell_while_opening))
        self.conversation.fetch_older = self.older
        if seen is None or not self._goes_on(seen, opened):
            await self.show_session(opened, brings_draft=self.choice != SessionChoice())
        self.is_private = opened.is_private
        if self.choice == SessionChoice():
            self.drop_accepted(await self.desk.look(_last_message))
        self.tell_while_opening("getting the models ready …")
        self.show_counts(
            await app.or_leave(
                self.desk.make_ready(self.talk.session_id, self.ask, self.heard, self.heard_of_training)
            )
        )
        self.tell("")
        self.when_loaded()
        self._greet()
        if self.desk.refusal is None:
            self.talk.ready()
        else:
            self.waits_to_write(self.desk.refusal)

    def show_counts(self, counts: Counts) -> None:
        """Other counts, maybe of another model; what it lacks stands in the status line."""
        super().show_counts(counts)
        lacks = "no reply model: answers quote what was found" if quotes_only(counts.model) else ""
        before, self.standing = self.standing, " · ".join(filter(None, (self.status, lacks)))
        if before != self.standing and self.query_one("#status", TwoSidedLine).left in ("", before):
            self.tell("")

    async def _painted(self) -> None:
        is_painted = asyncio.Event()
        self.call_after_refresh(is_painted.set)
        await is_painted.wait()

    def _goes_on(self, seen: Opened, opened: Opened) -> bool:
        """Whether what was seen is how the session ends; then older messages and ratings are added."""
        count = len(seen.messages)
        ends = opened.messages[-count:] if count else []
        same = [(m.turn_id, m.speaker, m.text, m.state) for m in seen.messages]
        if seen.session_id != opened.session_id or same != [
            (m.turn_id, m.speaker, m.text, m.state) for m in ends
        ]:
            return False
        for shown, read in zip(seen.messages, ends, strict=True):
            self._show_rating(shown, read.rating)
        self.conversation.add_older(opened.messages[: len(opened.messages) - count], is_whole=opened.is_whole)
        self.prompt.sent = [m.text for m in opened.messages if m.speaker == "You"]
        return True

    def _greet(self) -> None:
        greeting = self.query_one("#first-start", Static)
        text = first_start_text(self._counts) if self._counts is not None else ""
        greeting.update(text)
        has_room = self.size.height >= _TALL
        greeting.display = bool(text) and has_room and not self.conversation.messages

    async def show_session(self, opened: Opened, *, brings_draft: bool = True) -> None:
        """Another session, with its draft, unless something is being typed already."""
        self.talk.session_id, self.session_title = opened.session_id, opened.title
        self.is_private = opened.is_private
        self.is_between_sessions = False
        if brings_draft and not self.prompt.text:  # before what is in the prompt is kept in its place
            said = (message.text for message in reversed(opened.messages) if message.speaker == "You")
            self.bring_draft(self.draft_key, accepted=next(said, ""))
        waiting = [message for message in self.conversation.messages if message.state == "queued"]
        await self.conversation.show([*opened.messages, *waiting], is_whole=opened.is_whole)
        self.prompt.sent = [m.text for m in opened.messages if m.speaker == "You"]
        self.draft_is_due = True
        self.show_header()
        self.work(self.follow_branch())

    async def follow_command(self, session_id: int, line: str) -> None:
        """A command has begun another session, to which what is being typed and what waits belong."""
        left = self.draft_key if self.has_draft_key else None
        self.talk.session_id, self.session_title = session_id, ""
        self.is_private, self.is_between_sessions = line.split()[0] == PRIVATE, True
        try:
            await self.show_session(await self.desk.open_session(session_id))
            if not self.is_private and (rest := line.partition(" ")[2].strip()):
                self.session_title = rest
        except VouchError as error:
            self.tell(one_line(error.message))
        self.is_between_sessions = False
        if left != self.draft_key:
            self.save_draft()
            if left is not None:
                self.drafts.write(left, "")
        self.show_header()

    async def older(self) -> Sequence[Message]:
        """Messages before those that are here."""
        conversation = self.conversation
        known = [message.turn_id for message in conversation.messages if message.turn_id is not None]
        session_id, before = self.talk.session_id, min(known, default=None)
        messages, conversation.is_whole = await self.desk.look(
            lambda assistant, user_id: past_messages(
                assistant, user_id, session_id, turns=_OLDER_TURNS, before=before
            )
        )
        return messages

    def on_message_view_lacks_sources(self, event: MessageView.LacksSources) -> None:
        message = event.view.message
        turn_id = message.turn_id
        if turn_id is None:
            return

        async def look_up() -> None:
            message.sources = await self.desk.look(
                lambda assistant, user_id: sources_of(assistant, user_id, turn_id)
            )
            message.lacks_sources = False
            event.view.update()

        self.work(look_up())


def _last_message(assistant: Assistant, user_id: int) -> str:
    """What the user said last, in whatever session; empty before anything was said."""
    try:
        return assistant.stores.journal.last_turn(user_id).message
    except NotFound:
        return ""
