"""The assistant as the screens know it: everything that takes time, done on threads of its own.

    open_records -> make_ready -> (a turn of `host` | command) ... -> close

Where another process keeps the store from being written, it is opened to be read, and `begin_writing` comes
when that has ended. Turns and commands follow each other on one thread, as they were sent; looking things up
has another, so that a list opens while a reply is written. Nothing of this is imported before the screen is
painted.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.terminal.engine.worker_thread import WorkerThread
from assistant.terminal.facts.messages import Message, messages_of, past_messages
from assistant.terminal.input.commands import OF_BOTH
from stores.base.errors import StoreUnavailable, VouchError

if TYPE_CHECKING:
    from agents.base.chat_interfaces import Image
    from assistant.terminal.actions.written_here import Written
    from assistant.terminal.engine.slash_commands import SlashCommands
    from assistant.turns.host import TurnHost
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned
    from stores.conversation.glance import Glance

T = TypeVar("T")
Opens = Callable[[Callable[[str], None]], AbstractContextManager["Assistant"]]
Glances = Callable[
    ["int | None", int], "Glance | None"
]  # given a session, or None for the last, and how many

GLANCED_TURNS = 3  # of a session, shown before the stores are open: what fits on a screen
FIRST_TURNS = 15  # of a session, read at once; more when somebody scrolls up
_WAITS_FOR_A_WRITER_SECONDS = 2.0  # when it is opened; then it is opened to be read
_CLOSES_WITHIN_SECONDS = 15.0
_GIVES_UP_SECONDS = 2.0


@dataclass(frozen=True)
class SessionChoice:
    """Which session to begin with: a certain one, the last one, or a new one."""

    session_id: int | None = None
    last: bool = False


@dataclass(frozen=True)
class Opened:
    """A session as it was when it was opened."""

    session_id: int  # 0 of a new one that cannot be written yet
    title: str  # empty while nothing was said
    messages: list[Message]
    is_whole: bool  # there are no older ones
    is_private: bool = False


@dataclass(frozen=True)
class Counts:
    """What the header tells."""

    yours: int
    shared: int
    model: str
    has_spoken: bool = False  # something the person said, or gave to read, is there
    live_round: int | None = None  # by which round's model is searched; None where that is not trained


class Desk:
    """Opens an assistant, works with it, and closes it. All methods are called on the screen's loop."""

    def __init__(
        self,
        opens: Opens,
        *,
        user: str,
        timeout_seconds: float | None = None,
        glances: Glances = lambda session_id, turns: None,
    ) -> None:
        """opens: makes the assistant, given what is told sentences while that takes long.

        glances: reads the last turns of a session without it, where that can be done.
        """
        self._opens = opens
        self._glances = glances
        self.user = user
        self.timeout_seconds = timeout_seconds  # of one reply
        self._turns = WorkerThread("assistant")
        self._lookups = WorkerThread("lookups")
        self._context: AbstractContextManager[Assistant] | None = None
        self._assistant: Assistant | None = None
        self._is_open = asyncio.Event()
        self._commands: SlashCommands | None = None
        self._ask: Callable[[], str] = lambda: ""
        self._tell_learned: Callable[[Learned], None] = lambda learned: None
        self._tell_trained: Callable[[str], None] = lambda sentence: None
        self.user_id = 0
        self.slash_commands: dict[str, str] = {}  # known once it is ready
        self.is_over = False  # a command has ended the chat
        self.goes_plain = False  # and has it go on in plain mode
        self.refusal: VouchError | None = None  # why nothing can be written; None once what it takes was done

    # Opening and closing

    async def glance(self, choice: SessionChoice) -> Opened | None:
        """The end of the session, before anything is open; None where that must be waited for."""
        if choice == SessionChoice():
            return None
        seen = await self._lookups.do(lambda: self._glances(choice.session_id, GLANCED_TURNS))
        if seen is None:
            return None
        return Opened(seen.session_id, seen.title, messages_of(seen.turns, {}), is_whole=False)

    async def open_records(self, choice: SessionChoice, tell: Callable[[str], None]) -> Opened:
        """The session, as soon as the database is open; `refusal` tells whether it can only be read.

        tell: is called on the screen's loop.
        """
        loop = asyncio.get_running_loop()
        opened = await self._turns.do(lambda: self._open(choice, on_loop(loop, tell)))
        self._is_open.set()
        return opened

    async def make_ready(
        self,
        session_id: int,
        ask: Callable[[], Coroutine[Any, Any, str]],
        learned: Callable[[Learned], None],
        trained: Callable[[str], None],
    ) -> Counts:
        """Loads what a turn needs. ask: what a person answers to the question that a command just asked.

        learned, trained: what is told of a claim, and of a round. All are called on the screen's loop.
        """
        loop = asyncio.get_running_loop()
        self._tell_learned, self._tell_trained = on_loop(loop, learned), on_loop(loop, trained)
        context = copy_context()

        def asked() -> str:
            answered = context.run(asyncio.run_coroutine_threadsafe, ask(), loop)
            try:
                return answered.result()
            except concurrent.futures.CancelledError:
                return ""

        self._ask = asked
        return await self._turns.do(lambda: self._get_ready(session_id))

    async def is_writable(self) -> bool:
        """Whether no other process keeps the store from being written now. Nobody is waited for."""
        from stores.database.write_lock import why_not_writable

        return await self.look(
            lambda assistant, _user_id: (
                why_not_writable(assistant.stores.database, patience_seconds=0.0) is None
            )
        )

    async def begin_writing(self, session_id: int) -> int:
        """What `open_records` and `make_ready` could not do; returns the session, a new one in place of 0.

        `refusal` tells whether it still cannot be done.
        """
        return await self._turns.do(lambda: self._begin_writing(session_id))

    def close(self) -> bool:
        """Lets go of everything; False where something still runs that cannot be waited for."""
        context = self._context

        def let_go() -> None:
            if context is not None:
                context.__exit__(None, None, None)

        is_open = self._assistant is not None
        return self._lookups.end(_GIVES_UP_SECONDS) & self._turns.end(
            _CLOSES_WITHIN_SECONDS if is_open else _GIVES_UP_SECONDS, let_go
        )

    def _open(self, choice: SessionChoice, tell: Callable[[str], None]) -> Opened:
        context = self._opens(tell)
        assistant = context.__enter__()
        self._context = context
        from stores.database.write_lock import (
            why_not_writable,  # with what maps tables, which the opening has loaded
        )

        journal = assistant.stores.journal
        self.refusal = why_not_writable(
            assistant.stores.database, patience_seconds=_WAITS_FOR_A_WRITER_SECONDS
        )
        self.user_id = (journal.user_id if self.refusal is None else journal.known_user_id)(self.user)
        session_id = choice.session_id
        if session_id is not None:
            journal.check_session(self.user_id, session_id)
        elif choice.last:
            session_id = journal.last_session(self.user_id)
        if session_id is None and self.refusal is None:
            session_id = journal.open_session(self.user_id)
        _ = (
            assistant.stores.catalogue,
            assistant.stores.claims,
            assistant.stores.knowledge,
        )  # made here, by one thread alone
        self._assistant = assistant
        return self._opened(assistant, session_id) if session_id is not None else Opened(0, "", [], True)

    def _opened(self, assistant: Assistant, session_id: int) -> Opened:
        messages, is_whole = past_messages(assistant, self.user_id, session_id, turns=FIRST_TURNS)
        title = assistant.stores.sessions.title(self.user_id, session_id)
        is_private = assistant.stores.journal.is_private(self.user_id, session_id)
        return Opened(session_id, title, messages, is_whole, is_private)

    def _get_ready(self, session_id: int) -> Counts:
        if self.refusal is None:
            self._begin_writing(session_id)
        self.slash_commands = dict(OF_BOTH)
        return self._count(self._known_assistant)

    def _begin_writing(self, session_id: int) -> int:
        from assistant.terminal.engine.slash_commands import SlashCommands

        assistant = self._known_assistant
        try:
            self.user_id = assistant.stores.journal.user_id(self.user)
            session_id = session_id or assistant.stores.journal.open_session(self.user_id)
            assistant.catch_up(in_background=True)
        except StoreUnavailable as error:
            self.refusal = error
            return session_id
        self.refusal = None
        self._commands = SlashCommands(
            assistant,
            self.user_id,
            session_id,
            ask=self._ask,
            is_asked=True,
            learn=self._learn,
            has_screen=True,
        )
        in_chat = assistant.given.settings.learning.in_chat
        assistant.learning.background_learner.start(self._tell_trained, by_itself=in_chat)
        self._learn()
        return session_id

    # Turns and commands

    @property
    def host(self) -> TurnHost:
        """Plays the turns."""
        return self._known_assistant.turns.host

    @property
    def attached(self) -> tuple[Image, ...]:
        """Images that go with the next message."""
        return tuple(self._commands.attached) if self._commands is not None else ()

    def images_sent(self, images: Collection[Image]) -> None:
        """These went with a message that is kept: they go with no other."""
        if self._commands is not None:
            self._commands.images_sent(images)

    def behind_the_others(self) -> AbstractAsyncContextManager[Callable[[], None]]:
        """While a turn is played: behind what was sent before, and before what is sent meanwhile.

        Gives what lets the others on before the turn has ended.
        """
        return self._turns.held()

    async def command(
        self,
        session_id: int,
        line: str,
        say: Callable[[str], None],
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> int:
        """A line with a slash; what it says comes line by line. Returns the session that is on behind it.

        tell: is called with what it waits for, and with nothing when that is over.
        """
        loop = asyncio.get_running_loop()
        say_on_loop, tell_on_loop = on_loop(loop, say), on_loop(loop, tell)

        def run() -> int:
            commands = self._known_commands
            commands.wait.tell = tell_on_loop
            commands.session_id = session_id
            for said in commands.run(line):
                say_on_loop(said)
            self.is_over, self.goes_plain = commands.is_over, commands.goes_plain
            return commands.session_id

        return await self._turns.do(run)

    @property
    def is_waiting(self) -> bool:
        """A command waits for something, and the person may leave that."""
        return self._commands is not None and self._commands.wait.is_on

    def leave_wait(self) -> None:
        """Ends that wait, if there is one."""
        if self._commands is not None:
            self._commands.wait.leave()

    async def remember(self) -> None:
        """Begins what is to be remembered of the turns until now."""
        await self._turns.do(self._learn)

    async def settle(self) -> str | None:
        """What remembering waits for: empty where it is done, None while it goes on."""
        return await self._turns.do(lambda: self.host.settled(0.0))

    async def open_session(self, session_id: int | None, title: str = "") -> Opened:
        """Another session, or a new one."""

        def switch() -> Opened:
            assistant = self._known_assistant
            chosen = session_id
            if chosen is None:
                chosen = assistant.stores.journal.open_session(self.user_id, title=title)
            assistant.stores.journal.check_session(self.user_id, chosen)
            if self._commands is not None:
                self._commands.session_id = chosen
            return self._opened(assistant, chosen)

        await self._is_open.wait()
        return await self._turns.do(switch)

    async def do(self, work: Callable[[Assistant, int], T]) -> T:
        """Something that is written, behind the turns and commands that were sent before."""
        await self._is_open.wait()
        return await self._turns.do(lambda: work(self._known_assistant, self.user_id))

    async def write(self, work: Callable[[Assistant, int], Written]) -> Written:
        """The same, of what `/undo` is to take back in the session that is on."""

        def run() -> Written:
            written = work(self._known_assistant, self.user_id)
            if self._commands is not None:
                self._commands.note_written(written)
            return written

        await self._is_open.wait()
        return await self._turns.do(run)

    # Looking things up

    async def look(self, work: Callable[[Assistant, int], T]) -> T:
        """What the work finds in the stores, given the assistant and user, beside what is being written."""
        await self._is_open.wait()
        return await self._lookups.do(lambda: work(self._known_assistant, self.user_id))

    async def counts(self) -> Counts:
        """What the header tells."""
        return await self.look(lambda assistant, _user_id: self._count(assistant))

    # On the threads

    def _count(self, assistant: Assistant) -> Counts:
        yours, shared = assistant.stores.catalogue.counts(self.user_id)
        has_spoken = yours > 0 or assistant.stores.catalogue.count(self.user_id, scope="yours") > 0
        live_round = assistant.stores.rounds.live()
        return Counts(yours, shared, assistant.turns.pipeline.model_name, has_spoken, live_round)

    def _learn(self) -> None:
        self.host.remember(self.user_id, self._heard)

    def _heard(self, learned: Learned) -> None:
        if self._commands is not None and learned.turn_id is None:
            self._commands.note_written(learned)
        self._tell_learned(learned)

    @property
    def _known_assistant(self) -> Assistant:
        assert self._assistant is not None, "it is open"
        return self._assistant

    @property
    def _known_commands(self) -> SlashCommands:
        assert self._commands is not None, "it is ready"
        return self._commands


def on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[T], None]) -> Callable[[T], None]:
    """The same, called from any thread, on the loop and in the context of now."""
    context = copy_context()

    def later(given: T) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody looks any more
            loop.call_soon_threadsafe(call, given, context=context)

    return later
