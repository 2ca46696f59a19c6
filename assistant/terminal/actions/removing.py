"""A passage taken out of answers: one's own at once, with undo; a shared one once somebody else agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assistant.terminal.actions.written_here import Written
from assistant.terminal.input.menus import is_yes
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant


def sure_to_propose(text: str) -> str:
    """What is asked before a shared passage is proposed for removal."""
    return f"Propose to remove, for every user: “{short(text)}”? Somebody else decides. [y/N]"


def remove_passage(assistant: Assistant, user_id: int, passage_id: int) -> Written:
    """Raises `NotFound` for what is gone already, and `WrongUsage` where that was decided before."""
    line = assistant.stores.catalogue.line(user_id, passage_id)
    if line.scope == "shared":
        number = assistant.stores.proposals.propose_removal(user_id, passage_id)
        told = f"Proposed for removal, as proposal {number}: “{short(line.text, 40)}”; somebody else decides"
        return Written(told, proposal_id=number)
    receipt_id = assistant.stores.knowledge.set_aside(user_id, [passage_id]).receipt_id
    assistant.search.indexer.catch_up()
    return Written(f"Removed: “{one_line(line.text)}”", receipt_id)  # all of it: it may state several things


def propose_when_sure(
    assistant: Assistant,
    user_id: int,
    passage_id: int,
    *,
    ask: Callable[[], str | None],
    note: Callable[[Written], None],
) -> Iterator[str]:
    """Proposes that a shared passage be removed, if the person says yes, line by line.

    ask: reads the answer to what was just said. note: is given what was written.
    """
    yield sure_to_propose(assistant.stores.catalogue.line(user_id, passage_id).text)
    if not is_yes(ask()):
        yield "Nothing was proposed."
        return
    written = remove_passage(assistant, user_id, passage_id)
    note(written)
    yield f"{written.told}. /undo takes the proposal back."
