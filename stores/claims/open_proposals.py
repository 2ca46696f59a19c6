"""A proposal as it is told to who reads or decides it: with the words of the passage that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session as SqlSession

from stores.database.tables import PassageVersion, Proposal, known_id
from stores.versions.passage_lines import live_version_ids


@dataclass(frozen=True, kw_only=True)
class OpenProposal:
    """What waits for a decision, and what that decision does."""

    id: int
    reason: str
    action: str  # add, modify or delete
    text: str  # what would be shared; of a removal what would go
    replaces: str = ""  # what a change would put this in the place of
    because: str = ""  # the claim by which something would go
    is_outdated: bool = False  # the passage has changed since, and it cannot be accepted
    created_at: datetime


def told_of(sql: SqlSession, proposal: Proposal) -> OpenProposal | None:
    """With the words of the version that it is about; None where that passage is gone."""
    if proposal.action == "add":
        return _told(proposal, text=proposal.text)
    version = sql.get(PassageVersion, proposal.version_id) if proposal.version_id else None
    live = live_version_ids(sql, proposal.passage_id or 0)
    if version is None or version.erased_at is not None or not live:
        return None
    is_outdated = live != [proposal.version_id]
    if proposal.action == "delete":
        return _told(proposal, text=version.text, because=proposal.text, is_outdated=is_outdated)
    return _told(proposal, text=proposal.text, replaces=version.text, is_outdated=is_outdated)


def told_without(proposal: Proposal) -> OpenProposal:
    """Without any words: those of its passage are gone."""
    return _told(proposal, text="")


def _told(
    proposal: Proposal, *, text: str, replaces: str = "", because: str = "", is_outdated: bool = False
) -> OpenProposal:
    return OpenProposal(
        id=known_id(proposal.id),
        reason=proposal.reason,
        action=proposal.action,
        text=text,
        replaces=replaces,
        because=because,
        is_outdated=is_outdated,
        created_at=proposal.created_at,
    )
