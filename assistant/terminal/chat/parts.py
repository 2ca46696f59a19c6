"""What the chat's screen is made of, as the files know it that act on it."""

from __future__ import annotations

from assistant.terminal.conversation.conversation import Conversation
from assistant.terminal.conversation.notice_line import NoticeLine
from assistant.terminal.conversation.prompt import Prompt
from assistant.terminal.conversation.talk import Talk
from assistant.terminal.engine.engine import Desk, Opened
from assistant.terminal.widgets.work import Working


class ChatParts(Working):
    """The parts, and what the whole screen does with them."""

    desk: Desk
    talk: Talk
    session_title = ""  # empty while nothing was said
    stashed = ""  # what stood in the prompt before an answer was being corrected

    @property
    def conversation(self) -> Conversation:
        """What was said."""
        return self.query_one("#conversation", Conversation)

    @property
    def prompt(self) -> Prompt:
        """What is being typed."""
        return self.query_one("#prompt", Prompt)

    @property
    def notices(self) -> NoticeLine:
        """What was learned."""
        return self.query_one("#notice", NoticeLine)

    async def show_session(self, opened: Opened, *, brings_draft: bool = True) -> None:
        """Another session, with its draft, unless something is being typed already."""
        raise NotImplementedError

    def remember(self) -> None:
        """Has what was stated remembered, in the background."""
        raise NotImplementedError
