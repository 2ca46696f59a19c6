"""What is sent, one after another: turns and commands, and those that wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from assistant.one_line import one_line
from assistant.terminal.screens.conversation import Conversation
from assistant.terminal.screens.desk import Desk
from assistant.terminal.screens.message_view import MessageView
from assistant.terminal.screens.messages import Message, cited_source, quotes_only
from assistant.terminal.screens.writing import Stopped, Writing
from stores.errors import VouchError

_FEED_SECONDS = 0.1  # a reply is painted ten times a second at most


@dataclass(frozen=True)
class Hears:
    """What a talk tells the screen it is on."""

    failed: Callable[[Exception], None]  # a defect of ours
    told: Callable[[str], None]  # a sentence for the status line
    turn_ended: Callable[[Message], None]
    command_ended: Callable[[str], None]
    session_changed: Callable[[int, str], None]  # and by which command
    not_accepted: Callable[[str], None]  # a message that could not be kept: it goes back to the prompt
    over: Callable[[], None]  # a command has ended the chat


class Talk:
    """The queue of a chat, and the reply that is being written."""

    def __init__(self, desk: Desk, conversation: Conversation, hears: Hears) -> None:
        self._desk = desk
        self._conversation = conversation
        self._hears = hears
        self._queue: list[Message] = []
        self._writing: Writing | None = None
        self._running: asyncio.Task[None] | None = None
        self._is_ready = False
        self._holds = False  # nothing further is begun
        self.session_id = 0
        self.model_name = ""

    @property
    def is_writing(self) -> bool:
        """A reply is being written."""
        return self._writing is not None

    @property
    def is_idle(self) -> bool:
        """Nothing runs and nothing waits."""
        return self._running is None and not self._queue

    @property
    def waiting(self) -> list[str]:
        """What was sent and not begun."""
        return [message.text for message in self._queue]

    def ready(self) -> None:
        """What was sent until now can be begun."""
        self._is_ready = True
        self._go_on()

    async def send(self, text: str) -> None:
        """A message or a command; it waits for those before it."""
        message = Message("You", text, state="queued")
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
        """Ends the reply that is being written; its part is kept."""
        if self._writing is not None:
            self._writing.stop()

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
                await self._command(message)
            else:
                await self._turn(message)
        except Exception as error:  # noqa: BLE001 - told to the screen, which leaves
            self._hears.failed(error)
        finally:
            self._running, self._writing = None, None
            self._go_on()

    # Turns

    async def _turn(self, sent: Message) -> None:
        text = sent.text[1:] if sent.text.startswith("//") else sent.text
        writing = self._writing = Writing()
        answer = Message("Assistant", "", state="waiting", is_quoted=quotes_only(self.model_name))
        view = await self._conversation.add(answer, before=self._first_waiting)
        playing = asyncio.create_task(self._desk.play(self.session_id, text, writing))
        while not playing.done():
            await asyncio.wait([playing], timeout=_FEED_SECONDS)
            await self._paint(view, writing.take())
        try:
            finished = playing.result()
        except Stopped:
            answer.state = "stopped"
        except VouchError as error:
            if writing.turn_id is None:  # nothing was kept, so nothing is shown
                await self._take_away(sent, answer, error)
                return
            answer.state, answer.failure = "failed", one_line(error.message)
            answer.note = error.hint
        else:
            answer.state, answer.seconds = finished.state, finished.seconds  # type: ignore[assignment]
            answer.sources = tuple(cited_source(source) for source in finished.cited)
            answer.note = _note(finished.error, finished.cut)
            answer.failure = one_line(finished.error.message) if finished.error else ""
        sent.turn_id = answer.turn_id = writing.turn_id
        await view.end()
        self._hears.turn_ended(answer)

    async def _paint(self, view: MessageView, piece: str) -> None:
        if not piece:
            return
        if view.message.state == "waiting":
            view.message.state = "writing"
            view.update()
        await view.write(piece)

    async def _take_away(self, sent: Message, answer: Message, error: VouchError) -> None:
        await self._conversation.remove_message(answer)
        await self._conversation.remove_message(sent)
        self._hears.not_accepted(sent.text)
        self._hears.told(f"not sent: {one_line(error.message)} {error.hint}".strip())

    # Commands

    async def _command(self, sent: Message) -> None:
        said = Message("Vouch", "")
        view = await self._conversation.add(said, before=self._first_waiting)

        try:
            session_id = await self._desk.command(self.session_id, sent.text, view.say)
        except VouchError as error:
            view.say(one_line(error.message))
            if error.hint:
                view.say(one_line(error.hint))
            return
        self._hears.command_ended(sent.text)
        if self._desk.is_over:
            self._hears.over()
        elif session_id != self.session_id:
            self._hears.session_changed(session_id, sent.text)

    @property
    def _first_waiting(self) -> Message | None:
        return self._queue[0] if self._queue else None


def _note(error: VouchError | None, cut: object) -> str:
    from agents.interfaces import CutAtLimit
    from assistant.terminal.answer_lines import cut_line

    hint = one_line(error.hint) if error else ""
    return "\n".join(filter(None, (hint, cut_line(cut) if isinstance(cut, CutAtLimit) else "")))
