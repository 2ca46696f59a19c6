"""What was learned, told where it was learned, with the way back."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from stores.base.one_line import one_line, short
from stores.base.passages import STANDING

if TYPE_CHECKING:
    from stores.claims.decisions import Learned

_PROPOSED = {
    "add": "It is proposed for the shared memory",
    "modify": "A change of the shared memory is proposed",
    "delete": "A removal from the shared memory is proposed",
}


class Notices:
    """Notices of the user who sits here, put in on one thread and taken out on another."""

    def __init__(self, undo: str) -> None:
        """undo: what a person types before a receipt's number: `/undo`, or `vouch memory undo`."""
        self._undo = undo
        self._waiting: SimpleQueue[str] = SimpleQueue()
        self.told: list[str] = []  # all that was taken out

    def put(self, learned: Learned) -> None:
        """Keeps what is to be told of it, if anything."""
        if line := learned_line(learned, self._undo):
            self._waiting.put(line)

    def say(self, line: str) -> None:
        """Keeps a line of something else that happened meanwhile."""
        self._waiting.put(line)

    def take(self) -> list[str]:
        """All that were not told yet, in their order."""
        lines: list[str] = []
        while True:
            try:
                lines.append(self._waiting.get_nowait())
            except Empty:
                self.told += lines
                return lines


def brief_line(learned: Learned, undo: str) -> tuple[str, str, str]:
    """The same for a narrow line: before the quoted text, the text, and behind it; all empty without undo."""
    if learned.receipt_id is None:
        return "", "", ""
    what = "Kept as earlier" if learned.is_earlier else "Learned"
    head = "Not taken in" if learned.state == "rejected" else f"{what}, {learned.scope}"
    return f"{head}: “", one_line(learned.text), f"” · {undo} {learned.receipt_id}"


def learned_line(learned: Learned, undo: str) -> str:
    """One line on what became of a claim; empty where nothing changed."""
    said = f"“{short(learned.text)}”"
    back = f"{undo} {learned.receipt_id}"
    proposed = ""
    if learned.proposal_id is not None:
        proposed = f" {_PROPOSED[learned.proposed_action]}, as proposal {learned.proposal_id}."
    if learned.receipt_id is None and learned.state == "rejected":
        return f"It stays yours alone: {said}: {learned.reason}."
    if learned.receipt_id is None and learned.status == "incorrect":
        return f"Now in doubt: {said}: {learned.reason}. It stays yours, as {learned.passage_id}."
    if learned.receipt_id is None:
        return f"{said}:{proposed}" if proposed else ""
    if learned.state == "rejected":
        return f"Not taken in: {said}: {learned.reason}. {back} keeps it."
    where = f"{learned.scope}, as {learned.passage_id}"
    if learned.is_earlier:
        reason = "you have said something newer since"
        return f"Kept as earlier, {where}: {said}: {reason}. {back} takes it back."
    instead = ""
    if learned.instead_of:
        older = "; ".join(f"“{short(passage.text)}”" for passage in learned.instead_of)
        both = "/both" if undo == "/undo" else "vouch memory both"
        instead = f" Instead of: {older}. {both} {learned.passage_id} keeps both."
    always = " It goes with each question to a chat model: /profile." if learned.kind == STANDING else ""
    return f"Learned, {where}: {said}.{always}{instead} {back} takes it back.{proposed}"
