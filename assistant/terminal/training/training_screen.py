"""Training: the curve of a round, live against candidate, how far it is, and all rounds with their reasons.

Everything shown is read from the database once a second, so it does not matter who trains.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.facts.training import (
    TrainingFacts,
    curve_of,
    measured_table,
    rule,
    training_facts,
    version_of,
)
from assistant.terminal.facts.training_lines import (
    progress_line,
    round_line,
    table_lines,
    title_line,
)
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import TRAINING
from assistant.terminal.text.plot import plot, sparkline
from assistant.terminal.widgets.key_line import keys_that_fit
from assistant.terminal.widgets.marked_list import MarkedList
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from assistant.terminal.widgets.screen_help import HasHelp
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import Telling, as_sentences
from stores.base.errors import VouchError
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk
    from assistant.wiring.assistant import Assistant
    from stores.database.tables import Round

LOOKS_EVERY_SECONDS = 1.0
_COUNTS_EVERY_SECONDS = 10.0  # lessons: that takes longer than all the rest
_PLOT_COLUMNS, _PLOT_ROWS = 80, 20  # of the screen; where it has fewer, the curve is one row
_SENTENCE_STAYS_SECONDS = 15.0
Compare = Callable[[str, str], None]  # opens the comparison of the live model with this one, and its name


class TrainingScreen(Screen[None], HasHelp, Telling):
    """Shows training and steers it."""

    place = "Training"
    BINDINGS = bindings(TRAINING)
    DEFAULT_CSS = """
    TrainingScreen > #training-title { height: 2; padding: 0 1; border-bottom: solid $border-blurred; }
    TrainingScreen > #training-panels { height: 10; }
    TrainingScreen.-roomy > #training-panels { height: 16; }
    TrainingScreen #training-panels Static { width: 1fr; height: 100%; padding: 0 1; }
    TrainingScreen #training-panels Static {
        border: round $foreground 30%; border-title-color: $foreground;
        border-subtitle-color: $foreground;
    }
    TrainingScreen > #training-short { display: none; height: auto; padding: 0 1; }
    TrainingScreen > #training-progress { height: 1; padding: 0 1; }
    TrainingScreen > #training-said { height: 1; padding: 0 1; color: $text-primary; }
    TrainingScreen.-small > #training-panels { display: none; }
    TrainingScreen.-small > #training-short { display: block; }
    TrainingScreen.-small > #training-said { display: none; }
    TrainingScreen.-small > #training-said.-says { display: block; }
    TrainingScreen > OptionList { height: 1fr; border: round $border; padding: 0; }
    TrainingScreen > OptionList { border-title-color: $foreground; }
    TrainingScreen > OptionList:focus { border: round $border; }
    TrainingScreen.-small > OptionList:focus { border: none; }
    TrainingScreen > OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    TrainingScreen.-small > OptionList { border: none; }
    """

    def __init__(self, desk: Desk, facts: TrainingFacts, compare: Compare) -> None:
        super().__init__()
        self._desk = desk
        self._compare = compare
        self.facts = facts
        self._counted_at = time.monotonic()
        self._is_looking = False
        self._said_at = 0.0
        self._listed: list[str] = []

    def compose(self) -> ComposeResult:
        yield TwoSidedLine("Training", id="training-title")
        with Horizontal(id="training-panels"):
            yield Static("", markup=False, id="training-loss")
            yield Static("", markup=False, id="training-measured")
        yield Static("", markup=False, id="training-short")
        yield Static("", markup=False, id="training-progress")
        yield Static("", markup=False, id="training-said")
        rounds = MarkedList(markup=False)
        rounds.border_title = "Rounds"
        yield rounds
        yield Static("", markup=False, classes="keys", id="training-keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._show()
        self.set_interval(LOOKS_EVERY_SECONDS, self._look)

    def on_resize(self) -> None:
        width, height = self.size
        self.set_class(width < _PLOT_COLUMNS or height < _PLOT_ROWS, "-small")
        self.set_class(height >= 2 * _PLOT_ROWS - 4, "-roomy")
        self._listed = []
        self.call_after_refresh(self._show)

    def on_option_list_option_highlighted(self) -> None:
        self._show_round()

    def on_option_list_option_selected(self) -> None:
        self.action_details()

    # Looking

    def _look(self) -> None:
        if time.monotonic() - self._said_at > _SENTENCE_STAYS_SECONDS:
            self.tell("")
        if not self._is_looking and self.is_current:
            self._is_looking = True
            self.work(self.look_again())

    async def look_again(self, *, counts: bool = False) -> None:
        """Shows what the database tells now. counts: the lessons too."""
        known, moment = self.facts, time.monotonic()
        counts = counts or moment - self._counted_at > _COUNTS_EVERY_SECONDS
        kept = None if counts else known
        try:
            self.facts = await self._desk.look(lambda assistant, _: training_facts(assistant, kept))
        finally:
            self._is_looking = False
        self._counted_at = moment if counts else self._counted_at
        if self.is_mounted:
            self._show()

    # Showing

    @property
    def marked(self) -> Round | None:
        """The round that is marked in the list."""
        marked = self.query_one(OptionList).highlighted
        rounds = self.facts.rounds
        return rounds[marked] if marked is not None and marked < len(rounds) else None

    def _show(self) -> None:
        facts, width = self.facts, self.size.width
        self.query_one("#training-title", TwoSidedLine).say("Training", title_line(facts))
        self.query_one("#training-progress", Static).update(progress_line(facts, width - 2))
        self._list(facts, width)
        self._show_round()
        self.query_one("#training-keys", Static).update(self._keys())

    def _list(self, facts: TrainingFacts, width: int) -> None:
        """The rounds; the mark stays on its round, or with the newest where it was there."""
        lines = [round_line(facts, row, width) for row in facts.rounds]
        if lines == self._listed:
            return
        options = self.query_one(OptionList)
        was_first = not options.highlighted
        from_the_end = len(self._listed) - (options.highlighted or 0)
        is_longer = len(lines) != len(self._listed) and bool(self._listed)
        marked = options.highlighted or 0
        self._listed = lines
        options.clear_options()
        options.add_options([Option(line) for line in lines])
        if lines:
            marked = len(lines) - from_the_end if is_longer and not was_first else marked
            options.highlighted = max(0, min(marked, len(lines) - 1))

    def _show_round(self) -> None:
        row = self.marked
        loss, measured = (
            self.query_one("#training-loss", Static),
            self.query_one("#training-measured", Static),
        )
        short = self.query_one("#training-short", Static)
        if row is None:
            loss.border_title, measured.border_title = "Loss", "Held-out questions"
            loss.border_subtitle = ""
            loss.update(_nothing_yet(self.facts))
            measured.update(rule(self.facts))
            short.update(_nothing_yet(self.facts))
            return
        curve = curve_of(row)
        table = measured_table(row)
        loss.border_title = f"Loss, round {row.id}"
        measured.border_title = table.title if table is not None else "Held-out questions"
        width, height = loss.content_size.width, loss.content_size.height
        ends_at = float(row.figures.get("progress", {}).get("steps", 0) or 0)
        drawn = plot(curve, width=width, height=height, ends_at=ends_at if row.state == "running" else 0)
        loss.update("\n".join(drawn) or _no_curve(row))
        loss.border_subtitle = "steps" if drawn else ""
        measured.update("\n".join(self._measured_lines(row, *measured.content_size)))
        losses = [each for _, each in curve]
        spark = f"loss {losses[-1]:.2f} {sparkline(losses, max(8, self.size.width - 30))}" if losses else ""
        short.update("\n".join([f"round {row.id}  {spark or _no_curve(row)}", *table_lines(row, 0)[:3]]))

    def _measured_lines(self, row: Round, width: int, height: int) -> list[str]:
        width = max(20, width)
        is_open = row.state in ("running", "waiting")
        none = "Compared with the live model once it is trained." if is_open else "It was not compared."
        lines = table_lines(row, width) or wrap(none, width)
        told = wrap(rule(self.facts, row), width)
        room = max(0, height - len(told))
        lines = lines[:room]
        return [*lines, *([""] if len(lines) < room else []), *told]

    def _keys(self) -> str:
        facts = self.facts
        start = "s stop" if facts.current is not None else "s start"
        pause = "Space go on" if facts.is_paused else "Space pause"
        details = "Enter details" if facts.rounds else ""
        words = "c compare answers" if self.size.width >= 100 else "c compare"
        compare = words if self._compared is not None else ""
        back = f"b back to {facts.name_of(facts.previous)}" if facts.previous else ""
        if self.size.width < 60:
            first = [start, "Esc back", pause, back, compare, details]
            return keys_that_fit([part for part in first if part], self.size.width)
        parts = [start, pause, details, compare, back, "Esc back"]
        return "  ".join(part for part in parts if part)

    def tell(self, sentence: str) -> None:
        """One sentence; it stays until the next one, or for a while."""
        if self.is_mounted:
            said = self.query_one("#training-said", Static)
            said.update(one_line(sentence))
            said.set_class(bool(sentence), "-says")
            self._said_at = time.monotonic()

    # Keys

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
            self.tell("Another process trains this round; Space pauses only the rounds of this chat.")
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
            self.tell(said)
        await self.look_again(counts=True)

    def action_back_step(self) -> None:
        if not self.facts.previous:
            self.tell("There is no earlier model.")
        else:
            self.work(self._step_back())

    async def _step_back(self) -> None:
        await self._desk.do(lambda assistant, _user_id: assistant.learning.step_back())
        await self.look_again()
        facts = self.facts
        live, other = facts.name_of(facts.live), facts.name_of(facts.previous)
        self.tell(f"Vouch uses {_model(live)} again. b takes this back, to {_model(other)}.")

    def action_details(self) -> None:
        if (row := self.marked) is not None:
            self.work(self._open(row))

    async def _open(self, row: Round) -> None:
        from assistant.terminal.training.round_page import round_page

        facts = self.facts
        page = await self._desk.look(lambda assistant, user_id: round_page(assistant, user_id, facts, row))
        self.app.push_screen(PageScreen(*page))

    def action_compare(self) -> None:
        """Answers by the live model and by the marked round's, or by the model before."""
        if self.marked is not None and self.marked.recipe != "retriever":
            self.tell("Only models that find passages are compared here.")
        elif (compared := self._compared) is None:
            self.tell("There is no other model to compare with yet.")
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
        if await self._desk.look(lambda assistant, _: assistant.learning.keeps_model(version)):
            self._compare(version, f"{row.id}")
        else:
            self.tell(f"The model of round {row.id} is no longer kept; press c on another round to compare.")

    def action_back(self) -> None:
        self.dismiss()


def _nothing_yet(facts: TrainingFacts) -> str:
    if facts.lack is not None:
        return (
            f"Nothing was trained yet: {facts.lack.sentence}. Each question that was answered and "
            "whose passages were judged is a lesson."
        )
    if facts.new_lessons >= facts.begins_at:
        return (
            f"Nothing was trained yet. There are {facts.new_lessons} lessons, and a first round needs "
            f"{facts.begins_at}: s begins it."
        )
    return (
        f"Nothing was trained yet. {facts.new_lessons} of {facts.begins_at} lessons that a first round "
        "needs are there: each question that was answered and whose passages were judged is one."
    )


def _no_curve(row: Round) -> str:
    if row.state in ("running", "waiting"):
        return "no step was taken yet"
    return "no curve is kept of this round"


def _model(name: str) -> str:
    return f"the model of round {name}" if name.isdecimal() else f"the model {name}"
