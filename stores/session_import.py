"""Sessions that were held with another program, taken in as sessions of a user, each turn once.

A session and a turn are known again by an id made of where they came from and what they are called there,
so the same file, or a longer one of later, adds only what is new. Nothing is learned from them unless that
is asked for; Find finds them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.claim_jobs import ask_to_summarize, may_summarize
from stores.clock import now
from stores.database import Database
from stores.records import Session, Turn, known_id, well_formed
from stores.rows_by_ids import found_by
from stores.session_words import keep_words
from stores.turn_words import note_turns

_LONGEST_TITLE = 200


@dataclass(frozen=True, kw_only=True)
class ToldTurn:
    """A message and what was answered, as another program tells it."""

    key: str  # what it is called there; the same in every export
    follows: str  # the key of the turn before it, which is told earlier; empty for a first one
    message: str
    answer: str
    model: str = ""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ToldSession:
    """A session as another program tells it."""

    origin: str  # whose it was, such as ChatGPT
    key: str
    title: str
    turns: Sequence[ToldTurn]  # each behind the one that it follows
    at: datetime | None = None
    last: str = ""  # the key of the turn that it goes on behind; empty for the newest


@dataclass(frozen=True)
class TakenIn:
    """How much of it was new."""

    sessions: int
    turns: int
    known: int  # turns that were there already


class SessionImport:
    """Takes in what other programs tell."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_in(
        self,
        user_id: int,
        told: Sequence[ToldSession],
        *,
        cut: Callable[[str], Sequence[str]] | None = None,
    ) -> TakenIn:
        """All of these sessions or none. cut: a message as passages: then what it states is learned, too."""
        with self._database.writing() as sql:
            counts = [_take_in(sql, user_id, session, cut) for session in told]
        return TakenIn(*(sum(count) for count in zip(*counts, strict=True))) if counts else TakenIn(0, 0, 0)


def _take_in(
    sql: SqlSession,
    user_id: int,
    told: ToldSession,
    cut: Callable[[str], Sequence[str]] | None,
) -> tuple[int, int, int]:
    """One session: how many sessions and turns are new, and how many turns are known."""
    ids = {turn.key: _public_id(told.origin, told.key, turn.key) for turn in told.turns}
    mine = col(Turn.user_id) == user_id
    known = {turn.public_id: turn for turn in found_by(sql, Turn, col(Turn.public_id), ids.values(), mine)}
    new = [turn for turn in told.turns if ids[turn.key] not in known]
    if not new:
        return 0, 0, len(told.turns)
    session, is_new = _session(sql, user_id, told)
    rows = {key: known[public_id] for key, public_id in ids.items() if public_id in known}
    before = max((known_id(row.id) for row in rows.values()), default=0)
    added: list[Turn] = []
    for turn in new:
        follows = known_id(rows[turn.follows].id) if turn.follows in rows else 0
        moment = turn.at or told.at or now()
        row = Turn(
            public_id=ids[turn.key],
            session_id=known_id(session.id),
            user_id=user_id,
            message=well_formed(turn.message),
            answer=well_formed(turn.answer),
            model=well_formed(turn.model),
            state="imported",
            accepted_at=moment,
            parent_id=None if follows == before and (before or is_new) else follows,
        )
        sql.add(row)
        sql.flush()
        rows[turn.key], before = row, known_id(row.id)
        added.append(row)
    note_turns(sql, added)
    last = known_id(rows[told.last].id) if told.last in rows else before
    session.head_id = None if last == before else last
    if cut is not None:
        for row in added:
            keep_words(sql, user_id, known_id(session.id), known_id(row.id), cut(row.message))
            ask_to_summarize(sql, user_id, known_id(row.id))
            may_summarize(sql, known_id(row.id))
    return int(is_new), len(added), len(told.turns) - len(added)


def _session(sql: SqlSession, user_id: int, told: ToldSession) -> tuple[Session, bool]:
    """The row of a session, and whether it is new."""
    public_id = _public_id(told.origin, told.key)
    found = found_by(sql, Session, col(Session.public_id), [public_id], col(Session.user_id) == user_id)
    if found:
        return found[0], False
    first = told.turns[0].message if told.turns else ""
    session = Session(
        public_id=public_id,
        user_id=user_id,
        title=" ".join(well_formed(told.title or first[:60]).split())[:_LONGEST_TITLE],
        origin=told.origin,
        created_at=told.at or (told.turns[0].at if told.turns else None) or now(),
    )
    sql.add(session)
    sql.flush()
    return session, True


def _public_id(*names: str) -> str:
    return hashlib.sha256("\0".join(map(well_formed, names)).encode()).hexdigest()[:32]
