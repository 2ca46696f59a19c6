"""What is told when a write was taken back: in one line, however much one message had taught."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stores.base.one_line import short

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.base.errors import VouchError
    from stores.base.passages import Passage
    from stores.database.tables import Receipt
    from stores.memory.edits import Undone
    from stores.versions.passage_lines import PassageLine

_NAMED = 3  # passages and writes that are told one by one
_SHORT = 48  # characters of each, where several stand on one line
_UNDO_IN_SHELL = re.compile(r"vouch memory undo (\d+)")


def undone_lines(undone: Undone) -> Iterator[str]:
    """What was taken back, what is known again, and what of the same message stays for others."""
    yield _taken_back(undone.receipts)
    if len(undone.back) > _NAMED:
        yield f"Restored: {len(undone.back)} passages."
    else:
        for passage in undone.back:
            yield f"Restored: {passage.passage_id} “{short(passage.text)}”."
    if undone.models:
        yield models_taken_back(undone.models)
    for receipt in undone.kept:
        yield f"Still shared: “{short(receipt.summary)}”. /undo {receipt.id} takes it back for every user."


def both_line(passage_id: int, others: Sequence[Passage], undo: str) -> str:
    """That a memory and others all hold. undo: what takes it back."""
    named = "; ".join(f"{other.passage_id} “{short(other.text)}”" for other in others[:_NAMED])
    return f"Both hold: {passage_id}, and {named}. {undo} takes it back."


def instead_line(passage_id: int, written: str, older: PassageLine, undo: str) -> str:
    """That what was written took the place of a memory. undo: what takes it back."""
    was = f"{older.passage_id} “{short(older.text)}”"
    return f"{passage_id} “{short(written)}” is in the place of {was}. {undo} takes it back."


WROTE = {"add": "added", "modify": "changed", "delete": "removed"}  # what a write did, by its action


def undone_write(receipt: Receipt) -> str:
    """What a write had done, as it is told once that is undone."""
    return f"Undone: {WROTE[receipt.action]} “{short(receipt.summary)}”."


def models_taken_back(roles: Sequence[str]) -> str:
    """That models which had learned from something do not answer any more."""
    return (
        f"The model of before answers again, since the trained one had learned from it: {', '.join(roles)}."
    )


def what_stays(said: Sequence[PassageLine]) -> Iterator[str]:
    """That a message itself has no receipt, and how it is taken back. said: the passages that hold it."""
    if not said:
        return
    ids = " ".join(str(passage.passage_id) for passage in said)
    first = f"“{short(said[0].text)}”"
    more = f" and {len(said) - 1} more passages" if len(said) > 1 else ""
    yield f"Your message stays: {first}{more} · /forget {ids} removes it."


def what_was_said(assistant: Assistant, user_id: int, undone: Iterable[Receipt]) -> Iterator[str]:
    """The same of every message whose own words taught what was taken back; nothing of a correction."""
    receipts = {receipt.id: receipt for receipt in undone if receipt.action != "delete"}
    for turn_id in sorted({it.turn_id for it in receipts.values() if it.turn_id is not None}):
        claims = assistant.stores.claims.of_turn(user_id, turn_id)
        if any(claim.origin == "turn" and claim.receipt_id in receipts for claim in claims):
            yield from what_stays(assistant.stores.catalogue.said_in(user_id, turn_id))


def in_chat(error: VouchError) -> VouchError:
    """The same, with the way on as it is typed in a chat."""
    error.hint = told_in_chat(error.hint)
    return error


def told_in_chat(told: str) -> str:
    """A sentence that names the command of a shell, with the one of the chat in its place."""
    return _UNDO_IN_SHELL.sub(r"/undo \1", told)


def in_shell(command: str) -> str:
    """A command of the chat that an answer offers, as it is typed in a shell."""
    name, *rest = command.removeprefix("/").split(" ", 2)
    return shlex.join(["vouch", "memory", name, *rest])


def _taken_back(receipts: Sequence[Receipt]) -> str:
    if len(receipts) == 1:
        return undone_write(receipts[0])
    out = sum(receipt.action == "delete" for receipt in receipts)
    facts = len(receipts) - out
    if not facts:
        told = f"what one message had taken out, {out} passages"
    else:
        told = f"{facts} fact{'s' if facts > 1 else ''} of one message"
        told += f", and {out} that it had taken out" if out else ""
    named = "; ".join(f"“{short(receipt.summary, _SHORT)}”" for receipt in reversed(receipts[-_NAMED:]))
    more = f"; and {len(receipts) - _NAMED} more" if len(receipts) > _NAMED else ""
    return f"Took back {told}: {named}{more}."
