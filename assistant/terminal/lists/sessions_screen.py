"""The sessions of a user: open one, or begin a new one; rename, archive, delete, each with undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.terminal.actions.sessions import Change, SessionChange, deleting, putting_away, renaming
from assistant.terminal.engine.engine import Desk
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import SESSIONS
from assistant.terminal.widgets.key_line import FittingKeys
from assistant.terminal.widgets.marked_list import MarkedList
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import GivesWay, Telling
from stores.base.clock import local
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from stores.conversation.sessions import SessionLine, Shelf

NEW_SESSION = 0  # what is chosen for a new one
_PAGE = 200  # rows; more when the mark reaches the last one
_MOST = 50_000
_NARROW = 60
_ASKED_TOLD = "each is one question of `vouch ask`; go on with one, and it is listed as open"
_KEYS = {
    "sessions_open": "open",
    "sessions_back": "back",
    "sessions_delete": "delete",
    "sessions_undo": "undo",
    "sessions_filter": "find",
    "sessions_archive": "archive",
    "sessions_rename": "title",
    "sessions_scope": "shelf",
    "sessions_new": "new",
}


class SessionsScreen(Telling, GivesWay, Screen[int | None]):
    """Dismissed with the session that was chosen."""

    place = "Sessions"
    BINDINGS = bindings(SESSIONS)
    DEFAULT_CSS = """
    SessionsScreen > TwoSidedLine { padding: 0 1; }
    SessionsScreen > Static { height: 1; padding: 0 1; }
    SessionsScreen > #sessions-told {
        color: $text-primary; height: auto; min-height: 1; max-height: 3;
    }
    SessionsScreen > OptionList { height: 1fr; border: round $border; padding: 0; }
    SessionsScreen > OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    SessionsScreen > OptionList:focus { border: round $border; }
    SessionsScreen > Input { display: none; }
    SessionsScreen > Input.-open { display: block; }
    """

    def __init__(self, desk: Desk, current: int, words: str = "") -> None:
        """current: the session that is on. words: of a title, filtered by at once."""
        super().__init__()
        self._desk = desk
        self._current = current
        self._words = words
        self._shelf: Shelf = "open"
        self._sessions: Sequence[SessionLine] = ()
        self._counts: dict[Shelf, int] = {}
        self._found: list[SessionLine] = []  # those that fit the filter
        self._shown = 0  # of them
        self._renames: SessionLine | None = None
        self._undo: list[SessionChange] = []
        self._is_gone = False  # the session that is on was deleted
        self._is_narrow = False  # the rows are

    def compose(self) -> ComposeResult:
        yield TwoSidedLine("Sessions", id="sessions-title")
        yield MarkedList(markup=False)
        yield Input(compact=True, select_on_focus=False)
        yield Static("", markup=False, id="sessions-told")
        yield FittingKeys(_KEYS)

    def on_mount(self) -> None:
        self._options.focus()
        if self._words:
            self._open_field("Words of a title; Enter opens the marked one", self._words)
        self.work(self._load())

    def on_resize(self) -> None:
        if self._counts and self._is_narrow != (self.app.size.width < _NARROW):
            self._show()

    def tell(self, sentence: str) -> None:
        """Above the keys."""
        self.query_one("#sessions-told", Static).update(one_line(sentence))

    @property
    def _options(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    @property
    def _marked(self) -> SessionLine | None:
        marked = self._options.highlighted
        return self._found[marked] if marked is not None and marked < len(self._found) else None

    # What is listed

    async def _load(self) -> None:
        shelf = self._shelf
        sessions, counts = await self._desk.look(
            lambda assistant, user_id: (
                assistant.stores.sessions.lines(user_id, shelf=shelf, limit=_MOST),
                {name: assistant.stores.sessions.count(user_id, name) for name in _shelves()},
            )
        )
        if self.is_attached and shelf == self._shelf:
            self._sessions, self._counts = sessions, counts
            self._show()
            if shelf == "asked":
                self.tell(_ASKED_TOLD)

    def _show(self) -> None:
        self._is_narrow = self.app.size.width < _NARROW
        place = self._options.highlighted or 0
        wanted = [] if self._renames else self._field.value.casefold().split()
        self._found = [s for s in self._sessions if all(word in s.title.casefold() for word in wanted)]
        self._options.clear_options()
        self._shown = 0
        self._show_more()
        self._options.highlighted = min(place, len(self._found) - 1) if self._found else None
        shelves = [f"{name} {self._counts[name]}" for name in self._shelves if name in self._counts]
        shelves = [f"[{told}]" if told.startswith(self._shelf) else told for told in shelves]
        if self._is_narrow:
            shelves = [told for told in shelves if told.startswith("[")]
        self.query_one("#sessions-title", TwoSidedLine).say(
            f"Sessions · {len(self._found)}", "  ".join(shelves)
        )

    def _show_more(self) -> None:
        more = self._found[self._shown : self._shown + _PAGE]
        self._options.add_options([Option(self._told(session)) for session in more])
        self._shown += len(more)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index >= self._shown - 1 and self._shown < len(self._found):
            self._show_more()

    def _told(self, session: SessionLine) -> str:
        here = "*" if session.session_id == self._current else " "
        turns = f"{session.turns} turn{'s' if session.turns != 1 else ''}"
        title = one_line(session.title) or "(no title)"
        if session.origin:
            title += f"  · from {session.origin}"
        if self._is_narrow:
            return f"{here}{local(session.last_at):%Y-%m-%d}  {title}"
        spoken = f"{local(session.last_at):%Y-%m-%d %H:%M}"
        return f"{here}{session.session_id:>5}  {spoken}  {turns:>9}  {title}"

    @property
    def _shelves(self) -> list[Shelf]:
        """Those that are gone through; of questions that were asked by the command, where there are any."""
        return [n for n in _shelves() if n != "asked" or self._counts.get(n) or n == self._shelf]

    def action_shelf(self, by: int) -> None:
        names = self._shelves
        if self._shelf == "asked":
            self.tell("")
        self._shelf = names[(names.index(self._shelf) + by) % len(names)]
        self._options.highlighted = 0 if self._found else None
        self.work(self._load())

    # Filter and title

    def action_filter(self) -> None:
        self._open_field("Words of a title; Enter opens the marked one", "")

    def action_rename(self) -> None:
        if (session := self._marked) is not None:
            self._renames = session
            self._open_field("Its title; Enter keeps it", session.title)

    def _open_field(self, placeholder: str, value: str) -> None:
        field = self._field
        field.placeholder, field.value = placeholder, value
        field.cursor_position = len(value)
        field.add_class("-open")
        field.focus()

    def on_input_changed(self) -> None:
        if self._renames is None:
            self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if (session := self._renames) is None:
            self.action_open()
            return
        title = event.value
        self._leave_field()
        if title.strip():
            self._do(renaming(session.session_id, session.title, title))

    def _leave_field(self) -> None:
        self._renames = None
        self._options.focus()
        self._field.value = ""
        self._field.remove_class("-open")

    # Keys

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(self._found[event.option_index])

    def action_open(self) -> None:
        if (session := self._marked) is not None:
            self._choose(session)

    def _choose(self, session: SessionLine) -> None:
        if self._shelf == "deleted":
            self.tell("it is deleted: z brings it back")
        else:
            self.dismiss(session.session_id)

    def action_new(self) -> None:
        self.dismiss(NEW_SESSION)

    def action_mark(self, by: int) -> None:
        self._options.action_cursor_down() if by > 0 else self._options.action_cursor_up()

    def action_back(self) -> None:
        if self._field.has_focus:
            self._leave_field()
        else:
            self.give_way()

    @property
    def comes_first(self) -> str:
        """A title that is being typed."""
        renamed = self._renames
        is_typed = renamed is not None and self._field.value != renamed.title
        return "a title is being typed: Enter keeps it, Esc leaves it as it was" if is_typed else ""

    def give_way(self) -> AwaitComplete:
        """Closes it; where the session that was on is deleted, a new one is on."""
        return self.dismiss(NEW_SESSION if self._is_gone else None)

    def action_archive(self) -> None:
        """Archives the marked session; an archived or a deleted one comes back."""
        if (session := self._marked) is not None:
            self._do(putting_away(session.session_id, session.title, self._shelf))

    def action_delete(self) -> None:
        """Hides the marked session, which can be brought back; a hidden one is erased for good."""
        session = self._marked
        if session is None:
            return
        if self._shelf == "deleted":
            self.work(self._erase(session))
        else:
            change = deleting(session.session_id, session.title)
            self._do(change, " · u brings it back · what it taught stays in memory")

    def action_undo(self) -> None:
        """Takes back the latest change that was made here; again: the one before."""
        if not self._undo:
            self.tell("nothing to undo here; z among the deleted ones (Tab) brings one back")
            return
        change = self._undo.pop()
        self.work(self._change(f"undone: {change.told}", change.undo))

    def _do(self, change: SessionChange, more: str = "") -> None:
        self._undo.append(change)
        self.work(self._change(f"{change.told}{more}", change.do))

    async def _erase(self, session: SessionLine) -> None:
        from assistant.terminal.actions.forgetting import forget_sessions
        from assistant.terminal.widgets.page_screen import PageScreen
        from assistant.terminal.widgets.questions import Question

        turns = f"{session.turns} turn{'s' if session.turns != 1 else ''}"
        question = (
            f"Erase “{short(session.title, 40)}” for good: {turns}, and what was learned from them?\n"
            "This cannot be undone. Notes and corrections that you wrote there stay."
        )
        if not await self.app.push_screen_wait(Question(question, yes="erase", no="keep")):
            self.tell("nothing was erased")
            return
        self.tell("erasing …")
        number = session.session_id
        told = await self._desk.do(lambda assistant, user_id: forget_sessions(assistant, user_id, [number]))
        self._undo = [change for change in self._undo if change.session_id != number]
        self.tell(told[0])
        await self._load()
        self.app.push_screen(PageScreen("Erased", "\n".join(told)))

    async def _change(self, said: str, change: Change) -> None:
        await self._desk.look(lambda assistant, user_id: change(assistant.stores.sessions, user_id))
        self._is_gone = await self._desk.look(
            lambda assistant, user_id: assistant.stores.sessions.is_deleted(user_id, self._current)
        )
        self.tell(said)
        await self._load()


def _shelves() -> tuple[Shelf, ...]:
    from stores.conversation.sessions import Shelf

    return get_args(Shelf)
