"""Forgetting for good: no row, index or file of the database holds the words any more.

    choose (what goes with what was named) -> erase (one transaction, with a job) -> compact (the bytes)

Rows and ids stay, so that what refers to them stays true; their texts do not. Compacting waits as a job until
nobody holds an older state open.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Engine, select, text, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import StoreUnavailable
from stores.base.passages import SHARED, own_space
from stores.conversation.erased_turns import (
    answered_with,
    blank_answer,
    end_jobs,
    erase_from_feedback,
    erase_from_turns,
)
from stores.conversation.sessions import session_of
from stores.database.database import Database, before_links, database_file, told_plainly
from stores.database.rows import AT_ONCE, all_ids, found_by, update_by
from stores.database.tables import (
    Document,
    DocumentVersion,
    Feedback,
    FilledIndex,
    Job,
    KnowledgeBase,
    PassageIdentity,
    PassageVersion,
    Receipt,
    Session,
    Turn,
    known_id,
)
from stores.forgetting.erased_passages import (
    erase_claims,
    erase_documents,
    erase_passages,
    erase_proposed,
    erase_receipts,
)
from stores.forgetting.erasure_scope import Chosen, unerased
from stores.forgetting.mentions import find_mentions
from stores.learning.seeing_rounds import rounds_that_saw, take_models_back
from stores.versions.live import own_spaces
from stores.versions.passage_lines import PassageLine
from stores.words.turn_words import note_turns
from stores.words.word_overlap import FORGOTTEN, Pieces

_FTS5_TABLES = ("shared_words", "own_words", "turn_words")
_SERVER_TABLES = (
    "passage_versions passages passage_vectors passage_words word_counts document_versions documents turns "
    "turn_words retrievals sessions feedback receipts claims proposals jobs statement_links"
).split()


def compact_file(engine: Engine, place: str, ends: float) -> None:
    """SQLite: the words that the full-text index keeps of what was deleted, free pages, and the log.

    The copy of before links goes as well: it holds what is forgotten now.
    """
    if (file := database_file(engine.url.render_as_string(hide_password=False))) is not None:
        before_links(file).unlink(missing_ok=True)
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


def compact_server(engine: Engine, place: str, ends: float) -> None:
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
    models: tuple[str, ...] = ()  # roles whose model had seen it, and does not answer any more
    indexes: tuple[str, ...] = ()  # whose files keep vectors, never a text, until they are built again


@dataclass(frozen=True)
class Mentions:
    """What else of a user's own holds a number, a code or a name of what they forget."""

    values: tuple[str, ...]
    lines: tuple[PassageLine, ...]
    turns: tuple[tuple[int, str], ...]  # of which no passage holds it: id and message

    def __bool__(self) -> bool:
        return bool(self.lines or self.turns)


class Forgetting:
    """Takes texts out of everything that is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mentions(self, user_id: int, passage_ids: Sequence[int]) -> Mentions:
        """What else of this user's own holds a number, code or name of these passages; changes nothing."""
        with self._database.reading() as sql:
            chosen = _chosen(sql, user_id, passage_ids)
            found = find_mentions(sql, chosen, passage_ids)
            for passage_id in found.passages:
                chosen.add_passage(passage_id)
            turns = found_by(sql, Turn, col(Turn.id), found.turns)
            return Mentions(
                found.met,
                tuple(chosen.lines[passage_id] for passage_id in found.passages),
                tuple((known_id(turn.id), turn.message) for turn in turns),
            )

    def answers(self, user_id: int, passage_ids: Sequence[int]) -> int:
        """How many of this user's answers were made from these passages and would go with them."""
        with self._database.reading() as sql:
            chosen = _chosen(sql, user_id, passage_ids)
            made = answered_with(sql, sorted(chosen.versions))
            return sum(user == user_id and turn not in chosen.turns for turn, user in made.items())

    def forget(self, user_id: int, passage_ids: Sequence[int], *, with_mentions: bool = False) -> Forgotten:
        """Forgets passages of this user, all of them or none. `compact` is to follow.

        with_mentions: also what else of the user's own holds a number, code or name of them.
        A shared passage can be forgotten by the user who added it, as far as that user wrote it. Raises
        `NotFound` for one that is not there, is somebody else's, or was forgotten before.
        """
        named = list(dict.fromkeys(passage_ids))
        with self._database.writing() as sql:
            chosen = _chosen(sql, user_id, named)
            values: tuple[str, ...] = ()
            if with_mentions:
                found = find_mentions(sql, chosen, named)
                values = found.values
                for passage_id in found.passages:
                    chosen.add_passage(passage_id)
                chosen.add_what_belongs_to([*named, *found.passages])
            pieces = Pieces([*chosen.texts(), *values])
            forgotten = _erase(sql, chosen, pieces, named)
        with self._database.reading() as sql:
            also = {*forgotten.still_in, *_passages_saying(sql, user_id, pieces)}
        return replace(forgotten, still_in=tuple(sorted(also)))

    def forget_everything(self, user_id: int) -> Forgotten:
        """Forgets all of a user's own memory and conversations. `compact` is to follow.

        Shared passages stay, apart from those that were learned from what the user said.
        """
        with self._database.writing() as sql:
            chosen = Chosen(sql, user_id)
            chosen.add_own_space()
            named = sorted(chosen.lines)
            chosen.add_all_claims()
            chosen.turns.update(all_ids(sql, select(col(Turn.id)).where(col(Turn.user_id) == user_id)))
            forgotten = _erase(sql, chosen, Pieces(()), named)
            _blank_what_is_left(sql, user_id)
        return forgotten

    def forget_sessions(self, user_id: int, session_ids: Sequence[int]) -> Forgotten:
        """Forgets all that was said in sessions of this user, with what was learned from it; or nothing.

        `compact` is to follow. The words are looked for in no other session: a greeting stands in many. What
        was noted or taught there on purpose stays. Raises `NotFound`.
        """
        with self._database.writing() as sql:
            for session_id in session_ids:
                session = session_of(sql, user_id, session_id)
                session.title, session.system = "", None
            turns = {known_id(turn.id) for turn in found_by(sql, Turn, col(Turn.session_id), session_ids)}
            chosen = Chosen(sql, user_id)
            named = chosen.add_said_in(sorted(turns))
            chosen.add_what_belongs_to(named)
            chosen.turns |= turns
            forgotten = _erase(sql, chosen, Pieces(()), named)
            for feedback in found_by(sql, Feedback, col(Feedback.turn_id), turns):
                feedback.reason = feedback.correction = ""
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
        compact = compact_server if self._database.is_postgresql else compact_file
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
            return all_ids(sql, select(col(Job.id)).where(*waits))

    def _note(self, job_ids: Iterable[int], **values: Any) -> None:
        with self._database.writing() as sql:
            update_by(sql, Job, col(Job.id), job_ids, **values)


def _chosen(sql: SqlSession, user_id: int, passage_ids: Sequence[int]) -> Chosen:
    """What is named, and what belongs to it. Raises `NotFound`."""
    chosen = Chosen(sql, user_id)
    for passage_id in passage_ids:
        chosen.add_passage(passage_id)
    chosen.add_what_belongs_to(passage_ids)
    return chosen


def _erase(sql: SqlSession, chosen: Chosen, pieces: Pieces, named: Sequence[int]) -> Forgotten:
    """Everything that is in the database, in the caller's one transaction, and the job for the bytes."""
    versions, user_id = sorted(chosen.versions), chosen.user_id
    if sql.get_bind().dialect.name == "sqlite":
        sql.execute(text("PRAGMA secure_delete=ON"))  # what must wait for `compact` is overwritten already
    answered = answered_with(sql, versions)
    own_answers = {turn for turn, user in answered.items() if user == user_id} - chosen.turns
    proposals = erase_claims(sql, chosen.claims.values())
    erase_proposed(sql, chosen.versions)
    accepted = erase_passages(sql, chosen.versions, proposals)
    erase_receipts(sql, chosen, proposals, pieces)
    erase_documents(sql, chosen.versions.values(), pieces)
    for turn_id in sorted(set(answered) - chosen.turns):
        turn = sql.get_one(Turn, turn_id)
        blank_answer(turn)
        note_turns(sql, [turn])
    marked = erase_from_turns(sql, user_id, chosen.turns, pieces)
    erase_from_feedback(sql, user_id, answered, pieces)
    end_jobs(sql, chosen.turns, chosen.claims)
    sql.add(Job(kind="compact", space=own_space(user_id), created_at=now()))
    sql.flush()
    rounds = rounds_that_saw(sql, set(chosen.versions), chosen.turns)
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
        rounds=rounds,
        models=take_models_back(sql, rounds),
        indexes=tuple(sorted(set(sql.scalars(select(col(FilledIndex.name)))))) if is_shared else (),
    )


def _blank_what_is_left(sql: SqlSession, user_id: int) -> None:
    """What a user has written that belongs to no passage, and the names of their own documents."""
    space, spaces = own_space(user_id), own_spaces(sql, user_id)
    sql.execute(
        update(Session).where(col(Session.user_id) == user_id).values(title="", draft="", system=None)
    )
    for feedback in sql.scalars(select(Feedback).where(col(Feedback.user_id) == user_id)):
        feedback.reason = feedback.correction = ""
        feedback.withdrawn_at = feedback.withdrawn_at or now()
    for receipt in sql.scalars(
        select(Receipt).where(col(Receipt.user_id) == user_id, col(Receipt.space) == space)
    ):
        receipt.summary, receipt.grounds = FORGOTTEN, {}
        receipt.undone_at = receipt.undone_at or now()
    sql.execute(update(PassageIdentity).where(col(PassageIdentity.space).in_(spaces)).values(external_id=""))
    sql.execute(update(DocumentVersion).where(col(DocumentVersion.space).in_(spaces)).values(title=""))
    for document in sql.scalars(select(Document).where(col(Document.space).in_(spaces))):
        if not re.fullmatch(r"session \d+", document.source):  # by which a conversation finds its own
            document.source, document.collection = f"{FORGOTTEN} {document.id}", ""

    for base in sql.scalars(select(KnowledgeBase).where(col(KnowledgeBase.space) == space)):
        base.name = f"{FORGOTTEN} {base.id}"


def _passages_saying(sql: SqlSession, user_id: int, pieces: Pieces) -> set[int]:
    """Passages of the user's own that say it too."""
    found: set[int] = set()
    after = 0
    while True:
        rows = sql.execute(
            select(col(PassageVersion.id), col(PassageVersion.passage_id), col(PassageVersion.text))
            .where(
                col(PassageVersion.space) == own_space(user_id), *unerased(), col(PassageVersion.id) > after
            )
            .order_by(col(PassageVersion.id))
            .limit(AT_ONCE)
        ).all()
        if not rows:
            return found
        found |= {passage_id for _, passage_id, written in rows if pieces.cut(written) != written}
        after = known_id(rows[-1][0])
