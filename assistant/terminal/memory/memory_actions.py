"""What the keys of the Memory screen do."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from textual.widgets import Input

from assistant.terminal.engine.engine import Desk
from assistant.terminal.facts.memory_detail import detail_page
from assistant.terminal.facts.memory_page import SCOPES, MemoryRow, Wanted
from assistant.terminal.memory.memory_list import MemoryList
from assistant.terminal.memory.privacy_door import PrivacyDoor
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from stores.base.errors import NotFound, VouchError
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.terminal.actions.written_here import Written
    from assistant.wiring.assistant import Assistant
    from stores.versions.passage_lines import PassageLine


class MemoryActions(PrivacyDoor):
    """Acts on the marked memory. Each sentence tells what was done; nothing is done on the loop."""

    desk: Desk
    wanted: Wanted
    changed: Callable[[bool], None]
    _unsaved: dict[int, str]  # what was typed over a memory and not kept, by passage

    @property
    def row(self) -> MemoryRow | None:
        raise NotImplementedError

    def load(self) -> None:
        """Reads the list anew."""
        raise NotImplementedError

    # Looking

    def action_scope(self, by: int) -> None:
        names = list(SCOPES)
        self.wanted = replace(self.wanted, scope=names[(names.index(self.wanted.scope) + by) % len(names)])
        self.tell("")
        self.load()

    def action_kinds(self) -> None:
        self.wanted = replace(self.wanted, has_all_kinds=not self.wanted.has_all_kinds)
        self.tell(
            "messages and documents are listed too"
            if self.wanted.has_all_kinds
            else "what you said and read in is left out"
        )
        self.load()

    def action_mark(self, by: int) -> None:
        rows = self.query_one(MemoryList)
        rows.action_cursor_down() if by > 0 else rows.action_cursor_up()

    def action_filter(self) -> None:
        field = self.query_one(Input)
        field.add_class("-open")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self.wanted.words:
            self.wanted = replace(self.wanted, words=event.value)
            self.load()

    def on_input_submitted(self) -> None:
        field = self.query_one(Input)
        field.set_class(bool(field.value.strip()), "-open")
        self.query_one(MemoryList).focus()

    def action_back(self) -> None:
        """Out of the words that are looked for, and then out of the screen."""
        field = self.query_one(Input)
        if field.has_focus or self.wanted.words:
            field.value = ""
            field.remove_class("-open")
            self.query_one(MemoryList).focus()
        else:
            self.screen.dismiss()

    def action_leave(self) -> None:
        self.screen.dismiss()

    def action_open(self) -> None:
        if (row := self._marked()) is not None:
            self.work(self._open(row))

    def on_option_list_option_selected(self) -> None:
        self.action_open()

    async def _open(self, row: MemoryRow) -> None:
        width = self.app.size.width - 6  # border, padding and scroll bar of a page
        page = await self.desk.look(partial(detail_page, row=row, width=width))
        self.app.push_screen(PageScreen(*page))

    async def _open_named(self, passage_id: int) -> None:
        """A memory that was named by its number; where there is none, the digits are looked for."""
        number = str(passage_id)
        try:
            await self._open(MemoryRow(f"passage {number}", number, "", "", "", "", passage_id))
        except NotFound:
            self.wanted = replace(self.wanted, words=number)
            self.query_one(Input).value = number
            self.load()

    def action_help(self) -> None:
        from assistant.terminal.widgets.screen_help import open_help

        open_help(self, self.desk, "Memory")

    # Changing

    def action_edit(self) -> None:
        if (row := self._marked(is_numbered=True)) is not None:
            self.work(self._edit(row, row.passage_id or 0))

    async def _edit(self, row: MemoryRow, passage_id: int) -> None:
        from assistant.terminal.actions.memories import edit, must_be_editable
        from assistant.terminal.memory.memory_questions import EditText

        def line(assistant: Assistant, user_id: int) -> PassageLine:
            return assistant.stores.catalogue.line(user_id, passage_id)

        old = await self.desk.look(line)
        must_be_editable(old.scope, old.kind)
        about = (
            "The old text stays readable, and u brings it back."
            if old.scope == "yours"
            else "It is shared: your text goes through the check, and the shared one stays until then."
        )
        typed = self._unsaved.pop(passage_id, old.text)
        title = f"Edit {passage_id} · {old.kind}"
        keeps, text = await self.app.push_screen_wait(EditText(title, typed, about))
        if text.strip() == old.text.strip():
            self.tell("nothing was changed")
        elif not keeps:
            self._unsaved[passage_id] = text
            self.tell("not changed; e brings back what you typed")
        else:
            await self._write("changing …", lambda a, user: edit(a, user, passage_id, text))

    def action_forget(self) -> None:
        if (row := self._marked(is_numbered=True)) is not None:
            self.work(self._forget(row.passage_id or 0))

    async def _forget(self, passage_id: int) -> None:
        from assistant.terminal.actions.forgetting import (
            mention_lines,
            mentions_of,
            mentions_stay,
            named_lines,
            sure_of_mentions,
            sure_to_forget,
            to_be_forgotten,
        )
        from assistant.terminal.actions.memories import forget
        from assistant.terminal.actions.undoing import in_chat

        def asked(assistant: Assistant, user_id: int) -> str:
            passages = to_be_forgotten(assistant, user_id, [passage_id], shared=False)
            sure = sure_to_forget(assistant, user_id, passages).removesuffix(" [y/N]")
            return "\n".join([*(line.strip() for line in named_lines(passages)), sure])

        try:
            question = await self.desk.look(asked)
        except VouchError as error:
            raise in_chat(error) from None
        if not await self.app.push_screen_wait(Question(question, yes="forget", no="keep")):
            self.tell("nothing was forgotten")
            return
        mentions = await self.desk.look(lambda assistant, user: mentions_of(assistant, user, [passage_id]))
        everywhere = False
        if mentions:
            lines = [line.strip() for line in mention_lines(mentions)]
            also = "\n".join([*lines, sure_of_mentions(mentions).removesuffix(" [y/N]")])
            everywhere = await self.app.push_screen_wait(Question(also, yes="forget", no="keep"))
        self.tell("forgetting …")
        told = await self.desk.do(
            lambda assistant, user: forget(assistant, user, [passage_id], everywhere=everywhere)
        )
        if mentions and not everywhere:
            told.append(mentions_stay(mentions))
        self._wrote(told[0], has_forgotten=True)
        self.app.push_screen(PageScreen("Forgotten", "\n".join(told)))

    def action_both(self) -> None:
        """Says that the marked memory and what took its place, or it the place of, all hold."""
        if (row := self._marked(is_numbered=True)) is not None:
            from assistant.terminal.actions.memories import keep_both

            number = row.passage_id or 0
            self.work(
                self._write("keeping both …", lambda assistant, user: keep_both(assistant, user, number))
            )

    def action_undo(self) -> None:
        """Takes back the latest write of the marked memory, or one's own proposal."""
        if self.row is not None and (number := self.row.proposal_id) is not None:
            from assistant.terminal.actions.memories import withdraw

            proposal_id = number
            self.work(self._write("taking back …", lambda a, user: withdraw(a, user, proposal_id)))
        elif (row := self._marked(is_numbered=True)) is not None:
            nothing = f"{row.name} has no write that can be taken back; U takes back your latest of all"
            self.work(self._undo(row.passage_id, nothing))

    def action_undo_latest(self) -> None:
        self.work(self._undo(None, "there is nothing to undo"))

    async def _undo(self, passage_id: int | None, nothing: str) -> None:
        from assistant.terminal.actions.memories import undo, undoable

        write = await self.desk.look(lambda assistant, user: undoable(assistant, user, passage_id))
        if write is None:
            self.tell(nothing)
            return
        if write.beyond:
            question = f"Take back: {write.told}, {write.beyond}? An undo cannot be undone."
            if not await self.app.push_screen_wait(Question(question, yes="take back", no="keep")):
                self.tell("nothing was undone")
                return
        await self._write("undoing …", lambda assistant, user: undo(assistant, user, write.receipt_id))

    def action_share(self) -> None:
        if (row := self._marked(is_numbered=True)) is not None:
            from assistant.terminal.actions.memories import share

            number = row.passage_id or 0
            self.work(self._write("checking …", lambda assistant, user: share(assistant, user, number)))

    def action_retry(self) -> None:
        async def retry() -> None:
            tried = await self.desk.do(lambda assistant, user: assistant.stores.claim_jobs.retry_now(user))
            await self.desk.remember()
            self._wrote(f"tried again: {tried}" if tried else "nothing waits after a failure")

        self.work(retry())

    def action_decide(self, accepts: bool) -> None:
        from assistant.terminal.actions.proposals import decide_proposal

        row = self._marked()
        if row is None or row.proposal_id is None:
            self.tell("no proposal: those stand under “Waiting for check”")
            return
        number, name = row.proposal_id, self.desk.user

        def decide(assistant: Assistant, user: int) -> Written:
            return decide_proposal(assistant, name, user, number, accepts=accepts)

        self.work(self._write("deciding …", decide))

    # Taking along, and privacy

    def action_export(self) -> None:
        self.work(self._export())

    async def _export(self) -> None:
        from assistant.terminal.actions.memories import export
        from assistant.terminal.memory.memory_questions import AskLine

        scope = self.wanted.scope
        whose: Literal["yours", "shared", "all"] = scope if scope == "all" or scope == "shared" else "yours"
        what = {"yours": "your own memory", "shared": "the shared memory", "all": "your own and the shared"}
        file = await self.app.push_screen_wait(
            AskLine(
                f"Write {what[whose]} as JSON lines into which new file?",
                f"vouch-memory-{date.today():%Y-%m-%d}.jsonl",
            )
        )
        if file is None or not file.strip():
            self.tell("nothing was written")
            return
        self.tell("writing …")
        name = file.strip()
        self.tell(await self.desk.look(lambda assistant, user: export(assistant, user, name, whose)))

    def forgot(self, told: str) -> None:
        """Everything of the user's is forgotten."""
        self._wrote(told, has_forgotten=True)

    # Together

    def _marked(self, *, is_numbered: bool = False) -> MemoryRow | None:
        """The marked row; where there is none that it can be done with, the reason is told."""
        row = self.row
        if row is None:
            self.tell("nothing is marked")
        elif is_numbered and row.passage_id is None:
            self.tell(f"“{short(row.text, 40)}” is weighed first, and has no number yet")
        else:
            return row
        return None

    async def _write(self, begins: str, work: Callable[[Assistant, int], Written]) -> None:
        self.tell(begins)
        self._wrote(await self._told_if_not(self.desk.write(work)))

    async def _told_if_not(self, writing: Coroutine[Any, Any, Written]) -> str:
        try:
            return (await writing).told
        except VouchError:
            self.tell("")  # what was begun is not told as going on; the reason follows
            raise

    def _wrote(self, told: str, *, has_forgotten: bool = False) -> None:
        self.tell(one_line(told))
        self.load()
        self.changed(has_forgotten)
