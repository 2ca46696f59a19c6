"""Privacy, opened from the chat and from Memory, and what comes of it there."""

from __future__ import annotations

from functools import partial

from assistant.terminal.engine.engine import Desk
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.work import Telling

_EDGES = 6  # columns of a page: border, padding and scroll bar


class PrivacyDoor(Telling):
    """Opens the screen, and forgets everything where that was typed there."""

    desk: Desk

    def forgot(self, told: str) -> None:
        """Everything of the user's is forgotten."""
        raise NotImplementedError

    def action_privacy(self) -> None:
        """What is kept about this user, and who can read it."""
        self.work(self._open_privacy())

    async def _open_privacy(self) -> None:
        from assistant.terminal.memory.privacy_screen import PrivacyScreen, privacy_lines

        lines = await self.desk.look(partial(privacy_lines, width=self.app.size.width - _EDGES))
        if await self.app.push_screen_wait(PrivacyScreen(lines)):
            await self._forget_everything()

    async def _forget_everything(self) -> None:
        from assistant.terminal.actions.memories import forget

        self.tell("forgetting everything of yours …")
        told = await self.desk.do(lambda assistant, user: forget(assistant, user, None))
        count = sum(line.startswith("Forgotten") for line in told)
        passages = f"{count} passage{'s' if count != 1 else ''}"
        self.forgot(f"everything of yours is forgotten: {passages}")
        rest = [line for line in told if not line.startswith("Forgotten")]
        self.app.push_screen(PageScreen("Forgotten", "\n".join([f"Forgotten: {passages}.", *rest])))
