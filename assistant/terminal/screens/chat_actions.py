"""What the keys that hold everywhere do, and the commands that only screens have."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.one_line import one_line
from assistant.terminal.screens.draft_keeping import DraftKeeping
from assistant.terminal.screens.editor import edit
from assistant.terminal.screens.keys import SCREEN_COMMANDS
from assistant.terminal.screens.page_screen import PageScreen
from assistant.terminal.screens.prompt import Prompt
from assistant.terminal.screens.reading_actions import ReadingActions
from assistant.terminal.screens.work import Host, host

if TYPE_CHECKING:
    from assistant.wiring import Assistant

_TWICE_SECONDS = 2.0  # between two Ctrl+C that leave
_PATHS_LOOKED_AT = 1_000
_SESSIONS_SEARCHED, _TURNS_SEARCHED = 20, 100  # for earlier prompts


class ChatActions(ReadingActions, DraftKeeping):
    """Actions of the chat as a whole."""

    _interrupted_at = -_TWICE_SECONDS

    @property
    def _app(self) -> Host:
        return host(self)

    # Screens

    def action_help(self) -> None:
        """All keys and commands."""
        from assistant.terminal.screens.help_text import help_text

        width = self.app.size.width - 6
        text = help_text(self._app.changed_keys, self.desk.slash_commands, width=width)
        self.app.push_screen(PageScreen("Help", text))

    def action_sessions(self) -> None:
        """The list of sessions."""
        if self._is_ready:
            self.work(self._open_sessions())

    async def _open_sessions(self) -> None:
        from assistant.terminal.screens.sessions_screen import NEW_SESSION, SessionsScreen

        lines = await self.desk.look(
            lambda assistant, user_id: assistant.journal.sessions(user_id, limit=2_000)
        )

        def chosen(session_id: int | None) -> None:
            if session_id is not None:
                self.switch_session(None if session_id == NEW_SESSION else session_id)

        self.app.push_screen(SessionsScreen(lines, self.talk.session_id), chosen)

    def action_new_session(self) -> None:
        """A new session."""
        if self._is_ready:
            self.switch_session(None)

    def switch_session(self, session_id: int | None) -> None:
        """Goes to another session, or to a new one for None. A reply is to be stopped first, by its key."""
        if not self.talk.is_idle:
            self.tell("a reply is being written: Esc stops it, then change the session")
        elif session_id != self.talk.session_id:
            self.work(self._switch(session_id))

    async def _switch(self, session_id: int | None) -> None:
        self.save_draft()
        self.prompt.put("")
        await self.show_session(await self.desk.open_session(session_id))
        self.prompt.focus()
        self.tell("")

    @property
    def _is_ready(self) -> bool:
        if not self.desk.slash_commands:
            self.tell("not yet: it is still opening")
        return bool(self.desk.slash_commands)

    # Keys

    def action_redraw(self) -> None:
        """Draws everything anew and follows the newest line."""
        self.app.refresh(layout=True)
        self.conversation.follow()

    def action_stop_or_read(self) -> None:
        """Stops the reply; when none runs, the keys move among the messages."""
        if self.teaches is not None:
            self.end_teaching()
        elif self.talk.is_writing:
            self.talk.stop()
        elif self.conversation.messages:
            self.conversation.focus()
            self.work(self.conversation.action_last())

    def action_write(self) -> None:
        """Back to the prompt."""
        self.conversation.read(None)
        self.conversation.follow()
        self.prompt.focus()

    def action_interrupt(self) -> None:
        """Copies what is selected; else stops the reply; else clears the prompt; a second time it leaves."""
        selected = self.screen.get_selected_text() or self.prompt.selected_text
        if selected:
            self.copy(selected, "the selection")
        elif self.talk.is_writing:
            self.talk.stop()
        elif self.prompt.text:
            self.prompt.clear_typed()
        elif time.monotonic() - self._interrupted_at < _TWICE_SECONDS:
            self._app.leave(130)
        else:
            self._interrupted_at = time.monotonic()
            self.tell("Ctrl+C again or Ctrl+D leaves")

    def action_editor(self) -> None:
        """The prompt in an editor."""
        self.work(self._edit())

    async def _edit(self) -> None:
        prompt = self.prompt
        with self.app.suspend():
            written = edit(prompt.whole_text, os.environ)
        prompt.put(written)
        prompt.focus()

    def action_search_prompts(self) -> None:
        """Everything that was sent before."""
        self.work(self._search_prompts())

    async def _search_prompts(self) -> None:
        from assistant.terminal.screens.small_screens import PastPrompts

        here = list(reversed(self.prompt.sent))
        earlier = await self.desk.look(_earlier_prompts) if self.desk.slash_commands else []
        self.app.push_screen(
            PastPrompts([*here, *earlier]), lambda taken: self.prompt.put(taken) if taken else None
        )

    def on_prompt_wants_to_leave(self) -> None:
        """Ctrl+D on an empty prompt."""
        self._app.leave(0)

    def on_prompt_wants_newest(self) -> None:
        """End."""
        self.conversation.follow()

    async def on_prompt_wants_waiting(self) -> None:
        """Up on an empty prompt, while something waits: it is taken back."""
        taken = await self.talk.take_back()
        if taken is not None:
            self.prompt.put(taken)

    # Commands

    def on_prompt_wants_completion(self, event: Prompt.WantsCompletion) -> None:
        """Completes what is unambiguous, and tells what is not."""
        event.stop()
        typed = self.prompt.text
        name, blank, argument = typed.partition(" ")
        choices = _choices(name, argument, self.app.available_themes) if blank else sorted(self._commands)
        stem = argument if blank else name
        fitting = [choice for choice in choices if choice.startswith(stem)]
        completed = _common_beginning(fitting)
        if len(fitting) == 1 and not blank:
            completed += " "
        if len(completed) > len(stem):
            self.prompt.put(f"{name} {completed}" if blank else completed)
        elif not fitting:
            self.tell(f"nothing begins with {one_line(stem)}")
        else:
            self.tell(" · ".join(one_line(choice) for choice in fitting[:30]))

    @property
    def _commands(self) -> dict[str, str]:
        return self.desk.slash_commands | SCREEN_COMMANDS

    def runs_here(self, line: str) -> bool:
        """Whether a line is done with here: a command of the screens, or no command at all."""
        if not line.startswith("/") or line.startswith("//"):
            return False
        name, _, rest = line.partition(" ")
        do = self._doors.get(name)
        if do is not None:
            do(rest.strip())
            return True
        if not self.desk.slash_commands or name in self.desk.slash_commands:
            return False
        near = difflib.get_close_matches(name.lower(), self._commands, n=1, cutoff=0.6)
        meant = f" Did you mean {near[0]}?" if near else ""
        self.tell(f"There is no command {one_line(name)}.{meant} // sends a line with a slash.")
        self.prompt.put(line)
        return True

    @property
    def _doors(self) -> dict[str, Callable[[str], None]]:
        return {
            "/copy": lambda _: self.action_copy(),
            "/edit": lambda _: self.action_editor(),
            "/find": lambda words: self.work(self.find(words)),
            "/help": lambda _: self.action_help(),
            "/quit": lambda _: self._app.leave(0),
            "/retry": lambda _: self.action_retry(),
            "/sessions": lambda _: self.action_sessions(),
            "/suspend": lambda _: self.app.action_suspend_process(),
            "/theme": self._choose_theme,
            "/why": self._why,
        }

    def _why(self, turn: str) -> None:
        if turn.isdecimal() and len(turn) <= 18:
            self.action_why(int(turn))
        else:
            self.action_why()

    def _choose_theme(self, name: str) -> None:
        if not name:
            self.app.search_themes()
        elif name in self.app.available_themes:
            self.app.theme = name
        else:
            self.tell(f"no theme {one_line(name)}; Tab behind /theme lists them")


def _common_beginning(words: Sequence[str]) -> str:
    """The longest text that all of them begin with."""
    first, last = min(words, default=""), max(words, default="")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(character for character, _ in same)


def _choices(name: str, argument: str, themes: Iterable[str]) -> list[str]:
    """What can stand behind a command."""
    if name == "/theme":
        return sorted(themes)
    return _paths(argument) if name == "/ingest" else []


def _paths(typed: str) -> list[str]:
    """What there is in the folder that is being typed, as it would be typed on; folders end in a slash."""
    folder, slash, _ = typed.rpartition("/")
    place = Path(folder + slash).expanduser()
    try:
        entries = sorted(place.iterdir())[:_PATHS_LOOKED_AT]
    except OSError:
        return []
    return [f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}" for entry in entries]


def _earlier_prompts(assistant: Assistant, user_id: int) -> list[str]:
    """What this user sent in their last sessions, newest first."""
    sessions = assistant.journal.sessions(user_id, limit=_SESSIONS_SEARCHED)
    return [
        turn.message
        for session in sessions
        for turn in reversed(assistant.journal.turns(user_id, session.session_id, limit=_TURNS_SEARCHED))
    ]
