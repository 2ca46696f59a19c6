"""Why an answer was given, beside the conversation or on a screen of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.facts.why import FoundRow, WhyFacts, passage_page, why_facts
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import WHY
from assistant.terminal.why.passage_actions import PassageActions
from assistant.terminal.why.passage_page import KEYS, PassagePage
from assistant.terminal.widgets.key_line import FittingKeys
from assistant.terminal.widgets.marked_list import MARK, MarkedList
from assistant.terminal.widgets.work import Telling
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk

_HEADINGS = "used from   judged found moved score"
_LEGEND = (
    "used    [1] cited, seen: read by the model, -: not",
    "judged  0 to 1, how far it helps to answer",
    "found   its place in the search, by its score",
    "moved   places up or down by being judged",
)
_LOW = 14  # rows
_ROW_COLUMNS = 66  # within the frame, from which a passage takes one row
_FRAME = 4  # columns: border and padding
_LOW_COLUMNS = 36  # of the message on a low screen, which may be a narrow one
_KEYS = {"why_open": "open", **KEYS}
_FEW_KEYS = {
    "why_open": "open",
    "why_helped": "",
    "why_not_helped": "",
    "why_remove": "remove",
    "why_back": "back",
}
_STEPS = {
    "augment": "route",
    "retrieve": "search",
    "rerank": "rank",
    "prepare": "prepare",
    "respond": "answer",
    "first word": "first word",
}


class PassageList(MarkedList):
    """The passages that were found; the keys act on the one that is marked."""

    DEFAULT_CSS = """
    PassageList { height: auto; max-height: 60%; border: none; padding: 0; background: transparent; }
    PassageList { text-wrap: nowrap; text-overflow: ellipsis; }
    PassageList:focus { border: none; background-tint: $foreground 0%; }
    """


class WhyView(PassageActions, Vertical):
    """The facts of one turn; its passages can be opened and rated."""

    BINDINGS = bindings(WHY)
    DEFAULT_CSS = """
    WhyView { border: round $foreground 30%; border-title-color: $foreground; padding: 0 1 0 0; height: 1fr; }
    WhyView:focus-within { border: round $border; }
    WhyView Static { height: auto; padding-left: 1; }
    WhyView > VerticalScroll { height: 1fr; }
    """

    def __init__(self, desk: Desk, *, is_narrow: bool, id: str | None = None) -> None:
        """is_narrow: a passage takes two rows, until its width is known."""
        super().__init__(id=id)
        self._desk = desk
        self._is_narrow = is_narrow
        self._is_low = False  # how it was reached is told below the passages
        self._marks, self._removals = {}, []
        self.facts: WhyFacts | None = None
        self.border_title = "Why this answer"

    def compose(self) -> ComposeResult:
        yield Static("No answer yet.", markup=False, id="why-above")
        yield PassageList(markup=False, id="why-passages")
        with VerticalScroll():
            yield Static("", markup=False, id="why-below")

    def on_resize(self) -> None:
        """A passage takes one row where there is room; where there is little, passages come first."""
        is_narrow = self.size.width - len(MARK) < _ROW_COLUMNS
        if is_narrow != self._is_narrow or self._is_low != (self.app.size.height < _LOW):
            self._is_narrow = is_narrow
            if self.facts is not None:
                self.show(self.facts)
                passages = self.query_one(PassageList)  # which has other rows than it had room for
                passages.clear_cached_dimensions()
                passages.refresh(layout=True)

    def show(self, facts: WhyFacts) -> None:
        """Shows these facts."""
        self.facts = facts
        self._is_low = self.app.size.height < _LOW
        self.query_one("#why-above", Static).update(_above(facts, is_low=self._is_low))
        self.query_one("#why-below", Static).update(_below(facts, is_low=self._is_low))
        passages = self.query_one(PassageList)
        marked = passages.highlighted
        passages.clear_options()
        passages.add_options([Option(self._told(row)) for row in facts.rows])
        if facts.rows:
            cited = next((place for place, row in enumerate(facts.rows) if row.is_cited), 0)
            passages.highlighted = cited if marked is None else min(marked, len(facts.rows) - 1)

    @property
    def turn_id(self) -> int | None:
        """The turn whose facts are shown."""
        return self.facts.turn_id if self.facts is not None else None

    @property
    def passage(self) -> FoundRow | None:
        """The one that is marked in the list."""
        marked = self.query_one(PassageList).highlighted
        return self.facts.rows[marked] if self.facts and marked is not None else None

    async def read_anew(self) -> None:
        """What became of its passages."""
        if (facts := self.facts) is not None:
            read = await self._desk.look(
                lambda assistant, user_id: why_facts(assistant, user_id, facts.turn_id)
            )
            if self.facts is facts:  # else another turn is shown by now
                self.show(read)

    def action_open(self) -> None:
        self.query_one(PassageList).action_select()

    def action_back(self) -> None:
        """Gives the keys back."""
        if isinstance(self.screen, WhyScreen):
            self.screen.dismiss()
        else:
            self.screen.query_one("#prompt").focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if (row := self.passage) is not None and self.turn_id is not None:
            self.work(self._open(row, self.turn_id))

    async def _open(self, row: FoundRow, turn_id: int) -> None:
        page = await self._desk.look(lambda assistant, user_id: passage_page(assistant, user_id, row))
        opened = PassagePage(self._desk, turn_id, row, page, marks=self._marks, removals=self._removals)
        if self.app.screen is self.screen:  # else another key came meanwhile
            self.app.push_screen(opened, lambda _: self.work(self.read_anew()))

    def _told(self, row: FoundRow) -> Content:
        facts = self.facts
        assert facts is not None, "its facts are shown"
        mark = self._marks.get((facts.turn_id, row.version_id), " ")
        name = row.name if row.is_live else f"gone: {row.name}"
        judged = f"{row.judged:.2f}" if row.judged is not None else "-"
        moved = f"{row.moved:+}" if row.moved else "="
        search = (
            f"{row.found:>5} {moved:>5} {row.score:>5.2f}" if row.found else f"{'-':>5} {'-':>5} {'-':>5}"
        )
        figures = f"{row.used:<4}{mark}{row.scope:<6} {judged:>6} {search}"
        return Content(f"{figures}\n       {name}" if self._is_narrow else f"{figures}  {name}")


class WhyScreen(Screen[None], Telling):
    """The same, where there is no room beside the conversation."""

    place = "Why this answer"
    BINDINGS: ClassVar[list[BindingType]] = [("escape,f2", "dismiss", "back")]
    DEFAULT_CSS = "WhyScreen > #why-told { display: none; height: auto; padding: 0 1; color: $text-primary; }"

    def __init__(self, desk: Desk, facts: WhyFacts) -> None:
        super().__init__()
        self._desk = desk
        self._facts = facts

    def compose(self) -> ComposeResult:
        yield WhyView(self._desk, is_narrow=self.app.size.width < _ROW_COLUMNS + _FRAME)
        yield Static("", markup=False, id="why-told")
        yield FittingKeys(_KEYS, few=_FEW_KEYS)

    def on_mount(self) -> None:
        view = self.query_one(WhyView)
        view.show(self._facts)
        view.query_one(PassageList).focus()

    def tell(self, sentence: str) -> None:
        """One sentence above the keys, until the next."""
        told = self.query_one("#why-told", Static)
        told.display = bool(sentence)
        told.update(one_line(sentence))


def _above(facts: WhyFacts, *, is_low: bool) -> str:
    turn = f"Turn {facts.turn_id}  {facts.message}"
    found = ["Passages, in the order that the model saw", _HEADINGS] if facts.rows else ["Nothing was found."]
    return "\n".join([short(turn, _LOW_COLUMNS), found[-1]] if is_low else [turn, *_how(facts), "", *found])


def _how(facts: WhyFacts) -> list[str]:
    """How the answer was reached."""
    lines = [f"Route      {facts.route}"]
    if facts.over:
        lines.append(f"About      {facts.over}")
    if facts.searched:
        lines.append(f"Query      {facts.searched}")
    lines.append(f"Answered   by {facts.model} · {facts.state}")
    if facts.images:
        lines.append(f"           with the message went {facts.images}")
    if facts.in_place_of:
        lines.append(f"           in place of {facts.in_place_of}")
    if facts.invented:
        lines.append(facts.invented)
    if facts.searched_by:
        lines.append(f"Searched   by {facts.searched_by}")
    if facts.trained:
        lines.append(f"Trained    {facts.trained}")
    return lines


def _below(facts: WhyFacts, *, is_low: bool) -> str:
    lines = ["", *_how(facts)] if is_low else []
    if facts.rows:
        lines += ["", *_LEGEND]
    if facts.more:
        lines.append(f"{facts.more} more, at {facts.below:.2f} or under")
    if facts.left_out:
        lines.append(f"{facts.left_out} did not fit into the model's context")
    lines += ["", "Learned from this turn", *(f" {line}" for line in facts.learned or ("nothing new",))]
    if facts.milliseconds:
        lines += ["", "Time"]
        lines += [f" {_STEPS.get(step, step):<12}{ms:>6.0f} ms" for step, ms in facts.milliseconds]
    return "\n".join(lines)
