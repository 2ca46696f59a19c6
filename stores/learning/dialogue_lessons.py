"""What the dialogue generator can learn: replies over a knowledge base that their users found right or wrote.

Read from the turns and never stored beside them, as `lessons.py` does: what was forgotten, withdrawn or said
in private is therefore not among the lessons of the next round. What learns from them can tell their words,
or prefer what one user prefers: as soon as there is another user, only what a curator found right or wrote
over a shared base is a lesson (`teachers.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import SHARED, knowledge_space
from stores.conversation.branches import earlier_turns
from stores.database.database import Database
from stores.database.rows import in_parts
from stores.database.tables import (
    Feedback,
    KnowledgeBase,
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
    teaches,
    tells_when_to_end,
    texts_learned_from,
)
from stores.learning.seeing_rounds import turns_behind
from stores.learning.teachers import one_user_in, teachers_in


@dataclass(frozen=True)
class ToldEntity:
    """An entity as it was put before the generator."""

    version_id: int
    name: str
    text: str  # as `stores.base.entities.entity_of` reads it


@dataclass(frozen=True)
class DialogueLesson:
    """One turn over a knowledge base, and the reply that it should have."""

    turn_id: int
    user_id: int
    dialogue: str  # the session's id: lessons of one dialogue are held out together
    base: str  # the knowledge base's name
    messages: tuple[str, ...]  # of the dialogue so far; the last is to be replied to
    answers: tuple[str, ...]  # between them
    constraints: Mapping[str, str]
    meeting: int
    entities: tuple[ToldEntity, ...]  # best first
    reply: str
    is_of_own: bool = False  # the knowledge base is the user's own
    earlier_turns: tuple[int, ...] = ()  # the ids of those of the earlier messages
    is_held_out: bool = field(default=False, compare=False)  # judges candidates, and is not trained on

    @property
    def passages(self) -> tuple[int, ...]:
        """The versions of its entities."""
        return tuple(entity.version_id for entity in self.entities)

    @property
    def unit(self) -> str:
        """The dialogue."""
        return self.dialogue

    @property
    def words(self) -> frozenset[str]:
        """None: its dialogue alone tells whether it repeats another one."""
        return frozenset()

    @property
    def tells_when_to_end(self) -> bool:
        """Whether it is measured on during a training, and is never trained on either."""
        return tells_when_to_end(self.dialogue)

    def row(self) -> dict[str, Any]:
        """As its training reads it."""
        return asdict(self) | {"measured": self.tells_when_to_end}


class DialogueLessons:
    """Those of a database."""

    def __init__(self, database: Database, *, history_turns: int, curators: Collection[str] = ()) -> None:
        """history_turns: how many earlier turns the generator sees. curators: who teaches among others."""
        self._database = database
        self._history_turns = history_turns
        self._curators = curators

    def count(self, *, after: int = 0) -> int:
        """How many there are of turns behind this one."""
        with self._database.reading() as sql:
            return len(_told(sql, after, self._curators))

    def turns(self) -> Sequence[int]:
        """All of which there is one, in order."""
        with self._database.reading() as sql:
            return [known_id(told.turn.id) for told in _told(sql, 0, self._curators)]

    def held_out(self, *, after: int, enough: int) -> HeldOut:
        """Those of turns behind this one, each of which can judge. enough: all are counted all the same."""
        del enough
        return HeldOut(*[self.count(after=after)] * 2)

    def all(self, *, after: int = 0) -> list[DialogueLesson]:
        """Every lesson of a turn behind this one, in the order of the turns."""
        with self._database.reading() as sql:
            return self._of(sql, after)

    def require_kept(self, sql: SqlSession, lessons: Sequence[DialogueLesson]) -> None:
        """Raises `LessonsGone` where one of these is not there any more as it was."""
        known = {lesson.turn_id: lesson for lesson in self._of(sql, 0)}
        if any(known.get(lesson.turn_id) != lesson for lesson in lessons):
            raise LessonsGone("a reply that it learns from was forgotten, undone or rated anew meanwhile")

    def _of(self, sql: SqlSession, after: int) -> list[DialogueLesson]:
        found = []
        for told in _told(sql, after, self._curators):
            turn, before = told.turn, turns_of(sql, earlier_turns(sql, told.turn, self._history_turns))
            of_base = turn.details["knowledge_base"]
            found.append(
                DialogueLesson(
                    known_id(turn.id),
                    turn.user_id,
                    told.dialogue,
                    of_base["name"],
                    (*(each.message for each in before), turn.message),
                    tuple(each.answer for each in before),
                    dict(of_base["constraints"]),
                    of_base["meeting"],
                    tuple(told.entities),
                    told.reply,
                    told.is_of_own,
                    tuple(known_id(each.id) for each in before),
                )
            )
        return found


def may_answer(database: Database, role: str, version: str, *, curators: Collection[str]) -> bool:
    """Whether a trained model may answer everybody: its user is alone, or curators taught all of it."""
    with database.reading() as sql:
        if one_user_in(sql):
            return True
        turns = turns_behind(sql, role, version)
        return bool(turns) and turns <= _accepted(sql, turns, curators)


def _accepted(sql: SqlSession, turns: Set[int], curators: Collection[str]) -> set[int]:
    """Those of these turns that curators rated so that they teach, each over shared bases alone."""
    teachers, shared = teachers_in(sql, curators) or frozenset(), _shared_spaces(sql)
    spaces: dict[int, set[str]] = {}
    for some in in_parts(sorted(turns & _wanted(sql, 0).keys())):
        for turn_id, space in sql.execute(
            select(col(Turn.id), col(PassageVersion.space))
            .join(Retrieval, col(Retrieval.turn_id) == col(Turn.id))
            .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
            .join(PassageVersion, col(PassageVersion.id) == col(RetrievedPassage.version_id))
            .where(col(Turn.id).in_(some), col(Turn.user_id).in_(teachers))
            .distinct()
        ):
            spaces.setdefault(known_id(turn_id), set()).add(space)
    return {turn_id for turn_id, found in spaces.items() if found <= shared}


def _shared_spaces(sql: SqlSession) -> set[str]:
    """Of knowledge bases."""
    bases = sql.scalars(select(KnowledgeBase).where(col(KnowledgeBase.space) == SHARED))
    return {knowledge_space(known_id(base.id)) for base in bases}


@dataclass(frozen=True)
class _Told:
    """A turn that teaches, without what was said before it."""

    turn: Turn
    dialogue: str
    entities: Sequence[ToldEntity]
    reply: str
    is_of_own: bool


def _told(sql: SqlSession, after: int, curators: Collection[str]) -> list[_Told]:
    teachers = teachers_in(sql, curators)
    wanted = _wanted(sql, after)
    turns = [turn for ids in in_parts(sorted(wanted)) for turn in turns_of(sql, ids)]
    if teachers is not None:
        turns = [turn for turn in turns if turn.user_id in teachers]
    entities = _entities(sql, [known_id(turn.id) for turn in turns])
    shared = _shared_spaces(sql)
    found = []
    for turn in turns:
        turn_id = known_id(turn.id)
        reply, (space, shown) = _reply(turn, wanted[turn_id]), entities.get(turn_id, ("", []))
        if reply and shown and (teachers is None or space in shared):
            dialogue = sql.get_one(Session, turn.session_id).public_id
            found.append(_Told(turn, dialogue, shown, reply, space not in shared))
    return found


def _wanted(sql: SqlSession, after: int) -> dict[int, str]:
    """By turn over a knowledge base that teaches: what its user wrote instead; empty where it is good."""
    rows = sql.execute(
        select(col(Feedback.turn_id), col(Feedback.rating), col(Feedback.correction))
        .join(Turn, col(Turn.id) == col(Feedback.turn_id))
        .join(Session, col(Session.id) == col(Turn.session_id))
        .where(
            col(Feedback.withdrawn_at).is_(None),
            col(Feedback.version_id).is_(None),
            col(Feedback.user_id) == col(Turn.user_id),
            *teaches(after),
        )
        .order_by(col(Feedback.id))
    )
    found: dict[int, str] = {}
    is_bad = set[int]()
    for turn_id, rating, correction in rows:
        if rating == "taught" and correction:
            found[turn_id] = correction
        elif rating == "good":
            found.setdefault(turn_id, "")
        elif rating == "bad":
            is_bad.add(turn_id)
    return {turn_id: written for turn_id, written in found.items() if written or turn_id not in is_bad}


def turns_of(sql: SqlSession, ids: Iterable[int]) -> list[Turn]:
    """In the order in which they were taken in."""
    return list(sql.scalars(select(Turn).where(col(Turn.id).in_(list(ids))).order_by(col(Turn.id))))


def _reply(turn: Turn, written: str) -> str:
    """Empty where nothing is to be learned: a reply in the words of entities is nobody's wording."""
    told = turn.details.get("knowledge_base")
    if told is None:
        return ""
    if written or not told.get("is_generated"):
        return written
    return turn.answer.partition("\n\n")[0]  # behind it stand the names of other entities


def _entities(sql: SqlSession, turn_ids: Sequence[int]) -> dict[int, tuple[str, list[ToldEntity]]]:
    """By turn the space of those that were put before the model, and those not forgotten, best first."""
    shown: dict[int, list[int]] = {}
    spaces: dict[int, str] = {}
    for some in in_parts(turn_ids):
        for turn_id, version_id, space in sql.execute(
            select(col(Retrieval.turn_id), col(RetrievedPassage.version_id), col(PassageVersion.space))
            .join(RetrievedPassage, col(RetrievedPassage.retrieval_id) == col(Retrieval.id))
            .join(PassageVersion, col(PassageVersion.id) == col(RetrievedPassage.version_id))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(
                col(Retrieval.turn_id).in_(some),
                col(RetrievedPassage.citation).is_not(None),
                col(PassageIdentity.kind) == "entity",
            )
            .order_by(col(RetrievedPassage.citation))
        ):
            shown.setdefault(turn_id, []).append(version_id)
            spaces[turn_id] = space
    texts = texts_learned_from(sql, {version for versions in shown.values() for version in versions})
    return {
        turn_id: (spaces[turn_id], [ToldEntity(i, *texts[i]) for i in versions if i in texts])
        for turn_id, versions in shown.items()
    }
