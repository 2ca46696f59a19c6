"""What an accepted proposal does to a shared passage: exactly what was proposed, or nothing.

A proposal names the passage and the version that it was found to contradict. Only while that version is
live can it be accepted: who decides has read what it says, and nothing newer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session as SqlSession

from stores.base.errors import CannotAccept
from stores.base.passages import SHARED
from stores.database.tables import REMOVAL, PassageVersion, Proposal, StatedClaim, known_id
from stores.versions.changes import NewVersion, add_versions, remove_versions
from stores.versions.claim_passages import AUTHOR, live_with_text
from stores.versions.passage_lines import live_version_ids
from stores.versions.receipts import open_receipt, shortened


@dataclass(frozen=True, kw_only=True)
class SharedChange:
    """What a claim would do to a shared passage."""

    action: Literal["modify", "delete"]
    passage_id: int
    version_id: int  # of that passage as it was when this was decided
    text: str = ""  # of its new version

    def is_due(self, sql: SqlSession) -> bool:
        """Whether the passage is still as it was."""
        version = sql.get(PassageVersion, self.version_id)
        is_shared = version is not None and version.space == SHARED
        return is_shared and live_version_ids(sql, self.passage_id) == [self.version_id]


def carry_out_change(sql: SqlSession, user_id: int, proposal: Proposal) -> tuple[int, int]:
    """Gives the passage its new version, or takes it away; returns its id and the receipt's.

    Where another passage says by now what the new version would, the old one goes and nothing is added.
    Raises `CannotAccept` where the passage is not as it was.
    """
    old = _as_proposed(sql, proposal)
    is_removal = proposal.action == "delete"
    claim = sql.get_one(StatedClaim, proposal.claim_id)
    grounds: dict[str, object] = {"proposal": known_id(proposal.id)}
    if proposal.reason != REMOVAL:
        grounds |= {"claim": claim.text, "reason": proposal.reason}
    told = shortened(old.text if is_removal else proposal.text)
    receipt_id = open_receipt(sql, user_id, proposal.action, SHARED, told, grounds=grounds)
    saying = old.passage_id if is_removal else live_with_text(sql, SHARED, proposal.text)
    remove_versions(sql, [known_id(old.id)], receipt_id=receipt_id)
    if not is_removal and saying in (None, old.passage_id):
        new = NewVersion(
            text=proposal.text,
            title=old.title,
            passage_id=old.passage_id,
            document_id=old.document_id,
            position=old.position,
        )
        add_versions(sql, SHARED, [new], author=AUTHOR, receipt_id=receipt_id)
    return old.passage_id, receipt_id


def _as_proposed(sql: SqlSession, proposal: Proposal) -> PassageVersion:
    """The version that it is about, if that is the live one."""
    put_away = (
        f"Put it away: vouch memory proposals --refuse {proposal.id}, or d in F3. "
        "What still holds can be stated, or proposed, again."
    )
    live = live_version_ids(sql, proposal.passage_id or 0)
    if not live:
        raise CannotAccept(f"passage {proposal.passage_id} is gone", hint=put_away)
    if live != [proposal.version_id]:
        raise CannotAccept(
            f"passage {proposal.passage_id} has changed since proposal {proposal.id} was made", hint=put_away
        )
    return sql.get_one(PassageVersion, live[0])
