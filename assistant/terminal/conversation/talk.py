"""What is sent, one after another: turns and commands, and those that wait for their turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.engine.engine import Desk
from assistant.terminal.engine.retrying import TryingAgain
from assistant.terminal.engine.writing import Said, Stopped, Writing
from assistant.terminal.facts.answer_lines import below_answer
from assistant.terminal.facts.messages import Message, cited_source
from stores.base.errors import ModelBusy, VouchError
from stores.base.one_line import one_line
from stores.base.passages import quotes_only

_LEAST_SECONDS = 0.1  # ten times a second
_MOST_SECONDS = 0.4  # further behind, nobody would say that it is being written
_SILENT_SECONDS = 5  # of a model that is asked, behind which they are told
_SHARE = 1 / 3  # of the time is for painting at most; the rest is for keys


class Pace:
    """Falls where painting takes long, so that keys find the screen free."""

    def __init__(self) -> None:
        self.wait_seconds = _LEAST_SECONDS  # from the end of one painting to the next

    def painted(self, seconds: float) -> None:
        """A painting took so long."""
        free = seconds * (1 - _SHARE) / _SHARE
        self.wait_seconds = min(_MOST_SECONDS, max(_LEAST_SECONDS, free))


@dataclass(frozen=True)
class Hears:
    """What a talk tells the screen it is on."""

    failed: Callable[[Exception], None]  # a defect of ours
    told: Callable[[str], None]  # a sentence for the status line
    reply_began: Callable[[], None]
    turn_ended: Callable[[Message], None]
    command_ended: Callable[[str], None]
    session_changed: Callable[[int, str], Awaitable[None]]  # and by which command; what waits goes there
    not_accepted: Callable[[str], None]  # a message that could not be kept: it goes back to the prompt
    stored: Callable[[VouchError | None], None]  # a message was kept, or why it could not be
    over: Callable[[], None]  # a command has ended the chat


class Talk:
    """The queue of a chat, and the reply that is being written."""

    def __init__(self, desk: Desk, conversation: Conversation, hears: Hears) -> None:
        self._desk = desk
        self._conversation = conversation
        self._hears = hears
        self._queue: list[Message] = []
        self._writing: Writing | None = None
        self._sending: Message | None = None  # whose turn is played
        self._trying: TryingAgain | None = None
        self._running: asyncio.Task[None] | None = None
        self._is_ready = False
        self._holds = False  # nothing further is begun
        self.session_id = 0
        self.model_name = ""
        self.command = ""  # that is being carried out

    @property
    def is_writing(self) -> bool:
        """A reply is being written."""
        return self._writing is not None

    @property
    def can_be_stopped(self) -> bool:
        """A reply is being written, or a command waits for something."""
        return self.is_writing or self._desk.is_waiting

    @property
    def is_idle(self) -> bool:
        """Nothing runs and nothing waits."""
        return self._running is None and not self._queue

    @property
    def waiting(self) -> list[str]:
        """What was sent and not begun."""
        return [message.text for message in self._queue]

    @property
    def not_accepted(self) -> list[str]:
        """What was sent and is not stored yet, oldest first."""
        is_stored = self._writing is not None and self._writing.turn_id is not None
        begun = self._sending
        sending = [begun.text] if begun is not None and begun.turn_id is None and not is_stored else []
        return [*sending, *self.waiting]

    def ready(self) -> None:
        """What was sent until now can be begun."""
        self._is_ready = True
        self._go_on()

    async def send(self, text: str, *, instead_of: int | None = None) -> None:
        """A message or a command; it waits for those before it. instead_of: a turn, which is kept."""
        message = Message("You", text, state="queued", instead_of=instead_of)
        self._queue.append(message)
        await self._conversation.add(message)
        self._conversation.follow()
        self._go_on()

    async def take_back(self) -> str | None:
        """The last of what waits, taken out of the queue; None where nothing waits."""
        if not self._queue:
            return None
        message = self._queue.pop()
        await self._conversation.remove_message(message)
        return message.text

    def stop(self) -> None:
        """Ends the reply that is being written, whose part is kept, or what a command waits for."""
        if self._trying is not None:
            self._trying.give_up()
        if self._writing is not None:
            self._writing.stop()
        self._desk.leave_wait()

    async def end(self) -> None:
        """Begins nothing more, stops the reply, and waits until its part is kept."""
        self._holds = True
        self.stop()
        if self._running is not None:
            await asyncio.wait([self._running])

    def _go_on(self) -> None:
        if self._is_ready and self._running is None and self._queue and not self._holds:
            self._running = asyncio.create_task(self._begin(self._queue.pop(0)))

    async def _begin(self, message: Message) -> None:
        try:
            message.state = "done"
            view = self._conversation.view_of(message)
            if view is not None:
                view.update()
            if message.text.startswith("/") and not message.text.startswith("//"):
                self.command = message.text
                await self._command(message)
            else:
                await self._turn(message)
        except Exception as error:  # noqa: BLE001 - told to the screen, which leaves
            self._hears.failed(error)
        finally:
            self._running, self._writing, self._trying, self._sending = None, None, None, None
            self.command = ""
            self._go_on()

    # Turns

    async def _turn(self, sent: Message) -> None:
        self._sending = sent
        answer = Message("Assistant", "", state="waiting", is_quoted=quotes_only(self.model_name))
        view = await self._conversation.add(answer, before=self._first_waiting)
        self._trying = TryingAgain(self._hears.told)
        error = await self._attempt(sent, answer, view)
        while isinstance(error, ModelBusy) and not answer.text:
            answer.state, answer.failure, answer.note, answer.silent_seconds = "waiting", "", "", 0
            view.update()
            if not await self._trying.wait_out(error):
                answer.state, answer.failure = "failed", one_line(error.message)
                break
            error = await self._attempt(sent, answer, view)
        if not view.is_attached:  # nothing was kept, and it is back in the prompt
            return
        view.end()
        self._hears.turn_ended(answer)

    async def _attempt(self, sent: Message, answer: Message, view: MessageView) -> VouchError | None:
        """Plays the turn; returns what it failed with."""
        text = sent.text[1:] if sent.text.startswith("//") else sent.text
        writing = self._writing = Writing()
        instead_of = sent.instead_of if sent.turn_id is None else None  # a further try follows the first
        playing = asyncio.create_task(self._desk.play(self.session_id, text, writing, instead_of=instead_of))
        pace = Pace()
        while not playing.done():
            await asyncio.wait([playing], timeout=pace.wait_seconds)
            self._paint(view, writing.take(), pace)
            _tell_silence(view, writing)
        failed: VouchError | None = None
        try:
            finished = playing.result()
        except Stopped:
            answer.state = "stopped"
        except VouchError as error:
            if writing.turn_id is None:  # nothing was kept, so nothing is shown
                await self._take_away(sent, answer, error)
                return error
            failed = error
            answer.state = "failed"
        else:
            answer.state, answer.seconds = finished.state, finished.seconds  # type: ignore[assignment]
            answer.sources = tuple(cited_source(source) for source in finished.cited)
            failed, answer.command = finished.error, finished.command
            answer.note = "\n".join(below_answer(finished.cut, finished.unreachable))
            answer.is_quoted = answer.is_quoted or finished.unreachable is not None
        if failed is not None:
            answer.failure, answer.note = one_line(failed.message), answer.note or one_line(failed.hint)
        sent.turn_id = answer.turn_id = writing.turn_id
        self._hears.stored(None)
        return failed

    def _paint(self, view: MessageView, taken: Sequence[Said], pace: Pace) -> None:
        if not taken:
            return
        began = time.perf_counter()
        piece = ""
        for said in taken:
            if said.is_thought:
                view.think(f"{piece}{said.text}" if said.is_all else said.text, is_all=said.is_all)
                piece = "" if said.is_all else piece
            else:
                piece += said.text
        if piece and view.message.state == "waiting":
            view.message.state = "writing"
            view.update()
            self._hears.reply_began()
        view.write(piece)
        view.call_after_refresh(lambda: pace.painted(time.perf_counter() - began))

    async def _take_away(self, sent: Message, answer: Message, error: VouchError) -> None:
        self._sending = None
        await self._conversation.remove_message(answer)
        await self._conversation.remove_message(sent)
        self._hears.not_accepted(sent.text)
        self._hears.stored(error)
        reason = error.message.rpartition(": ")[2]  # behind the address of the store
        self._hears.told(one_line(f"not sent: {reason}. {error.hint}"))

    # Commands

    async def _command(self, sent: Message) -> None:
        said = Message("Vouch", "")
        view = await self._conversation.add(said, before=self._first_waiting)

        try:
            session_id = await self._desk.command(self.session_id, sent.text, view.say, self._hears.told)
        except VouchError as error:
            view.say(one_line(error.message))
            if error.hint:
                view.say(one_line(error.hint))
            return
        self._hears.command_ended(sent.text)
        if self._desk.is_over:
            self._hears.over()
        elif session_id != self.session_id:
            await self._hears.session_changed(session_id, sent.text)

    @property
    def _first_waiting(self) -> Message | None:
        return self._queue[0] if self._queue else None


def _tell_silence(view: MessageView, writing: Writing) -> None:
    answer, asked_at = view.message, writing.asked_at
    if answer.state != "waiting" or answer.thoughts or asked_at is None:
        return
    silent = int(time.monotonic() - asked_at)
    if silent >= _SILENT_SECONDS and silent != answer.silent_seconds:
        answer.silent_seconds = silent
        view.update()
