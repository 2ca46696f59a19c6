"""Turns without the words: what was said, what was answered with it, and what was noted of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import SQLModel, col

from stores.base.clock import now
from stores.base.passages import quotes_only
from stores.conversation.summaries import clear_summaries
from stores.database.rows import AT_ONCE, found_by, in_parts
from stores.database.tables import (
    Feedback,
    Job,
    PassageIdentity,
    PassageVersion,
    Retrieval,
    RetrievedPassage,
    Session,
    Turn,
    known_id,
)
from stores.words.turn_words import note_turns
from stores.words.word_overlap import FORGOTTEN, Pieces


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
    was_used = _made_with(sql, col(Retrieval.turn_id) == turn_id, erased)
    if was_said is not None:
        _blank_turn(turn)
        sql.execute(update(Retrieval).where(col(Retrieval.turn_id) == turn_id).values(query=""))
    elif was_used:
        blank_answer(turn)


def erase_from_turns(sql: SqlSession, user_id: int, said: set[int], pieces: Pieces) -> set[int]:
    """Blanks the turns in which it was said and marks the words in all others; returns those marked."""
    clear_summaries(sql)
    marked: set[int] = set()
    titles: dict[tuple[int, str], str] = {}  # by session and what they were
    completed: set[int] = set()  # turns that are blank, or were searched with words of one
    last_in: dict[int, int] = {}  # the turn before, by session
    for turn, retrievals in _turns_of(sql, user_id):
        title = (turn.session_id, _title(turn.message))
        turn_id, before = known_id(turn.id), last_in.get(turn.session_id, 0)
        last_in[turn.session_id] = turn_id
        follows = before if turn.parent_id is None else turn.parent_id
        if turn_id in said:
            titles[title] = FORGOTTEN
            _blank_turn(turn)
            for retrieval in retrievals:
                retrieval.query = ""
            completed.add(turn_id)
            note_turns(sql, [turn])
            continue
        if follows in completed and turn.standalone not in ("", turn.message):
            completed.add(turn_id)
            turn.standalone = turn.message
            for retrieval in retrievals:
                retrieval.query = turn.message
        texts = (turn, ("message", "material", "standalone", "answer", "failure"))
        changed = [_cut_fields(row, names, pieces) for row, names in (texts, *_queries(retrievals))]
        if any(changed):
            marked.add(turn_id)
            note_turns(sql, [turn])
            titles.setdefault(title, _title(turn.message))
    for session in sql.scalars(select(Session).where(col(Session.user_id) == user_id)):
        session.title = pieces.cut(titles.get((known_id(session.id), session.title), session.title))
        session.draft = pieces.cut(session.draft)
        session.system = session.system and pieces.cut(session.system)
    return marked


def _queries(retrievals: Iterable[Retrieval]) -> list[tuple[SQLModel, tuple[str, ...]]]:
    return [(retrieval, ("query",)) for retrieval in retrievals]


def _title(message: str) -> str:
    """What a session without a title is called after its first message: see `Journal.accept`."""
    return " ".join(message.split())[:60]


def _cut_fields(row: SQLModel, names: Iterable[str], pieces: Pieces) -> bool:
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
    blank_answer(turn)


def blank_answer(turn: Turn) -> None:
    """Takes the answer out of a turn, with the texts of what was noted of it."""
    went = {name: told for name, told in turn.details.items() if name == "sent_to"}  # a host
    turn.answer = ""
    turn.details = {**_without_texts(turn.details), **went}


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
            .limit(AT_ONCE)
        ).all()
        if not turns:
            return
        searches: dict[int, list[Retrieval]] = {}
        for retrieval in found_by(sql, Retrieval, col(Retrieval.turn_id), [turn.id for turn in turns]):
            searches.setdefault(retrieval.turn_id, []).append(retrieval)
        for turn in turns:
            after = known_id(turn.id)
            yield turn, searches.get(after, [])
        sql.flush()


def erase_from_feedback(sql: SqlSession, user_id: int, answered: Iterable[int], pieces: Pieces) -> None:
    """Marks the words in a user's feedback and in that of the turns whose answer is gone."""
    own = list(sql.scalars(select(Feedback).where(col(Feedback.user_id) == user_id)))
    for feedback in [*own, *found_by(sql, Feedback, col(Feedback.turn_id), answered)]:
        feedback.reason = pieces.cut(feedback.reason)
        if (correction := pieces.cut(feedback.correction)) != feedback.correction:
            feedback.correction = correction
            feedback.withdrawn_at = feedback.withdrawn_at or now()  # no lesson any more


def _made_with(sql: SqlSession, *where: ColumnElement[bool]) -> dict[int, int]:
    """Turns, of any user, whose answer may hold words of what they found so: the user of each.

    A model that quotes tells of what it cites alone; another may tell of all that it was shown.
    """
    rows = sql.execute(
        select(
            col(Retrieval.turn_id),
            col(Turn.user_id),
            col(RetrievedPassage.citation),
            col(Turn.model),
            col(Turn.details),
        )
        .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
        .join(PassageVersion, col(PassageVersion.id) == col(RetrievedPassage.version_id))
        .join(Turn, col(Turn.id) == col(Retrieval.turn_id))
        .where(col(RetrievedPassage.citation).is_not(None), *where)
    )
    return {
        turn_id: user_id
        for turn_id, user_id, number, model, details in rows
        if not quotes_only(model)
        or details.get("sent_to")  # a server's, however it is called
        or "knowledge_base" in details
        or number in details.get("cited", [number])
    }


def answered_with(sql: SqlSession, version_ids: Iterable[int]) -> dict[int, int]:
    """The turns, of any user, whose answer was made with one of these versions: the user of each."""
    found: dict[int, int] = {}
    for some in in_parts(version_ids):
        found |= _made_with(sql, col(RetrievedPassage.version_id).in_(some))
    return found


def end_jobs(sql: SqlSession, turns: Iterable[int], claims: Iterable[int]) -> None:
    """What is left to find or to weigh of it: nothing. Whoever is at it finds the job done."""
    for kind, ids in (("summarize", turns), ("weigh", claims)):
        for job in found_by(sql, Job, col(Job.subject_id), ids):
            if job.kind == kind:
                job.error, job.not_before, job.done_at = "", None, job.done_at or now()
