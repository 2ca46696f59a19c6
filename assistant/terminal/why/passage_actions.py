"""What can be done with a passage of an answer: mark it, remove it and take that back, compare the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message as Posted

from assistant.terminal.facts.why import FoundRow
from assistant.terminal.widgets.work import Working, host

if TYPE_CHECKING:
    from assistant.terminal.actions.written_here import Written
    from assistant.terminal.engine.engine import Desk

Marks = dict[tuple[int, int], str]  # + or - as given here, by turn and version


class PassageActions(Working):
    """Acts on one passage of one turn; the list of passages does, and a passage that is opened."""

    class WantsComparison(Posted):
        """The turn is to be shown under two models."""

        def __init__(self, turn_id: int) -> None:
            super().__init__()
            self.turn_id = turn_id

    class Changed(Posted):
        """A passage was taken out of answers, or came back."""

        def __init__(self, told: str, receipt_id: int, *, is_undone: bool) -> None:
            """receipt_id: of the removal."""
            super().__init__()
            self.told, self.receipt_id, self.is_undone = told, receipt_id, is_undone

    _desk: Desk
    _marks: Marks
    _removals: list[Written]  # what was removed, or proposed to be, here; the latest last

    @property
    def turn_id(self) -> int | None:
        raise NotImplementedError

    @property
    def passage(self) -> FoundRow | None:
        raise NotImplementedError

    async def read_anew(self) -> None:
        """Shows what holds now."""
        raise NotImplementedError

    def told_marked(self, rating: str) -> None:
        """Tells that it was marked, where that is not seen."""

    def action_helped(self) -> None:
        self._rate("good")

    def action_not_helped(self) -> None:
        self._rate("bad")

    def _rate(self, rating: str) -> None:
        row, turn_id = self.passage, self.turn_id
        if row is not None and turn_id is not None:
            self.work(self._keep_rating(rating, row, turn_id))

    async def _keep_rating(self, rating: str, row: FoundRow, turn_id: int) -> None:
        await self._desk.look(
            lambda assistant, user_id: assistant.stores.journal.rate(
                user_id, turn_id, rating, version_id=row.version_id
            )
        )
        self._marks[turn_id, row.version_id] = "+" if rating == "good" else "-"
        self.told_marked(rating)
        await self.read_anew()

    def action_remove(self) -> None:
        """Takes it out of answers, where it is the person's own; else asks, and proposes."""
        if (row := self.passage) is not None:
            self.work(self._remove(row))

    async def _remove(self, row: FoundRow) -> None:
        from assistant.terminal.actions.removing import remove_passage

        if row.scope == "shared" and not await self._is_sure(row):
            host(self).tell("nothing was proposed")
            return
        removed = await self._desk.write(
            lambda assistant, user_id: remove_passage(assistant, user_id, row.passage_id)
        )
        self._removals.append(removed)
        host(self).tell(f"{removed.told}. u takes it back")
        if removed.receipt_id is not None:
            self.post_message(self.Changed(removed.told, removed.receipt_id, is_undone=False))
            await self.read_anew()

    async def _is_sure(self, row: FoundRow) -> bool:
        from assistant.terminal.actions.removing import sure_to_propose
        from assistant.terminal.widgets.questions import Question

        line = await self._desk.look(
            lambda assistant, user_id: assistant.stores.catalogue.line(user_id, row.passage_id)
        )
        question = sure_to_propose(line.text).removesuffix(" [y/N]")
        return await self.app.push_screen_wait(Question(question, yes="propose", no="keep"))

    def action_undo(self) -> None:
        if not self._removals:
            host(self).tell("nothing was removed here")
        else:
            self.work(self._undo_removal())

    async def _undo_removal(self) -> None:
        from assistant.terminal.actions.memories import undo, withdraw

        removed = self._removals.pop()
        receipt_id, proposal_id = removed.receipt_id, removed.proposal_id or 0
        if receipt_id is None:
            undone = await self._desk.do(lambda assistant, user: withdraw(assistant, user, proposal_id))
            host(self).tell(undone.told)
            return
        undone = await self._desk.do(lambda assistant, user: undo(assistant, user, receipt_id))
        host(self).tell(undone.told)
        self.post_message(self.Changed(undone.told, receipt_id, is_undone=True))
        await self.read_anew()

    def action_compare(self) -> None:
        if (turn_id := self.turn_id) is not None:
            self.post_message(self.WantsComparison(turn_id))
