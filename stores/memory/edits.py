"""What a user keeps: remembering, setting aside, and taking any write back.

Every write has a receipt. A version names the receipt that added it and the one that removed it, so
undoing a receipt is: remove what it added, revive what it removed. What was forgotten for good
(`stores.forgetting.forgetting`) has no text any more, and no undo brings it back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import CannotUndo, NotFound, WrongUsage
from stores.base.passages import SHARED, own_space
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import (
    DocumentVersion,
    Feedback,
    PassageVersion,
    Proposal,
    Receipt,
    StatedClaim,
    User,
    known_id,
)
from stores.learning.seeing_rounds import rounds_that_saw, take_models_back
from stores.memory.undone_imports import imported_versions, withdraw_history
from stores.versions.changes import NewVersion, add_versions, remove_versions, revive_versions
from stores.versions.live import live_passages
from stores.versions.passage_lines import PassageLine, live_version_ids, visible_line
from stores.versions.receipts import (
    is_shared,
    latest_receipts,
    nothing_to_undo,
    open_receipt,
    receipt_to_undo,
    shortened,
    standing_receipts,
)

EDITABLE = frozenset({"note", "fact", "preference", "correction"})  # kinds of memories, in a person's words


@dataclass(frozen=True)
class SetAside:
    """What no answer uses any more, until its receipt is undone."""

    receipt_id: int
    lines: tuple[PassageLine, ...]


@dataclass(frozen=True)
class Undone:
    """What one undo has taken back."""

    receipts: tuple[Receipt, ...]  # newest first, as they were taken back; one at least
    back: tuple[PassageLine, ...]  # what is known again
    kept: tuple[Receipt, ...]  # of the same message, but shared: undone only by their number
    models: tuple[str, ...] = ()  # roles whose model had learned from it, and does not answer any more


class Knowledge:
    """What a user may change of what is known, and change back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def remember(
        self, user_id: int, written: str, *, kind: str = "note", turn_id: int | None = None
    ) -> tuple[int, int]:
        """Keeps a note in the user's own memory; returns its passage id and the receipt's."""
        written = well_formed(written)
        with self._database.writing() as sql:
            space = own_space(user_id)
            receipt_id = open_receipt(sql, user_id, "add", space, shortened(written), turn_id=turn_id)
            version_ids = add_versions(
                sql,
                space,
                [NewVersion(text=written, kind=kind, turn_id=turn_id)],
                author="user",
                receipt_id=receipt_id,
            )
            version = sql.get_one(PassageVersion, version_ids[0])
            return version.passage_id, receipt_id

    def set_aside(self, user_id: int, passage_ids: Sequence[int], *, summary: str | None = None) -> SetAside:
        """Takes passages out of every answer from now on, all of them or none; undo brings them back.

        A shared passage can be set aside by the user who added it. summary: of the receipt, in a person's
        words; what the passages say when it is left out.
        """
        with self._database.writing() as sql:
            lines = [visible_line(sql, user_id, passage_id) for passage_id in passage_ids]
            versions: list[int] = []
            for line in lines:
                if line.scope == "shared":
                    _must_have_added(sql, user_id, line.passage_id)
                versions.extend(live_version_ids(sql, line.passage_id))
            spaces = {SHARED if line.scope == "shared" else own_space(user_id) for line in lines}
            told = shortened("; ".join(line.text for line in lines) if summary is None else summary)
            space = spaces.pop() if len(spaces) == 1 else own_space(user_id)
            receipt_id = open_receipt(sql, user_id, "delete", space, told)
            remove_versions(sql, versions, receipt_id=receipt_id)
        return SetAside(receipt_id, tuple(lines))

    def edit(self, user_id: int, passage_id: int, written: str) -> int:
        """Gives a memory of the user's own another text; returns the receipt's id.

        The old one stays readable.
        Raises `WrongUsage` for a message, which is what was said, and for a document, which is replaced by
        its file.
        """
        written = well_formed(written).strip()
        if not written:
            raise WrongUsage("the new text is empty", hint="`vouch memory forget` takes a memory away.")
        with self._database.writing() as sql:
            line = visible_line(sql, user_id, passage_id)
            if line.scope == "shared" or line.kind not in EDITABLE:
                kind = "shared" if line.scope == "shared" else f"a {line.kind}"
                raise WrongUsage(
                    f"passage {passage_id} is {kind}, and cannot be edited",
                    hint=f"What can: {', '.join(sorted(EDITABLE))} of your own.",
                )
            space = own_space(user_id)
            receipt_id = open_receipt(sql, user_id, "modify", space, shortened(written))
            [old] = live_version_ids(sql, passage_id)
            remove_versions(sql, [old], receipt_id=receipt_id)
            new = NewVersion(text=written, title=line.title, passage_id=passage_id, kind=line.kind)
            add_versions(sql, space, [new], author="user", receipt_id=receipt_id)
        return receipt_id

    def receipts(self, user_id: int, *, limit: int = 20) -> list[Receipt]:
        """What this user's writes did and can be undone, newest first."""
        with self._database.reading() as sql:
            return list(sql.scalars(standing_receipts(user_id).limit(limit)))

    def latest(
        self, user_id: int, *, session_id: int | None = None, also: Collection[int] = ()
    ) -> list[Receipt]:
        """What `undo_latest` would be about, newest first: one write, or all that one message taught."""
        with self._database.reading() as sql:
            return latest_receipts(sql, user_id, session_id=session_id, also=also)

    def undo(self, user_id: int, receipt_id: int | None = None) -> tuple[Receipt, list[PassageLine]]:
        """Takes a write back, the latest when none is named; returns its receipt and what came back."""
        with self._database.writing() as sql:
            receipt = receipt_to_undo(sql, user_id, receipt_id)
            back = _live_again(sql, user_id, _take_back(sql, user_id, receipt))
            _models_of_before(sql, [receipt])
        return receipt, back

    def undo_together(self, user_id: int, receipt_ids: Sequence[int]) -> Undone:
        """Takes named writes back, in this order, also shared ones; all of them or none."""
        with self._database.writing() as sql:
            receipts = [receipt_to_undo(sql, user_id, receipt_id) for receipt_id in receipt_ids]
            revived = [version for receipt in receipts for version in _take_back(sql, user_id, receipt)]
            back = _live_again(sql, user_id, revived)
            models = _models_of_before(sql, receipts)
        return Undone(tuple(receipts), tuple(back), (), models)

    def undo_latest(
        self, user_id: int, *, session_id: int | None = None, also: Collection[int] = ()
    ) -> Undone:
        """Takes the latest write back, with all that the same message taught; all of it or nothing.

        session_id: the latest of that session, or of the receipts that `also` names. What is shared is left.
        Raises `NotFound` where there is nothing, and `CannotUndo` where only what is shared is left.
        """
        with self._database.writing() as sql:
            receipts = latest_receipts(sql, user_id, session_id=session_id, also=also)
            if not receipts:
                raise nothing_to_undo(in_session=session_id is not None)
            own = [receipt for receipt in receipts if receipt.space != SHARED]
            if not own:
                raise is_shared(receipts[0])
            revived = [version for receipt in own for version in _take_back(sql, user_id, receipt)]
            back = _live_again(sql, user_id, revived)
            kept = [receipt for receipt in receipts if receipt.space == SHARED]
            models = _models_of_before(sql, own)
        return Undone(tuple(own), tuple(back), tuple(kept), models)


def _take_back(sql: SqlSession, user_id: int, receipt: Receipt) -> list[int]:
    """Undoes one receipt; returns the versions that it revived."""
    receipt_id = known_id(receipt.id)
    imported = imported_versions(sql, receipt_id)
    added = [*_added_by(sql, receipt_id), *imported]
    removed = _removed_by(sql, receipt_id)
    _must_be_newest(sql, added, receipt_id)
    _must_have_kept_its_document(sql, removed, receipt_id)
    remove_versions(sql, added, receipt_id=receipt_id)
    revived = revive_versions(sql, set(removed).difference(added))
    moment = now()
    sql.execute(
        update(DocumentVersion)
        .where(
            col(DocumentVersion.removed_by) == receipt_id,
            col(DocumentVersion.added_by).is_distinct_from(receipt_id),
        )
        .values(removed_at=None, removed_by=None)
    )
    sql.execute(
        update(DocumentVersion)
        .where(col(DocumentVersion.added_by) == receipt_id, col(DocumentVersion.removed_at).is_(None))
        .values(removed_at=moment, removed_by=receipt_id)
    )
    receipt.undone_at = moment
    if imported:
        withdraw_history(sql, receipt_id)
    sql.execute(  # what was taught is taken back with the correction that it became
        update(Feedback)
        .where(
            col(Feedback.turn_id) == receipt.turn_id,
            col(Feedback.user_id) == user_id,
            col(Feedback.rating) == "taught",
            col(Feedback.withdrawn_at).is_(None),
        )
        .values(withdrawn_at=moment)
    )
    _withdraw_claims(sql, receipt_id)
    sql.flush()
    return revived


def _models_of_before(sql: SqlSession, undone: Sequence[Receipt]) -> tuple[str, ...]:
    """Has no model answer that learned from what these wrote, or from what was taught with it."""
    versions = {version for receipt in undone for version in _added_by(sql, known_id(receipt.id))}
    taught = select(col(Feedback.turn_id)).where(
        col(Feedback.turn_id).in_([r.turn_id for r in undone if r.turn_id is not None]),
        col(Feedback.rating) == "taught",
    )
    return take_models_back(sql, rounds_that_saw(sql, versions, set(sql.scalars(taught))))


def _live_again(sql: SqlSession, user_id: int, revived: Sequence[int]) -> list[PassageLine]:
    back = live_passages(sql, revived, (SHARED, own_space(user_id)))
    return [PassageLine.of(passage) for passage in back.values()]


def _withdraw_claims(sql: SqlSession, receipt_id: int) -> None:
    """What was learned by a write is no lesson any more once the write is undone."""
    claims = sql.scalars(select(col(StatedClaim.id)).where(col(StatedClaim.receipt_id) == receipt_id)).all()
    sql.execute(
        update(StatedClaim)
        .where(col(StatedClaim.receipt_id) == receipt_id, col(StatedClaim.state) != "forgotten")
        .values(state="withdrawn")
    )
    sql.execute(
        update(Proposal)
        .where(
            or_(col(Proposal.claim_id).in_(claims), col(Proposal.receipt_id) == receipt_id),
            col(Proposal.state).in_(("open", "accepted")),
        )
        .values(state="refused", decided_at=now())
    )


def _added_by(sql: SqlSession, receipt_id: int) -> list[int]:
    statement = select(col(PassageVersion.id)).where(col(PassageVersion.added_by) == receipt_id)
    return [known_id(i) for i in sql.scalars(statement)]


def _removed_by(sql: SqlSession, receipt_id: int) -> list[int]:
    """What a receipt removed, without what was forgotten or came by a write that was taken back since."""
    statement = (
        select(col(PassageVersion.id))
        .outerjoin(Receipt, col(Receipt.id) == col(PassageVersion.added_by))
        .where(
            col(PassageVersion.removed_by) == receipt_id,
            col(PassageVersion.erased_at).is_(None),
            col(Receipt.undone_at).is_(None),
        )
    )
    return [known_id(i) for i in sql.scalars(statement)]


def _must_be_newest(sql: SqlSession, added: Sequence[int], receipt_id: int) -> None:
    """A version that a later write replaced cannot be taken back before that write is."""
    for start in range(0, len(added), 5_000):
        later = sql.scalar(
            select(col(PassageVersion.removed_by))
            .join(Receipt, col(Receipt.id) == col(PassageVersion.removed_by))
            .where(
                col(PassageVersion.id).in_(added[start : start + 5_000]),
                col(PassageVersion.removed_by) > receipt_id,  # no earlier one, as imported history has
                col(Receipt.action) != "delete",
            )
            .limit(1)
        )
        if later is not None:
            raise _changed_since(receipt_id, later)


def _must_have_kept_its_document(sql: SqlSession, removed: Sequence[int], receipt_id: int) -> None:
    """A passage cannot come back into a document whose content was replaced since."""
    for start in range(0, len(removed), 5_000):
        later = sql.scalar(
            select(col(DocumentVersion.added_by))
            .join(PassageVersion, col(PassageVersion.document_id) == col(DocumentVersion.document_id))
            .where(
                col(PassageVersion.id).in_(removed[start : start + 5_000]),
                col(DocumentVersion.removed_at).is_(None),
                or_(
                    col(DocumentVersion.added_by) > receipt_id,
                    # of an ingest that had begun before, by what is no date of a clock that was ahead
                    and_(
                        col(DocumentVersion.added_by) < receipt_id,
                        col(DocumentVersion.created_at).between(col(PassageVersion.removed_at), now()),
                    ),
                ),
            )
            .limit(1)
        )
        if later is not None:
            raise _changed_since(receipt_id, later)


def _changed_since(receipt_id: int, later: int) -> CannotUndo:
    return CannotUndo(
        f"what receipt {receipt_id} wrote was changed since by receipt {later}",
        hint=f"Undo that first: vouch memory undo {later}",
    )


def _must_have_added(sql: SqlSession, user_id: int, passage_id: int) -> None:
    adder = sql.scalar(
        select(col(Receipt.user_id))
        .join(PassageVersion, col(PassageVersion.added_by) == col(Receipt.id))
        .where(col(PassageVersion.passage_id) == passage_id, col(PassageVersion.removed_at).is_(None))
    )
    if adder != user_id:
        name = sql.scalar(select(col(User.name)).where(col(User.id) == adder)) if adder else None
        raise NotFound(
            f"passage {passage_id} is shared and was added by {name or 'somebody else'}",
            hint="Who added a shared passage can take it away.",
        )
