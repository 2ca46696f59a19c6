"""Finding words in what was said, and going from one place to the next, from session to session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assistant.terminal.chat.draft_keeping import DraftKeeping
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.commands import OF_SCREEN
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from stores.conversation.turn_search import FoundTurn


class FindActions(DraftKeeping):
    """What was found last, and where among it somebody reads."""

    _words = ""
    _typed_last = ""  # there, whether something was chosen or not
    _found: Sequence[FoundTurn] = ()
    _place = 0

    def action_find(self) -> None:
        self.find("")

    def find(self, words: str) -> None:
        """The same, with words that are looked for at once."""
        if self.is_ready:
            self._open_find(words)

    def _open_find(self, words: str) -> None:
        """At once: what is typed on is meant for it."""
        from assistant.terminal.lists.find_screen import FindScreen

        session_id = self.talk.session_id

        async def finds(looked_for: str) -> Sequence[FoundTurn]:
            return await self.desk.look(
                lambda assistant, user_id: assistant.stores.turn_search.find(
                    user_id, looked_for, session_id=session_id
                )
            )

        def chosen(choice: tuple[str, list[FoundTurn], int] | None) -> None:
            self._typed_last = screen.typed
            if choice is not None:
                self._words, self._found, self._place = choice
                self.work(self._go_to_found())

        screen = FindScreen(
            finds,
            session_id=session_id,
            words=words or self._typed_last,
            is_private=self.is_private,
            commands=[*self.desk.slash_commands, *OF_SCREEN] if self.conversation.has_focus else (),
        )
        self.app.push_screen(screen, chosen)

    def action_find_again(self, by: int) -> None:
        if not self._found:
            self.tell("nothing searched yet: / finds words")
            return
        self._place = (self._place + by) % len(self._found)
        self.work(self._go_to_found())

    async def _go_to_found(self) -> None:
        found = self._found[self._place]
        if await self.show_turn(found.session_id, found.turn_id, is_answer=found.is_answer):
            where = f"{self._place + 1} of {len(self._found)} with {one_line(self._words)}"
            self.tell_reader(f"{where} · n next, N previous")

    async def show_turn(self, session_id: int, turn_id: int, *, is_answer: bool = False) -> bool:
        """Goes to a turn of any session, in a branch that it is in, and reads it. False: it could not."""
        conversation = self.conversation
        is_on = session_id == self.talk.session_id and await self.desk.look(
            lambda assistant, user_id: assistant.stores.sessions.is_on(user_id, turn_id)
        )
        if not is_on:
            if not self.talk.is_idle:
                self.tell("a reply is being written: Esc stops it, then go there")
                return False
            await self.desk.do(
                lambda assistant, user_id: assistant.stores.sessions.show_turn(user_id, turn_id)
            )
            await self.go_to_session(session_id)
        while not (at := self._messages_of(turn_id)) and not conversation.is_whole:
            await conversation.fetch()
        if not at:
            self.tell("it is no longer there")
            return False
        conversation.focus()
        await conversation.read_message(at[-1] if is_answer else at[0])
        return True

    def _messages_of(self, turn_id: int) -> list[Message]:
        return [message for message in self.conversation.messages if message.turn_id == turn_id]
