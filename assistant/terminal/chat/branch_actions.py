"""Another branch of a session: a message that is changed, or answered again; the old one is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.terminal.chat.answer_actions import AnswerActions
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.typed_ids import turn_and_text
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from stores.conversation.branches import BranchPlace


class BranchActions(AnswerActions):
    """Begins branches and goes from one to another."""

    changes: int | None = None  # the turn whose message is being changed
    has_cut = False  # a branch was begun on the screen that may not have been in the stores

    # Beginning one

    def action_retry(self) -> None:
        """Answers the question that is read once more, in a branch of its own."""
        asked = self._asked_message
        if asked is None:
            self.tell("no question to answer again")
        elif self._may_branch():
            self.work(self._send_instead(asked, asked.text))

    def action_change_current(self) -> None:
        """The prompt takes the message that is read, to be sent otherwise; Esc leaves it as it was."""
        asked = self._asked_message
        if asked is None:
            self.tell("no message to change")
        elif self._may_branch():
            self._begin_changing(asked)

    def change_turn(self, typed: str) -> None:
        """The same of the turn that is named; a text behind it is sent at once in place of its message."""
        if typed:
            self.work(self._change_turn(typed))
        else:
            self.action_change_current()

    async def _change_turn(self, typed: str) -> None:
        number, text = turn_and_text(typed)
        asked = self._asked_message if number is None else await self._message_of(number)
        if asked is not None and self._may_branch():
            if text:
                await self._send_instead(asked, text)
            else:
                self._begin_changing(asked)
            return
        if asked is None:
            where = f"this session has no turn {number}"
            self.tell("no message to change" if number is None else where)
        if not self.prompt.text:
            self.prompt.put(f"/change {typed}")

    async def _message_of(self, turn_id: int) -> Message | None:
        """The message of a turn of the branch that is on, however far above."""
        while True:
            found = (m for m in self.conversation.messages if m.turn_id == turn_id and m.speaker == "You")
            if (message := next(found, None)) is not None or self.conversation.is_whole:
                return message
            await self.conversation.fetch()

    def _begin_changing(self, asked: Message) -> None:
        prompt = self.prompt
        if self.changes is None and self.teaches is None:
            self.stashed = prompt.take()
        self.changes, self.teaches = asked.turn_id, None
        prompt.add_class("-teaching")
        prompt.border_title = "Changing an earlier message; it is kept as it was. Esc leaves it"
        prompt.put(asked.text)
        prompt.focus()

    def end_changing(self) -> None:
        """The prompt is for the next message again, with what stood in it."""
        self.changes = None
        prompt = self.prompt
        prompt.remove_class("-teaching")
        prompt.border_title = ""
        prompt.put(self.stashed)
        self.stashed = ""

    async def changed(self, text: str) -> None:
        """Sends the message in its changed form."""
        turn_id = self.changes
        self.end_changing()
        asked = next((m for m in self.conversation.messages if m.turn_id == turn_id), None)
        if asked is not None and self._may_branch():
            await self._send_instead(asked, text)
        elif not self.prompt.text:
            self.prompt.put(text)

    async def _send_instead(self, asked: Message, text: str) -> None:
        self.has_cut = True
        await self.conversation.cut_at(asked)
        is_path = text.startswith("/") and not text.startswith("//")  # a message, and no command
        self.talk.send(f"/{text}" if is_path else text, instead_of=asked.turn_id)

    @property
    def _asked_message(self) -> Message | None:
        """The message of the turn that is read, or of the last one."""
        answer = self.answer
        turn_id = answer.turn_id if answer is not None else None
        messages = self.conversation.messages
        return next((m for m in messages if m.turn_id == turn_id and m.speaker == "You"), None)

    def _may_branch(self) -> bool:
        if not self.talk.is_idle:
            self.tell("a reply is being written: Esc stops it first")
        return self.talk.is_idle

    # Going to one

    def action_branch(self, by: int) -> None:
        if self._may_branch():
            self.work(self._switch_branch(by))

    def choose_branch(self, number: str) -> None:
        """A branch by its number; the next one without."""
        if not number or (number.isdecimal() and len(number) < 10):
            self.work(self._switch_to(int(number or 0)))
        else:
            self.tell(f"{one_line(number)} is no number of a branch")

    async def _switch_to(self, number: int) -> None:
        place = await self._branch_place()
        if number > place.count:
            self.tell(f"there are {place.count} branches")
        elif self._may_branch():
            await self._switch_branch(number - place.number if number else 1)

    async def _switch_branch(self, by: int) -> None:
        session_id = self.talk.session_id
        place = await self._branch_place()
        if place.count == 1:
            self.tell("one branch so far: e changes a message, r has it answered again")
            return
        place = await self.desk.do(
            lambda assistant, user_id: assistant.stores.sessions.switch_branch(user_id, session_id, by)
        )
        await self.show_branch()
        self.tell(f"branch {place.number} of {place.count}")

    async def show_branch(self) -> None:
        """What the stores hold of the branch that is on."""
        self.has_cut = False
        opened = await self.desk.open_session(self.talk.session_id)
        reads = self.conversation.has_focus
        await self.show_session(opened, brings_draft=False)
        if reads:
            await self.conversation.action_last()

    async def follow_branch(self) -> None:
        """Has the header tell which branch is on."""
        place = await self._branch_place()
        self.branch_told = f"branch {place.number} of {place.count}" if place.count > 1 else ""
        self.show_header()

    async def _branch_place(self) -> BranchPlace:
        from stores.conversation.branches import BranchPlace

        if not (session_id := self.talk.session_id):
            return BranchPlace(1, 1)
        return await self.desk.look(
            lambda assistant, user_id: assistant.stores.sessions.branch(user_id, session_id)
        )
