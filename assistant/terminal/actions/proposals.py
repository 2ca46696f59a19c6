"""Proposals for the shared memory, decided by whom the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.terminal.actions.undoing import told_in_chat
from assistant.terminal.actions.written_here import Written
from stores.base.errors import WrongUsage

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_DONE = {
    "add": "shared now, as",
    "modify": "done: it changed shared passage",
    "delete": "removed: shared passage",
}


def must_be_curator(user: str, curators: str) -> None:
    """Raises `WrongUsage` for a user who may not decide. curators: names, spaces between."""
    if user not in curators.split():
        raise WrongUsage(
            f"{user} may not decide proposals",
            hint='Who may is named in settings.toml: [memory] curators = "ann bob".',
        )


def decide_proposal(
    assistant: Assistant, user: str, user_id: int, proposal_id: int, *, accepts: bool
) -> Written:
    """Takes a proposal into the shared memory, or puts it away for good, as it is told in a chat."""
    must_be_curator(user, assistant.given.settings.memory.curators)
    if not accepts:
        assistant.stores.proposals.refuse(user_id, proposal_id)
        return Written(f"Proposal {proposal_id} is put away.")
    action = assistant.stores.proposals.action(proposal_id)
    passage_id, receipt_id = assistant.stores.proposals.accept(user_id, proposal_id)
    assistant.catch_up()
    done = f"{_DONE[action]} {passage_id}"
    back = told_in_chat(f"`vouch memory undo {receipt_id}` takes it back for everybody.")
    return Written(f"Proposal {proposal_id} is {done}. {back}", receipt_id)
