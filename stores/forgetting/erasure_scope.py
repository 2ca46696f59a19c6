"""What goes with what was named: found before anything is changed.

A passage and the words of a turn go together, one step far: with a passage the messages that it was learned
from, with a message the passages that were learned from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.errors import NotFound
from stores.base.passages import SHARED, own_space
from stores.database.rows import all_ids, found_by
from stores.database.tables import (
    Document,
    PassageIdentity,
    PassageVersion,
    Receipt,
    StatedClaim,
    Turn,
    User,
    known_id,
)
from stores.versions.live import own_spaces
from stores.versions.passage_lines import PassageLine, not_visible
from stores.words.word_overlap import overlap, stands_in

_HOLDING = ("pending", "stored", "confirmed", "withdrawn")  # claims whose passage says what they say
_WRITTEN = ("stored", "withdrawn")  # claims whose passage was written for them


class Chosen:
    """What is to go, found before anything is changed."""

    def __init__(self, sql: SqlSession, user_id: int) -> None:
        self._sql = sql
        self.user_id = user_id
        self.versions: dict[int, PassageVersion] = {}
        self.lines: dict[int, PassageLine] = {}  # by passage
        self.claims: dict[int, StatedClaim] = {}
        self.turns: set[int] = set()  # of this user, in which it was said
        self.still_in: set[int] = set()

    def add_passage(self, passage_id: int) -> None:
        """All versions of it that this user may take away. Raises `NotFound`."""
        identity = self._sql.get(PassageIdentity, passage_id)
        if identity is None or identity.space not in (SHARED, own_space(self.user_id)):
            raise not_visible(passage_id)
        versions = self._sql.scalars(
            select(PassageVersion)
            .where(col(PassageVersion.passage_id) == passage_id, *unerased())
            .order_by(col(PassageVersion.removed_at).is_(None), col(PassageVersion.number))
        ).all()
        if not versions:
            raise NotFound(f"passage {passage_id} was forgotten before")
        newest = versions[-1]  # the live one, if there is one
        if identity.space == SHARED:
            versions = self._added_by_user(versions)
            if newest not in versions:
                raise _added_by_another(self._sql, newest)
        source = ""
        if newest.document_id is not None:
            source = self._sql.get_one(Document, newest.document_id).source
        self.versions |= {known_id(version.id): version for version in versions}
        self.lines[passage_id] = _line(identity, newest, source)
        if identity.kind == "message" and identity.turn_id is not None:
            self.turns.add(identity.turn_id)

    def add_said_in(self, turn_ids: Iterable[int]) -> list[int]:
        """What this user said in these turns of theirs; returns the passages that hold it."""
        identities = found_by(self._sql, PassageIdentity, col(PassageIdentity.turn_id), turn_ids)
        said = sorted(known_id(each.id) for each in identities if each.kind == "message")
        versions = found_by(self._sql, PassageVersion, col(PassageVersion.passage_id), said, *unerased())
        still = sorted({version.passage_id for version in versions})
        for passage_id in still:
            self.add_passage(passage_id)
        return still

    def add_own_space(self) -> None:
        """Everything in this user's own memory, their knowledge bases included."""
        rows = self._sql.execute(
            select(PassageVersion, PassageIdentity, col(Document.source))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .outerjoin(Document, col(Document.id) == col(PassageVersion.document_id))
            .where(col(PassageVersion.space).in_(own_spaces(self._sql, self.user_id)), *unerased())
            .order_by(col(PassageVersion.removed_at).is_(None), col(PassageVersion.number))
        )
        for version, identity, source in rows:  # the live one of a passage comes last
            self.versions[known_id(version.id)] = version
            self.lines[version.passage_id] = _line(identity, version, source or "")

    def add_what_belongs_to(self, named: Sequence[int]) -> None:
        """The claims that named passages hold, with the words they rest on, and the other way around."""
        mine = col(StatedClaim.user_id) == self.user_id
        in_turns = self._claims(mine, column=col(StatedClaim.turn_id), among=self.turns, states=None)
        resting = [claim for claim in in_turns if claim.origin == "turn" and self._rests_on_chosen(claim)]
        held = self._claims(mine, column=col(StatedClaim.passage_id), among=named)
        for claim in held:
            self._add_words_of(claim)
        self._add_written(resting)
        first = [*held, *resting]
        quotes: dict[int | None, list[str]] = {}
        for claim in first:
            quotes.setdefault(claim.turn_id, []).append(claim.quote)
        beside = [  # other claims that rest on the same words
            claim
            for claim in self._claims(mine, column=col(StatedClaim.turn_id), among=self.turns, states=None)
            if any(overlap(quote, claim.quote) for quote in quotes.get(claim.turn_id, ()))
        ]
        everybodys = self._claims(column=col(StatedClaim.passage_id), among=self._whole())
        self._take([*first, *beside, *everybodys])

    def add_all_claims(self) -> None:
        """Every claim of the user, with the passages written for them."""
        claims = self._claims(column=col(StatedClaim.user_id), among=[self.user_id], states=None)
        self._add_written(claims)
        self._take(claims)

    def texts(self) -> list[str]:
        """The words that are to stand nowhere any more."""
        own = [claim for claim in self.claims.values() if claim.user_id == self.user_id]
        return [
            *(version.text for version in self.versions.values()),
            *(words for claim in own for words in (claim.text, claim.quote)),
            *(turn.message for turn in found_by(self._sql, Turn, col(Turn.id), self.turns)),
        ]

    def _claims(
        self, *conditions: Any, column: Any, among: Iterable[int], states: Sequence[str] | None = _HOLDING
    ) -> list[StatedClaim]:
        """states: None for any but those forgotten before."""
        is_wanted = col(StatedClaim.state) != "forgotten"
        if states is not None:
            is_wanted = col(StatedClaim.state).in_(states)
        return found_by(self._sql, StatedClaim, column, among, is_wanted, *conditions)

    def _whole(self) -> set[int]:
        """The chosen passages of which no version is left."""
        found = found_by(self._sql, PassageVersion, col(PassageVersion.passage_id), self.lines, *unerased())
        return set(self.lines) - {v.passage_id for v in found if v.id not in self.versions}

    def _take(self, claims: Iterable[StatedClaim]) -> None:
        self.claims |= {known_id(claim.id): claim for claim in claims}

    def _add_words_of(self, claim: StatedClaim) -> None:
        """The passages of the message that hold a claim's quote; all of that message where none does."""
        if claim.origin != "turn" or claim.turn_id is None:
            return
        versions = self._said_in(claim.turn_id)
        holding = [version for version in versions if stands_in(claim.quote, version.text)]
        for passage_id in {version.passage_id for version in holding or versions}:
            self.add_passage(passage_id)
        self.turns.add(claim.turn_id)

    def _add_written(self, claims: Iterable[StatedClaim]) -> None:
        for claim in claims:
            if claim.passage_id is None or claim.passage_id in self.lines:
                continue
            if claim.state in _WRITTEN:
                with suppress(NotFound):  # somebody else's by now, or forgotten before
                    self.add_passage(claim.passage_id)
            elif claim.state == "confirmed":
                self.still_in.add(claim.passage_id)

    def _rests_on_chosen(self, claim: StatedClaim) -> bool:
        assert claim.turn_id is not None, "it was asked for by its turn"
        holding = [v for v in self._said_in(claim.turn_id) if stands_in(claim.quote, v.text)]
        return not holding or any(v.id in self.versions for v in holding)

    def _said_in(self, turn_id: int) -> Sequence[PassageVersion]:
        return self._sql.scalars(
            select(PassageVersion)
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(
                col(PassageIdentity.turn_id) == turn_id, col(PassageIdentity.kind) == "message", *unerased()
            )
        ).all()

    def _added_by_user(self, versions: Sequence[PassageVersion]) -> list[PassageVersion]:
        receipts = {version.added_by for version in versions}
        statement = select(col(Receipt.id)).where(
            col(Receipt.id).in_(receipts), col(Receipt.user_id) == self.user_id
        )
        mine = all_ids(self._sql, statement)
        return [version for version in versions if version.added_by in mine]


def unerased() -> tuple[Any, ...]:
    """The condition that a version was not forgotten."""
    return (col(PassageVersion.erased_at).is_(None),)


def _line(identity: PassageIdentity, version: PassageVersion, source: str) -> PassageLine:
    return PassageLine(
        version.passage_id,
        identity.kind,
        "shared" if identity.space == SHARED else "yours",
        version.title,
        version.text,
        source,
        identity.created_at,
    )


def _added_by_another(sql: SqlSession, version: PassageVersion) -> NotFound:
    adder = sql.scalar(
        select(col(User.name))
        .join(Receipt, col(Receipt.user_id) == col(User.id))
        .where(col(Receipt.id) == version.added_by)
    )
    return NotFound(
        f"passage {version.passage_id} is shared and was added by {adder or 'somebody else'}",
        hint="Who added a shared passage can forget it.",
    )
