"""What the keys of reading mode do besides moving: copy, open a source."""

from __future__ import annotations

import asyncio
import os

from assistant.terminal.chat.answer_actions import AnswerActions
from assistant.terminal.chat.branch_actions import BranchActions
from assistant.terminal.chat.find_actions import FindActions
from assistant.terminal.conversation.answer_text import AnswerText
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.clipboard import code_blocks, copy_by_tool
from assistant.terminal.widgets.page_screen import PageScreen
from stores.base.one_line import one_line


class ReadingActions(BranchActions, FindActions, AnswerActions):
    """Acts on the message that is read."""

    _copied: tuple[Message | None, int] = (None, 0)  # whose code was copied, and its next block

    @property
    def _read_message(self) -> Message | None:
        """The one that is read, or the last answer."""
        return self.conversation.current or self.answer

    # Copying

    def action_copy(self) -> None:
        if (message := self._read_message) is not None:
            self.copy(message.text, "the message")

    def action_copy_code(self) -> None:
        """Copies its next block of code; the first one again behind the last."""
        message = self._read_message
        blocks = code_blocks(message.text) if message is not None else []
        if not blocks:
            self.tell("no block of code in this message")
            return
        whose, number = self._copied
        number = number % len(blocks) if whose is message else 0
        self._copied = (message, number + 1)
        self.copy(blocks[number], f"block {number + 1} of {len(blocks)}")

    def copy(self, text: str, what: str) -> None:
        """By the terminal and, where there is one, by a tool; says which."""
        self.app.copy_to_clipboard(text)

        async def by_tool() -> None:
            tool = await asyncio.to_thread(copy_by_tool, text, os.environ)
            how = f"{tool} and the terminal" if tool else "the terminal (OSC 52), if it allows that"
            self.tell(f"copied {what} by {how}")

        self.work(by_tool())

    # Opening

    def action_open_source(self, number: int) -> None:
        answer = self.answer
        sources = answer.sources if answer else ()
        cited = [source for source in sources if source.number == number] or sources[number - 1 : number]
        if answer is None or answer.turn_id is None or not cited:
            self.tell(f"this answer has no source [{number}]")
        elif cited[0].version_id == 0:
            self.tell("that text was said or handed over in this session, and is kept nowhere else")
        else:
            self.work(self._open_source(answer.turn_id, cited[0].version_id))

    async def _open_source(self, turn_id: int, version_id: int) -> None:
        from assistant.terminal.why.passage_page import PassagePage

        page = await PassagePage.of(self.desk, turn_id, version_id)
        if self.app.screen is self.screen:  # else another key came meanwhile
            self.app.push_screen(page)

    def action_learned(self, turn_id: int | None = None) -> None:
        """What was learned from a turn: from the one that is read, or the last, where none is named."""
        answer = self.answer
        wanted = turn_id if turn_id is not None else (answer.turn_id if answer else None)
        if wanted is None:
            self.tell("no turn yet")
        else:
            self.work(self._open_learned(wanted))

    async def _open_learned(self, turn_id: int) -> None:
        from assistant.terminal.facts.why import told_of_learning

        lines = await self.desk.look(lambda assistant, user: told_of_learning(assistant, user, turn_id))
        self.app.push_screen(PageScreen(f"Learned from turn {turn_id}", "\n".join(lines)))

    def on_answer_text_link_clicked(self, event: AnswerText.LinkClicked) -> None:
        from assistant.terminal.widgets.questions import Question

        event.stop()
        address = one_line(event.href)
        if not address.startswith(("http://", "https://")):
            self.tell(f"not opened, it is not a web address: {address}")
            return
        self.app.push_screen(
            Question(f"Open this address in the browser?\n\n{address}", yes="open", no="back"),
            lambda yes: self.app.open_url(address) if yes else None,
        )
