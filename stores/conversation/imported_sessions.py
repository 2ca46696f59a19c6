"""Sessions that were held with another program, taken in as sessions of a user, each turn once.

A session and a turn are known again by an id made of where they came from and what they are called there,
so the same file, or a longer one of later, adds only what is new. Each turn names the one it follows: what
was said here since may stand between them. Nothing is learned from them unless that is asked for; Find finds
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import now
from stores.base.well_formed import well_formed
from stores.conversation.claim_jobs import ask_to_summarize, may_summarize
from stores.conversation.said_passages import keep_words
from stores.database.database import Database
from stores.database.rows import found_by
from stores.database.tables import Job, PassageIdentity, Session, Turn, known_id
from stores.words.turn_words import note_turns

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
    answered: int = 0  # of these: whose answer came since, or went on
    to_learn: int = 0  # messages that are learned from, which were not before


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
        """All of these sessions or none. A part of a session can be told by itself, behind those before it.

        cut: a message as passages: then what it states is learned, too; without any passage it is not.
        """
        with self._database.writing() as sql:
            taking = _Taking(sql, user_id, told, cut)
            counts = [astuple(taking.take_in(session)) for session in told]
        return TakenIn(*(sum(count) for count in zip(*counts, strict=True))) if counts else TakenIn(0, 0, 0)


class _Taking:
    """What one transaction takes in."""

    def __init__(
        self,
        sql: SqlSession,
        user_id: int,
        told: Sequence[ToldSession],
        cut: Callable[[str], Sequence[str]] | None,
    ) -> None:
        self._sql, self._user_id, self._cut = sql, user_id, cut
        ids = {_public_id(session.origin, session.key) for session in told}
        found = found_by(sql, Session, col(Session.public_id), ids, col(Session.user_id) == user_id)
        self._sessions = {session.public_id: session for session in found}

    def take_in(self, told: ToldSession) -> TakenIn:
        rows = self._rows(told)
        known = [(turn, rows[turn.key]) for turn in told.turns if turn.key in rows]
        is_new, added = self._add(told, rows)
        answered = [row for turn, row in known if _take_answer(row, turn)]
        note_turns(self._sql, [*added, *answered])
        may_learn = [*(row for turn, row in known if _is_unchanged(row, turn)), *added]
        learned = 0 if self._cut is None else self._learn(may_learn, self._cut)
        return TakenIn(int(is_new), len(added), len(told.turns) - len(added), len(answered), learned)

    def _rows(self, told: ToldSession) -> dict[str, Turn]:
        """The turns that are there already, of those that are told or named, by their keys."""
        session = self._sessions.get(_public_id(told.origin, told.key))
        if session is None:
            return {}
        keys = {told.last, *(key for turn in told.turns for key in (turn.key, turn.follows))} - {""}
        ids = {_public_id(told.origin, told.key, key): key for key in keys}
        of_session = col(Turn.session_id) == known_id(session.id)
        found = found_by(self._sql, Turn, col(Turn.public_id), ids, of_session)
        return {ids[row.public_id]: row for row in found}

    def _add(self, told: ToldSession, rows: dict[str, Turn]) -> tuple[bool, list[Turn]]:
        """Adds the turns that are no rows yet, to these too; whether the session is new, and those added."""
        added: list[Turn] = []
        if all(turn.key in rows for turn in told.turns):
            return False, added
        session, is_new = self._session(told)
        said_here = None if is_new else self._end_said_here(session)
        for turn in told.turns:
            if turn.key in rows:
                continue
            row = Turn(
                public_id=_public_id(told.origin, told.key, turn.key),
                session_id=known_id(session.id),
                user_id=self._user_id,
                message=well_formed(turn.message),
                answer=well_formed(turn.answer),
                model=well_formed(turn.model),
                state="imported",
                accepted_at=turn.at or told.at or now(),
                parent_id=known_id(rows[turn.follows].id) if turn.follows in rows else 0,
            )
            self._sql.add(row)
            self._sql.flush()
            rows[turn.key] = row
            added.append(row)
        newest = known_id(added[-1].id)
        last = known_id(rows[told.last].id) if told.last in rows else newest
        session.head_id = said_here or (None if last == newest else last)
        return is_new, added

    def _session(self, told: ToldSession) -> tuple[Session, bool]:
        """The row of a session, and whether it is new."""
        public_id = _public_id(told.origin, told.key)
        if public_id in self._sessions:
            return self._sessions[public_id], False
        first = told.turns[0].message if told.turns else ""
        session = Session(
            public_id=public_id,
            user_id=self._user_id,
            title=" ".join(well_formed(told.title or first[:60]).split())[:_LONGEST_TITLE],
            origin=told.origin,
            created_at=told.at or (told.turns[0].at if told.turns else None) or now(),
        )
        self._sql.add(session)
        self._sql.flush()
        self._sessions[public_id] = session
        return session, True

    def _end_said_here(self, session: Session) -> int | None:
        """The end of the branch that is on, where that was said here: one goes on there all the same."""
        of_session = col(Turn.session_id) == known_id(session.id)
        newest = select(func.max(col(Turn.id))).where(of_session)
        end = session.head_id if session.head_id is not None else self._sql.scalar(newest)
        turn = self._sql.get(Turn, end) if end else None
        return end if turn is not None and turn.state != "imported" else None

    def _learn(self, turns: Sequence[Turn], cut: Callable[[str], Sequence[str]]) -> int:
        """Has what these turns state learned, once; returns of how many."""
        ids = [known_id(turn.id) for turn in turns]
        kept = found_by(self._sql, PassageIdentity, col(PassageIdentity.turn_id), ids)
        asked = found_by(self._sql, Job, col(Job.subject_id), ids, col(Job.kind) == "summarize")
        before = {passage.turn_id for passage in kept} | {job.subject_id for job in asked}
        learned = 0
        for turn in turns:
            turn_id = known_id(turn.id)
            parts = [] if turn_id in before else cut(turn.message)
            if parts:
                keep_words(self._sql, self._user_id, turn.session_id, turn_id, parts)
                ask_to_summarize(self._sql, self._user_id, turn_id)
                may_summarize(self._sql, turn_id)
                learned += 1
        return learned


def _take_answer(row: Turn, told: ToldTurn) -> bool:
    """Takes the answer of a turn that had none yet, or less of it; whether there was more."""
    answer = well_formed(told.answer)
    is_more = len(answer) > len(row.answer) and answer.startswith(row.answer)
    if not is_more or not _is_unchanged(row, told):
        return False
    row.answer, row.model = answer, well_formed(told.model)
    return True


def _is_unchanged(row: Turn, told: ToldTurn) -> bool:
    """Whether a message is as it is told: of one that is not, something may have been forgotten."""
    return bool(row.message) and row.message == well_formed(told.message)


def _public_id(*names: str) -> str:
    return hashlib.sha256("\0".join(map(well_formed, names)).encode()).hexdigest()[:32]
