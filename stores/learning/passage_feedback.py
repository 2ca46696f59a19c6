"""What users said of the passages that their answers were made from.

    a rating of the passage > a correction of the answer > a rating of the answer > what the judge said

Of a whole answer, what was said holds for the passages that it cites, and for no other. That it helped
makes answers of them. That it did not, or that it was corrected, takes from them that they answer, and
leaves open what they are: they may be about the question all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.tables import Feedback, Retrieval, RetrievedPassage, Turn, known_id

Said: TypeAlias = Literal["answers", "useless", "no answer"]


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
        cited = by_id[turn_id].details.get("cited", ())
        said = _of_passage(of_passages.get((turn_id, passage.version_id)))
        if said is None and passage.citation is not None and passage.citation in cited:
            said = _of_answer(of_answers.get(turn_id, set()))
        if said is not None:
            found[turn_id, passage.version_id] = SaidOf(said, passage.found_rank)
    return found


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
