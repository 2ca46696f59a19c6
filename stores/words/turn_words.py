"""Which turns hold which words: the full-text index that Find asks, in the transaction of what changes it.

Every token is written with its user's number in front, so a look-up for one user touches nobody else's
turns. What was said in private is never written here, and a turn that is forgotten, or a part of it, leaves
this index in the transaction in which it leaves the turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.database.rows import found_by, rows
from stores.database.tables import Session, Turn, known_id
from stores.words.lexical import tokens

_ENDINGS = tuple(  # of English words, which their stems lose in part or as a whole
    """s es ies ied y e ed edly er ers ing ings ingly ly ily al ally ality alities alism ation ations
    ational ator ators ate ates ated ating ative ization izations isation ize izes ized izing izer
    ise ises ised ising ance ances ancy ence ences ency able ably ability abilities ible ibly
    ibility ful fully fulness less lessly ness nesses iness ous ously ousness ive ively iveness
    ivity ic ical ically icity ity ities ment ments ent ently ant antly ism ion ions ional ionally""".split()
)


@lru_cache(maxsize=1_000)
def stems_of_longer(typed: str) -> tuple[str, ...]:
    """The stems of English words that begin like this, where they themselves do not.

    typed: lower case. Empty for a word with letters that no stem is made of.
    """
    if not typed.isascii():
        return ()
    found: dict[str, None] = {}
    for ending in _ENDINGS:
        for typed_of_it in range(len(ending)):
            if typed.endswith(ending[:typed_of_it]):
                longer = typed[: len(typed) - typed_of_it] + ending
                found.update(dict.fromkeys(tokens(longer)))
    return tuple(sorted(stem for stem in found if not stem.startswith(typed)))


BEGINNING = 3  # letters from which on the last word of a search may be a beginning
_LONGEST_LEXEME = 200  # PostgreSQL takes 2,046 bytes; a longer one is known by its hash
_MOST_BYTES = 1_000_000  # of one turn: more than 1,048,575 PostgreSQL takes too, and garbles them
_MOST_WORDS = 64  # of a search: PostgreSQL's parser gives up at some thousands
_NO_TURN = 2**31 - 1  # newer than any
_LOOKED_THROUGH = 20_000  # ids of turns, of all users


def note_turns(sql: SqlSession, turns: Iterable[Turn]) -> None:
    """Has turns found by the words that they hold now, and by no others; private ones by none."""
    for turn in turns:
        turn_id = known_id(turn.id)
        is_private = sql.get_one(Session, turn.session_id).is_private
        written = "" if is_private else f"{turn.message}\n{turn.answer}"
        _write(sql, turn_id, lexemes(turn.user_id, turn.session_id, tokens(written)))


def note_anew(sql: SqlSession, turn_ids: Sequence[int]) -> None:
    """Has these turns found by the words that they hold now; ids of no turn by none."""
    read = {known_id(turn.id): turn for turn in found_by(sql, Turn, col(Turn.id), turn_ids)}
    note_turns(sql, read.values())
    for turn_id in turn_ids:
        if turn_id not in read:
            _write(sql, turn_id, [])


def lexemes(user_id: int, session_id: int, found: Sequence[str]) -> list[str]:
    """What a turn is found by: its tokens under its user's number, and its session; without tokens none.

    Of a turn of more than a megabyte of different words those that come first.
    """
    kept: list[str] = []
    left = _MOST_BYTES
    for lexeme in dict.fromkeys(_lexeme(user_id, token) for token in found):
        left -= len(lexeme)
        if left < 0:
            break
        kept.append(lexeme)
    return [_session(session_id), *sorted(kept)] if kept else []


def turns_holding(
    sql: SqlSession,
    user_id: int,
    words: str,
    *,
    session_id: int | None = None,
    before: int | None = None,
    limit: int = 200,
) -> list[int]:
    """The newest turns of this user that hold all words of a text, newest first.

    The last word may be the beginning of one, from three letters on. session_id: of this session alone.
    before: only turns older than this one. Words too common to be searched for count as held, and so do
    those behind the first 64 others.
    """
    wanted = list(dict.fromkeys(tokens(words)))
    if not wanted or limit <= 0:
        return []
    asked = [] if session_id is None else [_session(session_id)]
    asked += [_lexeme(user_id, token) for token in wanted[:_MOST_WORDS]]
    last = _beginnings(user_id, words, wanted[-1]) if len(wanted) <= _MOST_WORDS else []
    is_postgresql = sql.get_bind().dialect.name == "postgresql"
    holding = _holding_by_tsvector if is_postgresql else _holding_by_fts5
    return holding(sql, asked, last, before or _NO_TURN, limit)


def _holding_by_fts5(
    sql: SqlSession, asked: list[str], last: list[str], before: int, limit: int
) -> list[int]:
    every = [f'"{lexeme}"' for lexeme in asked]
    if last:
        beginning, *others = (f'"{lexeme}"' for lexeme in last)
        every[-1] = f"({' OR '.join([every[-1], f'{beginning}*', *others])})"
    statement = (
        "SELECT rowid FROM turn_words WHERE turn_words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
    )
    return [row[0] for row in rows(sql, statement, [" AND ".join(every), before, limit])]


def _holding_by_tsvector(
    sql: SqlSession, asked: list[str], last: list[str], before: int, limit: int
) -> list[int]:
    """The newest turns are looked through one by one, which is quick for common words, and all older ones by
    the index, which is quick for rare words: the server cannot tell which of them are asked for.
    """
    every = [f"'{lexeme}'" for lexeme in asked]
    if last:
        beginning, *others = (f"'{lexeme}'" for lexeme in last)
        every[-1] = f"({' | '.join([every[-1], f'{beginning}:*', *others])})"
    query = " & ".join(every)
    newest = rows(sql, "SELECT max(turn_id) FROM turn_words WHERE turn_id < ?", [before])[0][0] or 0
    edge = newest - _LOOKED_THROUGH
    near = rows(
        sql,
        "SELECT turn_id FROM turn_words WHERE lexemes @@ CAST(? AS tsquery) AND turn_id < ? AND turn_id >= ? "
        "ORDER BY turn_id DESC LIMIT ?",
        [query, before, edge, limit],
    )
    if len(near) < limit and edge > 0:
        near += rows(
            sql,
            "WITH held AS MATERIALIZED (SELECT turn_id FROM turn_words WHERE lexemes @@ CAST(? AS tsquery)) "
            "SELECT turn_id FROM held WHERE turn_id < ? ORDER BY turn_id DESC LIMIT ?",
            [query, edge, limit - len(near)],
        )
    return [row[0] for row in near]


def _write(sql: SqlSession, turn_id: int, found: Sequence[str]) -> None:
    """In place of what was written of the turn before."""
    is_postgresql = sql.get_bind().dialect.name == "postgresql"
    column = "turn_id" if is_postgresql else "rowid"
    sql.execute(text(f"DELETE FROM turn_words WHERE {column} = :id"), {"id": turn_id})
    if found and is_postgresql:
        sql.execute(
            text(
                "INSERT INTO turn_words(turn_id, lexemes) "
                "VALUES (:id, array_to_tsvector(CAST(:found AS text[])))"
            ),
            {"id": turn_id, "found": list(found)},
        )
    elif found:
        sql.execute(
            text("INSERT INTO turn_words(rowid, words) VALUES (:id, :found)"),
            {"id": turn_id, "found": " ".join(found)},
        )


def _beginnings(user_id: int, words: str, last_token: str) -> list[str]:
    """What is found as the beginning of the last word, and then whole stems that the word may come to.

    Empty where it is whole, common or too short. As it is typed, and not its stem: what is typed of a word
    may be longer than the word's stem.
    """
    typed = words.split()[-1].casefold() if not words[-1].isspace() else ""
    if len(typed) < BEGINNING or not typed.isalnum() or tokens(typed)[-1:] != [last_token]:
        return []
    beginning = typed if typed.isascii() else last_token
    return [_lexeme(user_id, each) for each in (beginning, *stems_of_longer(beginning))]


def _session(session_id: int) -> str:
    return f"s{session_id}"


def _lexeme(user_id: int, token: str) -> str:
    """Letters and digits of ASCII alone, so that no database takes it apart or changes it."""
    written = f"u{token}" if token.isascii() else f"x{token.encode().hex()}"
    if len(written) > _LONGEST_LEXEME:
        written = f"h{hashlib.sha256(token.encode()).hexdigest()}"
    return f"{user_id}{written}"
