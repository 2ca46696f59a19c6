"""Passages, claims, receipts and documents without the words: their rows and ids stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.database.rows import all_ids, found_by, in_parts, update_by
from stores.database.tables import (
    Document,
    DocumentVersion,
    PassageVector,
    PassageVersion,
    Proposal,
    Receipt,
    StatedClaim,
    known_id,
)
from stores.forgetting.erasure_scope import Chosen, unerased
from stores.versions.changes import remove_versions, text_hash
from stores.versions.links import forget_links
from stores.words.word_overlap import FORGOTTEN, Pieces

_NAMES_ONLY = {"ingest", "import"}  # authors whose receipts name a file or a number, and quote nothing


def erase_passages(
    sql: SqlSession, versions: dict[int, PassageVersion], proposals: Sequence[Proposal]
) -> set[int]:
    """Returns the passages that another user took into the shared memory from a proposal: they stay."""
    remove_versions(
        sql, [i for i, version in versions.items() if version.removed_at is None], receipt_id=None
    )
    update_by(
        sql,
        PassageVersion,
        col(PassageVersion.id),
        versions,
        title="",
        text="",
        text_hash=text_hash("", ""),  # which fits what stands there now
        erased_at=now(),
    )
    forget_links(sql, {version.passage_id for version in versions.values()})
    for some in in_parts(versions):
        sql.execute(delete(PassageVector).where(col(PassageVector.version_id).in_(some)))
    receipts = {proposal.receipt_id for proposal in proposals if proposal.receipt_id is not None}
    taken_in = select(col(PassageVersion.passage_id)).where(
        col(PassageVersion.added_by).in_(receipts), *unerased()
    )
    return all_ids(sql, taken_in)


def erase_claims(sql: SqlSession, claims: Iterable[StatedClaim]) -> list[Proposal]:
    """Returns what was proposed of them, without its text."""
    ids = []
    for claim in claims:
        claim.text = claim.text_key = claim.quote = ""
        claim.grounds, claim.state = {}, "forgotten"
        ids.append(known_id(claim.id))
    sql.flush()
    proposals = found_by(sql, Proposal, col(Proposal.claim_id), ids)
    for proposal in proposals:
        proposal.text = proposal.text_key = ""
        if proposal.state == "open":
            proposal.state, proposal.decided_at = "refused", now()
    return proposals


def erase_proposed(sql: SqlSession, versions: dict[int, PassageVersion]) -> None:
    """What was proposed about these versions, or became them, holds no words of theirs any more."""
    written = {version.added_by for version in versions.values()} - {None}
    about = found_by(sql, Proposal, col(Proposal.version_id), versions)
    for proposal in [*about, *found_by(sql, Proposal, col(Proposal.receipt_id), written)]:
        proposal.text = proposal.text_key = ""
        if proposal.state == "open":
            proposal.state, proposal.decided_at = "refused", now()


def erase_receipts(sql: SqlSession, chosen: Chosen, proposals: Sequence[Proposal], pieces: Pieces) -> None:
    """Receipts of the user that tell of it say nothing more; others' lose the very words."""
    versions, claims = chosen.versions.values(), chosen.claims.values()
    ids = {r for version in versions for r in (version.added_by, version.removed_by)}
    ids |= {claim.receipt_id for claim in claims} | {proposal.receipt_id for proposal in proposals}
    for receipt in found_by(sql, Receipt, col(Receipt.id), ids - {None}):
        wrote = or_(col(PassageVersion.added_by) == receipt.id, col(PassageVersion.removed_by) == receipt.id)
        added = col(PassageVersion.added_by) == receipt.id
        authors = set(sql.scalars(select(col(PassageVersion.author)).where(added).distinct()))
        if receipt.user_id != chosen.user_id or (authors and authors <= _NAMES_ONLY):
            receipt.summary = pieces.cut(receipt.summary)
            receipt.grounds = pieces.cut_all(receipt.grounds)
        else:
            receipt.summary, receipt.grounds = FORGOTTEN, {}
        left = sql.scalar(select(col(PassageVersion.id)).where(wrote, *unerased()).limit(1))
        if left is None and receipt.user_id == chosen.user_id:
            receipt.undone_at = receipt.undone_at or now()  # there is nothing left to take back


def erase_documents(sql: SqlSession, versions: Iterable[PassageVersion], pieces: Pieces) -> None:
    """A document's name stays, unless the words stand in it; its title and hash go with its last passage."""
    ids = {version.document_id for version in versions if version.document_id is not None}
    for document in found_by(sql, Document, col(Document.id), ids):
        document.collection = pieces.cut(document.collection)
        source = pieces.cut(document.source)
        if source != document.source:
            document.source = f"{source} {document.id}"  # a space has each source once
        here = col(PassageVersion.document_id) == document.id
        is_empty = sql.scalar(select(col(PassageVersion.id)).where(here, *unerased()).limit(1)) is None
        for version in found_by(sql, DocumentVersion, col(DocumentVersion.document_id), [document.id]):
            version.title = "" if is_empty else pieces.cut(version.title)
            if is_empty:
                version.content_hash = version.file_state = ""
