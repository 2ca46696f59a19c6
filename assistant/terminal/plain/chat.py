"""The chat as lines: what scrolls by is the transcript, and it is the form for pipes.

No boxes, spinners, redrawing or colour. A message opens with `You:` or `Assistant:`, sources follow.
Ctrl+C stops the reply, Ctrl+D leaves.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.terminal.engine.notices import Notices
from assistant.terminal.engine.retrying import wait_seconds
from assistant.terminal.facts.answer_lines import WAS_THOUGHT, below_answer, invented_line, source_line
from assistant.terminal.plain.commands import PlainCommands
from assistant.turns.events import Accepted, Chosen, Event, Searched, Thinks, Wrote
from stores.base.errors import ModelBusy, VouchError
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.base.errors import ModelBusy
    from stores.claims.decisions import Learned

_TELLS_EVERY_SECONDS = 10.0


def wait_out(error: ModelBusy, tries: int, say: Callable[[str], None]) -> bool:
    """Waits until it can be tried again, and says every ten seconds how long that is; False after Ctrl+C.

    tries: those that were waited out before.
    """
    left = wait_seconds(error, tries)
    try:
        while left > 0:
            say(f"(the model is busy: trying again in {math.ceil(left)} s; Ctrl+C stops trying)\n")
            time.sleep(min(left, _TELLS_EVERY_SECONDS))
            left -= _TELLS_EVERY_SECONDS
    except KeyboardInterrupt:
        say("\n(not tried again; /retry does)\n")
        return False
    return True


_SAID_EVERY_SECONDS = 10.0


class PlainReply:
    """Watches one turn, on the loop that plays it.

    with PlainReply(say, tells_waits=True) as reply:  # behind its end nothing more is waited for
        player.play(..., watch=reply.watch)
    """

    def __init__(self, say: Callable[[str], None], *, tells_waits: bool) -> None:
        """say: prints behind the opening of the reply. tells_waits: somebody is there who waits."""
        self._say = say
        self._tells_waits = tells_waits
        self._waits_for = "searching"
        self._waited = 0.0  # seconds
        self.is_kept = False
        self.has_written = False

    def __enter__(self) -> PlainReply:
        return self

    def __exit__(self, *_error: object) -> None:
        self._tells_waits = False

    def watch(self, event: Event) -> None:
        """Takes in what the turn tells."""
        if isinstance(event, Accepted):
            self.is_kept = True
            self._wait_on()
        elif isinstance(event, Searched):
            self._waits_for = "weighing what was found"
        elif isinstance(event, Chosen):
            self._waits_for = f"waiting for {one_line(event.model)}"
        elif isinstance(event, Wrote):
            self.has_written, self._tells_waits = True, False
            self._say(event.text)
        elif isinstance(event, Thinks):
            self._waits_for = "thinking"
            if event.is_all and self.has_written:
                self._say(WAS_THOUGHT)

    def _wait_on(self) -> None:
        if self._tells_waits:
            asyncio.get_running_loop().call_later(_SAID_EVERY_SECONDS, self._tell)

    def _tell(self) -> None:
        if self._tells_waits:
            self._waited += _SAID_EVERY_SECONDS
            self._say(f"({self._waits_for}: {self._waited:.0f} s so far; Ctrl+C stops it)\nAssistant: ")
            self._wait_on()


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
        self._assistant.turns.player.remember(self._user_id, self._heard)
        self._settle(_TYPING_SECONDS if not self._echoes else None)

    def _heard(self, learned: Learned) -> None:
        if learned.turn_id is None:
            self._commands.note_written(learned)
        self._notices.put(learned)

    def _settle(self, seconds: float | None) -> None:
        try:
            self._assistant.turns.player.settle(seconds)
        except VouchError as error:  # the answer stands, and what was stated waits
            self._say(f"(not remembered yet: {one_line(error.message)})\n\n")

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
            self._fail(error, error.message)
            self._say("\n")
        except KeyboardInterrupt:
            self._say("\n(stopped; what was done until then is kept)\n\n")

    def _fail(self, error: VouchError, said: str) -> None:
        self.failure = error
        self._say(f"{one_line(said)}\n" + (f"{one_line(error.hint)}\n" if error.hint else ""))

    def _turn(self, message: str, *, instead_of: int | None = None) -> None:
        tried, tries = self._attempt(message, instead_of), 0
        while isinstance(tried.error, ModelBusy) and not self._echoes:
            if not wait_out(tried.error, tries, self._say):
                break
            # a further try follows the first, as on the screen, unless that was never kept
            tried, tries = self._attempt(message, None if tried.is_kept else instead_of), tries + 1
        self._say("\n")
        if tried.has_ended:
            self._learn()

    def _attempt(self, message: str, instead_of: int | None) -> _Tried:
        """Has a message answered, and tells of it all but the empty line behind it."""
        self.failure = None
        self._say("Assistant: ")
        reply = PlainReply(self._say, tells_waits=not self._echoes)
        commands = self._commands
        try:
            commands.begin_session()
            with reply:
                finished = self._assistant.turns.player.play(
                    self._user_id,
                    commands.session_id,
                    message,
                    watch=reply.watch,
                    timeout_seconds=self._timeout_seconds,
                    instead_of=instead_of,
                )
        except KeyboardInterrupt:
            self._say("\n(stopped)\n")
            return _Tried(reply.is_kept)
        except VouchError as error:
            self._say("\n")
            self._fail(error, f"(failed: {error.message})")
            return _Tried(reply.is_kept, error=error)
        self._say("\n")
        if finished.error is not None:
            self._fail(finished.error, f"(failed: {finished.error.message})")
        for line in below_answer(finished.cut, finished.unreachable):
            self._say(f"{line}\n")
        for source in finished.cited:
            self._say(f"{source_line(source)}\n")
        if invented := invented_line(finished.invented):
            self._say(f"({invented})\n")
        return _Tried(True, has_ended=True, error=None if reply.has_written else finished.error)

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


@dataclass(frozen=True)
class _Tried:
    """What came of an attempt to have a message answered."""

    is_kept: bool  # the message is stored
    has_ended: bool = False
    error: VouchError | None = None  # where nothing of an answer had come
