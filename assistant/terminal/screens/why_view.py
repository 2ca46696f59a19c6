"""Why an answer was given, beside the conversation or on a screen of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message as Posted
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.screens.bindings import bindings
from assistant.terminal.screens.key_line import keys_that_fit
from assistant.terminal.screens.keys import WHY
from assistant.terminal.screens.page_screen import PageScreen
from assistant.terminal.screens.why_facts import FoundRow, WhyFacts, passage_page, why_facts
from assistant.terminal.screens.work import Telling, Working, host
from stores.one_line import one_line

if TYPE_CHECKING:
    from assistant.terminal.screens.desk import Desk
    from assistant.terminal.written_here import Written

_HEADINGS = "used from   judged found moved score"
_LEGEND = (
    "used    [1] cited, seen: read by the model, -: not",
    "judged  0 to 1, how far it helps to answer",
    "found   its place in the search, by its score",
    "moved   places up or down by being judged",
)
_NARROW = 60  # columns
_ROW_COLUMNS = 66  # within the frame, from which a passage takes one row
_FRAME = 4  # columns: border and padding
_KEYS = ("Enter open", "Esc back", "+ helped", "- did not", "x remove", "u undo", "c compare")
_FEW_KEYS = "Enter open  + -  x remove  Esc back"
_STEPS = {
    "augment": "route",
    "retrieve": "search",
    "rerank": "rank",
    "prepare": "prepare",
    "respond": "answer",
    "first word": "first word",
}


class PassageList(OptionList):
    """The passages that were found; the keys act on the one that is marked."""

    BINDINGS = bindings(WHY)
    DEFAULT_CSS = """
    PassageList { height: auto; max-height: 60%; border: none; padding: 0; background: transparent; }
    PassageList { text-wrap: nowrap; text-overflow: ellipsis; }
    PassageList:focus { border: none; background-tint: $foreground 0%; }
    """

    def action_open(self) -> None:
        """Opens the marked passage."""
        self.action_select()

    def action_helped(self) -> None:
        """The passage helped."""
        self._view.rate_passage("good")

    def action_not_helped(self) -> None:
        """It did not."""
        self._view.rate_passage("bad")

    def action_remove(self) -> None:
        """Takes the passage out of answers, or proposes that."""
        self._view.remove_passage()

    def action_undo(self) -> None:
        """Takes the latest removal made here back."""
        self._view.undo_removal()

    def action_compare(self) -> None:
        """The turn by the live model and the one before."""
        self._view.compare()

    def action_back(self) -> None:
        """Back to the prompt."""
        self._view.leave()

    @property
    def _view(self) -> WhyView:
        return self.query_ancestor(WhyView)


class WhyView(Working, Vertical):
    """The facts of one turn; its passages can be opened and rated."""

    DEFAULT_CSS = """
    WhyView { border: round $foreground 30%; border-title-color: $foreground; padding: 0 1; height: 1fr; }
    WhyView:focus-within { border: round $border; }
    WhyView Static { height: auto; }
    WhyView > VerticalScroll { height: 1fr; }
    """

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

    def __init__(self, desk: Desk, *, is_narrow: bool, id: str | None = None) -> None:
        """is_narrow: a passage takes two rows, until its width is known."""
        super().__init__(id=id)
        self._desk = desk
        self._is_narrow = is_narrow
        self._marks: dict[tuple[int, int], str] = {}  # ratings given here, by turn and version
        self._removals: list[Written] = []  # what was removed, or proposed to be, here; the latest last
        self.facts: WhyFacts | None = None
        self.border_title = "Why this answer"

    def compose(self) -> ComposeResult:
        """Facts above, passages, facts below."""
        yield Static("No answer yet.", markup=False, id="why-above")
        yield PassageList(markup=False, id="why-passages")
        with VerticalScroll():
            yield Static("", markup=False, id="why-below")

    def on_resize(self) -> None:
        """A passage takes one row where there is room."""
        is_narrow = self.size.width < _ROW_COLUMNS
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            if self.facts is not None:
                self.show(self.facts)
                passages = self.query_one(PassageList)  # which has other rows than it had room for
                passages.clear_cached_dimensions()
                passages.refresh(layout=True)

    def show(self, facts: WhyFacts) -> None:
        """Shows these facts."""
        self.facts = facts
        self.query_one("#why-above", Static).update(_above(facts))
        self.query_one("#why-below", Static).update(_below(facts))
        passages = self.query_one(PassageList)
        marked = passages.highlighted
        passages.clear_options()
        passages.add_options([Option(self._told(row)) for row in facts.rows])
        if facts.rows:
            passages.highlighted = min(marked or 0, len(facts.rows) - 1)

    def rate_passage(self, rating: str) -> None:
        """Keeps what the person says of the marked passage."""
        row, facts = self._marked_row, self.facts
        if row is None or facts is None:
            return

        async def keep() -> None:
            await self._desk.look(
                lambda assistant, user_id: assistant.journal.rate(
                    user_id, facts.turn_id, rating, version_id=row.version_id
                )
            )
            self._marks[facts.turn_id, row.version_id] = "+" if rating == "good" else "-"
            self.show(facts)

        self.work(keep())

    def remove_passage(self) -> None:
        """Takes the marked passage out of answers, where it is the person's own; else asks, and proposes."""
        if (row := self._marked_row) is not None:
            self.work(self._remove(row))

    async def _remove(self, row: FoundRow) -> None:
        from assistant.terminal.removing import remove_passage

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
            await self._read_anew()

    async def _is_sure(self, row: FoundRow) -> bool:
        from assistant.terminal.removing import sure_to_propose
        from assistant.terminal.screens.small_screens import Question

        line = await self._desk.look(
            lambda assistant, user_id: assistant.catalogue.line(user_id, row.passage_id)
        )
        question = sure_to_propose(line.text).removesuffix(" [y/N]")
        return await self.app.push_screen_wait(Question(question, yes="propose", no="keep"))

    def undo_removal(self) -> None:
        """Takes the latest removal, or proposal of one, made here back."""
        if not self._removals:
            host(self).tell("nothing was removed here")
        else:
            self.work(self._undo_removal())

    async def _undo_removal(self) -> None:
        from assistant.terminal.screens.memory_writing import undo, withdraw

        removed = self._removals.pop()
        receipt_id, proposal_id = removed.receipt_id, removed.proposal_id or 0
        if receipt_id is None:
            undone = await self._desk.do(lambda assistant, user: withdraw(assistant, user, proposal_id))
            host(self).tell(undone.told)
            return
        undone = await self._desk.do(lambda assistant, user: undo(assistant, user, receipt_id))
        host(self).tell(undone.told)
        self.post_message(self.Changed(undone.told, receipt_id, is_undone=True))
        await self._read_anew()

    async def _read_anew(self) -> None:
        if (facts := self.facts) is not None:
            self.show(
                await self._desk.look(lambda assistant, user_id: why_facts(assistant, user_id, facts.turn_id))
            )

    def compare(self) -> None:
        """Has the turn shown under the live model and the one before."""
        if self.facts is not None:
            self.post_message(self.WantsComparison(self.facts.turn_id))

    def leave(self) -> None:
        """Gives the keys back."""
        if isinstance(self.screen, WhyScreen):
            self.screen.dismiss()
        else:
            self.screen.query_one("#prompt").focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click on a passage opens it."""
        event.stop()
        if (row := self._marked_row) is not None:
            self.work(self._open(row))

    async def _open(self, row: FoundRow) -> None:
        page = await self._desk.look(lambda assistant, user_id: passage_page(assistant, user_id, row))
        self.app.push_screen(PageScreen(*page))

    @property
    def _marked_row(self) -> FoundRow | None:
        marked = self.query_one(PassageList).highlighted
        return self.facts.rows[marked] if self.facts and marked is not None else None

    def _told(self, row: FoundRow) -> Content:
        facts = self.facts
        assert facts is not None, "its facts are shown"
        mark = self._marks.get((facts.turn_id, row.version_id), " ")
        name = row.name if row.is_live else f"gone: {row.name}"
        judged = f"{row.judged:.2f}" if row.judged is not None else "-"
        moved = f"{row.moved:+}" if row.moved else "="
        figures = f"{row.used:<4}{mark}{row.scope:<6} {judged:>6} {row.found:>5} {moved:>5} {row.score:>5.2f}"
        return Content(f"{figures}\n       {name}" if self._is_narrow else f"{figures}  {name}")


class WhyScreen(Screen[None], Telling):
    """The same, where there is no room beside the conversation."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,f2", "dismiss", "back")]
    DEFAULT_CSS = "WhyScreen > #why-told { display: none; height: auto; padding: 0 1; color: $text-primary; }"

    def __init__(self, desk: Desk, facts: WhyFacts) -> None:
        super().__init__()
        self._desk = desk
        self._facts = facts

    def compose(self) -> ComposeResult:
        """The facts, and the keys."""
        yield WhyView(self._desk, is_narrow=self.app.size.width < _ROW_COLUMNS + _FRAME)
        yield Static("", markup=False, id="why-told")
        width = self.app.size.width
        keys = _FEW_KEYS if width < _NARROW else keys_that_fit(_KEYS, width)
        yield Static(keys, markup=False, classes="keys")

    def on_mount(self) -> None:
        """The keys act on the passages."""
        view = self.query_one(WhyView)
        view.show(self._facts)
        view.query_one(PassageList).focus()

    def tell(self, sentence: str) -> None:
        """One sentence above the keys, until the next."""
        told = self.query_one("#why-told", Static)
        told.display = bool(sentence)
        told.update(one_line(sentence))


def _above(facts: WhyFacts) -> str:
    lines = [f"Turn {facts.turn_id}  {facts.message}", f"Route      {facts.route}"]
    if facts.searched:
        lines.append(f"Rewritten  {facts.searched}")
    lines.append(f"Answered   by {facts.model} · {facts.state}")
    lines.append("")
    if facts.rows:
        lines += ["Passages, in the order that the model saw", _HEADINGS]
    else:
        lines.append("Nothing was found.")
    return "\n".join(lines)


def _below(facts: WhyFacts) -> str:
    lines = []
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
