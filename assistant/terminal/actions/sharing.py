"""A memory of one's own, offered to every user: through the check, and never past it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.base.errors import WrongUsage
from stores.claims.claims import NewClaim
from stores.claims.decisions import Learned
from stores.memory.edits import EDITABLE

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant


def share_memory(assistant: Assistant, user_id: int, passage_id: int) -> Learned | None:
    """Has a memory of the user's own weighed for the shared memory; None where that must wait."""
    line = assistant.stores.catalogue.line(user_id, passage_id)
    if line.scope == "shared":
        raise WrongUsage(f"passage {passage_id} is shared already")
    if line.kind not in EDITABLE:
        raise WrongUsage(
            f"passage {passage_id} is a {line.kind}",
            hint="Facts and notes can be offered; a document is shared by `vouch ingest --shared`.",
        )
    kind = "preference" if line.kind == "preference" else "fact"
    stated = [claim.about for claim in assistant.stores.claims.of_passage(user_id, passage_id)]
    about = stated[0] if stated else "world"
    claim = NewClaim(text=line.text, quote=line.text, kind=kind, about=about)
    return _weighed(assistant, user_id, claim, passage_id)


def weigh_for_all(assistant: Assistant, user_id: int, text: str) -> Learned | None:
    """Has another wording of a shared fact weighed like any statement; None where that must wait."""
    return _weighed(assistant, user_id, NewClaim(text=text, quote=text, kind="fact", about="world"), None)


def _weighed(assistant: Assistant, user_id: int, claim: NewClaim, passage_id: int | None) -> Learned | None:
    claim_id = assistant.stores.claims.put_one(user_id, claim, origin="share", passage_id=passage_id)
    found: list[Learned] = []
    assistant.turns.host.remember(user_id, found.append)
    assistant.turns.host.settle()
    return next((learned for learned in found if learned.claim_id == claim_id), None)


def shared_line(learned: Learned) -> str:
    """What became of an offer, in a person's words."""
    if learned.state == "rejected":
        return f"Not shared: {learned.reason}."
    if learned.scope == "shared" and learned.receipt_id is not None:
        return f"Shared, as {learned.passage_id}. `vouch memory undo {learned.receipt_id}` takes it back."
    if learned.scope == "shared":
        return f"Already shared, as passage {learned.passage_id}."
    if learned.proposal_id is not None and learned.proposed_action != "add":
        return (
            f"The shared memory says otherwise: the change is proposal {learned.proposal_id} now, "
            "and somebody else decides. It stays yours."
        )
    if learned.proposal_id is not None:
        return f"No shared passage decides it: it is proposal {learned.proposal_id} now, and stays yours."
    return "Not shared: no shared passage confirms it. It stays yours."
