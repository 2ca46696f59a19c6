"""The chat as lines: what scrolls by is the transcript, and it is the form for pipes.

No boxes, spinners, redrawing or colour. A message opens with `You:` or `Assistant:`, sources follow.
Ctrl+C stops the reply, Ctrl+D leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.terminal.answer_lines import cut_line, source_line
from assistant.terminal.notices import Notices
from assistant.terminal.slash_commands import SlashCommands
from assistant.turns.events import Event, Wrote
from stores.errors import VouchError
from stores.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring import Assistant

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
        self._commands = SlashCommands(
            assistant, user_id, session_id, ask=ask, is_asked=not echoes, learn=self._learn
        )
        self.failure: VouchError | None = None  # the last turn's, for the exit code of a pipe

    def run(self) -> None:
        """Until the input ends or the person leaves."""
        is_typed = not self._echoes
        in_chat = self._assistant.settings.learning.in_chat
        self._assistant.background_learner.start(self._notices.say, by_itself=in_chat and is_typed)
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
        self._assistant.player.remember(self._user_id, self._notices.put)
        self._settle(_TYPING_SECONDS if not self._echoes else None)

    def _settle(self, seconds: float | None) -> None:
        try:
            self._assistant.player.settle(seconds)
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

    def _turn(self, message: str) -> None:
        self.failure = None
        self._say("Assistant: ")
        watcher = _Watcher(self._say)
        commands = self._commands
        try:
            commands.session_id = commands.session_id or self._assistant.journal.open_session(self._user_id)
            finished = self._assistant.player.play(
                self._user_id,
                commands.session_id,
                message,
                watch=watcher.watch,
                timeout_seconds=self._timeout_seconds,
            )
        except KeyboardInterrupt:
            self._say("\n(stopped)\n\n")
            return
        except VouchError as error:
            self._say("\n")
            self._fail(error, f"(failed: {error.message})")
            self._say("\n")
            return
        self._say("\n")
        if finished.error is not None:
            self._fail(finished.error, f"(failed: {finished.error.message})")
        if finished.cut is not None:
            self._say(f"{cut_line(finished.cut)}\n")
        for source in finished.cited:
            self._say(f"{source_line(source)}\n")
        self._say("\n")
        self._learn()

    def _command(self, line: str) -> None:
        for said in self._commands.run(line):
            self._say(f"{said}\n")
        self._say("\n")


class _Watcher:
    """Prints a reply as it comes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def watch(self, event: Event) -> None:
        if isinstance(event, Wrote):
            self._say(event.text)
