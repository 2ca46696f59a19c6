"""Memory: what is remembered, whose it is, where it is from, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static

from assistant.terminal.engine.engine import Desk
from assistant.terminal.facts.memory_detail import Detail, box, detail
from assistant.terminal.facts.memory_page import SCOPES, Found, MemoryRow, Page, Wanted, found, page
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import MEMORY, first_of
from assistant.terminal.input.typed_ids import typed_id
from assistant.terminal.memory.memory_actions import MemoryActions
from assistant.terminal.memory.memory_list import MemoryList, column_line
from assistant.terminal.text.printable import printable
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import as_sentences, host
from stores.base.errors import VouchError
from stores.base.one_line import one_line

_LOOKS_EVERY_SECONDS = 2.0  # at what waits: it is done in the background
_NARROW, _LOW = 60, 14  # columns and rows
_BOX_EDGES = 5  # columns: border, padding and scroll bar
_BOX_AT_MOST = 120  # columns that are written in
_KEYS = {
    "memory_open": "open",
    "memory_edit": "edit",
    "memory_forget": "forget",
    "memory_undo": "undo",
    "memory_share": "share",
    "memory_export": "export",
    "memory_privacy": "privacy",
    "memory_filter": "find",
    "memory_scope": "scope",
    "memory_kinds": "all kinds",
    "memory_help": "help",
}
_KEYS_FIRST = ("memory_open", "memory_forget", "memory_undo")  # where there is room for little else
_FIRST = {
    "all": "Nothing is remembered yet, neither of you nor shared.",
    "yours": (
        "Nothing of yours is remembered yet. Tell Vouch something in the chat, such as “My locker number is "
        "214.”, or type /remember and a note: it stands here then, with where it came from."
    ),
    "shared": "Nothing is shared yet. `vouch ingest --shared PATH` reads documents in for every user.",
    "waiting": "Nothing waits for the check.",
    "forgotten": "Nothing was forgotten, undone or replaced.",
}


class MemoryScreen(MemoryActions, Screen[None]):
    """The list with its scopes, and a box that tells of the marked memory."""

    place = "Memory"
    BINDINGS = bindings(MEMORY)
    DEFAULT_CSS = """
    MemoryScreen #memory-title, MemoryScreen #memory-scopes, MemoryScreen #memory-told { padding: 0 1; }
    MemoryScreen #memory-scopes { height: 1; text-wrap: nowrap; }
    MemoryScreen #memory-told { height: auto; min-height: 1; max-height: 5; color: $text-primary; }
    MemoryScreen #memory-columns { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; }
    MemoryScreen #memory-first { height: 1fr; padding: 1 1; }
    MemoryScreen #memory-box {
        height: 36%; min-height: 10; max-height: 12; padding: 0 1; scrollbar-size-vertical: 1;
        border: round $foreground 30%; border-title-color: $foreground;
    }
    MemoryScreen #memory-detail { height: auto; }
    MemoryScreen .-empty, MemoryScreen Input { display: none; }
    MemoryScreen Input.-open { display: block; }
    MemoryScreen.-low #memory-box, MemoryScreen.-flat #memory-box { display: none; }
    MemoryScreen.-low #memory-columns, MemoryScreen.-flat #memory-columns { display: none; }
    MemoryScreen.-flat #memory-title { display: none; }
    """

    def __init__(
        self,
        desk: Desk,
        words: str = "",
        *,
        changed: Callable[[bool], None] = lambda has_forgotten: None,
        unsaved: dict[int, str] | None = None,
    ) -> None:
        """words: what is looked for at once, or the number of one memory.

        changed: called when something was written here, and told whether something was forgotten.
        unsaved: what was typed over a memory and not kept, by passage; written to.
        """
        super().__init__()
        self.desk = desk
        self.changed = changed
        self._unsaved = {} if unsaved is None else unsaved
        self._number = typed_id(words)
        self.wanted = Wanted(words="" if self._number is not None else words)
        self._found: Found | None = None
        self._rows: list[MemoryRow] = []
        self._is_whole = True
        self._loads = self._is_stale = False  # of the list
        self._looks = False  # for the box
        self._shown = 0  # how often the list was shown anew
        self._detail: Detail | None = None
        self._detail_of = ("", 0)  # the key of its row, and when

    def compose(self) -> ComposeResult:
        yield TwoSidedLine("Memory", "reading …", id="memory-title")
        yield Static("", markup=False, id="memory-scopes")
        yield Static("", markup=False, id="memory-columns")
        yield MemoryList(markup=False)
        yield Static("", markup=False, id="memory-first")
        with VerticalScroll(id="memory-box", can_focus=False):
            yield Static("", markup=False, id="memory-detail")
        yield Input(self.wanted.words, placeholder="Words that all stand in the text", compact=True)
        yield Static("", markup=False, id="memory-told")
        yield Static("", markup=False, classes="keys")

    def on_mount(self) -> None:
        self._show_rows(False)
        self.query_one(MemoryList).focus()
        self.set_interval(_LOOKS_EVERY_SECONDS, self._look_at_what_waits)
        self._show_keys()
        self.load()
        if self._number is not None:
            self.work(self._open_named(self._number))

    def on_resize(self) -> None:
        self._show_keys()
        if self._found is not None:
            rows = self.query_one(MemoryList)
            rows.fill(self._rows, rows.highlighted or 0)
            self._show_around(self._found)
            self._show_detail()

    # The list

    @property
    def row(self) -> MemoryRow | None:
        marked = self.query_one(MemoryList).highlighted
        return self._rows[marked] if marked is not None and marked < len(self._rows) else None

    def load(self) -> None:
        """Reads the list anew; what is asked for meanwhile is read in its place."""
        if self._loads:
            self._is_stale = True
        else:
            self._loads = True
            self.work(self._load())

    async def _load(self) -> None:
        try:
            while True:
                self._is_stale, wanted = False, self.wanted
                read = await self.desk.look(partial(found, wanted=wanted))
                if not self._is_stale:
                    break
        except VouchError as error:
            self._tell_unread(error)
            return
        finally:
            self._loads = False
        if read != self._found or len(self._rows) > len(read.page.rows):
            self._show(read)
        else:
            self._show_around(read)  # other words that find the same stand in the title too

    def _show(self, read: Found) -> None:
        marked = self.row
        self._found, self._rows, self._is_whole = read, list(read.page.rows), read.page.is_last
        keys = [row.key for row in self._rows]
        rows = self.query_one(MemoryList)
        place = keys.index(marked.key) if marked and marked.key in keys else rows.highlighted or 0
        self._shown += 1
        rows.fill(self._rows, place)
        self._show_around(read)
        self._look_for_detail()

    def _show_around(self, read: Found) -> None:
        self.query_one("#memory-title", TwoSidedLine).say(self._title(), self._doors())
        self.query_one("#memory-scopes", Static).update(self._scopes(read))
        self.query_one("#memory-columns", Static).update(column_line(self.app.size.width))
        first = self.query_one("#memory-first", Static)
        self._show_rows(bool(self._rows))
        if not self._rows:
            first.update(self._first_text(read))

    def _title(self) -> str:
        words = f" · with “{one_line(self.wanted.words)}”" if self.wanted.words.strip() else ""
        return f"Memory{words}{' · all kinds' if self.wanted.has_all_kinds else ''}"

    def _doors(self) -> str:
        return "Tab scope" if self.app.size.width < _NARROW else "/ find · Tab scope · F3 back"

    def _scopes(self, read: Found) -> str:
        names = list(SCOPES)
        if self.app.size.width < _NARROW:
            scope = self.wanted.scope
            place = f"{names.index(scope) + 1} of {len(names)}"
            return f"[{SCOPES[scope]} ({read.counts[scope]})]  {place}"
        told = (f"{SCOPES[scope]} ({read.counts[scope]})" for scope in names)
        return "  ".join(
            f"[{each}]" if scope == self.wanted.scope else each
            for scope, each in zip(names, told, strict=True)
        )

    def _first_text(self, read: Found) -> str:
        if self.wanted.words.strip():
            return f"Nothing here says “{one_line(self.wanted.words)}”. Esc shows everything again."
        if read.beside and self.wanted.scope in ("all", "yours"):
            kept = f"{read.beside} message{'s' if read.beside != 1 else ''} and passages of your documents"
            return f"{_FIRST['yours']}\n\n{kept} are kept beside it: v shows them."
        return _FIRST[self.wanted.scope]

    def _tell_unread(self, error: VouchError) -> None:
        """The rows that are shown stay; without any, the reason stands in their place."""
        told = as_sentences(error)
        self.tell(f"memory cannot be read: {told}")
        if not self._rows:
            self._show_rows(False)
            first = self.query_one("#memory-first", Static)
            first.update(f"Memory cannot be read now: {printable(told)}\n\nTab tries again.")
            self.query_one("#memory-title", TwoSidedLine).say("Memory", self._doors())

    def _show_rows(self, has_rows: bool) -> None:
        """Rows with their box, or the text in their place."""
        self.query_one("#memory-first").display = not has_rows
        for part in (MemoryList, "#memory-columns", "#memory-box"):
            self.query_one(part).set_class(not has_rows, "-empty")

    def on_memory_list_wants_more(self) -> None:
        if not self._is_whole and not self._loads:
            self._loads = True
            self.work(self._load_more())

    async def _load_more(self) -> None:
        wanted, before = self.wanted, self._rows[-1].passage_id
        try:
            more: Page = await self.desk.look(
                lambda assistant, user_id: page(assistant, user_id, wanted, before=before)
            )
        finally:
            self._loads = False
        if self._is_stale or wanted != self.wanted:
            self.load()
            return
        self._rows += more.rows
        self._is_whole = more.is_last
        self.query_one(MemoryList).append(more.rows)

    def _look_at_what_waits(self) -> None:
        if self.wanted.scope == "waiting" and self.is_current:
            self.load()

    # The box

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._look_for_detail()

    def _look_for_detail(self) -> None:
        if not self._looks and self.app.size.height >= _LOW:
            self._looks = True
            self.work(self._read_detail())

    async def _read_detail(self) -> None:
        """Of the row that is marked when it comes to that: a key that is held down reads a few alone."""
        try:
            while (row := self.row) is not None and self._detail_of != (row.key, self._shown):
                wanted = (row.key, self._shown)
                self._detail = await self.desk.look(partial(detail, row=row))
                self._detail_of = wanted
        finally:
            self._looks = False
        self._show_detail()

    def _show_detail(self) -> None:
        told = self._detail if self._rows else None
        title, lines = box(told, min(self.app.size.width - _BOX_EDGES, _BOX_AT_MOST)) if told else ("", [])
        self.query_one("#memory-box").border_title = title
        self.query_one("#memory-detail", Static).update("\n".join(lines))

    # Around

    def tell(self, sentence: str) -> None:
        """One sentence, until the next."""
        self.query_one("#memory-told", Static).update(one_line(sentence))

    def _show_keys(self) -> None:
        keys = {name: first_of(name, host(self).changed_keys) for name in (*_KEYS, "memory_back")}
        back = f"  {keys['memory_back']} back"
        line = ""
        first = _KEYS_FIRST if self.app.size.width < _NARROW else ()
        for name in dict.fromkeys((*first, *_KEYS)):
            longer = f"{line}  {keys[name]} {_KEYS[name]}".strip()
            if len(longer) + len(back) > self.app.size.width - 2:
                break
            line = longer
        self.query_one(".keys", Static).update(line + back)
