"""What the keys that hold everywhere do, and the commands that only screens have."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from textual.app import SuspendNotSupported
from textual.events import Paste

from assistant.terminal.chat.completing import Completing
from assistant.terminal.chat.draft_keeping import DraftKeeping
from assistant.terminal.chat.memory_access import MemoryDoor
from assistant.terminal.chat.reading_actions import ReadingActions
from assistant.terminal.chat.training_actions import TrainingActions
from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.engine.near_commands import did_you_mean
from assistant.terminal.input.commands import OF_SCREEN
from assistant.terminal.input.editor import edit
from assistant.terminal.input.typed_ids import typed_id
from assistant.terminal.widgets.work import Host, host
from assistant.turns.documents_named import naming
from stores.base.one_line import one_line

_TYPED_ON_SECONDS = 0.05  # behind Esc: a key that comes sooner was typed before anybody looked
_TWICE_SECONDS = 2.0  # between two Ctrl+C that leave


class ChatActions(TrainingActions, MemoryDoor, ReadingActions, DraftKeeping, Completing):
    """Actions of the chat as a whole."""

    _burst_seconds: float  # 0: keys are taken as they come
    _interrupted_at = -_TWICE_SECONDS
    _mistyped = ""  # a line that is no command, and stands in the prompt

    @property
    def _app(self) -> Host:
        return host(self)

    # Screens

    def action_help(self, words: str = "") -> None:
        from assistant.terminal.widgets.screen_help import open_help

        place = "Why this answer" if self.query_one("#why").has_focus_within else ""
        open_help(self, self.desk, "Reading" if self.conversation.has_focus else place, words)

    def action_sessions(self, words: str = "") -> None:
        if not self.is_ready:
            return
        from assistant.terminal.lists.sessions_screen import NEW_SESSION, SessionsScreen

        def chosen(session_id: int | None) -> None:
            if session_id is not None:
                self.switch_session(None if session_id == NEW_SESSION else session_id)
            self.work(self.follow_title())

        self.app.push_screen(SessionsScreen(self.desk, self.talk.session_id, words), chosen)

    def action_documents(self, words: str = "") -> None:
        if not self.is_ready:
            return
        from assistant.terminal.lists.documents_screen import DocumentsScreen

        self.app.push_screen(DocumentsScreen(self.desk, words), self.ask_only)

    def ask_only(self, name: str | None) -> None:
        """Puts the name of a document into the prompt; None: of none."""
        if name is not None:
            self.prompt.put(f"{naming(name)} {self.prompt.text}")
            self.prompt.focus()

    async def follow_title(self) -> None:
        """The session may be called otherwise by now."""
        session_id, before = self.talk.session_id, self.session_title
        if not session_id:
            return
        title = await self.desk.look(
            lambda assistant, user_id: assistant.stores.sessions.title(user_id, session_id)
        )
        if title and before == self.session_title and session_id == self.talk.session_id:
            self.session_title = title
            self.show_header()

    def action_new_session(self) -> None:
        if self.is_ready:
            self.switch_session(None)

    def switch_session(self, session_id: int | None) -> None:
        """Goes to another session, or to a new one for None. A reply is to be stopped first, by its key."""
        if not self.talk.is_idle:
            self.tell("a reply is being written: Esc stops it, then change the session")
        elif session_id is None and (self.is_read_only or self.desk.refusal is not None):
            self.tell("read-only: a new session begins once the store can be written again")
        elif session_id != self.talk.session_id:
            self.work(self._switch(session_id))

    async def _switch(self, session_id: int | None) -> None:
        await self.go_to_session(session_id)
        self.prompt.focus()
        self.tell("")

    # Keys

    def action_redraw(self) -> None:
        self.app.refresh(layout=True)
        self.conversation.follow()

    def action_stop_or_read(self) -> None:
        """Stops the reply; when none runs, the keys move among the messages. An open menu closes first."""
        if self.menu.is_open:
            self.menu.put_away()
        elif self.teaches is not None:
            self.end_teaching()
        elif self.changes is not None:
            self.end_changing()
        elif self.talk.can_be_stopped:
            self.talk.stop()
        elif self._mistyped and self.prompt.text == self._mistyped:
            self._mistyped = ""
            self.prompt.clear_typed()
            self.tell("")
        elif self.conversation.messages:
            if self.prompt.text:
                self.tell_reader("reading: your text waits in the prompt · Esc back")
            grace = _TYPED_ON_SECONDS if self._burst_seconds and self.prompt.text else 0.0
            self.conversation.typing_until = time.monotonic() + grace if grace else 0.0
            self.conversation.focus()
            self.work(self.conversation.action_last())

    def on_conversation_typed(self, event: Conversation.Typed) -> None:
        if self.conversation.has_focus:
            self.action_write()
            self.tell("")
        self.prompt.insert(event.letter)

    def on_conversation_pasted(self, event: Conversation.Pasted) -> None:
        self.action_write()
        self.prompt.post_message(Paste(event.text))

    def on_paste(self, event: Paste) -> None:
        """What is pasted where nothing takes it, as in the strip of keys that rate: the prompt takes it."""
        event.stop()
        self.action_write()
        self.prompt.post_message(Paste(event.text))

    def action_write(self) -> None:
        self.conversation.read(None)
        self.conversation.follow()
        self.prompt.focus()

    def action_interrupt(self) -> None:
        """Copies what is selected; else stops the reply; else clears the prompt; a second time it leaves."""
        selected = self.screen.get_selected_text() or self.prompt.selected_text
        if selected:
            self.copy(selected, "the selection")
        elif self.talk.can_be_stopped:
            self.talk.stop()
        elif self.prompt.text:
            self.prompt.clear_typed()
        elif time.monotonic() - self._interrupted_at < _TWICE_SECONDS:
            self._app.leave(130)
        else:
            self._interrupted_at = time.monotonic()
            self.tell("Ctrl+C again or Ctrl+D leaves")

    def action_editor(self) -> None:
        self.work(self._edit())

    async def _edit(self) -> None:
        prompt, written = self.prompt, ""
        failed: Exception | None = None
        try:
            with self.app.suspend():  # which does not give the screen back where anything is raised within
                try:
                    written = edit(prompt.whole_text, os.environ)
                except Exception as error:  # noqa: BLE001 - raised behind it
                    failed = error
        except SuspendNotSupported:
            self.tell("no editor can be opened from a browser")
            return
        if failed is not None:
            raise failed
        prompt.put(written)
        prompt.focus()

    def action_search_prompts(self) -> None:
        self.work(self._search_prompts())

    async def _search_prompts(self) -> None:
        from assistant.terminal.widgets.questions import PastPrompts

        here = list(reversed(self.prompt.sent))
        earlier: Sequence[str] = ()
        if self.desk.slash_commands:
            earlier = await self.desk.look(
                lambda assistant, user_id: assistant.stores.sessions.prompts(user_id)
            )
        self.app.push_screen(
            PastPrompts([*here, *earlier]), lambda taken: self.prompt.put(taken) if taken else None
        )

    def on_prompt_wants_to_leave(self) -> None:
        self._app.leave(0)

    def on_prompt_wants_newest(self) -> None:
        self.conversation.follow()

    async def on_prompt_wants_waiting(self) -> None:
        taken = await self.talk.take_back()
        if taken is not None:
            self.prompt.put(taken)

    # Commands

    @property
    def _commands(self) -> dict[str, str]:
        return self.desk.slash_commands | OF_SCREEN

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
        told = (f"There is no command {one_line(name)}.", did_you_mean(name, self._commands))
        self.tell(" ".join(filter(None, (*told, "// sends a line with a slash."))))
        self.prompt.put(line)
        self.prompt.select_all()  # to be typed over, or mended
        self._mistyped = line
        return True

    @property
    def _doors(self) -> dict[str, Callable[[str], None]]:
        return {
            "/compare": self._compare,
            "/branch": self.choose_branch,
            "/change": self.change_turn,
            "/copy": self._copy,
            "/docs": self.action_documents,
            "/edit": lambda _: self.action_editor(),
            "/find": self.find,
            "/help": self.action_help,
            "/learned": self._learned,
            "/log": lambda _: self.action_log(),
            "/memory": self.action_memory,
            "/notices": lambda _: self.action_notices(),
            "/plain": lambda _: self._go_plain(),
            "/privacy": lambda _: self.action_privacy(),
            "/quit": lambda _: self._app.leave(0),
            "/replay": self.replay_session,
            "/retry": lambda _: self.action_retry(),
            "/sessions": self.action_sessions,
            "/suspend": lambda _: self.app.action_suspend_process(),
            "/theme": self._choose_theme,
            "/training": lambda _: self.action_training(),
            "/why": self._why,
        }

    def _why(self, turn: str) -> None:
        self.action_why(typed_id(turn))

    def _learned(self, turn: str) -> None:
        if turn and typed_id(turn) is None:
            self.tell("name the turn by its number: /learned 12. Without one it is the last")
        else:
            self.action_learned(typed_id(turn))

    def _compare(self, turn: str) -> None:
        self.compare_turn(typed_id(turn))

    def _copy(self, what: str) -> None:
        if what in ("", "code"):
            self.action_copy_code() if what else self.action_copy()
        else:
            self.tell("/copy copies the last answer, and /copy code its next block of code")

    def _go_plain(self) -> None:
        if self.app.is_web:
            self.tell("a browser has no plain mode: run `vouch chat --plain` in a terminal")
        elif self.is_ready:
            self.talk.send("/plain")

    def _choose_theme(self, name: str) -> None:
        if not name:
            self.app.search_themes()
        elif name in self.app.available_themes:
            self.app.theme = name
        else:
            self.tell(f"no theme {one_line(name)}; /theme and a blank lists them")
