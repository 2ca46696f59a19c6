"""The chat: conversation, notice, prompt, status and keys.

The prompt takes keys at once. The assistant is opened on threads of its own meanwhile; what is sent before
it is ready waits in the queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from assistant.one_line import one_line
from assistant.terminal.screens.bindings import bindings
from assistant.terminal.screens.chat_actions import ChatActions
from assistant.terminal.screens.conversation import Conversation
from assistant.terminal.screens.desk import Desk, Opened, SessionChoice
from assistant.terminal.screens.drafts import NEW, Drafts
from assistant.terminal.screens.key_line import KeyLine
from assistant.terminal.screens.keys import CHAT, first_actions
from assistant.terminal.screens.message_view import MessageView
from assistant.terminal.screens.messages import Message, past_messages, sources_of
from assistant.terminal.screens.notice_line import Notice, NoticeLine
from assistant.terminal.screens.prompt import Prompt
from assistant.terminal.screens.rate_strip import RateStrip
from assistant.terminal.screens.talk import Hears, Talk
from assistant.terminal.screens.two_sided_line import TwoSidedLine
from assistant.terminal.screens.why_view import WhyView
from assistant.terminal.screens.work import host

if TYPE_CHECKING:
    from stores.claim_decisions import Learned

_LOOKS_EVERY_SECONDS = 0.5
_OLDER_TURNS = 60  # read at a time


class ChatScreen(ChatActions, Screen[None]):
    """The first screen, and the one that all others go back to."""

    BINDINGS = bindings(CHAT)
    DEFAULT_CSS = """
    ChatScreen { layout: vertical; }
    ChatScreen #header { height: 2; padding: 0 1; border-bottom: solid $border-blurred; }
    ChatScreen #main { height: 1fr; }
    ChatScreen #why { display: none; width: 46; }
    ChatScreen.-wide #why.-open { display: block; }
    ChatScreen #below { display: none; height: 1; padding: 0 1; color: $text-accent; text-align: right; }
    ChatScreen #find { display: none; }
    ChatScreen #find.-open { display: block; }
    ChatScreen #status { padding: 0 1; color: $text-muted; }
    ChatScreen.-low #status, ChatScreen.-flat #status, ChatScreen.-flat #header { display: none; }
    ChatScreen.-tiny #status, ChatScreen.-tiny #header, ChatScreen.-tiny #keys { display: none; }
    ChatScreen.-tiny NoticeLine { display: none; }
    """

    def __init__(
        self,
        desk: Desk,
        drafts: Drafts,
        choice: SessionChoice,
        *,
        follows: bool,
        changed_keys: dict[str, str],
        burst_seconds: float,
        status: str = "",
    ) -> None:
        super().__init__()
        self.desk = desk
        self.drafts = drafts
        self.choice = choice
        self._follows = follows
        self._changed_keys = changed_keys
        self._burst_seconds = burst_seconds
        self._status = status
        self._settles = False
        self._asked: asyncio.Future[bool | None] | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield TwoSidedLine("New session", id="header")
        with Horizontal(id="main"):
            yield Conversation(follows=self._follows, id="conversation")
            yield WhyView(self.desk, is_narrow=True, id="why")
        yield Static("", markup=False, id="below")
        yield NoticeLine(id="notice")
        yield RateStrip(id="rate")
        yield Input(placeholder="Find in this session", compact=True, id="find")
        yield Prompt(
            first_actions(self._changed_keys),
            has_waiting=lambda: bool(self.talk.waiting),
            burst_seconds=self._burst_seconds,
            id="prompt",
        )
        yield TwoSidedLine("", id="status")
        yield KeyLine(self._changed_keys, id="keys")

    def on_mount(self) -> None:
        """Takes keys at once; the assistant is opened behind the first paint."""
        self.talk = Talk(
            self.desk,
            self.conversation,
            Hears(
                failed=host(self).fail,
                told=self.tell,
                turn_ended=self._turn_ended,
                command_ended=self._command_ended,
                session_changed=lambda session_id, line: self.work(self._follow_command(session_id, line)),
                not_accepted=self._put_back,
                over=lambda: host(self).leave(0),
            ),
        )
        self.conversation.fetch_older = self._older
        self.prompt.focus()
        if self.choice == SessionChoice():
            self.bring_draft(NEW)
        self.tell_while_opening("opening …")
        self.set_interval(_LOOKS_EVERY_SECONDS, self._look)
        self.call_after_refresh(lambda: self.work(self._open()))

    # Opening

    async def _open(self) -> None:
        app = host(self)
        opened = await app.or_leave(self.desk.open_records(self.choice, self.tell_while_opening))
        await self.show_session(opened, brings_draft=self.choice != SessionChoice())
        self.tell_while_opening("getting the models ready …")
        self.show_counts(
            await app.or_leave(
                self.desk.make_ready(self.talk.session_id, self._ask, self._heard, self._heard_of_training)
            )
        )
        self.standing = self._status
        self.tell("")
        self.talk.ready()

    async def show_session(self, opened: Opened, *, brings_draft: bool = True) -> None:
        """Another session, with its draft, unless something is being typed already."""
        self.talk.session_id, self.session_title = opened.session_id, opened.title
        waiting = [message for message in self.conversation.messages if message.state == "queued"]
        await self.conversation.show([*opened.messages, *waiting], is_whole=opened.is_whole)
        self.prompt.sent = [m.text for m in opened.messages if m.speaker == "You"]
        if brings_draft and not self.prompt.text:
            self.bring_draft(self.draft_key)
        self.draft_is_due = True
        self.show_header()

    async def _follow_command(self, session_id: int, line: str) -> None:
        """A command has begun another session."""
        self.save_draft()
        await self.show_session(await self.desk.open_session(session_id))
        if line.startswith("/private"):
            self.session_title = "Private session: nothing of it is remembered"
        elif rest := line.partition(" ")[2].strip():
            self.session_title = rest
        self.show_header()

    async def _older(self) -> Sequence[Message]:
        conversation = self.conversation
        known = [message.turn_id for message in conversation.messages if message.turn_id is not None]
        turns = len(set(known)) + _OLDER_TURNS
        session_id, before = self.talk.session_id, min(known, default=None)
        messages, conversation.is_whole = await self.desk.look(
            lambda assistant, user_id: past_messages(
                assistant, user_id, session_id, turns=turns, before=before
            )
        )
        return messages

    def on_message_view_lacks_sources(self, event: MessageView.LacksSources) -> None:
        """Looks up what an old answer cites."""
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

    # Sending

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        """A message, a command, or what an answer should have been."""
        self.tell("")
        self.notices.message_sent()
        self.draft_is_due = True
        if self.teaches is not None:
            self.work(self.taught(event.text))
        elif not self.runs_here(event.text):
            self.work(self.talk.send(event.text))

    def _turn_ended(self, answer: Message) -> None:
        if not self.session_title and answer.turn_id is not None:
            sent = next(m for m in self.conversation.messages if m.turn_id == answer.turn_id)
            self.session_title = one_line(sent.text)[:60]
            self.drafts.write(NEW, "")
        self.show_header()
        self.remember()
        if self.query_one("#why").has_class("-open"):
            self.work(self.refresh_why(answer.turn_id))

    def remember(self) -> None:
        """Has what was stated remembered, in the background."""
        self.work(self._remember())

    async def _remember(self) -> None:
        await self.desk.remember()
        self._settles = True
        self.show_counts(await self.desk.counts())

    def _command_ended(self, line: str) -> None:
        """The header counts anew, and a rating stands beside its answer."""
        self.work(self._recount())
        name, _, rest = line.partition(" ")
        rating = {"/good": "good", "/bad": "bad", "/teach": "taught"}.get(name)
        answers = [
            m for m in self.conversation.messages if m.speaker == "Assistant" and m.turn_id is not None
        ]
        if name == "/teach" and not rest.strip():
            return
        if rest.strip().isdecimal() and name != "/teach":
            answers = [m for m in answers if m.turn_id == int(rest)]
        if rating and answers:
            self.mark_rated(answers[-1], rating)

    def _put_back(self, text: str) -> None:
        if not self.prompt.text:
            self.prompt.put(text)

    def _heard(self, learned: Learned) -> None:
        from assistant.terminal.notices import learned_line

        if line := learned_line(learned, "/undo"):
            self.notices.put(Notice(line, learned.receipt_id, learned.turn_id))
            self.work(self._recount())

    def _heard_of_training(self, sentence: str) -> None:
        self.notices.put(Notice(one_line(sentence)))

    async def _recount(self) -> None:
        self.show_counts(await self.desk.counts())

    async def _ask(self) -> str:
        """What the person answers to the question that the command has just asked."""
        from assistant.terminal.screens.small_screens import Question

        last = self.conversation.messages[-1 - len(self.talk.waiting)]
        asked: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._asked = asked

        def answered(yes: bool | None) -> None:
            if not asked.done():
                asked.set_result(yes)

        self.app.push_screen(Question(last.text.replace(" [y/N]", ""), yes="forget", no="keep"), answered)
        return "y" if await asked else ""

    def _look(self) -> None:
        """What is looked at now and then."""
        self.notices.look()
        self.on_conversation_followed()
        if self.draft_is_due and self.has_draft_key:
            self.draft_is_due = False
            self.work(self.keep_draft())
        if self._settles and self.talk.is_idle:
            self._settles = False
            self.work(self._settle())

    async def _settle(self) -> None:
        waits = await self.desk.settle()
        self._settles = waits is None
        if waits:
            self.tell(f"not remembered yet: {one_line(waits)}")

    async def end(self) -> None:
        """Ends what runs, and keeps what had come and what was typed."""
        self.save_draft()
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(None)
        await self.talk.end()
        self.save_draft()
