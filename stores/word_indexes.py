"""The full-text index of each database: which passages hold which tokens.

Tokens come ready-made from `stores.lexical` and are never split, stemmed or weighed here, so SQLite
(FTS5) and PostgreSQL (tsvector under GIN) find the same passages. They differ in one thing: where more
passages hold a token than are asked for, FTS5 keeps those it ranks best by its own BM25; PostgreSQL cannot
count words, and keeps four times as many, with the rarest tokens first and then the shortest. Which are
shown is decided afterwards, by the same BM25.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.records import SHARED

_IDS_AT_ONCE = 5_000  # in one statement
_SPARE = 4  # how many times as many passages PostgreSQL keeps
_LONGEST_LEXEME = 200  # PostgreSQL takes 2,046 bytes; a longer token is known by its hash


class WordIndex(Protocol):
    """Passages found by their tokens, in one space at a time, within the caller's transaction."""

    def add(self, sql: SqlSession, space: str, words: Mapping[int, Sequence[str]]) -> None:
        """Makes passages findable. words: the tokens of each, in order, by version id."""

    def remove(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
        """Makes passages unfindable. Unknown ids are passed over."""

    def holding(self, sql: SqlSession, space: str, rarities: Mapping[str, float], k: int) -> list[int]:
        """Some k passages of a space that hold any of the tokens, or all there are; likely best first.

        rarities: of each token, larger for rarer ones.
        """

    def stored(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, list[str]]:
        """The tokens of those passages that are in this space, by version id."""


class Fts5Words:
    """SQLite's full-text index: one table for the shared space, one for all users' own.

    A user's passages carry a token of their space, by which alone they are matched.
    """

    def add(self, sql: SqlSession, space: str, words: Mapping[int, Sequence[str]]) -> None:
        """See `WordIndex`."""
        rows = [{"id": i, "space": _space_token(space), "words": " ".join(w)} for i, w in words.items()]
        if space == SHARED:
            sql.execute(text("INSERT INTO shared_words(rowid, words) VALUES (:id, :words)"), rows)
        else:
            sql.execute(text("INSERT INTO own_words(rowid, space, words) VALUES (:id, :space, :words)"), rows)

    def remove(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
        """See `WordIndex`."""
        if version_ids:
            table = "shared_words" if space == SHARED else "own_words"
            sql.execute(text(f"DELETE FROM {table} WHERE rowid = :id"), [{"id": i} for i in version_ids])

    def holding(self, sql: SqlSession, space: str, rarities: Mapping[str, float], k: int) -> list[int]:
        """See `WordIndex`."""
        any_word = " OR ".join(f'"{token}"' for token in rarities)
        if space == SHARED:
            statement = (
                "SELECT rowid FROM shared_words WHERE shared_words MATCH :match ORDER BY rank LIMIT :k"
            )
            match = any_word
        else:
            statement = (
                "SELECT rowid FROM own_words WHERE own_words MATCH :match "
                "ORDER BY bm25(own_words, 0, 1) LIMIT :k"
            )
            match = f'space : "{_space_token(space)}" AND words : ({any_word})'
        return [row[0] for row in sql.execute(text(statement), {"match": match, "k": k})]

    def stored(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, list[str]]:
        """See `WordIndex`."""
        found: dict[int, list[str]] = {}
        for some in _in_parts(version_ids):
            if space == SHARED:
                rows = sql.execute(text(f"SELECT rowid, words FROM shared_words WHERE rowid IN ({some})"))
            else:
                rows = sql.execute(
                    text(f"SELECT rowid, words FROM own_words WHERE rowid IN ({some}) AND space = :space"),
                    {"space": _space_token(space)},
                )
            found.update((row[0], row[1].split()) for row in rows)
        return found


class PostgresWords:
    """PostgreSQL's full-text index: one table whose lexemes begin with their space.

    A look-up therefore touches the passages of the space that is searched and no others.
    """

    def add(self, sql: SqlSession, space: str, words: Mapping[int, Sequence[str]]) -> None:
        """See `WordIndex`."""
        sql.execute(
            text(
                "INSERT INTO passage_words(version_id, space, words, length, lexemes) VALUES "
                "(:id, :space, :words, :length, array_to_tsvector(CAST(:lexemes AS text[])))"
            ),
            [
                {
                    "id": version_id,
                    "space": space,
                    "words": " ".join(found),
                    "length": len(found),
                    "lexemes": sorted({_lexeme(space, token) for token in found}),
                }
                for version_id, found in words.items()
            ],
        )

    def remove(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
        """See `WordIndex`."""
        for some in _in_parts(version_ids):
            sql.execute(
                text(f"DELETE FROM passage_words WHERE version_id IN ({some}) AND space = :space"),
                {"space": space},
            )

    def holding(self, sql: SqlSession, space: str, rarities: Mapping[str, float], k: int) -> list[int]:
        """See `WordIndex`."""
        rows = sql.execute(
            text(
                "SELECT found.version_id FROM "
                "unnest(CAST(:lexemes AS text[]), CAST(:rarities AS float8[])) AS asked(lexeme, rarity) "
                "JOIN LATERAL (SELECT version_id, length FROM passage_words "
                "WHERE lexemes @@ CAST(asked.lexeme AS tsquery) AND space = :space) AS found ON true "
                "GROUP BY found.version_id "
                "ORDER BY sum(asked.rarity) DESC, min(found.length), found.version_id LIMIT :k"
            ),
            {
                "lexemes": [f"'{_lexeme(space, token)}'" for token in rarities],  # no token holds a quote
                "rarities": list(rarities.values()),
                "space": space,
                "k": _SPARE * k,
            },
        )
        return [row[0] for row in rows]

    def stored(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, list[str]]:
        """See `WordIndex`."""
        found: dict[int, list[str]] = {}
        for some in _in_parts(version_ids):
            rows = sql.execute(
                text(
                    "SELECT version_id, words FROM passage_words "
                    f"WHERE version_id IN ({some}) AND space = :space"
                ),
                {"space": space},
            )
            found.update((row[0], row[1].split()) for row in rows)
        return found


_FTS5: WordIndex = Fts5Words()
_POSTGRES: WordIndex = PostgresWords()


def word_index(sql: SqlSession) -> WordIndex:
    """The full-text index of the database that a transaction is open on."""
    return _POSTGRES if sql.get_bind().dialect.name == "postgresql" else _FTS5


def _lexeme(space: str, token: str) -> str:
    encoded = token.encode()
    known_as = token if len(encoded) <= _LONGEST_LEXEME else f"#{hashlib.sha256(encoded).hexdigest()}"
    return f"{space}/{known_as}"


def _space_token(space: str) -> str:
    return space.replace(":", "")  # one word to FTS5


def _in_parts(version_ids: Sequence[int]) -> Iterator[str]:
    ids = [int(i) for i in version_ids]  # numbers only: they are written into the statement
    for start in range(0, len(ids), _IDS_AT_ONCE):
        yield ",".join(map(str, ids[start : start + _IDS_AT_ONCE]))
