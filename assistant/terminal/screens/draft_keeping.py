"""What is typed and not sent is kept as a draft, and comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual.widgets import TextArea

from assistant.terminal.screens.desk import SessionChoice
from assistant.terminal.screens.drafts import NEW, Drafts
from assistant.terminal.screens.work import Working

if TYPE_CHECKING:
    from assistant.terminal.screens.chat import ChatScreen


class DraftKeeping(Working):
    """The draft of the session that is on."""

    drafts: Drafts
    choice: SessionChoice  # of the session to begin with
    draft_is_due = False  # it changed since it was kept

    @property
    def _typist(self) -> ChatScreen:
        return cast("ChatScreen", self)

    @property
    def draft_key(self) -> int | str:
        """Under which it is kept."""
        chat = self._typist
        return chat.talk.session_id if chat.session_title else NEW

    @property
    def has_draft_key(self) -> bool:
        """Under which name a draft is kept is known once the session is open, or where it is a new one."""
        return self._typist.talk.session_id != 0 or self.choice == SessionChoice()

    def on_text_area_changed(self, _event: TextArea.Changed) -> None:
        """What is typed is kept soon."""
        self.draft_is_due = True

    def bring_draft(self, key: int | str) -> None:
        """Puts what was kept into the prompt."""
        if draft := self.drafts.read(key):
            self._typist.prompt.put(draft)

    @property
    def _draft(self) -> str:
        """What was typed and not sent, and what was sent and not begun."""
        chat = self._typist
        return "\n\n".join(filter(None, [*chat.talk.waiting, chat.stashed, chat.prompt.kept_text]))

    async def keep_draft(self) -> None:
        """Keeps it beside everything else."""
        key, draft = self.draft_key, self._draft
        if not await asyncio.to_thread(self.drafts.write, key, draft):
            self._typist.tell("the draft cannot be kept: the state directory cannot be written")

    def save_draft(self) -> None:
        """Keeps it now, as when this is left."""
        if self.has_draft_key:
            self.drafts.write(self.draft_key, self._draft)
