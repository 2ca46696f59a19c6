"""Find: the turns of one user that hold words, in all their sessions.

Isolation fails closed, as in `stores.search.spaces`: the index is asked by the user's own number, and
whatever it returns is looked up among this user's turns again. Private, deleted and forgotten ones do not
exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import Session, Turn
from stores.words.lexical import tokens
from stores.words.turn_words import turns_holding

_ASKED_AT_ONCE = 200
_BEFORE = 24  # characters of an excerpt in front of what was found
_EXCERPT = 240
_LOOKED_AT = 1_000  # characters of a search whose words are looked for in what was found


@dataclass(frozen=True)
class FoundTurn:
    """A turn that holds the words."""

    turn_id: int
    session_id: int
    title: str  # of the session
    at: datetime
    is_answer: bool  # it is the answer that holds them, and not the message
    excerpt: str  # what stands around the first of them


class TurnSearch:
    """Finds turns by their words."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(
        self, user_id: int, words: str, *, session_id: int | None = None, limit: int = 100
    ) -> list[FoundTurn]:
        """This user's turns that hold all the words: those of a session first, then all others, newest first.

        limit: of either. Words that stand everywhere, such as "the", are not searched for.
        """
        words = well_formed(words)
        with self._database.reading() as sql:
            here = [] if session_id is None else self._turns(sql, user_id, words, session_id, limit, ())
            return here + self._turns(sql, user_id, words, None, limit, [h.turn_id for h in here])

    def _turns(
        self,
        sql: SqlSession,
        user_id: int,
        words: str,
        session_id: int | None,
        limit: int,
        without: Sequence[int],
    ) -> list[FoundTurn]:
        found: list[FoundTurn] = []
        before = None
        while len(found) < limit:
            asked = turns_holding(
                sql, user_id, words, session_id=session_id, before=before, limit=_ASKED_AT_ONCE
            )
            found += _looked_up(sql, user_id, [i for i in asked if i not in without], words)
            if len(asked) < _ASKED_AT_ONCE:
                break
            before = asked[-1]
        return found[:limit]


def _looked_up(sql: SqlSession, user_id: int, turn_ids: Sequence[int], words: str) -> list[FoundTurn]:
    read = sql.execute(
        select(
            col(Turn.id),
            col(Turn.session_id),
            col(Session.title),
            col(Turn.accepted_at),
            col(Turn.message),
            col(Turn.answer),
        )
        .join(Session, col(Session.id) == col(Turn.session_id))
        .where(
            col(Turn.id).in_(turn_ids),
            col(Turn.user_id) == user_id,
            col(Session.user_id) == user_id,
            col(Session.is_private).is_(False),
            col(Session.deleted_at).is_(None),
        )
        .order_by(col(Turn.id).desc())
    )
    looked_for = _looked_for(words)
    return [
        FoundTurn(turn_id or 0, session_id, title, at, *_shown(message, answer, looked_for))
        for turn_id, session_id, title, at, message, answer in read
    ]


def _shown(message: str, answer: str, looked_for: Sequence[str]) -> tuple[bool, str]:
    """Whether it is the answer that holds the words, and what stands around them."""
    in_message, in_answer = _place(message, looked_for), _place(answer, looked_for)
    if in_message is None and in_answer is not None:
        return True, _excerpt(answer, in_answer)
    return False, _excerpt(message, in_message or 0)


def _looked_for(words: str) -> list[str]:
    """The words of a search as they were typed and as they are indexed; none that stand everywhere."""
    typed = [word for word in words[:_LOOKED_AT].casefold().split() if tokens(word)]
    return list(dict.fromkeys([*typed, *tokens(words[:_LOOKED_AT])]))


def _place(written: str, looked_for: Sequence[str]) -> int | None:
    """Where the first of the words stands; by its letters, so an inflected form may be missed."""
    folded = written.casefold()
    places = [place for word in looked_for if (place := folded.find(word)) >= 0]
    if not places or len(folded) == len(written):
        return min(places, default=None)
    return _unfolded(written, min(places))


def _unfolded(written: str, place: int) -> int:
    """Where a place of the folded text stands in the written one: ß, folded, is two letters."""
    if len(written[:place].casefold()) == place:
        return place
    for at, character in enumerate(written):
        place -= len(character.casefold())
        if place < 0:
            return at
    return len(written)


def _excerpt(written: str, place: int) -> str:
    begins = max(0, place - _BEFORE)
    if begins:
        begins = written.find(" ", begins, place) + 1 or begins
    shown = " ".join(written[begins : begins + _EXCERPT].split())
    return f"…{shown}" if begins else shown
