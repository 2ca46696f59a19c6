"""A store that another process keeps from being written: the header says so, and it ends by itself."""

from __future__ import annotations

from assistant.terminal.chat.chat_actions import ChatActions
from stores.base.errors import VouchError
from stores.base.one_line import one_line


class WritingAgain(ChatActions):
    """Looks now and then whether it can be written again."""

    _looks_whether_writable = False

    def waits_to_write(self, refusal: VouchError) -> None:
        """It was opened to be read; what is sent waits."""
        self.show_stored(refusal)
        reason = refusal.message.rpartition(": ")[2]  # behind the address of the store
        self.tell(one_line(f"read-only: {reason}. What you send waits until it has ended"), stays=True)

    def look_whether_writable(self) -> None:
        """Begins what had to wait once it can be written; to be called now and then."""
        if self.is_read_only and self.desk.slash_commands and not self._looks_whether_writable:
            self._looks_whether_writable = True
            self.work(self._write_again())

    async def _write_again(self) -> None:
        try:
            if await self.desk.is_writable():
                await self._begin_writing()
        finally:
            self._looks_whether_writable = False

    async def _begin_writing(self) -> None:
        had_to_wait = self.desk.refusal is not None
        if had_to_wait:
            self.talk.session_id = await self.desk.begin_writing(self.talk.session_id)
            if self.desk.refusal is not None:
                return
        self.show_stored(None)
        if had_to_wait:
            self.tell("")
            self.show_counts(await self.desk.counts())
            self.talk.ready()
