"""What the keys of reading mode do besides moving: copy, open a source, find, ask again."""

from __future__ import annotations

import asyncio
import os

from textual.widgets import Input, Markdown

from assistant.one_line import one_line
from assistant.terminal.screens.answer_actions import AnswerActions
from assistant.terminal.screens.copying import code_blocks, copy_by_tool
from assistant.terminal.screens.messages import Message
from assistant.terminal.screens.page_screen import PageScreen


class ReadingActions(AnswerActions):
    """Acts on the message that is read."""

    _found: tuple[str, list[Message]] = ("", [])
    _copied: tuple[Message | None, int] = (None, 0)  # whose code was copied, and its next block

    @property
    def _read_message(self) -> Message | None:
        """The one that is read, or the last answer."""
        return self.conversation.current or self.answer

    # Copying

    def action_copy(self) -> None:
        """Copies the message."""
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
        """Opens a source of the answer that is read."""
        answer = self.answer
        cited = [source for source in answer.sources if source.number == number] if answer else []
        if answer is None or answer.turn_id is None or not cited:
            self.tell(f"this answer has no source [{number}]")
        elif cited[0].version_id == 0:
            self.tell("that text was handed over with the message and is kept nowhere else")
        else:
            self.work(self._open_source(answer.turn_id, cited[0].version_id))

    async def _open_source(self, turn_id: int, version_id: int) -> None:
        from assistant.terminal.screens.why_facts import found_row, passage_page

        page = await self.desk.look(
            lambda assistant, user_id: passage_page(
                assistant, user_id, found_row(assistant, user_id, turn_id, version_id)
            )
        )
        self.app.push_screen(PageScreen(*page))

    def action_learned(self) -> None:
        """What was learned from the turn that is read."""
        answer = self.answer
        if answer is None or answer.turn_id is None:
            self.tell("no turn yet")
        else:
            self.work(self._open_learned(answer.turn_id))

    async def _open_learned(self, turn_id: int) -> None:
        from assistant.terminal.screens.why_facts import learned_lines

        lines = await self.desk.look(lambda assistant, user_id: learned_lines(assistant, user_id, turn_id))
        told = "\n".join(lines) or "Nothing new: what it says was known, or states nothing to keep."
        self.app.push_screen(PageScreen(f"Learned from turn {turn_id}", told))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """A link is opened only after its address was shown."""
        from assistant.terminal.screens.small_screens import Question

        event.stop()
        address = one_line(event.href)
        if not address.startswith(("http://", "https://")):
            self.tell(f"not opened, as it is no web address: {address}")
            return
        self.app.push_screen(
            Question(f"Open this address in the browser?\n\n{address}", yes="open", no="back"),
            lambda yes: self.app.open_url(address) if yes else None,
        )

    # Asking again, finding

    def action_retry(self) -> None:
        """Sends the question that is read once more."""
        answer = self.answer
        turn_id = answer.turn_id if answer is not None else None
        asked = [m for m in self.conversation.messages if m.speaker == "You" and m.turn_id == turn_id]
        if turn_id is None or not asked:
            self.tell("no question to ask again")
        else:
            self.work(self.talk.send(asked[0].text))

    def action_find(self) -> None:
        """Opens the line in which words are searched for."""
        field = self.query_one("#find", Input)
        field.add_class("-open")
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in that line."""
        self.query_one("#find", Input).remove_class("-open")
        self.conversation.focus()
        self.work(self.find(event.value))

    async def find(self, words: str) -> None:
        """Goes to the last message of this session in which the words stand."""
        conversation = self.conversation
        while not conversation.is_whole:
            await conversation.fetch()
        wanted = words.casefold().split()
        found = [m for m in conversation.messages if all(w in m.text.casefold() for w in wanted)]
        self._found = (words, found if wanted else [])
        conversation.current = None
        await self._go_to_found(-1)

    def action_find_again(self, by: int) -> None:
        """The next one that was found, or the one before."""
        self.work(self._go_to_found(by))

    async def _go_to_found(self, by: int) -> None:
        words, found = self._found
        if not found:
            self.tell(f"not found in this session: {words}" if words else "/ finds words")
            return
        current = self.conversation.current
        place = (found.index(current) + by) % len(found) if current in found else len(found) - 1
        await self.conversation.read_message(found[place])
        self.tell(f"{place + 1} of {len(found)} with {words} · n next, N previous")
