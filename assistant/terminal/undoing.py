"""What is told when a write was taken back: in one line, however much one message had taught."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stores.one_line import short

if TYPE_CHECKING:
    from stores.catalogue import PassageLine
    from stores.errors import VouchError
    from stores.knowledge import Undone
    from stores.records import Receipt

_NAMED = 3  # passages that are told one by one
_UNDO_IN_SHELL = re.compile(r"vouch memory undo (\d+)")


def undone_lines(undone: Undone) -> Iterator[str]:
    """What was taken back, what is known again, and what of the same message stays for others."""
    yield _taken_back(undone.receipts)
    if len(undone.back) > _NAMED:
        yield f"Back: {len(undone.back)} passages."
    else:
        for passage in undone.back:
            yield f"Back: {passage.passage_id} “{short(passage.text)}”."
    for receipt in undone.kept:
        yield f"Still shared: “{short(receipt.summary)}”. /undo {receipt.id} takes it back for every user."


def what_stays(said: Sequence[PassageLine]) -> Iterator[str]:
    """That a message itself has no receipt, and how it is taken back. said: the passages that hold it."""
    if not said:
        return
    ids = " ".join(str(passage.passage_id) for passage in said)
    first = f"“{short(said[0].text)}”"
    more = f" and {len(said) - 1} more passages" if len(said) > 1 else ""
    yield f"What you said stays: {first}{more} · /forget {ids} takes it back."


def in_chat(error: VouchError) -> VouchError:
    """The same, with the way on as it is typed in a chat."""
    error.hint = told_in_chat(error.hint)
    return error


def told_in_chat(told: str) -> str:
    """A sentence that names the command of a shell, with the one of the chat in its place."""
    return _UNDO_IN_SHELL.sub(r"/undo \1", told)


def _taken_back(receipts: Sequence[Receipt]) -> str:
    if len(receipts) == 1:
        return f"Undone: {receipts[0].action} “{short(receipts[0].summary)}”."
    out = sum(receipt.action == "delete" for receipt in receipts)
    facts = len(receipts) - out
    if not facts:
        return f"Took back what your message had taken out: {out} passages."
    told = f"Took back {facts} fact{'s' if facts > 1 else ''} from your message"
    return f"{told}, and {out} that it had taken out." if out else f"{told}."
