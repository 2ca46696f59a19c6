"""A passage taken out of answers: one's own at once, with undo; a shared one once somebody else agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stores.one_line import short

if TYPE_CHECKING:
    from assistant.wiring import Assistant


@dataclass(frozen=True)
class Removed:
    """What became of it."""

    told: str
    receipt_id: int | None  # of the removal, which can be undone; None where it was proposed alone


def remove_passage(assistant: Assistant, user_id: int, passage_id: int) -> Removed:
    """Raises `NotFound` for what is gone already, and `WrongUsage` where that was decided before."""
    line = assistant.catalogue.line(user_id, passage_id)
    if line.scope == "shared":
        number = assistant.proposals.propose_removal(user_id, passage_id)
        told = f"Proposed for removal, as proposal {number}: “{short(line.text, 40)}”. Somebody else decides."
        return Removed(told, None)
    receipt_id = assistant.knowledge.set_aside(user_id, [passage_id]).receipt_id
    assistant.indexer.catch_up()
    return Removed(f"Removed: “{short(line.text, 40)}”", receipt_id)
