"""The documents that a user sees, a row each: read, asked alone, moved, read again, removed, with undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.library import shelf
from assistant.terminal.actions.memories import undo
from assistant.terminal.actions.written_here import Written
from assistant.terminal.engine.engine import Desk
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import DOCUMENTS
from assistant.terminal.text.printable import from_home
from assistant.terminal.widgets.key_line import FittingKeys
from assistant.terminal.widgets.marked_list import MarkedList
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.two_sided_line import TwoSidedLine
from assistant.terminal.widgets.work import GivesWay, Telling
from stores.base.errors import UnreadableDocument
from stores.base.one_line import middle_cut, one_line
from stores.memory.collections import require_name

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.memory.library import KnownDocument

_MOST_READ = 400  # passages of a preview
_NARROW, _WIDE = 60, 100  # columns; where a document lies is told on a wide screen
_FIGURES = 42  # columns of a row beside the name, with its frame
_NONE = "Nothing was read yet: /ingest and a path reads a file or a folder."
_FILTER, _MOVE = "Words of a name, a folder or a collection", "Name of the collection"
_KEYS = {
    "documents_open": "read",
    "documents_back": "back",
    "documents_ask": "ask it",
    "documents_move": "move",
    "documents_refresh": "read again",
    "documents_remove": "remove",
    "documents_undo": "undo",
    "documents_filter": "find",
}


class DocumentsScreen(Telling, GivesWay, Screen[str | None]):
    """Dismissed with the name of the document that alone is to be asked."""

    place = "Documents"
    BINDINGS = bindings(DOCUMENTS)
    DEFAULT_CSS = """
    DocumentsScreen > TwoSidedLine { padding: 0 1; }
    DocumentsScreen > #documents-told {
        color: $text-primary; height: auto; min-height: 1; max-height: 3; padding: 0 1;
    }
    DocumentsScreen > OptionList { height: 1fr; border: round $border; padding: 0; }
    DocumentsScreen > OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    DocumentsScreen > OptionList:focus { border: round $border; }
    DocumentsScreen > Input { display: none; }
    DocumentsScreen > Input.-open { display: block; }
    """

    def __init__(self, desk: Desk, words: str = "") -> None:
        """words: of a name or a folder, filtered by at once."""
        super().__init__()
        self._desk = desk
        self._words = words
        self._known: dict[
            KnownDocument, list[str]
        ] = {}  # each with its cells, for which its file may be read
        self._found: list[KnownDocument] = []  # those that fit the filter
        self._longest = 0  # characters of a name
        self._receipts: list[int] = []  # of what was removed here
        self._moved: KnownDocument | None = None  # for which a collection is asked

    def compose(self) -> ComposeResult:
        yield TwoSidedLine("Documents", id="documents-title")
        yield MarkedList(markup=False)
        yield Input(placeholder=_FILTER, compact=True, select_on_focus=False, id="documents-filter")
        yield Input(placeholder=_MOVE, compact=True, select_on_focus=False, id="documents-move")
        yield Static("", markup=False, id="documents-told")
        yield FittingKeys(_KEYS)

    def on_mount(self) -> None:
        self._options.focus()
        if self._words:
            self._open_field(self._words)
        self.work(self._load())

    def on_resize(self) -> None:
        if self._known:
            self._show()

    def tell(self, sentence: str) -> None:
        """Above the keys."""
        self.query_one("#documents-told", Static).update(one_line(sentence))

    @property
    def _options(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _marked(self) -> KnownDocument | None:
        marked = self._options.highlighted
        return self._found[marked] if marked is not None and marked < len(self._found) else None

    # What is listed

    async def _load(self) -> None:
        def read(assistant: Assistant, user_id: int) -> dict[KnownDocument, list[str]]:
            return {each: shelf.cells(each) for each in assistant.stores.library.all(user_id)}

        known = await self._desk.look(read)
        if self.is_attached:
            self._known = known
            self._show()
            if not known:
                self.tell(_NONE)

    def _show(self) -> None:
        place = self._options.highlighted or 0
        wanted = self.query_one("#documents-filter", Input).value.casefold().split()
        self._found = [
            each
            for each in self._known
            if all(word in f"{each.source} {each.title} {each.collection}".casefold() for word in wanted)
        ]
        self._longest = max((len(one_line(self._known[each][0])) for each in self._found), default=0)
        self._options.clear_options()
        self._options.add_options([Option(self._told(each)) for each in self._found])
        self._options.highlighted = min(place, len(self._found) - 1) if self._found else None
        passages = sum(each.passages for each in self._found)
        self.query_one("#documents-title", TwoSidedLine).say(
            f"Documents · {len(self._found)}", f"{passages:,} passage{'' if passages == 1 else 's'}"
        )

    def _told(self, document: KnownDocument) -> str:
        name, whose, passages, day, on_disk, source, collection = self._known[document]
        if self.app.size.width < _NARROW:
            return f"{'! ' if on_disk else ''}{name}"
        is_wide = self.app.size.width >= _WIDE
        room = self.app.size.width // 2 if is_wide else self.app.size.width - _FIGURES
        named = f"{on_disk} · {name}" if on_disk and not is_wide else name
        told = " · ".join(filter(None, (on_disk, collection, from_home(source)))) if is_wide else ""
        width = min(room, self._longest)
        return f"{middle_cut(named, width):<{width}}  {whose:<6}  {passages:>14}  {day}  {told}".rstrip()

    # Keys

    def action_filter(self) -> None:
        self._open_field("")

    def _open_field(self, value: str) -> None:
        field = self.query_one("#documents-filter", Input)
        field.value, field.cursor_position = value, len(value)
        field.add_class("-open")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "documents-filter":
            self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "documents-move" and (document := self._moved) is not None:
            self._moved = None
            event.input.remove_class("-open")
            self.work(self._move(document, event.value.strip()))
        self._options.focus()

    def on_option_list_option_selected(self) -> None:
        self.action_open()

    def action_mark(self, by: int) -> None:
        self._options.action_cursor_down() if by > 0 else self._options.action_cursor_up()

    def action_open(self) -> None:
        if (document := self._marked) is not None:
            self.work(self._read(document))

    async def _read(self, document: KnownDocument) -> None:
        def text(assistant: Assistant, user_id: int) -> str:
            passages = list(assistant.stores.library.passages(document, user_id))
            more = len(passages) - _MOST_READ
            parts = [f"{title}\n{text}" if title else text for title, text in passages[:_MOST_READ]]
            return "\n\n".join(
                [document.source, *parts, *([f"And {more:,} passages more."] if more > 0 else [])]
            )

        page = await self._desk.look(text)
        self.app.push_screen(PageScreen(one_line(document.name), page))

    def action_ask(self) -> None:
        """Goes back to the prompt, with the document's name in it."""
        if (document := self._marked) is not None:
            self.dismiss(document.called_among(self._known))

    def action_move(self) -> None:
        """Asks for the name of a collection."""
        if (document := self._marked) is None:
            return
        self._moved = document
        field = self.query_one("#documents-move", Input)
        field.value, field.cursor_position = document.collection, len(document.collection)
        field.add_class("-open")
        field.focus()
        self.tell(f"Enter moves {document.name} into the collection that is named; none takes it out")

    async def _move(self, document: KnownDocument, collection: str) -> None:
        def moved(assistant: Assistant, user_id: int) -> Written:
            if collection:
                require_name(collection, assistant.stores.library.all(user_id), shared=document.is_shared)
            shelf.move(assistant.stores.stored_documents, user_id, [document], collection)
            where = f"into {one_line(collection)}" if collection else "out of its collection"
            return Written(f"moved {where}: {document.name} · m moves it again")

        await self._write(moved)

    def action_refresh(self) -> None:
        if (document := self._marked) is None:
            return
        self.tell(f"reading {document.name} …")
        self.work(self._refresh(document))

    async def _refresh(self, document: KnownDocument) -> None:
        became = await self._desk.look(lambda assistant, user_id: document.on_disk())
        if became == "gone" or not document.is_file:
            self.tell(f"{document.name} is no longer on disk: what was read of it stays until you remove it")
            return
        if not became:
            self.tell(f"{document.name} has not changed since it was read")
            return

        def read(assistant: Assistant, user_id: int) -> Written:
            steps = list(shelf.read_again(assistant.turns.ingest, user_id, document))
            failed = next((step for step in steps if isinstance(step, UnreadableDocument)), None)
            if failed is not None:
                return Written(failed.message)
            newest = assistant.stores.knowledge.receipts(user_id, limit=1)
            return Written(f"read again: {document.name}", newest[0].id if newest else None)

        await self._write(read)

    def action_remove(self) -> None:
        if (document := self._marked) is not None:
            self.work(self._remove(document))

    async def _remove(self, document: KnownDocument) -> None:
        def removed(assistant: Assistant, user_id: int) -> Written:
            [receipt_id] = shelf.remove(assistant.stores.stored_documents, user_id, [document])
            assistant.search.indexer.catch_up()
            of_all = " for every user" if document.is_shared else ""
            return Written(f"removed{of_all}: {document.name} · u brings it back; the file stays", receipt_id)

        await self._write(removed)

    async def _write(self, what: Callable[[Assistant, int], Written]) -> None:
        written = await self._desk.write(what)
        if written.receipt_id is not None:
            self._receipts.append(written.receipt_id)
        self.tell(written.told)
        await self._load()

    def action_undo(self) -> None:
        """Takes back the latest change that was made here; again: the one before."""
        if not self._receipts:
            self.tell("nothing to undo here; Memory (F3) takes older changes back")
            return
        receipt_id = self._receipts.pop()
        self.work(self._undo(receipt_id))

    async def _undo(self, receipt_id: int) -> None:
        undone = await self._desk.do(lambda assistant, user_id: undo(assistant, user_id, receipt_id))
        self.tell(undone.told)
        await self._load()

    def action_back(self) -> None:
        self._moved = None
        opened = [field for field in self.query(Input) if field.has_class("-open")]
        for field in opened:
            field.value = ""
            field.remove_class("-open")
        if opened:
            self.tell("")
            self._options.focus()
        else:
            self.give_way()
