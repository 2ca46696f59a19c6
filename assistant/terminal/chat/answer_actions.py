"""What can be done with an answer: rate it, correct it, ask why, undo what it taught."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.terminal.chat.surroundings import Surroundings
from assistant.terminal.conversation.rate_strip import RateStrip
from assistant.terminal.facts.messages import Message
from assistant.terminal.widgets.page_screen import PageScreen
from stores.base.one_line import short

if TYPE_CHECKING:
    from assistant.terminal.facts.why import WhyFacts

_WIDE = 100  # columns from which Why stands beside the conversation


class AnswerActions(Surroundings):
    """Acts on the message that is read, or on the last answer where none is."""

    teaches: int | None = None  # the turn whose answer is being corrected

    @property
    def answer(self) -> Message | None:
        conversation = self.conversation
        current = conversation.current if conversation.has_focus else None
        if current is not None and current.turn_id is not None:
            return next(
                m for m in reversed(conversation.messages) if m.turn_id == current.turn_id
            )  # a question's answer stands behind it
        answers = [m for m in conversation.messages if m.speaker == "Assistant" and m.turn_id is not None]
        return answers[-1] if answers else None

    # Rating and teaching

    def action_rate(self) -> None:
        if self.answer is None and self.notices.current is None:
            self.tell("no answer to rate yet")
        else:
            notice = self.notices.current
            undoes, receipt_id = (notice.undoes, notice.receipt_id) if notice is not None else ("", None)
            self.query_one(RateStrip).open(undoes, receipt_id)

    def on_rate_strip_chosen(self, event: RateStrip.Chosen) -> None:
        self.prompt.focus()
        if event.choice in ("helped", "not_helped"):
            self.action_rate_current("good" if event.choice == "helped" else "bad")
        elif event.choice == "teach":
            self.action_teach_current()
        elif event.choice == "why":
            self.action_why()
        elif event.choice == "undo":
            self._undo(event.receipt_id)
        elif event.choice == "notices":
            self.action_notices()

    def action_notices(self) -> None:
        self.app.push_screen(PageScreen("Notices", self.notices.history or "Nothing was told yet."))

    def action_rate_current(self, rating: str) -> None:
        """Keeps that it helped, or did not; the same once more takes it back."""
        answer = self.answer
        if answer is None or answer.turn_id is None:
            self.tell("no answer to rate yet")
        elif answer.rating == rating:
            self.work(self._take_back(answer, answer.turn_id))
        else:
            self.work(self._rate(answer, answer.turn_id, rating))

    async def _rate(self, answer: Message, turn_id: int, rating: str) -> None:
        from assistant.terminal.actions.rating import rate, reaches_all

        told = await self.desk.look(
            lambda assistant, user_id: (
                rate(assistant, user_id, turn_id, rating) or reaches_all(assistant, user_id, turn_id)
            )
        )
        self.mark_rated(answer, rating, told)

    async def _take_back(self, answer: Message, turn_id: int) -> None:
        await self.desk.look(lambda assistant, user_id: assistant.stores.ratings.withdraw(user_id, turn_id))
        await self.follow_ratings()
        self.tell(f"turn {turn_id} is rated no more" if not answer.rating else f"turn {turn_id}: taught")

    async def follow_ratings(self) -> None:
        """Shows the ratings that stand beside their answers, as after one was taken back."""
        answers = [m for m in self.conversation.messages if m.speaker == "Assistant" and m.turn_id]
        turn_ids = [answer.turn_id or 0 for answer in answers]
        ratings = await self.desk.look(
            lambda assistant, user_id: assistant.stores.ratings.of_turns(user_id, turn_ids)
        )
        for answer in answers:
            self._show_rating(answer, ratings.get(answer.turn_id or 0, ""))

    def mark_rated(self, answer: Message, rating: str, more: str = "") -> None:
        """Shows a rating beside its answer. more: why nothing is learned from it, or who learns from it."""
        self._show_rating(answer, rating)
        self.tell(f"noted for turn {answer.turn_id}: {rating}{f'. {more}' if more else ''}")

    def _show_rating(self, answer: Message, rating: str) -> None:
        if answer.rating == rating:
            return
        answer.rating = rating
        view = self.conversation.view_of(answer)
        if view is not None:
            view.update()

    def action_teach_current(self) -> None:
        """The prompt takes what the answer should have been; Esc gives it back."""
        answer = self.answer
        if answer is None or answer.turn_id is None:
            self.tell("no answer to correct yet")
            return
        prompt = self.prompt
        if self.teaches is None:
            self.stashed = prompt.take()
        self.teaches = answer.turn_id
        prompt.add_class("-teaching")
        prompt.border_title = f"What should the answer of turn {answer.turn_id} have been? Esc leaves it"
        prompt.focus()

    def end_teaching(self) -> None:
        """The prompt is for messages again, with what stood in it."""
        self.teaches = None
        prompt = self.prompt
        prompt.remove_class("-teaching")
        prompt.border_title = ""
        prompt.put(self.stashed)
        self.stashed = ""

    async def taught(self, text: str) -> None:
        """Keeps what the answer should have been."""
        from assistant.terminal.actions.rating import reaches_all
        from assistant.terminal.actions.teaching import SAYS_NOTHING, says_something, teach

        turn_id = self.teaches
        assert turn_id is not None, "an answer is being corrected"
        if not says_something(text):
            self.prompt.put(text)  # still to be mended; Esc leaves it
            self.tell(SAYS_NOTHING)
            return
        self.end_teaching()
        passage_id, to_all = await self.desk.do(
            lambda assistant, user_id: (
                teach(assistant, user_id, turn_id, text),
                reaches_all(assistant, user_id, turn_id),
            )
        )
        await self.conversation.add(Message("Teach", text))
        said = f"Kept for turn {turn_id}, yours, as {passage_id}: “{short(text)}”. /undo takes it back."
        await self.conversation.add(Message("Vouch", f"{said} {to_all}".rstrip()))
        for message in self.conversation.messages:
            if message.turn_id == turn_id and message.speaker == "Assistant":
                self.mark_rated(message, "taught")
        self.remember()

    def action_undo(self) -> None:
        notice = self.notices.current
        self._undo(notice.receipt_id if notice is not None else None)

    def _undo(self, receipt_id: int | None) -> None:
        self.tell("")
        if receipt_id is not None:
            self.notices.done_with(receipt_id)
        self.talk.send(f"/undo {receipt_id}" if receipt_id is not None else "/undo")

    # Why

    def action_why(self, turn_id: int | None = None) -> None:
        panel = self.query_one("#why")
        if turn_id is None and panel.has_class("-open") and self.size.width >= _WIDE:
            panel.remove_class("-open")
        else:
            self.open_why(turn_id)

    def open_why(self, turn_id: int | None = None) -> None:
        """Opens it, of the last answer where no turn is named."""
        answer = self.answer
        wanted = turn_id if turn_id is not None else (answer.turn_id if answer else None)
        if wanted is None:
            self.tell("no answer yet")
        else:
            self.work(self._open_why(wanted))

    async def _open_why(self, turn_id: int) -> None:
        from assistant.terminal.why.why_view import WhyScreen

        if self.size.width >= _WIDE:
            self.query_one("#why").add_class("-open")
            await self.refresh_why(turn_id)
        else:
            facts = await self._facts(turn_id)
            if self.app.screen is self.screen:  # else another key came meanwhile
                self.app.push_screen(WhyScreen(self.desk, facts))

    async def refresh_why(self, turn_id: int | None) -> None:
        """Has the panel tell of another turn."""
        from assistant.terminal.why.why_view import WhyView

        if turn_id is not None:
            self.query_one("#why", WhyView).show(await self._facts(turn_id))

    async def _facts(self, turn_id: int) -> WhyFacts:
        from assistant.terminal.facts.why import why_facts

        return await self.desk.look(lambda assistant, user_id: why_facts(assistant, user_id, turn_id))
