"""What the order of what was found can learn: questions, and which of their candidates helped their users.

    a turn -> what its user said of answer and passages -> each candidate helps, does not, or is unknown

The labels are the user's word alone; what a judge said of a candidate is only one of its features. One helps
that was rated good, that an answer rated good cites, or that a sure answer cites whose user went on from it
and said nothing against it. Of the others, those that were judged or shown do not help; in a turn where none
helps, nothing is known. Read from the turns and never stored beside them, as `lessons.py` does. What learns
from them orders for all: among several users only curators teach (`teachers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED
from stores.conversation.branches import parents_in
from stores.database.database import Database
from stores.database.rows import all_ids, found_by, in_parts
from stores.database.tables import (
    Feedback,
    Judgement,
    PassageIdentity,
    PassageVersion,
    Retrieval,
    RetrievedPassage,
    Session,
    Turn,
    known_id,
)
from stores.learning.kept_lessons import LessonsGone
from stores.learning.lessons import (
    HeldOut,
    is_no_answer,
    may_be_learned_from,
    said_of_passages,
    teaches,
    tells_when_to_end,
    texts_learned_from,
    unit_of,
    words_of,
)
from stores.learning.seeing_rounds import turns_behind
from stores.learning.teachers import teachers_in

_TURNS_AT_ONCE = 500

Labels = dict[int, bool | None]  # whether a version helps, None: unknown


@dataclass(frozen=True)
class OrderedPassage:
    """A passage as a turn found and judged it, with what its user said of it."""

    kind: str
    is_shared: bool
    version_id: int
    title: str
    text: str
    document_id: int | None
    position: int
    dense: float
    lexical: float
    lift: float
    score: float
    found_rank: int  # from 1
    given: float
    judged: float | None  # the judge's score, 0 to 1; None: nobody judged it
    helps: bool | None  # None: unknown


@dataclass(frozen=True)
class RelevanceLesson:
    """One question with all that was found for it; some of that helps, and some does not."""

    turn_id: int
    user_id: int
    question: str  # as it was ordered by
    month: str  # in which it was asked, like 2026-11
    found: tuple[OrderedPassage, ...]  # in the order found
    tells_when_to_end: bool  # is measured on during a training, and never trained on
    is_held_out: bool = field(default=False, compare=False)  # judges candidates, and is not trained on

    earlier_turns = ()  # as of `Lesson`

    @property
    def unit(self) -> str:
        """The same question, whoever asks it."""
        return unit_of(self.question)

    @property
    def words(self) -> frozenset[str]:
        """Of the question."""
        return words_of(self.question)

    @property
    def is_labelled(self) -> bool:
        """Whether its user's word says that something helped."""
        return any(each.helps for each in self.found)

    @property
    def passages(self) -> tuple[int, ...]:
        """The versions that were found."""
        return tuple(each.version_id for each in self.found)


class RelevanceLessons:
    """Those of a database."""

    def __init__(
        self, database: Database, *, is_sure: Callable[[str], bool], curators: Collection[str] = ()
    ) -> None:
        """is_sure: whether an answer is given without a doubt. curators: who teaches among others."""
        self._database, self._is_sure, self._curators = database, is_sure, curators

    def count(self, *, after: int = 0) -> int:
        """How many turns behind this one there are of which something helped."""
        with self._database.reading() as sql:
            return sum(1 for _ in self._labelled(sql, after))

    def turns(self) -> Sequence[int]:
        """All of which something helped, in order."""
        with self._database.reading() as sql:
            return [known_id(turn.id) for turn, _ in self._labelled(sql, 0)]

    def held_out(self, *, after: int, enough: int) -> HeldOut:
        """Those of turns behind this one, each of which can judge. enough: all are counted all the same."""
        del enough
        return HeldOut(*[self.count(after=after)] * 2)

    def helping(self, turns: Set[int]) -> dict[int, Set[int]]:
        """Of each of these turns of which something helped, the versions that did."""
        with self._database.reading() as sql:
            return {
                known_id(turn.id): {version for version, helps in labels.items() if helps}
                for turn, labels in self._labelled(sql, min(turns, default=1) - 1)
                if turn.id in turns
            }

    def all(self, *, after: int = 0) -> list[RelevanceLesson]:
        """Every lesson of a turn behind this one, in the order of the turns."""
        with self._database.reading() as sql:
            found = self._of(sql, list(self._labelled(sql, after)))
        return [lesson for lesson in found if {True, False} <= {each.helps for each in lesson.found}]

    def unlabelled(self) -> list[RelevanceLesson]:
        """The questions of which no user said what helped or what did not; of no passage is it known."""
        with self._database.reading() as sql:
            found = self._of(sql, [(turn, {}) for turn in self._silent(sql)])
        return [
            replace(lesson, found=tuple(replace(each, helps=None) for each in lesson.found))
            for lesson in found
        ]

    def require_kept(self, sql: SqlSession, lessons: Sequence[RelevanceLesson]) -> None:
        """Raises `LessonsGone` where one of these is no lesson any more, or lacks something it showed."""
        asked = _queries(sql, {known_id(turn.id) for turn, _ in self._labelled(sql, 0)})
        if not all(lesson.is_labelled for lesson in lessons):
            silent = _queries(sql, {known_id(turn.id) for turn in self._silent(sql)})
            asked |= {each.turn_id: silent.get(each.turn_id, "") for each in lessons if not each.is_labelled}
        shown = {each.version_id: (each.title, each.text) for lesson in lessons for each in lesson.found}
        if texts_learned_from(sql, shown, even_messages=True) != shown or any(
            asked.get(lesson.turn_id) != lesson.question for lesson in lessons
        ):
            raise LessonsGone("a question that it learns from was forgotten, undone or rated anew meanwhile")

    def _of(self, sql: SqlSession, labelled: Sequence[tuple[Turn, Labels]]) -> list[RelevanceLesson]:
        found: list[RelevanceLesson] = []
        for start in range(0, len(labelled), _TURNS_AT_ONCE):
            some = labelled[start : start + _TURNS_AT_ONCE]
            candidates = _candidates(sql, some)
            queries = _queries(sql, candidates)
            for turn, _ in some:
                turn_id = known_id(turn.id)
                lesson = RelevanceLesson(
                    turn_id,
                    turn.user_id,
                    queries[turn_id],
                    f"{turn.accepted_at:%Y-%m}",
                    tuple(candidates[turn_id]),
                    tells_when_to_end(_asked(turn)),
                )
                found.append(lesson)
        return found

    def _labelled(self, sql: SqlSession, after: int) -> Iterator[tuple[Turn, Labels]]:
        """Turns of which something helped, with what is known of their candidates, in their order."""
        return ((turn, labels) for turn, labels, _ in self._read(sql, after) if True in labels.values())

    def _silent(self, sql: SqlSession) -> Iterator[Turn]:
        """Turns of which no user said what helped or what did not, in their order."""
        for turn, labels, is_against in self._read(sql, 0):
            if not is_against and all(helps is None for helps in labels.values()):
                yield turn

    def _read(self, sql: SqlSession, after: int) -> Iterator[tuple[Turn, Labels, bool]]:
        """Those that may teach, with what is known, and whether somebody spoke against it, in order."""
        teachers = teachers_in(sql, self._curators)
        turns = sql.scalars(
            select(Turn)
            .join(Session, col(Session.id) == col(Turn.session_id))
            .where(*teaches(after), col(Turn.id).in_(select(col(Judgement.turn_id))))
            .order_by(col(Turn.id))
        ).all()
        turns = [turn for turn in turns if teachers is None or turn.user_id in teachers]
        turns = [turn for turn in turns if "knowledge_base" not in turn.details]
        went_on = _WentOn(sql)
        for start in range(0, len(turns), _TURNS_AT_ONCE):
            some = turns[start : start + _TURNS_AT_ONCE]
            ids = [known_id(turn.id) for turn in some]
            said, cited, against = said_of_passages(sql, some), _cited(sql, some), _spoken_against(sql, ids)
            for turn in some:
                turn_id = known_id(turn.id)
                labels: Labels = {
                    version: {"answers": True, "useless": False, "no answer": None}[of.said]
                    for (rated, version), of in said.items()
                    if rated == turn_id
                }
                is_confirmed = (
                    turn_id not in against
                    and not turn.details.get("invented_citations")
                    and self._is_sure(turn.answer)
                    and went_on.behind(turn)
                )
                for version in cited.get(turn_id, ()):
                    labels.setdefault(version, True if is_confirmed else None)
                yield turn, labels, turn_id in against


def may_order(database: Database, role: str, version: str, *, curators: Collection[str]) -> bool:
    """Whether trained weights may order for everybody: their user is alone, or curators taught all of it."""
    with database.reading() as sql:
        if (teachers := teachers_in(sql, curators)) is None:
            return True
        turns = turns_behind(sql, role, version)
        return bool(turns) and all(
            turn.user_id in teachers for turn in found_by(sql, Turn, col(Turn.id), turns)
        )


class _WentOn:
    """Knows which turns their user went on from, instead of asking anew; each session is read once."""

    def __init__(self, sql: SqlSession) -> None:
        self._sql = sql
        self._followed: dict[int, frozenset[int]] = {}

    def behind(self, turn: Turn) -> bool:
        """Whether another message follows this one."""
        if turn.session_id not in self._followed:
            self._followed[turn.session_id] = frozenset(parents_in(self._sql, turn.session_id).values())
        return turn.id in self._followed[turn.session_id]


def _asked(turn: Turn) -> str:
    return turn.standalone or turn.message


def _queries(sql: SqlSession, turn_ids: Iterable[int]) -> dict[int, str]:
    """By turn, what was searched with and ordered by."""
    found: dict[int, str] = {}
    for some in in_parts(turn_ids):
        asked = select(col(Retrieval.turn_id), col(Retrieval.query)).where(col(Retrieval.turn_id).in_(some))
        found.update(sql.execute(asked).all())
    return found


def _spoken_against(sql: SqlSession, turn_ids: Sequence[int]) -> set[int]:
    """Those of these turns of which somebody said, of the answer or a passage, that it was not good."""
    return all_ids(
        sql,
        select(col(Feedback.turn_id)).where(
            col(Feedback.turn_id).in_(turn_ids),
            col(Feedback.withdrawn_at).is_(None),
            col(Feedback.rating) != "good",
        ),
    )


def _cited(sql: SqlSession, turns: Sequence[Turn]) -> dict[int, list[int]]:
    """By turn, the versions that its answer cites."""
    by_id = {known_id(turn.id): turn for turn in turns}
    found: dict[int, list[int]] = {}
    for turn_id, version, number, rank in sql.execute(
        select(
            col(Retrieval.turn_id),
            col(RetrievedPassage.version_id),
            col(RetrievedPassage.citation),
            col(RetrievedPassage.found_rank),
        )
        .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
        .where(col(Retrieval.turn_id).in_(by_id), col(RetrievedPassage.citation).is_not(None))
    ):
        turn = by_id[turn_id]
        if number in turn.details.get("cited", ()) and not is_no_answer(turn, rank, number):
            found.setdefault(turn_id, []).append(version)
    return found


def _candidates(sql: SqlSession, labelled: Sequence[tuple[Turn, Labels]]) -> dict[int, list[OrderedPassage]]:
    """By turn, what it found, without its own message and what is forgotten or undone, in the order found."""
    turns = {known_id(turn.id): (turn, labels) for turn, labels in labelled}
    judged = {
        (turn_id, version): score
        for turn_id, version, score in sql.execute(
            select(col(Judgement.turn_id), col(Judgement.version_id), col(Judgement.score))
            .where(col(Judgement.turn_id).in_(turns))
            .order_by(col(Judgement.id))
        )
    }
    found: dict[int, list[OrderedPassage]] = {turn_id: [] for turn_id in turns}
    for turn_id, told_in, kind, space, *seen, citation in sql.execute(
        select(
            col(Retrieval.turn_id),
            col(PassageIdentity.turn_id),
            col(PassageIdentity.kind),
            col(PassageVersion.space),
            col(PassageVersion.id),
            col(PassageVersion.title),
            col(PassageVersion.text),
            col(PassageVersion.document_id),
            col(PassageVersion.position),
            col(RetrievedPassage.dense),
            col(RetrievedPassage.lexical),
            col(RetrievedPassage.lift),
            col(RetrievedPassage.score),
            col(RetrievedPassage.found_rank),
            col(RetrievedPassage.citation),
        )
        .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
        .join(PassageVersion, col(PassageVersion.id) == col(RetrievedPassage.version_id))
        .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
        .where(col(Retrieval.turn_id).in_(turns), *may_be_learned_from())
        .order_by(col(RetrievedPassage.found_rank))
    ):
        (turn, labels), (version, _, text, *_) = turns[turn_id], seen
        if kind == "message" and (told_in == turn_id or text == turn.message):
            continue  # it echoes the question
        if is_no_answer(turn, seen[-1], citation):
            continue
        given = turn.details.get("given", {}).get(str(version), 0.0)
        score = judged.get((turn_id, version))
        is_seen = bool(citation) or score is not None
        # what is given stands first by rule, whatever the weights are
        helps = None if given else labels.get(version, False if is_seen else None)
        values: list[Any] = [kind, space == SHARED, *seen, given, score, helps]
        found[turn_id].append(OrderedPassage(*values))
    return found
