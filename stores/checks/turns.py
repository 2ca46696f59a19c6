"""Whether Find finds every turn by its words. All of that is derived, and written anew from the turns.

It is looked in one moment, and repaired some turns at a time, each as it then is: so a writer waits a moment
only, and what it writes meanwhile is not lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.database.database import Database
from stores.database.rows import rows
from stores.words.full_text import is_fts5_whole, rebuild_fts5
from stores.words.lexical import tokens
from stores.words.turn_words import lexemes, note_anew

_LOOKED_AT_ONCE = 100  # turns, each of which may be megabytes long
_REPAIRED_AT_ONCE = 200


@dataclass(frozen=True)
class TurnWordFaults:
    """What does not fit, by turn."""

    missing: tuple[int, ...] = ()  # found by none of their words
    wrong: tuple[int, ...] = ()  # found by other words than theirs
    extra: tuple[int, ...] = ()  # in the index, and not there, or private
    is_index_whole: bool = True  # whether SQLite's index finds what it holds

    def __bool__(self) -> bool:
        return bool(self.missing or self.wrong or self.extra or not self.is_index_whole)


def turn_word_faults(
    database: Database, *, looked_at: Callable[[int], None] = lambda count: None
) -> TurnWordFaults:
    """Looks through all turns, as they are at one moment."""
    is_whole = True
    if not database.is_postgresql:
        with database.writing() as sql:  # SQLite checks its index by a statement that writes
            is_whole = is_fts5_whole(sql, "turn_words")
    with database.reading() as sql:
        return _look(sql, looked_at, is_index_whole=is_whole)


def repair_turn_words(
    database: Database, *, looked_at: Callable[[int], None] = lambda count: None
) -> TurnWordFaults:
    """Puts right what does not fit, and returns what that was."""
    found = turn_word_faults(database)
    if not found.is_index_whole:
        with database.writing() as sql:
            rebuild_fts5(sql, "turn_words")
    faulty = sorted({*found.missing, *found.wrong, *found.extra})
    for start in range(0, len(faulty), _REPAIRED_AT_ONCE):
        some = faulty[start : start + _REPAIRED_AT_ONCE]
        with database.writing() as sql:
            note_anew(sql, some)
        looked_at(len(some))
    return found


def _look(sql: SqlSession, looked_at: Callable[[int], None], *, is_index_whole: bool) -> TurnWordFaults:
    is_postgresql = sql.get_bind().dialect.name == "postgresql"
    missing: list[int] = []
    wrong: list[int] = []
    after = 0
    while turns := sql.execute(text(_TURNS), {"after": after, "limit": _LOOKED_AT_ONCE}).all():
        held = _held(sql, after, turns[-1][0], is_postgresql=is_postgresql)
        after = turns[-1][0]
        for turn_id, user_id, session_id, message, answer in turns:
            wanted = set(lexemes(user_id, session_id, tokens(f"{message}\n{answer}")))
            if wanted and turn_id not in held:
                missing.append(turn_id)
            elif held.get(turn_id, set()) != wanted:
                wrong.append(turn_id)
        looked_at(len(turns))
    extra = rows(sql, _EXTRA.format(id="turn_id" if is_postgresql else "rowid"), [False])
    return TurnWordFaults(tuple(missing), tuple(wrong), tuple(row[0] for row in extra), is_index_whole)


def _held(sql: SqlSession, after: int, last: int, *, is_postgresql: bool) -> dict[int, set[str]]:
    """What the index holds of the turns of some ids."""
    if is_postgresql:
        statement = (
            "SELECT turn_id, tsvector_to_array(lexemes) FROM turn_words WHERE turn_id > ? AND turn_id <= ?"
        )
        return {row[0]: set(row[1]) for row in rows(sql, statement, [after, last])}
    statement = "SELECT rowid, words FROM turn_words WHERE rowid > ? AND rowid <= ?"
    return {row[0]: set(row[1].split()) for row in rows(sql, statement, [after, last])}


_TURNS = (
    "SELECT t.id, t.user_id, t.session_id, t.message, t.answer FROM turns AS t "
    "JOIN sessions AS s ON s.id = t.session_id "
    "WHERE t.id > :after AND NOT s.is_private ORDER BY t.id LIMIT :limit"
)
_EXTRA = (
    "SELECT {id} FROM turn_words WHERE {id} NOT IN "
    "(SELECT t.id FROM turns AS t JOIN sessions AS s ON s.id = t.session_id WHERE s.is_private = ?)"
)
