"""Before and after: what one's own messages are answered by two models, side by side, and which is better.

The models' names are hidden, and a coin decides who stands where, until a choice was made: who knows which
one is new judges something else than the answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from assistant.terminal.comparison.comparing import keep_choice
from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.facts.comparison import (
    BETTER,
    WORSE,
    Pair,
    Side,
    Sides,
    counts,
    side_text,
    with_found,
)
from assistant.terminal.facts.training_lines import bar
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import COMPARE
from assistant.terminal.text.printable import printable
from assistant.terminal.widgets.screen_help import HasHelp
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import GivesWay, host
from stores.base.errors import VouchError
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.terminal.engine.engine import Desk

_NARROW, _LOW = 80, 18  # columns and rows, under which one answer stands below the other
_WIDE = 100
_SLIM = 60  # columns under which what the panels tell is not told above them
_TITLE = "Before and after"
_KEYS = "1 left better  2 right better  0 equal  n next  f worse  v names  Esc back"
_FEW_KEYS = "1 first  2 second  0 equal  n next  Esc back"
_FEWEST_KEYS = "1 2 better  0 equal  n next  Esc back"


class CompareScreen(Screen[None], HasHelp, GivesWay):
    """Plays, and then shows what differs, the greatest change first."""

    place = _TITLE
    BINDINGS = bindings(COMPARE)
    DEFAULT_CSS = """
    CompareScreen > #compare-title { height: 2; padding: 0 1; border-bottom: solid $border-blurred; }
    CompareScreen > #compare-message { height: auto; max-height: 4; padding: 0 1; }
    CompareScreen > #compare-sides { height: 1fr; layout: horizontal; margin-top: 1; }
    CompareScreen #compare-sides VerticalScroll { width: 1fr; height: 100%; padding: 0 1; }
    CompareScreen #compare-sides VerticalScroll {
        border: round $foreground 30%; border-title-color: $foreground;
    }
    CompareScreen #compare-sides VerticalScroll:focus { border: round $border; }
    CompareScreen #compare-sides Static { height: auto; }
    CompareScreen > #compare-counts { height: auto; padding: 0 1; }
    CompareScreen > #compare-said { height: auto; padding: 0 1; color: $text-muted; }
    CompareScreen.-small > #compare-title { height: 1; border-bottom: none; }
    CompareScreen.-small > #compare-message { max-height: 1; }
    CompareScreen.-small > #compare-sides { layout: vertical; margin-top: 0; }
    CompareScreen.-small #compare-sides VerticalScroll { width: 100%; height: 1fr; }
    CompareScreen.-low #compare-sides VerticalScroll { border: none; border-top: solid $foreground 30%; }
    CompareScreen.-low > #compare-counts { height: 1; }
    CompareScreen.-low > #compare-said { display: none; }
    """

    def __init__(self, desk: Desk, child: ComparisonChild, sides: Sides, turn_id: int | None) -> None:
        """turn_id: the one turn to show, or None for all that differ."""
        super().__init__()
        self._desk = desk
        self._child = child
        self._sides = sides
        self._turn_id = turn_id
        self._pairs: list[Pair] = []  # all that were played
        self._choices: dict[
            int, str
        ] = {}  # better, worse or equal, by the place of a pair; of the other model
        self._place = 0  # among those that are shown
        self._only_worse = False
        self._shows_names = False
        self._is_done = False

    def compose(self) -> ComposeResult:
        yield TwoSidedLine(_TITLE, id="compare-title")
        yield Static("", markup=False, id="compare-message")
        with Container(id="compare-sides"):
            for side in ("left", "right"):
                with VerticalScroll(id=f"compare-{side}"):
                    yield Static("", markup=False)
        yield Static("", markup=False, id="compare-counts")
        yield Static("", markup=False, id="compare-said")
        yield Static("Esc leaves off", markup=False, classes="keys", id="compare-keys")

    def on_mount(self) -> None:
        self._message("Both models are getting ready …")
        self.query_one("#compare-sides").display = False
        self.work(self._play())

    async def on_unmount(self) -> None:
        await self._child.ended()

    def on_resize(self) -> None:
        width, height = self.size
        self.set_class(width < _NARROW or height < _LOW, "-small")
        self.set_class(height < _LOW, "-low")
        self._show()

    @property
    def _is_left(self) -> bool:
        """It goes, and its widgets are taken away one after another."""
        return not self.is_attached or self._pruning

    # Playing

    async def _play(self) -> None:
        pairs = []
        try:
            async for told in self._child.lines():
                if "replies" in told:
                    pairs.append(Pair.told(told))
                else:
                    self._tell_progress(str(told["model"]), int(told["done"]), int(told["of"]))
        except VouchError as error:
            self._message(f"They could not be compared: {one_line(error.message)}")
            if not self._is_left:
                self.query_one("#compare-keys", Static).update("Esc back")
            return
        if self._turn_id is not None:
            pairs = [pair for pair in pairs if pair.turn_id == self._turn_id]
        self._pairs = await self._desk.look(lambda assistant, user_id: with_found(assistant, user_id, pairs))
        self._is_done = True
        self._show()

    def _tell_progress(self, model: str, done: int, of: int) -> None:
        first = model == "live"
        name = self._sides.live if first else self._sides.other
        newest = f"newest {self._sides.newest} " if self._sides.newest is not None else ""
        self._message(
            f"The {newest}messages of session {self._sides.session_id} are answered anew, in copies: "
            f"{'first' if first else 'then'} by {name}\n"
            f"{bar(done, of, 30)} message {done + 1} of {of}"
        )

    def _message(self, words: str) -> None:
        if not self._is_left:
            self.query_one("#compare-message", Static).update(words)

    # Showing

    @property
    def _shown(self) -> list[int]:
        """The places of the pairs that are walked through."""
        places = [n for n, pair in enumerate(self._pairs) if pair.change > 0 or self._turn_id is not None]
        return [n for n in places if self._kind(n) == WORSE] if self._only_worse else places

    def _kind(self, place: int) -> str:
        """By the person's choice; else by what is known."""
        chosen = self._choices.get(place)
        return chosen if chosen in (BETTER, WORSE) else self._pairs[place].kind

    def _show(self) -> None:
        if not self._is_done or self._is_left:
            return
        places = self._shown
        self.query_one("#compare-sides").display = bool(places)
        self.query_one("#compare-counts", Static).update(self._counts())
        few = _FEW_KEYS if self.size.width >= _SLIM else _FEWEST_KEYS
        keys = few if self.size.width < _NARROW else _KEYS
        self.query_one("#compare-keys", Static).update(keys if places else "f all answers  Esc back")
        if not places:
            self._title("", "")
            self._message(self._nothing())
            return
        self._place = min(self._place, len(places) - 1)
        place = places[self._place]
        of = "answers that are worse" if self._only_worse else "answers that changed"
        if self.size.width < _SLIM:
            of = of.removeprefix("answers that ").removeprefix("are ")
        one = self._turn_id is not None
        number = f"{self._place + 1} of {len(places)}"
        self._title(f"turn {self._turn_id}" if one else f"{number} {of}", place)
        self._message(f"You: {printable(self._pairs[place].message)}")
        self._show_sides(place)

    def _title(self, words: str, place: int | str) -> None:
        names = "names hidden"
        if isinstance(place, str):
            names = f"{self._sides.live} | {self._sides.other}"
        elif self._names_are_shown(place):
            names = " | ".join(self._names(place))
        is_short = self.size.width < _NARROW and words
        if self.size.width < _SLIM and self._names_are_shown_above(place):
            names = ""
        title = words if is_short else " · ".join(filter(None, (_TITLE, words)))
        self.query_one("#compare-title", TwoSidedLine).say(title, names)

    def _names_are_shown_above(self, place: int | str) -> bool:
        """Each panel is headed by its model's name."""
        return not isinstance(place, str) and self._names_are_shown(place)

    def _show_sides(self, place: int) -> None:
        pair = self._pairs[place]
        shown = self._names_are_shown(place)
        answers = (pair.other, pair.live) if self._is_exchanged(place) else (pair.live, pair.other)
        neutral = ("first", "second") if self.has_class("-small") else ("left", "right")
        names = self._names(place) if shown else neutral
        for side, answer, name in zip(("left", "right"), answers, names, strict=True):
            panel = self.query_one(f"#compare-{side}", VerticalScroll)
            panel.border_title = name
            panel.query_one(Static).update(side_text(pair, answer, with_facts=shown))
            panel.scroll_home(animate=False)

    def _counts(self) -> str:
        told = counts([self._kind(place) for place in range(len(self._pairs))])
        if self._sides.newest is not None and self._turn_id is None:
            told += f" · the newest {self._sides.newest} messages; /replay plays every one"
        name = self._sides.other if self.size.width >= _WIDE else self._sides.other.partition(" ")[0]
        return f"{name}: {told}"

    def _nothing(self) -> str:
        if self._only_worse:
            return "No answer is known to be worse. f shows all that changed."
        return f"Nothing changed: all {len(self._pairs)} messages are answered alike."

    def _names(self, place: int) -> tuple[str, str]:
        live, other = self._sides.live, self._sides.other
        return (other, live) if self._is_exchanged(place) else (live, other)

    def _names_are_shown(self, place: int) -> bool:
        return self._shows_names or place in self._choices

    def _is_exchanged(self, place: int) -> bool:
        return self._pairs[place].is_exchanged(self._sides.session_id)

    # Keys

    def action_next(self, by: int) -> None:
        places = self._shown
        if self._is_done and places:
            self._place = (self._place + by) % len(places)
            self._said("")
            self._show()

    def action_worse(self) -> None:
        if self._is_done:
            self._only_worse = not self._only_worse
            self._place = 0
            self._show()

    def action_names(self) -> None:
        self._shows_names = not self._shows_names
        self._show()

    def action_rate(self, which: str) -> None:
        places = self._shown
        if not self._is_done or not places:
            return
        place = places[self._place]
        pair, exchanged = self._pairs[place], self._is_exchanged(place)
        if which == "equal":
            self._choices[place] = "equal"
            self.work(self._keep(pair, None))
        else:
            is_other = (which == "right") != exchanged
            self._choices[place] = BETTER if is_other else WORSE
            self.work(self._keep(pair, pair.other if is_other else pair.live))
        self._show()

    async def _keep(self, pair: Pair, better: Side | None) -> None:
        self._said(
            await self._desk.look(lambda assistant, user_id: keep_choice(assistant, user_id, pair, better))
        )

    def _said(self, words: str) -> None:
        if not self._is_left:
            self.query_one("#compare-said", Static).update(words)
            if self.has_class("-low") and words:
                host(self).tell(words)

    def action_back(self) -> None:
        self.give_way()

    def give_way(self) -> AwaitComplete:
        """Nobody waits for the two models any more."""
        self._child.leave()
        return self.dismiss()
