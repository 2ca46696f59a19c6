"""The chat: conversation, notice, prompt, status and keys.

The prompt takes keys at once. The assistant is opened on threads of its own meanwhile
(`opening.py`); what is sent before it is ready waits in the queue.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from assistant.terminal.actions.drafts import NEW, Drafts
from assistant.terminal.chat.completing import commands_that_fit
from assistant.terminal.chat.opening import ChatOpening
from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.conversation.notice_line import Notice, NoticeLine
from assistant.terminal.conversation.prompt import Prompt
from assistant.terminal.conversation.rate_strip import RateStrip
from assistant.terminal.conversation.talk import Hears, Talk
from assistant.terminal.engine.engine import Desk, SessionChoice
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import CHAT, first_actions
from assistant.terminal.why.why_view import WhyView
from assistant.terminal.widgets.key_line import KeyLine
from assistant.terminal.widgets.prompt_menu import PromptMenu
from assistant.terminal.widgets.two_sided_line import TwoSidedLine, WrappedLine
from assistant.terminal.widgets.work import host
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from stores.claims.decisions import Learned

_LOOKS_EVERY_SECONDS = 0.5
_VERBS = ("forget", "take back", "propose")  # that the questions of commands open with


class ChatScreen(Screen[None], ChatOpening):
    """The first screen, and the one that all others go back to."""

    BINDINGS = bindings(CHAT)
    DEFAULT_CSS = """
    ChatScreen { layout: vertical; }
    ChatScreen #header { height: 2; padding: 0 1; border-bottom: solid $border-blurred; }
    ChatScreen #main { height: 1fr; }
    ChatScreen #why { display: none; width: 38%; min-width: 46; max-width: 100; }
    ChatScreen.-wide #why.-open { display: block; }
    ChatScreen #below { display: none; height: 1; padding: 0 1; color: $text-primary; text-align: right; }
    ChatScreen #first-start { display: none; height: auto; padding: 0 1; color: $text-muted; }
    ChatScreen #status { padding: 0 1; color: $text-muted; }
    ChatScreen.-low #menu { max-height: 4; }
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
        self.status = status
        self._settles = False
        self._has_replied = False
        self._asked: asyncio.Future[bool | None] | None = None

    def compose(self) -> ComposeResult:
        yield TwoSidedLine("New session", id="header")
        yield Static("", markup=False, id="first-start")
        with Horizontal(id="main"):
            yield Conversation(follows=self._follows, id="conversation")
            yield WhyView(self.desk, is_narrow=True, id="why")
        yield Static("", markup=False, id="below")
        yield NoticeLine(id="notice")
        yield RateStrip(id="rate")
        menu = PromptMenu(id="menu")
        menu.at_once = commands_that_fit
        yield menu
        yield Prompt(
            first_actions(self._changed_keys),
            menu=menu,
            has_waiting=lambda: bool(self.talk.waiting),
            burst_seconds=self._burst_seconds,
            id="prompt",
        )
        yield WrappedLine(id="status")
        yield KeyLine(self._changed_keys, id="keys")

    def on_mount(self) -> None:
        """Takes keys at once; the assistant is opened behind the first paint."""
        self.talk = Talk(
            self.desk,
            self.conversation,
            Hears(
                failed=self.fail,
                told=lambda sentence: self.tell(sentence, stays=True),
                reply_began=self._reply_began,
                turn_ended=self._turn_ended,
                command_ended=self._command_ended,
                session_changed=self.follow_command,
                not_accepted=self._put_back,
                stored=self.show_stored,
                over=lambda: host(self).leave(0),
            ),
        )
        self.prompt.focus()
        if self.choice == SessionChoice():
            self.bring_draft(NEW)
        self.tell_while_opening("opening …")
        self.set_interval(_LOOKS_EVERY_SECONDS, self._look)
        self.call_after_refresh(lambda: self.work(self.open()))

    def on_screen_suspend(self) -> None:
        """Something is open above: a question takes room, and the notice gives some."""
        self.notices.give_way(isinstance(self.app.screen, ModalScreen))

    def on_screen_resume(self) -> None:
        self.notices.give_way(False)

    # Sending

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        self.tell("")
        self.notices.message_sent()
        self.query_one("#first-start").display = False
        self.draft_is_due = True
        if self.teaches is not None:
            self.work(self.taught(event.text))
        elif self.changes is not None:
            self.work(self.changed(event.text))
        elif not self.runs_here(event.text):
            self.talk.send(event.text)

    def _reply_began(self) -> None:
        """The first one has loaded what speaks to the model."""
        if not self._has_replied:
            self._has_replied = True
            self.when_loaded()

    def _turn_ended(self, answer: Message) -> None:
        if not self.session_title and answer.turn_id is not None:
            sent = next(m for m in self.conversation.messages if m.turn_id == answer.turn_id)
            self.session_title = one_line(sent.text)[:60]
            self.save_draft()  # which has another name now
            self.drafts.write(NEW, "")
        self.has_cut = False
        self.show_header()
        self.work(self.follow_branch())
        self.remember()
        is_free = not (self.prompt.text or self.talk.waiting or self.teaches or self.changes)
        if answer.command and is_free:
            self.prompt.put(answer.command)
            self.tell("Enter carries it out")
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
        if name == "/undo":
            self.work(self.follow_ratings())
        elif name == "/rename":
            self.work(self.follow_title())
        rating = {"/good": "good", "/bad": "bad", "/teach": "taught"}.get(name)
        answers = [
            m for m in self.conversation.messages if m.speaker == "Assistant" and m.turn_id is not None
        ]
        if name == "/teach" and not _can_be_taught(rest):
            return
        if rest.strip().isdecimal() and name != "/teach":
            answers = [m for m in answers if m.turn_id == int(rest)]
        if rating and answers:
            self.mark_rated(answers[-1], rating)

    def _put_back(self, text: str) -> None:
        if not self.prompt.text:
            self.prompt.put(text)
        if self.has_cut:
            self.work(self.show_branch())

    def heard(self, learned: Learned) -> None:
        """Puts what was learned where the person looks."""
        from assistant.turns.notices import brief_line, learned_line

        if line := learned_line(learned, "/undo"):
            brief = brief_line(learned, "/undo")
            self.notices.put(Notice(line, learned.receipt_id, learned.turn_id, brief))
            self.work(self._recount())

    def heard_of_training(self, sentence: str) -> None:
        """The same, of a round."""
        self.notices.put(Notice(one_line(sentence)))
        self.work(self._recount())  # another model may be live

    def heard_of_removal(self, told: str, receipt_id: int, *, is_undone: bool) -> None:
        """The same, of a passage that was taken out of answers, or came back."""
        if is_undone:
            self.notices.withdraw([receipt_id])
        else:
            words = f"{one_line(told)} · /undo {receipt_id}"
            head, _, quoted = words.partition("“")
            text, _, _ = quoted.rpartition("”")
            self.notices.put(Notice(words, receipt_id, brief=(f"{head}“", text, f"” · /undo {receipt_id}")))
        self.work(self._recount())

    async def _recount(self) -> None:
        self.show_counts(await self.desk.counts())

    async def ask(self) -> str:
        """What the person answers to the question that the command has just asked."""
        from assistant.terminal.widgets.questions import Question

        last = self.conversation.messages[-1 - len(self.talk.waiting)]
        asked: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._asked = asked

        def answered(yes: bool | None) -> None:
            if not asked.done():
                asked.set_result(yes)

        question = last.text.replace(" [y/N]", "")
        asked_for = question.rpartition("\n")[2].lower()
        yes = next((verb for verb in _VERBS if asked_for.startswith(verb)), "yes")
        self.app.push_screen(Question(question, yes=yes, no="keep"), answered)
        return "y" if await asked else ""

    def _look(self) -> None:
        """What is looked at now and then."""
        self.notices.look()
        self.on_conversation_followed()
        self.look_at_what_was_sent()
        self.look_whether_writable()
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
            self.tell(f"not remembered yet: {one_line(waits)}", stays=True)

    async def end(self) -> None:
        """Ends what runs, and keeps what had come and what was typed."""
        self.save_draft()
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(None)
        await self.talk.end()
        self.save_draft()


def _can_be_taught(text: str) -> bool:
    from assistant.terminal.actions.teaching import says_something

    return says_something(text)
