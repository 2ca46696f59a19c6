"""The chat as lines: what scrolls by is the transcript, and it is the form for pipes.

No boxes, spinners, redrawing or colour. A message opens with `You:` or `Assistant:`, sources follow.
Ctrl+C stops the reply, Ctrl+D leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.terminal.facts.answer_lines import (
    WAS_THOUGHT,
    below_answer,
    invented_line,
    source_line,
    unreachable_line,
)
from assistant.terminal.plain.commands import PlainCommands
from assistant.turns.events import Accepted, Busy, Chosen, Event, Finished, NoWord, Searched, Thinks, Wrote
from assistant.turns.notices import Notices
from stores.base.errors import VouchError
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned

_TELLS_EVERY_SECONDS = 10.0  # who waits


class PlainReply:
    """Tells the answer of one message, on the loop that plays it, but for the empty line behind it."""

    def __init__(self, say: Callable[[str], None], *, tells_waits: bool) -> None:
        """tells_waits: somebody is there who waits."""
        self._say = say
        self._tells_waits = tells_waits
        self.is_tried_again = False  # soon: a busy model is being waited for
        self.begin()

    def begin(self) -> None:
        """Opens it; what comes is told behind that."""
        self._waits_for = "searching"
        self._waited = 0.0  # seconds, as told
        self._has_written = False
        self._say("Assistant: ")

    def watch(self, event: Event) -> None:
        """Takes in what the turn tells."""
        if isinstance(event, Searched):
            self._waits_for = "weighing what was found"
        elif isinstance(event, Chosen):
            self._waits_for = f"waiting for {one_line(event.model)}, which may still be loading"
            if event.unreachable is not None:
                self._say(f"{unreachable_line(event.unreachable)}\n")
        elif isinstance(event, Wrote):
            self._has_written = True
            self._say(event.text)
        elif isinstance(event, Thinks):
            self._waits_for = "thinking"
            if event.is_all and self._has_written:
                self._say(WAS_THOUGHT)
        elif isinstance(event, NoWord) and self._tells_waits:
            if event.seconds >= self._waited + _TELLS_EVERY_SECONDS:
                self._waited += _TELLS_EVERY_SECONDS
                waited = f"{self._waits_for}: {self._waited:.0f} s so far"
                self._say(f"({waited}; Ctrl+C stops it)\nAssistant: ")
        elif isinstance(event, Busy):
            self.is_tried_again = event.left > 0
            if not self.is_tried_again:
                self.begin()
            elif (event.whole - event.left) % _TELLS_EVERY_SECONDS == 0:
                self._say(f"(the model is busy: trying again in {event.left} s; Ctrl+C stops trying)\n")
        elif isinstance(event, Finished):
            self._end(event)

    def _end(self, finished: Finished) -> None:
        self._say("\n")
        if finished.error is not None:
            self._say(_told(finished.error, f"(failed: {finished.error.message})"))
        for line in below_answer(finished.cut, finished.sent_of):
            self._say(f"{line}\n")
        for source in finished.cited:
            self._say(f"{source_line(source)}\n")
        if invented := invented_line(finished.invented):
            self._say(f"({invented})\n")


def _told(error: VouchError, said: str) -> str:
    return f"{one_line(said)}\n" + (f"{one_line(error.hint)}\n" if error.hint else "")


_TYPING_SECONDS = 0.5  # what is learned within them is told at once, else before the next prompt
_LAST_SECONDS = 5.0  # what is not remembered by then waits for the next time


class PlainChat:
    """A conversation over standard input and output."""

    def __init__(
        self,
        assistant: Assistant,
        user_id: int,
        session_id: int,
        *,
        ask: Callable[[], str | None],
        say: Callable[[str], None],
        echoes: bool,
        timeout_seconds: float | None = None,
    ) -> None:
        """ask: the next line typed, None at the end. echoes: what is typed is not on the screen yet.

        session_id: 0 for a new one that is to be opened with the first message.
        """
        self._assistant = assistant
        self._user_id = user_id
        self._ask = ask
        self._say = say
        self._echoes = echoes
        self._timeout_seconds = timeout_seconds
        self._notices = Notices("/undo")
        self._commands = PlainCommands(
            assistant, user_id, session_id, ask=ask, is_asked=not echoes, learn=self._learn
        )
        self._commands.told = self._notices.told
        self.failure: VouchError | None = None  # the last turn's, for the exit code of a pipe

    def run(self) -> None:
        """Until the input ends or the person leaves."""
        is_typed = not self._echoes
        in_chat = self._assistant.given.settings.learning.in_chat
        self._assistant.learning.background_learner.start(self._notices.say, by_itself=in_chat and is_typed)
        self._learn()
        while not self._commands.is_over:
            self._tell_notices()
            line = self._ask()
            if line is None:
                break
            message = line.strip()
            if not message:
                continue
            if self._echoes:
                self._say(f"You: {one_line(message)}\n")
            self._take(message)
        self._settle(_LAST_SECONDS)
        self._tell_notices()

    def _learn(self) -> None:
        """Has what was stated remembered. Who types is not kept waiting; a pipe gets all in its order."""
        self._assistant.turns.host.remember(self._user_id, self._heard)
        self._settle(_TYPING_SECONDS if not self._echoes else None)

    def _heard(self, learned: Learned) -> None:
        if learned.turn_id is None:
            self._commands.note_written(learned)
        self._notices.put(learned)

    def _settle(self, seconds: float | None) -> None:
        if waits_for := self._assistant.turns.host.settled(seconds):
            self._say(f"(not remembered yet: {one_line(waits_for)})\n\n")

    def _tell_notices(self) -> None:
        if lines := self._notices.take():
            self._say("".join(f"{line}\n" for line in lines) + "\n")

    def _take(self, message: str) -> None:
        try:
            if message.startswith("//"):
                self._turn(message[1:])
            elif message.startswith("/"):
                self._command(message)
            else:
                self._turn(message)
        except VouchError as error:
            self.failure = error
            self._say(_told(error, error.message) + "\n")
        except KeyboardInterrupt:
            self._say("\n(stopped; what was done until then is kept)\n\n")

    def _turn(self, message: str, *, instead_of: int | None = None) -> None:
        self.failure = None
        reply = PlainReply(self._say, tells_waits=not self._echoes)
        commands = self._commands
        images = tuple(commands.attached)

        def watch(event: Event) -> None:
            if isinstance(event, Accepted):
                commands.images_sent(images)
            reply.watch(event)

        try:
            commands.begin_session()
            finished = self._assistant.turns.host.play(
                self._user_id,
                commands.session_id,
                message,
                watch=watch,
                images=images,
                timeout_seconds=self._timeout_seconds,
                instead_of=instead_of,
                tries_again=not self._echoes,
            )
        except KeyboardInterrupt:
            if not reply.is_tried_again:
                self._say("\n(stopped)\n\n")
                return
            self._say("\n(not tried again; /retry does)\n\n")
        except VouchError as error:
            self.failure = error
            self._say("\n" + _told(error, f"(failed: {error.message})") + "\n")
            return
        else:
            self.failure = finished.error
            self._say("\n")
        self._learn()

    def _command(self, line: str) -> None:
        for said in self._commands.run(line):
            self._say(f"{said}\n")
        message = self._commands.take_message()
        if message is None or not message.is_typed:
            self._say("\n")
        if message is not None:
            if not message.is_typed:
                self._say(f"You: {one_line(message.text)}\n")
            self._turn(message.text, instead_of=message.instead_of)
