"""What is sent, one after another: turns and commands, and those that wait for their turn."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.engine.engine import Desk
from assistant.terminal.facts.answer_lines import below_answer, unreachable_line
from assistant.terminal.facts.messages import Message, cited_source
from stores.base.errors import ModelBusy, VouchError
from stores.base.one_line import one_line
from stores.base.passages import quotes_only

if TYPE_CHECKING:
    from assistant.turns.events import Event
    from assistant.turns.host import Sending

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
        self._queue: dict[Message, asyncio.Event] = {}  # set once it begins, or was taken back
        self._tasks: dict[Message, asyncio.Task[None]] = {}
        self._begun: Message | None = None
        self._sending: Message | None = None  # the same, but for commands and what is back in the prompt
        self._reply: Sending | None = None  # that is being written
        self._turn_id: int | None = None  # its turn, once the message is stored
        self._is_ready = False
        self._holds = False  # nothing further is begun
        self.session_id = 0
        self.model_name = ""
        self.command = ""  # that is being carried out

    @property
    def can_be_stopped(self) -> bool:
        """A reply is being written, or a command waits for something."""
        return self._reply is not None or self._desk.is_waiting

    @property
    def is_idle(self) -> bool:
        """Nothing runs and nothing waits."""
        return self._begun is None and not self._queue

    @property
    def waiting(self) -> list[str]:
        """What was sent and not begun."""
        return [message.text for message in self._queue]

    @property
    def not_accepted(self) -> list[str]:
        """What was sent and is not stored yet, oldest first."""
        begun = self._sending
        return [begun.text, *self.waiting] if begun is not None and self._turn_id is None else self.waiting

    def ready(self) -> None:
        """What was sent until now can be begun."""
        self._is_ready = True
        self._go_on()

    def send(self, text: str, *, instead_of: int | None = None) -> None:
        """A message or a command; it waits for those before it. instead_of: a turn, which is kept."""
        message = Message("You", text, state="queued", instead_of=instead_of)
        self._queue[message] = begins = asyncio.Event()
        follows = self._command if _is_command(message) else self._turn
        task = asyncio.create_task(follows(message, begins))
        self._tasks[message] = task
        task.add_done_callback(partial(self._ended, message))

    async def take_back(self) -> str | None:
        """The last of what waits, taken out of the queue; None where nothing waits."""
        if not self._queue:
            return None
        message, begins = self._queue.popitem()
        begins.set()
        await self._conversation.remove_message(message)
        return message.text

    def stop(self) -> None:
        """Ends the reply that is being written, whose part is kept, or what a command waits for."""
        if self._reply is not None:
            self._reply.stop()
        self._desk.leave_wait()

    async def end(self) -> None:
        """Begins nothing more, stops the reply, and waits until its part is kept."""
        self._holds = True
        self.stop()
        if self._begun is not None:
            await asyncio.wait([self._tasks[self._begun]])

    async def _begins(self, message: Message, begins: asyncio.Event) -> bool:
        """Shows it, and waits for those before it; False where it was taken back."""
        if message in self._queue:
            await self._conversation.add(message)
            self._conversation.follow()
            self._go_on()
        await begins.wait()
        if message is not self._begun:
            await self._conversation.remove_message(message)  # whose view may have come just now
            return False
        message.state = "done"
        if (view := self._conversation.view_of(message)) is not None:
            view.update()
        return True

    def _go_on(self) -> None:
        if self._is_ready and self._begun is None and self._queue and not self._holds:
            self._begun = begun = next(iter(self._queue))
            if _is_command(begun):
                self.command = begun.text
            else:
                self._sending, self._turn_id = begun, None
            self._queue.pop(begun).set()

    def _ended(self, message: Message, task: asyncio.Task[None]) -> None:
        del self._tasks[message]
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._hears.failed(error)  # a defect of ours: the screen leaves
        if message is self._begun:
            self._begun, self._sending, self._reply, self.command = None, None, None, ""
            self._go_on()

    # Turns

    async def _turn(self, sent: Message, begins: asyncio.Event) -> None:
        if not await self._begins(sent, begins):
            return
        from assistant.turns.host import Sending  # with the models, which are loaded by now

        answer = Message("Assistant", "", state="waiting", is_quoted=quotes_only(self.model_name))
        self._reply = reply = Sending()
        view = await self._conversation.add(answer, before=self._first_waiting)
        desk, events, pace = self._desk, deque["Event"](), Pace()
        async with desk.behind_the_others() as let_others_on:
            host, images = desk.host, desk.attached
            images_sent = partial(desk.images_sent, images)
            with host.announced(reply):
                played = host.playing(
                    reply,
                    desk.user_id,
                    self.session_id,
                    sent.text[1:] if sent.text.startswith("//") else sent.text,
                    watch=events.append,
                    images=images,
                    timeout_seconds=desk.timeout_seconds,
                    instead_of=sent.instead_of,
                    tries_again=True,
                )
                playing = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(played, host.loop))
                while not playing.done():
                    await asyncio.wait([playing], timeout=pace.wait_seconds)
                    self._tell(events, view, pace, let_others_on, images_sent)
        sent.turn_id = answer.turn_id = self._turn_id
        failed: VouchError | None = None
        try:
            finished = playing.result()
        except asyncio.CancelledError:
            answer.state = "stopped"
        except VouchError as error:
            if self._turn_id is None:  # nothing was kept, so nothing is shown
                await self._take_away(sent, answer, error)
                return
            answer.state, failed = "failed", error
        else:
            answer.state, answer.seconds = finished.state, finished.seconds  # type: ignore[assignment]
            answer.sources = tuple(cited_source(source) for source in finished.cited)
            failed, answer.command = finished.error, finished.command
            gone = [unreachable_line(finished.unreachable)] if finished.unreachable is not None else []
            answer.note = "\n".join([*gone, *below_answer(finished.cut, finished.sent_of)])
            answer.is_quoted = answer.is_quoted or finished.unreachable is not None
        if isinstance(failed, ModelBusy) and not answer.text:  # and nobody waits for it any longer
            answer.failure = one_line(failed.message)
            self._hears.told("")
        elif failed is not None:
            answer.failure, answer.note = one_line(failed.message), answer.note or one_line(failed.hint)
        self._hears.stored(None)
        view.end()
        self._hears.turn_ended(answer)

    def _tell(
        self,
        events: deque[Event],
        view: MessageView,
        pace: Pace,
        let_others_on: Callable[[], None],
        images_sent: Callable[[], None],
    ) -> None:
        """Shows what has come of the reply since this was last called."""
        from assistant.turns.events import Accepted, Busy, NoWord, Thinks, Wrote

        began, piece, has_text, answer = time.perf_counter(), "", False, view.message
        while events:
            event = events.popleft()
            if isinstance(event, Accepted):
                self._turn_id = event.turn_id
                images_sent()
            elif isinstance(event, Wrote):
                has_text, piece = True, piece + event.text
            elif isinstance(event, Thinks):
                has_text = True
                view.think(f"{piece}{event.text}" if event.is_all else event.text, is_all=event.is_all)
                piece = "" if event.is_all else piece
            elif isinstance(event, Busy):
                let_others_on()  # it may be waited for by the minute
                again = f"the model is busy: trying again in {event.left} s · Esc stops trying"
                self._hears.told(again if event.left else "trying again …")
                answer.silent_seconds = 0
                view.update()
            elif isinstance(event, NoWord) and event.asked_seconds >= _SILENT_SECONDS and not answer.thoughts:
                answer.silent_seconds = int(event.asked_seconds)
                view.update()
        if not has_text:
            return
        if piece and answer.state == "waiting":
            answer.state = "writing"
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

    async def _command(self, sent: Message, begins: asyncio.Event) -> None:
        if not await self._begins(sent, begins):
            return
        view = await self._conversation.add(Message("Vouch", ""), before=self._first_waiting)
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
        return next(iter(self._queue), None)


def _is_command(message: Message) -> bool:
    return message.text.startswith("/") and not message.text.startswith("//")
