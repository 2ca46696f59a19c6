"""What the keys of Training do: begin and end a round, hold it up, go back, tell all about it, compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.terminal.facts.training import TrainingFacts, version_of
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from assistant.terminal.widgets.screen_help import HasHelp
from assistant.terminal.widgets.work import as_sentences
from stores.base.errors import VouchError

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk
    from assistant.wiring.assistant import Assistant
    from stores.database.tables import Round

Compare = Callable[[str, str], None]  # opens the comparison of the live model with this one, and its name


class TrainingSteering(HasHelp):
    """Acts on the round that runs, and on the one that is marked."""

    place = "Training"
    facts: TrainingFacts
    _desk: Desk
    _compare: Compare

    @property
    def marked(self) -> Round | None:
        """The round that is marked in the list."""
        raise NotImplementedError

    def say(self, sentence: str) -> None:
        """One sentence; it stays until the next one, or for a while."""
        raise NotImplementedError

    async def look_again(self, *, counts: bool = False) -> None:
        """Shows what the database tells now. counts: the lessons too."""
        raise NotImplementedError

    def action_start(self) -> None:
        current = self.facts.current
        if current is None:
            self.work(self._steer("start"))
            return
        question = (
            f"End round {current.id}? What it has learned until now is lost; the model in use stays as it is."
        )
        self.app.push_screen(
            Question(question, yes="end it", no="let it go on"),
            lambda yes: self.work(self._steer("stop")) if yes else None,
        )

    def action_pause(self) -> None:
        facts = self.facts
        running = facts.current is not None and facts.current.state == "running"
        if running and not facts.is_leading and not facts.is_paused:
            self.say("Another process trains this round; Space pauses only the rounds of this chat.")
        else:
            self.work(self._steer("continue" if facts.is_paused else "pause"))

    async def _steer(self, what: str) -> None:
        def steer(assistant: Assistant, _user_id: int) -> list[str]:
            from assistant.terminal.comparison.training_commands import steer_training

            try:
                return list(steer_training(assistant, what))
            except VouchError as error:
                return [as_sentences(error)]

        for said in await self._desk.look(steer):
            self.say(said)
        await self.look_again(counts=True)

    def action_back_step(self) -> None:
        if not self.facts.previous:
            self.say("There is no earlier model.")
        else:
            self.work(self._step_back())

    async def _step_back(self) -> None:
        await self._desk.do(lambda assistant, _user_id: assistant.step_back())
        await self.look_again()
        facts = self.facts
        live, other = facts.name_of(facts.live), facts.name_of(facts.previous)
        self.say(f"Vouch uses {_model(live)} again. b takes this back, to {_model(other)}.")

    def action_details(self) -> None:
        if (row := self.marked) is not None:
            self.work(self._open(row))

    async def _open(self, row: Round) -> None:
        from assistant.terminal.training.round_page import round_page

        facts = self.facts
        page = await self._desk.look(lambda assistant, _user_id: round_page(assistant, facts, row))
        self.app.push_screen(PageScreen(*page))

    def action_compare(self) -> None:
        """Answers by the live model and by the marked round's, or by the model before."""
        if self.marked is not None and self.marked.recipe != "retriever":
            self.say("Only models that find passages are compared here.")
        elif (compared := self._compared) is None:
            self.say("There is no other model to compare with yet.")
        elif isinstance(compared, str):
            self._compare("previous", self.facts.name_of(compared))
        else:
            self.work(self._compare_with(compared, version_of(compared)))

    @property
    def _compared(self) -> Round | str | None:
        """What `c` compares the live model with: the marked round, or else the version before."""
        facts, row = self.facts, self.marked
        if row is not None and version_of(row) not in ("", facts.live):
            return row
        return facts.previous or None

    async def _compare_with(self, row: Round, version: str) -> None:
        if await self._desk.look(lambda assistant, _: assistant.keeps_model(version)):
            self._compare(version, f"{row.id}")
        else:
            self.say(f"The model of round {row.id} is no longer kept; press c on another round to compare.")


def _model(name: str) -> str:
    return f"the model of round {name}" if name.isdecimal() else f"the model {name}"
