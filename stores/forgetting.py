"""Forgetting for good: no row, index or file of the database holds the words any more.

    choose (what goes with what was named) -> erase (one transaction, with a job) -> compact (the bytes)

Rows and ids stay, so that what refers to them stays true; their texts do not. A passage and the words of a
turn go together, one step far: with a passage the messages that it was learned from, with a message the
passages that were learned from it. Compacting waits as a job until nobody holds an older state open.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sqlalchemy import Engine, delete, or_, select, text, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import SQLModel, col

from stores.catalogue import PassageLine, not_visible
from stores.changes import remove_versions, text_hash
from stores.database import Database, told_plainly
from stores.errors import NotFound, StoreUnavailable
from stores.lexical import tokens
from stores.records import (
    SHARED,
    Document,
    DocumentVersion,
    Feedback,
    FilledIndex,
    Job,
    PassageIdentity,
    PassageVector,
    PassageVersion,
    Proposal,
    Receipt,
    Retrieval,
    RetrievedPassage,
    Round,
    Session,
    StatedClaim,
    Turn,
    User,
    known_id,
    now,
    own_space,
)

FORGOTTEN = "[forgotten]"  # stands where a text was
_AT_ONCE = 2_000  # rows or ids in one statement
_HOLDING = ("pending", "stored", "confirmed", "withdrawn")  # claims whose passage says what they say
_WRITTEN = ("stored", "withdrawn")  # claims whose passage was written for them
_NAMES_ONLY = {"ingest", "import"}  # authors whose receipts name a file or a number, and quote nothing
_UNSPACED_FROM = "\u2e80"  # scripts from here on put no space between words

_FTS5_TABLES = ("shared_words", "own_words")
_SERVER_TABLES = (
    "passage_versions passages passage_vectors passage_words word_counts document_versions documents turns "
    "retrievals sessions feedback receipts claims proposals jobs"
).split()

M = TypeVar("M", bound=SQLModel)


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What is gone, and what still holds it. All of one user's, but for a count."""

    lines: tuple[PassageLine, ...]  # as they were
    with_them: tuple[PassageLine, ...]  # what was said and what was learned from it
    claims: int
    turns: tuple[int, ...]  # whose whole transcript is gone
    answers: tuple[int, ...]  # further turns: the answer was made with it and is gone
    marked: tuple[int, ...]  # further turns in which it stood word for word, where a mark stands now
    answers_of_others: int
    still_in: tuple[int, ...] = ()  # passages that say it too
    rounds: tuple[int, ...] = ()  # of training, which saw it
    indexes: tuple[str, ...] = ()  # whose files keep vectors, never a text, until they are built again


class Forgetting:
    """Takes texts out of everything that is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget(self, user_id: int, passage_ids: Sequence[int]) -> Forgotten:
        """Forgets passages of this user, all of them or none. `compact` is to follow.

        A shared passage can be forgotten by the user who added it, as far as that user wrote it. Raises
        `NotFound` for one that is not there, is somebody else's, or was forgotten before.
        """
        named = list(dict.fromkeys(passage_ids))
        with self._database.writing() as sql:
            chosen = _Chosen(sql, user_id)
            for passage_id in named:
                chosen.add_passage(passage_id)
            chosen.add_what_belongs_to(named)
            pieces = _Pieces(chosen.texts())
            forgotten = _erase(sql, chosen, pieces, named)
        with self._database.reading() as sql:
            also = {*forgotten.still_in, *_passages_saying(sql, user_id, pieces)}
        return replace(forgotten, still_in=tuple(sorted(also)))

    def forget_everything(self, user_id: int) -> Forgotten:
        """Forgets all of a user's own memory and conversations. `compact` is to follow.

        Shared passages stay, apart from those that were learned from what the user said.
        """
        with self._database.writing() as sql:
            chosen = _Chosen(sql, user_id)
            chosen.add_own_space()
            named = sorted(chosen.lines)
            chosen.add_all_claims()
            chosen.turns.update(_all(sql, select(col(Turn.id)).where(col(Turn.user_id) == user_id)))
            forgotten = _erase(sql, chosen, _Pieces(()), named)
            _blank_what_is_left(sql, user_id)
        return forgotten

    def is_waiting(self) -> bool:
        """Whether bytes of what was forgotten may still lie in the database's files."""
        return bool(self._waiting())

    def compact(self, *, patience_seconds: float = 20.0) -> None:
        """Has the bytes of what was forgotten leave the database's files, where that was not done yet.

        Raises `StoreUnavailable` when others keep it from that for so long; it waits for the next call.
        """
        waiting = self._waiting()
        if not waiting:
            return
        with self._database.reading() as sql:
            bind = sql.get_bind()
        assert isinstance(bind, Engine), "a session of ours is bound to an engine"
        compact = _compact_server if self._database.is_postgresql else _compact_file
        try:
            with told_plainly(self._database.url):
                compact(bind, self._database.place, time.monotonic() + patience_seconds)
        except StoreUnavailable as error:
            with suppress(StoreUnavailable):
                self._note(waiting, attempts=Job.attempts + 1, error=error.message)
            raise
        self._note(waiting, attempts=Job.attempts + 1, error="", done_at=now())

    def _waiting(self) -> set[int]:
        with self._database.reading() as sql:
            waits = (col(Job.kind) == "compact", col(Job.done_at).is_(None))
            return _all(sql, select(col(Job.id)).where(*waits))

    def _note(self, job_ids: Iterable[int], **values: Any) -> None:
        with self._database.writing() as sql:
            _update(sql, Job, col(Job.id), job_ids, **values)


def blank_if_forgotten(sql: SqlSession, turn_id: int) -> None:
    """For a turn that ends after words of it, or a passage it was answered with, were forgotten.

    To be called where the outcome is written, in the same transaction.
    """
    erased = col(PassageVersion.erased_at).is_not(None)
    turn = sql.get_one(Turn, turn_id)
    was_said = sql.scalar(
        select(col(PassageVersion.id))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(col(PassageIdentity.turn_id) == turn_id, col(PassageIdentity.kind) == "message", erased)
        .limit(1)
    )
    was_used = sql.scalar(_made_with().where(col(Retrieval.turn_id) == turn_id, erased).limit(1))
    if was_said is not None:
        _blank_turn(turn)
        sql.execute(update(Retrieval).where(col(Retrieval.turn_id) == turn_id).values(query=""))
    elif was_used is not None:
        _blank_answer(turn)


# What goes


class _Chosen:
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
            .where(col(PassageVersion.passage_id) == passage_id, *_unerased())
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

    def add_own_space(self) -> None:
        """Everything in this user's own memory."""
        rows = self._sql.execute(
            select(PassageVersion, PassageIdentity, col(Document.source))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .outerjoin(Document, col(Document.id) == col(PassageVersion.document_id))
            .where(_in_space(own_space(self.user_id)), *_unerased())
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
            if any(_overlap(quote, claim.quote) for quote in quotes.get(claim.turn_id, ()))
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
            *(turn.message for turn in _found_by(self._sql, Turn, col(Turn.id), self.turns)),
        ]

    def _claims(
        self, *conditions: Any, column: Any, among: Iterable[int], states: Sequence[str] | None = _HOLDING
    ) -> list[StatedClaim]:
        """states: None for any but those forgotten before."""
        is_wanted = col(StatedClaim.state) != "forgotten"
        if states is not None:
            is_wanted = col(StatedClaim.state).in_(states)
        return _found_by(self._sql, StatedClaim, column, among, is_wanted, *conditions)

    def _whole(self) -> set[int]:
        """The chosen passages of which no version is left."""
        found = _found_by(self._sql, PassageVersion, col(PassageVersion.passage_id), self.lines, *_unerased())
        return set(self.lines) - {v.passage_id for v in found if v.id not in self.versions}

    def _take(self, claims: Iterable[StatedClaim]) -> None:
        self.claims |= {known_id(claim.id): claim for claim in claims}

    def _add_words_of(self, claim: StatedClaim) -> None:
        """The passages of the message that hold a claim's quote; all of that message where none does."""
        if claim.origin != "turn" or claim.turn_id is None:
            return
        versions = self._said_in(claim.turn_id)
        holding = [version for version in versions if _stands_in(claim.quote, version.text)]
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
        holding = [v for v in self._said_in(claim.turn_id) if _stands_in(claim.quote, v.text)]
        return not holding or any(v.id in self.versions for v in holding)

    def _said_in(self, turn_id: int) -> Sequence[PassageVersion]:
        return self._sql.scalars(
            select(PassageVersion)
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(
                col(PassageIdentity.turn_id) == turn_id, col(PassageIdentity.kind) == "message", *_unerased()
            )
        ).all()

    def _added_by_user(self, versions: Sequence[PassageVersion]) -> list[PassageVersion]:
        receipts = {version.added_by for version in versions}
        statement = select(col(Receipt.id)).where(
            col(Receipt.id).in_(receipts), col(Receipt.user_id) == self.user_id
        )
        mine = _all(self._sql, statement)
        return [version for version in versions if version.added_by in mine]


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


class _Pieces:
    """Texts that are looked for word for word, whatever their case, spaces and outer punctuation."""

    def __init__(self, texts: Iterable[str]) -> None:
        wanted = {re.sub(r"^\W+|\W+$", "", " ".join(written.split())) for written in texts}
        # one without a word of its own, such as "it is", would be found everywhere; the longest go first
        kept = sorted((piece for piece in wanted if tokens(piece)), key=len, reverse=True)
        self._pieces = [(max(piece.casefold().split(), key=len), _pattern(piece)) for piece in kept]

    def cut(self, written: str) -> str:
        """The text with a mark in place of each."""
        folded = written.casefold()
        for word, pattern in self._pieces:
            if word in folded:
                written = pattern.sub(FORGOTTEN, written)
        return written

    def cut_all(self, value: Any) -> Any:
        """The same for every text within plain values."""
        if isinstance(value, str):
            return self.cut(value)
        if isinstance(value, dict):
            return {key: self.cut_all(each) for key, each in value.items()}
        return [self.cut_all(each) for each in value] if isinstance(value, list) else value


def _pattern(piece: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in piece.split())
    before = r"(?<!\w)" if piece[0] < _UNSPACED_FROM else ""
    behind = r"(?!\w)" if piece[-1] < _UNSPACED_FROM else ""
    return re.compile(before + words + behind, re.IGNORECASE)


def _stands_in(words: str, written: str) -> bool:
    return " ".join(words.split()) in " ".join(written.split())


def _overlap(one: str, other: str) -> bool:
    return _stands_in(one, other) or _stands_in(other, one)


# Erasing


def _erase(sql: SqlSession, chosen: _Chosen, pieces: _Pieces, named: Sequence[int]) -> Forgotten:
    """Everything that is in the database, in the caller's one transaction, and the job for the bytes."""
    versions, user_id = sorted(chosen.versions), chosen.user_id
    if sql.get_bind().dialect.name == "sqlite":
        sql.execute(text("PRAGMA secure_delete=ON"))  # what must wait for `compact` is overwritten already
    answered = _answered_with(sql, versions)
    own_answers = {turn for turn, user in answered.items() if user == user_id} - chosen.turns
    proposals = _erase_claims(sql, chosen.claims.values())
    accepted = _erase_passages(sql, chosen.versions, proposals)
    _erase_receipts(sql, chosen, proposals, pieces)
    _erase_documents(sql, chosen.versions.values(), pieces)
    for turn_id in sorted(set(answered) - chosen.turns):
        _blank_answer(sql.get_one(Turn, turn_id))
    marked = _erase_from_turns(sql, user_id, chosen.turns, pieces)
    _erase_from_feedback(sql, user_id, answered, pieces)
    _end_jobs(sql, chosen.turns, chosen.claims)
    sql.add(Job(kind="compact", space=own_space(user_id), created_at=now()))
    sql.flush()
    is_shared = any(version.space == SHARED for version in chosen.versions.values())
    return Forgotten(
        lines=tuple(chosen.lines[passage_id] for passage_id in named),
        with_them=tuple(line for passage_id, line in sorted(chosen.lines.items()) if passage_id not in named),
        claims=len(chosen.claims),
        turns=tuple(sorted(chosen.turns)),
        answers=tuple(sorted(own_answers)),
        marked=tuple(sorted(marked - own_answers)),
        answers_of_others=sum(user != user_id for user in answered.values()),
        still_in=tuple(sorted(accepted | chosen.still_in - set(chosen.lines))),
        rounds=_rounds_that_saw(sql, set(chosen.lines), chosen.turns),
        indexes=tuple(sorted(set(sql.scalars(select(col(FilledIndex.name)))))) if is_shared else (),
    )


def _erase_passages(
    sql: SqlSession, versions: dict[int, PassageVersion], proposals: Sequence[Proposal]
) -> set[int]:
    """Returns the passages that another user took into the shared memory from a proposal: they stay."""
    remove_versions(
        sql, [i for i, version in versions.items() if version.removed_at is None], receipt_id=None
    )
    _update(
        sql,
        PassageVersion,
        col(PassageVersion.id),
        versions,
        title="",
        text="",
        text_hash=text_hash("", ""),  # which fits what stands there now
        erased_at=now(),
    )
    for some in _in_parts(versions):
        sql.execute(delete(PassageVector).where(col(PassageVector.version_id).in_(some)))
    receipts = {proposal.receipt_id for proposal in proposals if proposal.receipt_id is not None}
    taken_in = select(col(PassageVersion.passage_id)).where(
        col(PassageVersion.added_by).in_(receipts), *_unerased()
    )
    return _all(sql, taken_in)


def _erase_claims(sql: SqlSession, claims: Iterable[StatedClaim]) -> list[Proposal]:
    """Returns what was proposed of them, without its text."""
    ids = []
    for claim in claims:
        claim.text = claim.text_key = claim.quote = ""
        claim.grounds, claim.state = {}, "forgotten"
        ids.append(known_id(claim.id))
    sql.flush()
    proposals = _found_by(sql, Proposal, col(Proposal.claim_id), ids)
    for proposal in proposals:
        proposal.text = proposal.text_key = ""
        if proposal.state == "open":
            proposal.state, proposal.decided_at = "refused", now()
    return proposals


def _erase_receipts(sql: SqlSession, chosen: _Chosen, proposals: Sequence[Proposal], pieces: _Pieces) -> None:
    """Receipts of the user that tell of it say nothing more; others' lose the very words."""
    versions, claims = chosen.versions.values(), chosen.claims.values()
    ids = {r for version in versions for r in (version.added_by, version.removed_by)}
    ids |= {claim.receipt_id for claim in claims} | {proposal.receipt_id for proposal in proposals}
    for receipt in _found_by(sql, Receipt, col(Receipt.id), ids - {None}):
        wrote = or_(col(PassageVersion.added_by) == receipt.id, col(PassageVersion.removed_by) == receipt.id)
        added = col(PassageVersion.added_by) == receipt.id
        authors = set(sql.scalars(select(col(PassageVersion.author)).where(added).distinct()))
        if receipt.user_id != chosen.user_id or (authors and authors <= _NAMES_ONLY):
            receipt.summary = pieces.cut(receipt.summary)
            receipt.grounds = pieces.cut_all(receipt.grounds)
        else:
            receipt.summary, receipt.grounds = FORGOTTEN, {}
        left = sql.scalar(select(col(PassageVersion.id)).where(wrote, *_unerased()).limit(1))
        if left is None and receipt.user_id == chosen.user_id:
            receipt.undone_at = receipt.undone_at or now()  # there is nothing left to take back


def _erase_documents(sql: SqlSession, versions: Iterable[PassageVersion], pieces: _Pieces) -> None:
    """A document's name stays, unless the words stand in it; the hash of its content goes with the last."""
    ids = {version.document_id for version in versions if version.document_id is not None}
    for document in _found_by(sql, Document, col(Document.id), ids):
        source = pieces.cut(document.source)
        if source != document.source:
            document.source = f"{source} {document.id}"  # a space has each source once
        here = col(PassageVersion.document_id) == document.id
        is_empty = sql.scalar(select(col(PassageVersion.id)).where(here, *_unerased()).limit(1)) is None
        for version in _found_by(sql, DocumentVersion, col(DocumentVersion.document_id), [document.id]):
            version.title = pieces.cut(version.title)
            if is_empty:
                version.content_hash = ""


# The journal


def _erase_from_turns(sql: SqlSession, user_id: int, said: set[int], pieces: _Pieces) -> set[int]:
    """Blanks the turns in which it was said and marks the words in all others; returns those marked."""
    marked: set[int] = set()
    titles: dict[tuple[int, str], str] = {}  # by session and what they were
    completed: set[int] = set()  # sessions whose last turn was searched with words of one that is blank
    for turn, retrievals in _turns_of(sql, user_id):
        title = (turn.session_id, _title(turn.message))
        if turn.id in said:
            titles[title] = FORGOTTEN
            _blank_turn(turn)
            for retrieval in retrievals:
                retrieval.query = ""
            completed.add(turn.session_id)
            continue
        if turn.session_id in completed and turn.standalone not in ("", turn.message):
            turn.standalone = turn.message
            for retrieval in retrievals:
                retrieval.query = turn.message
        else:
            completed.discard(turn.session_id)
        texts = (turn, ("message", "material", "standalone", "answer", "failure"))
        changed = [_cut_fields(row, names, pieces) for row, names in (texts, *_queries(retrievals))]
        if any(changed):
            marked.add(known_id(turn.id))
            titles.setdefault(title, _title(turn.message))
    for session in sql.scalars(select(Session).where(col(Session.user_id) == user_id)):
        session.title = pieces.cut(titles.get((known_id(session.id), session.title), session.title))
        session.draft = pieces.cut(session.draft)
    return marked


def _queries(retrievals: Iterable[Retrieval]) -> list[tuple[SQLModel, tuple[str, ...]]]:
    return [(retrieval, ("query",)) for retrieval in retrievals]


def _title(message: str) -> str:
    """What a session without a title is called after its first message: see `Journal.accept`."""
    return " ".join(message.split())[:60]


def _cut_fields(row: SQLModel, names: Iterable[str], pieces: _Pieces) -> bool:
    is_changed = False
    for name in names:
        written = getattr(row, name)
        cut = pieces.cut(written)
        if cut != written:
            setattr(row, name, cut)
            is_changed = True
    return is_changed


def _blank_turn(turn: Turn) -> None:
    turn.message = turn.material = turn.standalone = turn.failure = ""
    _blank_answer(turn)


def _blank_answer(turn: Turn) -> None:
    turn.answer = ""
    turn.details = _without_texts(turn.details)


def _without_texts(value: Any) -> Any:
    """Plain values with empty texts: numbers and truths stay."""
    if isinstance(value, dict):
        return {key: _without_texts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_texts(each) for each in value]
    return "" if isinstance(value, str) else value


def _turns_of(sql: SqlSession, user_id: int) -> Iterator[tuple[Turn, list[Retrieval]]]:
    """Every turn of a user in its order, with its searches."""
    after = 0
    while True:
        turns = sql.scalars(
            select(Turn)
            .where(col(Turn.user_id) == user_id, col(Turn.id) > after)
            .order_by(col(Turn.id))
            .limit(_AT_ONCE)
        ).all()
        if not turns:
            return
        searches: dict[int, list[Retrieval]] = {}
        for retrieval in _found_by(sql, Retrieval, col(Retrieval.turn_id), [turn.id for turn in turns]):
            searches.setdefault(retrieval.turn_id, []).append(retrieval)
        for turn in turns:
            after = known_id(turn.id)
            yield turn, searches.get(after, [])
        sql.flush()


def _erase_from_feedback(sql: SqlSession, user_id: int, answered: Iterable[int], pieces: _Pieces) -> None:
    own = list(sql.scalars(select(Feedback).where(col(Feedback.user_id) == user_id)))
    for feedback in [*own, *_found_by(sql, Feedback, col(Feedback.turn_id), answered)]:
        feedback.reason = pieces.cut(feedback.reason)
        if (correction := pieces.cut(feedback.correction)) != feedback.correction:
            feedback.correction = correction
            feedback.withdrawn_at = feedback.withdrawn_at or now()  # no lesson any more


def _made_with() -> Any:
    """Of which turns an answer was made with which versions."""
    return (
        select(col(Retrieval.turn_id), col(Turn.user_id))
        .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
        .join(PassageVersion, col(PassageVersion.id) == col(RetrievedPassage.version_id))
        .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
        .where(col(RetrievedPassage.citation).is_not(None))
    )


def _answered_with(sql: SqlSession, version_ids: Iterable[int]) -> dict[int, int]:
    """The turns, of any user, whose model saw one of these versions: the user of each."""
    found: dict[int, int] = {}
    for some in _in_parts(version_ids):
        rows = sql.execute(_made_with().where(col(RetrievedPassage.version_id).in_(some)).distinct())
        found.update((row[0], row[1]) for row in rows)
    return found


def _end_jobs(sql: SqlSession, turns: Iterable[int], claims: Iterable[int]) -> None:
    """What is left to find or to weigh of it: nothing. Whoever is at it finds the job done."""
    for kind, ids in (("summarize", turns), ("weigh", claims)):
        for job in _found_by(sql, Job, col(Job.subject_id), ids):
            if job.kind == kind:
                job.error, job.not_before, job.done_at = "", None, job.done_at or now()


def _blank_what_is_left(sql: SqlSession, user_id: int) -> None:
    """What a user has written that belongs to no passage, and the names of their own documents."""
    space = own_space(user_id)
    sql.execute(update(Session).where(col(Session.user_id) == user_id).values(title="", draft=""))
    for feedback in sql.scalars(select(Feedback).where(col(Feedback.user_id) == user_id)):
        feedback.reason = feedback.correction = ""
        feedback.withdrawn_at = feedback.withdrawn_at or now()
    for receipt in sql.scalars(
        select(Receipt).where(col(Receipt.user_id) == user_id, col(Receipt.space) == space)
    ):
        receipt.summary, receipt.grounds = FORGOTTEN, {}
        receipt.undone_at = receipt.undone_at or now()
    sql.execute(update(PassageIdentity).where(col(PassageIdentity.space) == space).values(external_id=""))
    sql.execute(update(DocumentVersion).where(col(DocumentVersion.space) == space).values(title=""))
    for document in sql.scalars(select(Document).where(col(Document.space) == space)):
        if not re.fullmatch(r"session \d+", document.source):  # by which a conversation finds its own
            document.source = f"{FORGOTTEN} {document.id}"


# What still holds it


def _passages_saying(sql: SqlSession, user_id: int, pieces: _Pieces) -> set[int]:
    """Passages of the user's own that say it too."""
    found: set[int] = set()
    after = 0
    while True:
        rows = sql.execute(
            select(col(PassageVersion.id), col(PassageVersion.passage_id), col(PassageVersion.text))
            .where(_in_space(own_space(user_id)), *_unerased(), col(PassageVersion.id) > after)
            .order_by(col(PassageVersion.id))
            .limit(_AT_ONCE)
        ).all()
        if not rows:
            return found
        found |= {passage_id for _, passage_id, written in rows if pieces.cut(written) != written}
        after = known_id(rows[-1][0])


def _rounds_that_saw(sql: SqlSession, passages: set[int], turns: set[int]) -> tuple[int, ...]:
    """The rounds of training whose settings name, under "passages" or "turns", the id of one of these."""
    return tuple(
        known_id(round_.id)
        for round_ in sql.scalars(select(Round).order_by(col(Round.id)))
        if passages.intersection(round_.settings.get("passages", ()))
        or turns.intersection(round_.settings.get("turns", ()))
    )


# The bytes


def _compact_file(engine: Engine, place: str, ends: float) -> None:
    """SQLite: the words that the full-text index keeps of what was deleted, free pages, and the log."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        left = max(0, int((ends - time.monotonic()) * 1000))
        patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout={min(left, patience)}")
        try:
            for table in _FTS5_TABLES:
                _until(ends, lambda t=table: cursor.execute(f"INSERT INTO {t}({t}) VALUES ('optimize')"))
            _until(ends, lambda: cursor.execute("VACUUM"))
            while cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:  # others still read
                _wait(place, ends)
        finally:
            cursor.execute(f"PRAGMA busy_timeout={patience}")
            cursor.close()
    finally:
        connection.close()


def _until(ends: float, work: Any) -> None:
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= ends:
                raise
            time.sleep(0.1)
        else:
            return


def _compact_server(engine: Engine, place: str, ends: float) -> None:
    """PostgreSQL: every table that held it is written anew, and the statistics made of its values."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        mark = connection.exec_driver_sql("SELECT pg_current_xact_id()::text").scalar()
        # rows that an older snapshot may still ask for would be copied, too
        older = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend' "
            f"AND age(backend_xmin) > age('{mark}'::xid8::xid)"
        )
        while connection.exec_driver_sql(older).scalar():
            _wait(place, ends)
        for table in _SERVER_TABLES:
            connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
        connection.exec_driver_sql("VACUUM FULL pg_catalog.pg_statistic")  # with a warning where not allowed


def _wait(place: str, ends: float) -> None:
    if time.monotonic() >= ends:
        raise StoreUnavailable(
            f"{place}: the bytes of what was forgotten are still in its files, since others use it",
            hint="End the other processes; the next start of Vouch tries again.",
        )
    time.sleep(0.1)


# Statements


def _unerased() -> tuple[Any, ...]:
    return (col(PassageVersion.erased_at).is_(None),)


def _in_space(space: str) -> Any:
    return col(PassageVersion.space) == space


def _all(sql: SqlSession, statement: Any) -> set[int]:
    return {int(i) for i in sql.scalars(statement)}


def _found_by(
    sql: SqlSession, table: type[M], column: Any, values: Iterable[Any], *conditions: Any
) -> list[M]:
    return [
        row
        for some in _in_parts(values)
        for row in sql.scalars(select(table).where(column.in_(some), *conditions)).all()
    ]


def _update(sql: SqlSession, table: type[SQLModel], column: Any, ids: Iterable[int], **values: Any) -> None:
    for some in _in_parts(ids):
        sql.execute(
            update(table)
            .where(column.in_(some))
            .values(**values)
            .execution_options(synchronize_session=False)
        )


def _in_parts(values: Iterable[Any]) -> Iterator[list[Any]]:
    wanted = sorted(values)
    for start in range(0, len(wanted), _AT_ONCE):
        yield wanted[start : start + _AT_ONCE]
