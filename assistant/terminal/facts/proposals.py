"""Open proposals: which of them a user may read, and each of them on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.claims.proposals import OpenProposal


def proposals_shown(assistant: Assistant, user_id: int) -> list[OpenProposal]:
    """The open proposals that a user may read: all of them for who may decide."""
    named = assistant.given.settings.memory.curators.split()
    curators = {assistant.stores.journal.known_user_id(name) for name in named} - {
        0
    }  # 0: nobody of this name yet
    return assistant.stores.proposals.shown_to(user_id, is_curator=user_id in curators)


def proposed_line(proposal: OpenProposal) -> str:
    """What accepting it would do, on one line: the fact that would be shared, the change, or the removal."""
    since = " (changed since)" if proposal.is_outdated else ""
    if proposal.action == "modify":
        return f"change of: {one_line(proposal.replaces)} → {one_line(proposal.text)}{since}"
    if proposal.action == "delete":
        because = f", because of: {one_line(proposal.because)}" if proposal.because else ""
        return f"removal of: {one_line(proposal.text)}{because}{since}"
    return one_line(proposal.text)
