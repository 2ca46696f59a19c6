"""What there is to learn from: questions, and what judges and users said of the passages found for them.

What a user said counts more than the judge, and a passage that a user rated is
learned from though no judge looked at it. Among others that is so of curators alone: anybody else could teach
all a false order (`teachers.py`). Of a judge that was probed only that counts which can be trusted. A lesson
is read from the turns, never
stored beside them: what was forgotten, withdrawn or said in private is therefore not among the lessons of
the next round.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.database import Database
from stores.database.rows import in_parts
from stores.database.tables import (
    Feedback,
    Judgement,
    PassageIdentity,
    PassageVector,
    PassageVersion,
    Receipt,
    Retrieval,
    RetrievedPassage,
    Session,
    Turn,
    known_id,
)
from stores.learning.teachers import one_user, teachers_in

Said: TypeAlias = Literal["answers", "useless", "no answer"]
TOLD, DOCUMENTS = "what users told", "documents"  # kinds of passages
Trust: TypeAlias = Mapping[str, float | None]  # by kind: from which score on an answer is one; None: never
AllTrusted: TypeAlias = Mapping[str, Trust]  # by a judge's name; of others all counts


def counts(trust: Trust | None, kind: str, label: str, score: float) -> bool:
    """Whether a judge's word on a passage is learned from. trust: None: all it says is."""
    if trust is None or kind not in trust:
        return True
    from_score = trust[kind]
    return from_score is not None and (label != "answer" or score >= from_score)


@dataclass(frozen=True)
class SaidOf:
    """What a turn's user said of one passage that it had found."""

    said: Said
    found_rank: int  # place in the first retrieval, from 1


def said_of_passages(sql: SqlSession, turns: Sequence[Turn]) -> dict[tuple[int, int], SaidOf]:
    """By turn and version; only what stands, of passages that the turn had found. turns: 500 at most."""
    by_id = {known_id(turn.id): turn for turn in turns}
    of_answers: dict[int, set[str]] = {}
    of_passages: dict[tuple[int, int], str] = {}
    for feedback in sql.scalars(
        select(Feedback)
        .where(col(Feedback.turn_id).in_(by_id), col(Feedback.withdrawn_at).is_(None))
        .order_by(col(Feedback.id))
    ):
        if feedback.version_id is None:
            of_answers.setdefault(feedback.turn_id, set()).add(feedback.rating)
        else:
            of_passages[feedback.turn_id, feedback.version_id] = feedback.rating
    rated = {*of_answers, *(turn_id for turn_id, _ in of_passages)}
    found: dict[tuple[int, int], SaidOf] = {}
    for turn_id, passage in _found_by(sql, rated):
        if is_no_answer(by_id[turn_id], passage.found_rank, passage.citation):
            continue
        cited = by_id[turn_id].details.get("cited", ())
        said = _of_passage(of_passages.get((turn_id, passage.version_id)))
        if said is None and passage.citation is not None and passage.citation in cited:
            said = _of_answer(of_answers.get(turn_id, set()))
        if said is not None:
            found[turn_id, passage.version_id] = SaidOf(said, passage.found_rank)
    return found


def is_no_answer(turn: Turn, found_rank: int, citation: int | None) -> bool:
    """Of a passage of a turn: it was not found for it, or stands for an earlier answer and only asks."""
    return found_rank <= 0 or str(citation) in turn.details.get("listed", {}).get("reply", {})


def _found_by(sql: SqlSession, turn_ids: Iterable[int]) -> Iterator[tuple[int, RetrievedPassage]]:
    rows = sql.execute(
        select(col(Retrieval.turn_id), RetrievedPassage)
        .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
        .where(col(Retrieval.turn_id).in_(sorted(turn_ids)))
    )
    return ((turn_id, passage) for turn_id, passage in rows)


def _of_passage(rating: str | None) -> Said | None:
    return None if rating is None else "answers" if rating == "good" else "useless"


def _of_answer(ratings: set[str]) -> Said | None:
    if ratings & {"bad", "taught"}:
        return "no answer"
    return "answers" if "good" in ratings else None


TELLS_WHEN_TO_END = 7  # one in so many of the questions that teach is measured on instead
_TURNS_AT_ONCE = 500
_COUNTED_AT_ONCE = 100  # turns
_FIRST = 10  # passages found: a comparison has so many judged again


@dataclass(frozen=True)
class LessonDocument:
    """A passage as it was judged."""

    version_id: int
    title: str
    text: str
    label: str  # answer, relevant or irrelevant
    score: float  # 0 to 1
    rank: int  # place in the first retrieval, from 1


@dataclass(frozen=True)
class Lesson:
    """One question with all that was judged for it."""

    turn_id: int
    user_id: int
    question: str  # as it was searched with
    documents: tuple[LessonDocument, ...]  # by rank
    judge: str
    encoder_version: str
    month: str  # in which it was asked, like 2026-11
    is_held_out: bool = False  # judges candidates, and is not trained on
    message_versions: tuple[int, ...] = ()  # the question itself, as its user's own words are searched

    earlier_turns = ()  # what was said before is no part of it, but for the words it was searched with

    @property
    def passages(self) -> tuple[int, ...]:
        """The versions of its passages."""
        return tuple(document.version_id for document in self.documents)

    @property
    def unit(self) -> str:
        """The same question, whoever asks it."""
        return unit_of(self.question)

    @property
    def words(self) -> frozenset[str]:
        """Of the question."""
        return words_of(self.question)


@dataclass(frozen=True)
class HeldOut:
    """Questions that judge candidates, each of a user once."""

    questions: int
    answered: int  # with an answer among the first passages found: others tell nothing of a candidate


class Lessons:
    """The lessons of all users of a database."""

    def __init__(
        self,
        database: Database,
        *,
        curators: Collection[str] = (),
        trusted: Callable[[], AllTrusted] = dict,
    ) -> None:
        """curators: names of users whose ratings count among others. trusted: what of judges counts."""
        self._database = database
        self._curators = curators
        self._trusted = trusted

    def count(self, *, after: int = 0) -> int:
        """How many turns behind this one were judged. after: the id of a turn."""
        with self._database.reading() as sql:
            statement = (
                select(func.count(col(Judgement.turn_id).distinct()))
                .join(Turn, col(Turn.id) == col(Judgement.turn_id))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(*teaches(after))
            )
            return sql.scalar(statement) or 0

    def turns(self) -> Sequence[int]:
        """All turns that were judged, in order."""
        with self._database.reading() as sql:
            return sql.scalars(
                select(col(Judgement.turn_id))
                .join(Turn, col(Turn.id) == col(Judgement.turn_id))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(*teaches())
                .distinct()
                .order_by(col(Judgement.turn_id))
            ).all()

    def held_out(self, *, after: int, enough: int) -> HeldOut:
        """Those of turns behind this one. enough: answered ones, behind which no more are looked for."""
        answered: set[tuple[int, str]] = set()
        with self._database.reading() as sql:
            judged = sql.execute(
                select(col(Turn.id), col(Turn.user_id), col(Turn.standalone), col(Turn.message))
                .join(Session, col(Session.id) == col(Turn.session_id))
                .where(*teaches(after), col(Turn.id).in_(select(col(Judgement.turn_id))))
                .order_by(col(Turn.id))
            ).all()
            kept = {known_id(turn): (user, alone or message) for turn, user, alone, message in judged}
            for start in range(0, len(kept), _COUNTED_AT_ONCE):
                if len(answered) >= enough:
                    break
                some = select(Turn).where(
                    col(Turn.id).in_([*kept][start : start + _COUNTED_AT_ONCE]), _may_be_answered()
                )
                found = _lessons(sql, sql.scalars(some).all(), self._curators, self._trusted())
                answered |= {kept[lesson.turn_id] for lesson in found if _is_answered(lesson)}
        return HeldOut(len(set(kept.values())), len(answered))

    @property
    def is_of_one_user(self) -> bool:
        """Whether ratings count because nobody else is there."""
        return one_user(self._database)

    def all(self, *, after: int = 0) -> list[Lesson]:
        """Every lesson of a turn behind this one, in the order of the turns."""
        with self._database.reading() as sql:
            return lessons_of(sql, after, self._curators, self._trusted())

    def vectors(self, version_ids: Sequence[int], encoder_version: str) -> dict[int, bytes]:
        """The stored vectors of these versions, of those that have one; live or not: it was judged then."""
        found: dict[int, bytes] = {}
        with self._database.reading() as sql:
            for start in range(0, len(version_ids), _TURNS_AT_ONCE):
                found.update(
                    sql.execute(
                        select(col(PassageVector.version_id), col(PassageVector.vector)).where(
                            col(PassageVector.version_id).in_(version_ids[start : start + _TURNS_AT_ONCE]),
                            col(PassageVector.encoder_version) == encoder_version,
                        )
                    ).all()
                )
        return found


def lessons_of(
    sql: SqlSession,
    after: int,
    curators: Collection[str] = (),
    trusted: AllTrusted = MappingProxyType({}),
) -> list[Lesson]:
    """See `Lessons.all`."""
    turns = sql.scalars(
        select(Turn)
        .join(Session, col(Session.id) == col(Turn.session_id))
        .where(*teaches(after))
        .order_by(col(Turn.id))
    ).all()
    found: list[Lesson] = []
    for start in range(0, len(turns), _TURNS_AT_ONCE):
        found.extend(_lessons(sql, turns[start : start + _TURNS_AT_ONCE], curators, trusted))
    return found


def what_is_lacking(there: int, wanted: int) -> str:
    """In words, where there are fewer lessons than a round wants."""
    counted = "is 1 lesson" if there == 1 else f"are {there} lessons"
    return f"there {counted}, and a round wants {wanted}"


def tells_when_to_end(question: str) -> bool:
    """Whether a question is measured on during a training, to end it in time: by its words alone.

    What is chosen by is not measured with: these are of those that teach, and others judge the result.
    """
    drawn = int.from_bytes(hashlib.sha256(unit_of(question).encode()).digest()[4:8], "big")
    return drawn % TELLS_WHEN_TO_END == 0


def unit_of(question: str) -> str:
    """The same for all who ask this."""
    return " ".join(question.casefold().split())


def words_of(question: str) -> frozenset[str]:
    """By which a question is told to repeat another one."""
    return frozenset(re.findall(r"\w+", question.casefold()))


def teaches(after: int = 0) -> tuple[ColumnElement[bool], ...]:
    """What holds of a turn, and of its session, from which is learned. after: the id of a turn."""
    return (
        col(Turn.id) > after,
        col(Turn.state) == "done",
        col(Turn.message) != "",  # what was forgotten is blank
        col(Turn.details)["asks_nothing"].as_boolean().is_not(True),  # a statement, to which nothing answers
        col(Session.is_private).is_(False),
    )


def _may_be_answered() -> ColumnElement[bool]:
    """Of a turn: its judge found an answer, or its user said something of what was found."""
    judged = select(col(Judgement.turn_id)).where(col(Judgement.label) == "answer")
    return or_(col(Turn.id).in_(judged), col(Turn.id).in_(select(col(Feedback.turn_id))))


def _is_answered(lesson: Lesson) -> bool:
    return any(each.label == "answer" and each.rank <= _FIRST for each in lesson.documents)


def _lessons(
    sql: SqlSession, turns: Sequence[Turn], curators: Collection[str], trusted: AllTrusted
) -> list[Lesson]:
    ids = [known_id(turn.id) for turn in turns]
    encoders = dict(
        sql.execute(
            select(col(Retrieval.turn_id), col(Retrieval.encoder_version)).where(
                col(Retrieval.turn_id).in_(ids)
            )
        ).all()
    )
    own: dict[int | None, list[int]] = {}
    for turn_id, version in sql.execute(
        select(col(PassageIdentity.turn_id), col(PassageVersion.id))
        .join(PassageVersion, col(PassageVersion.passage_id) == col(PassageIdentity.id))
        .where(col(PassageIdentity.turn_id).in_(ids), col(PassageIdentity.kind) == "message")
    ):
        own.setdefault(turn_id, []).append(known_id(version))
    judgements = sql.scalars(select(Judgement).where(col(Judgement.turn_id).in_(ids))).all()
    judges = {judgement.turn_id: judgement.judge for judgement in judgements}
    teachers = teachers_in(sql, curators)
    said = said_of_passages(sql, [t for t in turns if teachers is None or t.user_id in teachers])
    documents = _documents(sql, _counted(sql, judgements, trusted), said)
    return [
        Lesson(
            known_id(turn.id),
            turn.user_id,
            turn.standalone or turn.message,
            tuple(documents[known_id(turn.id)]),
            judges[known_id(turn.id)],
            encoders.get(turn.id, ""),
            f"{turn.accepted_at:%Y-%m}",
            message_versions=tuple(sorted(own.get(turn.id, ()))),
        )
        for turn in turns
        if turn.id in documents and turn.id in judges
    ]


def _counted(sql: SqlSession, judgements: Sequence[Judgement], trusted: AllTrusted) -> Sequence[Judgement]:
    """Those that are learned from."""
    if not trusted:
        return judgements
    of_documents: set[int] = set()
    for some in in_parts(sorted({each.version_id for each in judgements})):
        of_documents |= {
            known_id(version)
            for version in sql.scalars(
                select(col(PassageVersion.id))
                .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
                .where(col(PassageVersion.id).in_(some), col(PassageIdentity.kind) == "document")
            )
        }
    return [
        each
        for each in judgements
        if counts(
            trusted.get(each.judge),
            DOCUMENTS if each.version_id in of_documents else TOLD,
            each.label,
            each.score,
        )
    ]


def _documents(
    sql: SqlSession, judgements: Sequence[Judgement], said: Mapping[tuple[int, int], SaidOf]
) -> dict[int, list[LessonDocument]]:
    """By turn, each by rank."""
    labelled = {
        (each.turn_id, each.version_id): (each.label, each.score, each.found_rank) for each in judgements
    }
    for place, of in said.items():
        label, _, rank = labelled.get(place, ("", 0.0, of.found_rank))
        if of.said == "no answer":
            if label == "answer":
                del labelled[place]  # the user says that this was no answer; what it was is not known
        else:
            labelled[place] = ("answer", 1.0, rank) if of.said == "answers" else ("irrelevant", 0.0, rank)
    texts = texts_learned_from(sql, {version for _, version in labelled})
    found: dict[int, list[LessonDocument]] = {}
    for (turn_id, version), (label, score, rank) in sorted(
        labelled.items(), key=lambda e: (e[0][0], e[1][2])
    ):
        if version in texts:
            found.setdefault(turn_id, []).append(LessonDocument(version, *texts[version], label, score, rank))
    return found


def texts_learned_from(
    sql: SqlSession, version_ids: Iterable[int], *, even_messages: bool = False
) -> dict[int, tuple[str, str]]:
    """Title and text of the versions that may be learned from.

    even_messages: also of messages, which echo what was said and are no knowledge.
    """
    echoes = () if even_messages else (col(PassageIdentity.kind) != "message",)
    found: dict[int, tuple[str, str]] = {}
    for some in in_parts(sorted(version_ids)):
        for version, title, text in sql.execute(
            select(col(PassageVersion.id), col(PassageVersion.title), col(PassageVersion.text))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(col(PassageVersion.id).in_(some), *echoes, *may_be_learned_from())
        ):
            found[known_id(version)] = (title, text)
    return found


def may_be_learned_from() -> tuple[ColumnElement[bool], ...]:
    """What holds of a version that is neither forgotten nor undone."""
    undone = select(col(Receipt.id)).where(col(Receipt.undone_at).is_not(None))
    added_by = col(PassageVersion.added_by)
    return (
        col(PassageVersion.erased_at).is_(None),
        or_(added_by.is_(None), added_by.not_in(undone)),
    )


DECIDING = 30  # held-out questions with an answer; with fewer `promotion` refuses every candidate


@dataclass(frozen=True)
class TooFewHeldOut:
    """Why no candidate could go live, in words."""

    lessons: int
    held_out: HeldOut
    needed: int  # held-out questions with an answer
    one_in: int = 1  # so many of the next lessons is held out

    @property
    def more(self) -> int:
        """About so many more lessons are needed, by the share that is held out and has an answer."""
        share = (1 + self.held_out.answered) / (1 + self.held_out.questions)
        return self.one_in * math.ceil((self.needed - self.held_out.answered) / share)

    @property
    def so_far(self) -> str:
        """Short, for a line that has little room."""
        return f"{self.held_out.answered} of {self.needed} held out"

    @property
    def sentence(self) -> str:
        """What there is, and what a round by itself needs; without a stop."""
        lessons = "1 lesson" if self.lessons == 1 else f"{self.lessons} lessons"
        kept, answered = self.held_out.questions, self.held_out.answered
        there = f"{lessons}, {kept} of them held out"
        wanted = f"{self.needed} held out"
        if kept != answered:
            there, wanted = f"{there}, {answered} with an answer", f"{self.needed} of these"
        return f"{there}; a round by itself needs {wanted}, about {self.more} more lessons"

    @property
    def warning(self) -> str:
        """For who begins a round all the same."""
        kept, answered = self.held_out.questions, self.held_out.answered
        there = f"{kept} question{'s are' if kept != 1 else ' is'} held out"
        if kept != answered:
            there += f", {answered} with an answer"
        can = "can hardly" if kept >= self.needed else "cannot"
        needs = f"{self.needed} are needed, about {self.more} more lessons"
        return f"This round {can} go live: {there}, and {needs}."
