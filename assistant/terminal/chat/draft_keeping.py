"""What is typed and not sent is kept as a draft, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import takewhile

from textual.widgets import TextArea

from assistant.terminal.actions.drafts import NEW, Drafts, unsent
from assistant.terminal.chat.surroundings import Surroundings
from assistant.terminal.engine.engine import SessionChoice

PRIVATE = "/private"  # what is sent and typed behind it belongs to a session that is not begun yet


class DraftKeeping(Surroundings):
    """The draft of the session that is on."""

    drafts: Drafts
    choice: SessionChoice  # of the session to begin with
    draft_is_due = False  # it changed since it was kept
    is_between_sessions = False  # the prompt is no more that of the one, and the other is not open yet
    _brought = ""  # what was put into the prompt from a draft
    _not_accepted: Sequence[str] = ()  # what was sent and not stored, when that was looked at last

    @property
    def draft_key(self) -> int | str:
        """Under which it is kept."""
        return self.talk.session_id if self.session_title or self.is_private else NEW

    @property
    def has_draft_key(self) -> bool:
        """Under which name a draft is kept is known once the session is open, or where it is a new one."""
        return not self.is_between_sessions and (self.talk.session_id != 0 or self.choice == SessionChoice())

    def on_text_area_changed(self, _event: TextArea.Changed) -> None:
        self.draft_is_due = True

    def look_at_what_was_sent(self) -> None:
        """The draft is due when a message was accepted: it stands in the conversation now."""
        if (not_accepted := self.talk.not_accepted) != self._not_accepted:
            self._not_accepted, self.draft_is_due = not_accepted, True

    def bring_draft(self, key: int | str, *, accepted: str = "") -> None:
        """Puts what was kept into the prompt. accepted: the last message, which is no draft any more."""
        if draft := unsent(self.drafts.read(key), accepted):
            self._brought = draft
            self.prompt.put(draft)

    def drop_accepted(self, accepted: str) -> None:
        """Takes the last accepted message out of a draft that was brought before the stores were open."""
        if self._brought and self.prompt.text == self._brought:
            self.prompt.put(unsent(self._brought, accepted))

    @property
    def _draft(self) -> str:
        """What was typed and not sent, and what was sent and not accepted; not what is to be private."""
        begun = [self.talk.command, *self.talk.not_accepted]
        kept = list(takewhile(lambda text: text.split()[:1] != [PRIVATE], begun))
        typed = [self.stashed, self.prompt.kept_text] if kept == begun else []
        return "\n\n".join(filter(None, [*kept[1:], *typed]))

    async def keep_draft(self) -> None:
        """Keeps it beside everything else."""
        if not self.has_draft_key:
            self.draft_is_due = True
        elif not await asyncio.to_thread(self.drafts.keeping(self.draft_key, self._draft)):
            self.tell("the draft cannot be kept: the state directory cannot be written")

    def save_draft(self) -> None:
        """Keeps it now, as when this is left."""
        if self.has_draft_key:
            self.drafts.write(self.draft_key, self._draft)

    async def go_to_session(self, session_id: int | None) -> None:
        """Another session, or a new one for None, in place of the one that is on, whose draft is kept."""
        self.save_draft()
        self.is_between_sessions = True
        self.prompt.put("")
        try:
            await self.show_session(await self.desk.open_session(session_id))
        finally:
            if self.is_between_sessions:  # it could not be opened
                self.is_between_sessions = False
                self.bring_draft(self.draft_key)
