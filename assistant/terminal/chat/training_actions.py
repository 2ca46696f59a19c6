"""What the chat does about training: its screen, a round in the status line, answers before and after."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.terminal.chat.answer_actions import AnswerActions
from assistant.terminal.comparison.comparing import COMPARED, session_to_compare
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from stores.base.errors import NotFound

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.database.tables import Round

_LOOKS_EVERY_SECONDS = 1.0
_SENTENCE_STAYS_SECONDS = 6.0  # in the status line
_NONE_BEFORE = "there is no model before the live one to compare with; F4 shows how training goes"


class TrainingActions(AnswerActions):
    """Opens the screens of training, and shows a round that runs."""

    _training = ("", "")  # what the status line tells of a round; empty where none runs
    _told_at = 0.0  # when a sentence came into the status line
    _goes = False  # that sentence, when its time is over
    clock: Callable[[], float] = staticmethod(time.monotonic)
    _ended_round = 0  # the newest one that has ended
    _looks_at_training = False

    def on_mount(self) -> None:
        self.set_interval(_LOOKS_EVERY_SECONDS, self._look_at_training)

    # A round in the status line

    def tell(self, sentence: str, *, stays: bool = False) -> None:
        """As everywhere; a round that runs is shown where there is nothing to tell."""
        super().tell(sentence, stays=stays)
        self._told_at = self.clock() if sentence else 0.0
        self._goes = bool(sentence) and not stays
        if not sentence:
            self._show_training()

    def _look_at_training(self) -> None:
        if self._goes and self.clock() - self._told_at >= _SENTENCE_STAYS_SECONDS:
            self.tell("")
        if self.desk.slash_commands and not self._looks_at_training and self.app.screen is self.screen:
            self._looks_at_training = True
            self.work(self._look_for_a_round())

    async def _look_for_a_round(self) -> None:
        from assistant.terminal.facts.training_lines import status_line

        after = self._ended_round
        try:
            row, is_broken_off = await self.desk.look(lambda assistant, _user_id: _newest(assistant, after))
        finally:
            self._looks_at_training = False
        was = self._training
        self._training = ("", "")
        if row is not None and row.state == "running":
            self._training = status_line(row, self.size.width, is_broken_off=is_broken_off)
        elif row is not None and row.state != "waiting":
            self._ended_round = row.id or 0
        if any(self._training) or any(was):
            self._show_training(was[0])

    def _show_training(self, was: str = "") -> None:
        """was: what it told of the round before now."""
        status = self.query_one("#status", TwoSidedLine)
        is_free = status.left in ("", was, self.standing)
        if not is_free and self.clock() - self._told_at < _SENTENCE_STAYS_SECONDS:
            return
        if self._training[0]:
            status.say(*self._training)
        elif was and status.left == was:
            status.say(self.standing)

    # Screens

    def action_training(self) -> None:
        if self.is_ready:
            self.work(self._open_training())

    async def _open_training(self) -> None:
        from assistant.terminal.facts.training import training_facts
        from assistant.terminal.training.training_screen import TrainingScreen

        facts = await self.desk.look(lambda assistant, _user_id: training_facts(assistant))
        if self.app.screen is self.screen:  # else another key came meanwhile
            self.app.push_screen(TrainingScreen(self.desk, facts, self._compare_session))

    def action_log(self) -> None:
        if self.is_ready:
            from assistant.terminal.lists.log_screen import LogScreen

            self.app.push_screen(LogScreen(self.desk))

    def action_compare_current(self) -> None:
        answer = self.answer
        if answer is None or answer.turn_id is None:
            self.tell("no turn yet")
        else:
            self.compare_turn(answer.turn_id)

    def compare_turn(self, turn_id: int | None) -> None:
        """A turn, or the newest messages of the session for None, by the live model and the one before."""
        if self.is_ready:
            self.work(self._open_comparison(turn_id=turn_id))

    def replay_session(self, text: str) -> None:
        """All of a session, by the live model and the one before. text: its number; empty for this one."""
        if self.is_ready:
            self.work(self._open_comparison(replays=text))

    def _compare_session(self, against: str, name: str) -> None:
        """From the training screen: this session by the live model and another one."""
        self.work(self._open_comparison(against, name))

    async def _open_comparison(
        self,
        against: str = "previous",
        name: str = "",
        *,
        turn_id: int | None = None,
        replays: str | None = None,
    ) -> None:
        """name: of another model than the one before. replays: which session is played whole, as typed."""
        from assistant.terminal.comparison.comparison_process import ComparisonChild
        from assistant.terminal.comparison.replaying import session_to_replay
        from assistant.terminal.facts.comparison import Sides
        from assistant.terminal.facts.training import training_facts
        from assistant.terminal.training.compare_screen import CompareScreen

        here, asked_on, user = self.talk.session_id, self.app.screen, self.desk.user

        def begun(assistant: Assistant, user_id: int) -> tuple[ComparisonChild, Sides]:
            facts, newest, is_longer = training_facts(assistant), None, False
            if replays is not None:
                session = session_to_replay(assistant, user_id, replays, here)
            if against == "previous" and not facts.previous:
                raise NotFound(_NONE_BEFORE)
            if replays is None:
                session, newest = session_to_compare(assistant, user_id, here, turn_id), COMPARED
                is_longer = (
                    len(assistant.stores.journal.turns(user_id, session, limit=COMPARED + 1)) > COMPARED
                )
            previous = f"previous {facts.name_of(facts.previous)}"
            other = previous if against == "previous" else f"candidate {name}"
            sides = Sides(f"live {facts.name_of(facts.live)}", other, session, newest if is_longer else None)
            child = ComparisonChild.of(
                assistant, user, session, against=against, turn_id=turn_id, newest=newest
            )
            return child, sides

        child, sides = await self.desk.look(begun)
        if self.app.screen is asked_on:  # else another key came meanwhile
            self.app.push_screen(CompareScreen(self.desk, child, sides, turn_id))


def _newest(assistant: Assistant, after: int) -> tuple[Round | None, bool]:
    """The round that runs, else the newest behind one; and whether it has lost its learner."""
    row = assistant.stores.rounds.running() or next(
        iter(assistant.stores.rounds.latest(1, after=after)), None
    )
    return row, row is not None and assistant.stores.rounds.is_broken_off(row)
