"""What the chat does about memory: it opens its screens, and offers no undo that is done already."""

from __future__ import annotations

from functools import cached_property, partial

from assistant.terminal.chat.answer_actions import AnswerActions
from assistant.terminal.engine.engine import Counts
from assistant.terminal.memory.privacy_door import PrivacyDoor
from stores.base.one_line import short


class MemoryDoor(AnswerActions, PrivacyDoor):
    """Opens the screens, and follows what was changed there."""

    @cached_property
    def _unsaved_memories(self) -> dict[int, str]:
        """What was typed over a memory and not kept, by passage."""
        return {}

    def action_memory(self, words: str = "") -> None:
        """What is remembered; words, or a number, that are looked for at once."""
        if not self.is_ready:
            return
        if words.isdecimal():
            self.work(self._open_numbered(words))
        else:
            self._open_memory(words)

    async def _open_numbered(self, number: str) -> None:
        """The memory of that number, or those that say it; where there are none, that is told instead."""
        from assistant.terminal.facts.memory_page import is_there

        if not await self.desk.look(partial(is_there, number=number)):
            self.tell(f"there is no memory {short(number, 30)}, and none says {short(number, 30)}")
        elif self.app.screen is self.screen:  # else another key came meanwhile
            self._open_memory(number)

    def _open_memory(self, words: str) -> None:
        from assistant.terminal.memory.memory_screen import MemoryScreen

        if not any(isinstance(screen, MemoryScreen) for screen in self.app.screen_stack):
            screen = MemoryScreen(
                self.desk, words, changed=self._memory_changed, unsaved=self._unsaved_memories
            )
            self.app.push_screen(screen)

    def action_privacy(self) -> None:
        if self.is_ready:
            super().action_privacy()

    def forgot(self, told: str) -> None:
        """Everything of the user's is forgotten."""
        self.tell(told)
        self._memory_changed(True)

    def _memory_changed(self, has_forgotten: bool) -> None:
        self.work(self._follow_memory(has_forgotten))

    async def _follow_memory(self, has_forgotten: bool) -> None:
        self.show_counts(await self.desk.counts())
        if has_forgotten and self.talk.is_idle:  # what was forgotten stands on no screen of ours any more
            await self.show_session(await self.desk.open_session(self.talk.session_id))

    def show_counts(self, counts: Counts) -> None:
        """Other counts: something was written, or taken back."""
        super().show_counts(counts)
        if self.notices.receipts:
            self.work(self._look_at_notices())

    async def _look_at_notices(self) -> None:
        from stores.memory.memory_rows import MemoryRows

        offered = self.notices.receipts
        past = await self.desk.look(
            lambda assistant, user_id: MemoryRows(assistant.stores.database).not_to_undo(user_id, offered)
        )
        self.notices.withdraw(past)
