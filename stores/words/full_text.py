"""The full-text index of each database: which passages hold which tokens.

Tokens come ready-made from `stores.words.lexical` and are never split, stemmed or weighed here, so SQLite
(FTS5) and PostgreSQL (tsvector under GIN) find the same passages. They differ in one thing: where more
passages hold a token than are asked for, FTS5 keeps of the shared ones those it ranks best by its own BM25,
and of a user's own, which it could only rank by everybody's, all up to the newest 2,000; PostgreSQL cannot
count words, and keeps four times as many as asked for, with the rarest tokens first and then the shortest.
Which are shown is decided afterwards, by the same BM25.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from sqlalchemy import text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session as SqlSession

from stores.base.passages import SHARED
from stores.database.rows import rows

_IDS_AT_ONCE = 5_000  # in one statement
_SPARE = 4  # how many times as many passages PostgreSQL keeps
_MOST_OWN = 2_000  # of a user's own passages that FTS5 keeps
_LONGEST_LEXEME = 200  # PostgreSQL takes 2,046 bytes; a longer token is known by its hash


class WordIndex(Protocol):
    """Passages found by their tokens, in one space at a time, within the caller's transaction."""

    def add(self, sql: SqlSession, space: str, words: Mapping[int, Sequence[str]]) -> None:
        """Makes passages findable. words: the tokens of each, in order, by version id."""

    def remove(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
        """Makes passages unfindable. Unknown ids are passed over."""

    def holding(self, sql: SqlSession, space: str, rarities: Mapping[str, float], k: int) -> list[int]:
        """Some k passages of a space, or more, that hold any of the tokens, or all there are.

        rarities: of each token, larger for rarer ones.
        """

    def stored(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, str]:
        """The tokens of those passages that are in this space, joined by spaces; by version id."""

    def stray(self, sql: SqlSession) -> list[tuple[int, str]]:
        """What is held of versions that are not live in that space: version id and space."""

    def is_whole(self, sql: SqlSession) -> bool:
        """Whether every passage is found by the tokens that are held of it; asked while writing."""

    def rebuild(self, sql: SqlSession) -> None:
        """Makes every passage findable by the tokens that are held of it."""


class Fts5Words:
    """SQLite's full-text index: one table for the shared space, one for all others.

    A passage of a user or of a knowledge base carries a token of its space, by which alone it is matched.
    """

    def add(self, sql: SqlSession, space: str, words: Mapping[int, Sequence[str]]) -> None:
        new = [{"id": i, "space": _space_token(space), "words": " ".join(w)} for i, w in words.items()]
        if space == SHARED:
            sql.execute(text("INSERT INTO shared_words(rowid, words) VALUES (:id, :words)"), new)
        else:
            sql.execute(text("INSERT INTO own_words(rowid, space, words) VALUES (:id, :space, :words)"), new)

    def remove(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
        if version_ids:
            table = "shared_words" if space == SHARED else "own_words"
            sql.execute(text(f"DELETE FROM {table} WHERE rowid = :id"), [{"id": i} for i in version_ids])

    def holding(self, sql: SqlSession, space: str, rarities: Mapping[str, float], k: int) -> list[int]:
        any_word = " OR ".join(f'"{token}"' for token in rarities)
        if space == SHARED:
            statement = "SELECT rowid FROM shared_words WHERE shared_words MATCH ? ORDER BY rank LIMIT ?"
            match, most = any_word, k
        else:
            # FTS5 ranks by the words of all users: what one says would move what another finds
            statement = "SELECT rowid FROM own_words WHERE own_words MATCH ? ORDER BY rowid DESC LIMIT ?"
            match = f'space : "{_space_token(space)}" AND words : ({any_word})'
            most = max(k, _MOST_OWN)
        return [row[0] for row in rows(sql, statement, [match, most])]

    def stored(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for some in _in_parts(version_ids):
            # FTS5's own table of contents: the index above it takes half as long again for each row
            if space == SHARED:
                read = rows(sql, f"SELECT id, c0 FROM shared_words_content WHERE id IN ({some})")
            else:
                read = rows(
                    sql,
                    f"SELECT id, c1 FROM own_words_content WHERE id IN ({some}) AND c0 = ?",
                    [_space_token(space)],
                )
            found.update(read)
        return found

    def stray(self, sql: SqlSession) -> list[tuple[int, str]]:
        shared = rows(
            sql,
            "SELECT rowid FROM shared_words WHERE rowid NOT IN "
            "(SELECT id FROM passage_versions WHERE removed_at IS NULL AND space = ?)",
            [SHARED],
        )
        own = rows(
            sql,
            "SELECT w.rowid, w.space FROM own_words AS w WHERE NOT EXISTS "
            "(SELECT 1 FROM passage_versions AS v "
            "WHERE v.id = w.rowid AND v.removed_at IS NULL AND replace(v.space, ':', '') = w.space)",
        )
        return [(row[0], SHARED) for row in shared] + [
            (row[0], str(row[1]).replace("user", "user:").replace("kb", "kb:")) for row in own
        ]

    def is_whole(self, sql: SqlSession) -> bool:
        return all(is_fts5_whole(sql, table) for table in _FTS5_TABLES)

    def rebuild(self, sql: SqlSession) -> None:
        for table in _FTS5_TABLES:
            rebuild_fts5(sql, table)


class PostgresWords:
    """PostgreSQL's full-text index: one table whose lexemes begin with their space.

    A look-up therefore touches the passages of the space that is searched and no others.
    """

    def add(self, sql: SqlSession, space: str, words: Mapping[int, Sequence[str]]) -> None:
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
        for some in _in_parts(version_ids):
            sql.execute(
                text(f"DELETE FROM passage_words WHERE version_id IN ({some}) AND space = :space"),
                {"space": space},
            )

    def holding(self, sql: SqlSession, space: str, rarities: Mapping[str, float], k: int) -> list[int]:
        read = rows(
            sql,
            "SELECT found.version_id FROM "
            "unnest(CAST(? AS text[]), CAST(? AS float8[])) AS asked(lexeme, rarity) "
            "JOIN LATERAL (SELECT version_id, length FROM passage_words "
            "WHERE lexemes @@ CAST(asked.lexeme AS tsquery) AND space = ?) AS found ON true "
            "GROUP BY found.version_id "
            "ORDER BY sum(asked.rarity) DESC, min(found.length), found.version_id LIMIT ?",
            [
                [f"'{_lexeme(space, token)}'" for token in rarities],  # no token holds a quote
                list(rarities.values()),
                space,
                _SPARE * k,
            ],
        )
        return [row[0] for row in read]

    def stored(self, sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for some in _in_parts(version_ids):
            read = rows(
                sql,
                f"SELECT version_id, words FROM passage_words WHERE version_id IN ({some}) AND space = ?",
                [space],
            )
            found.update(read)
        return found

    def stray(self, sql: SqlSession) -> list[tuple[int, str]]:
        found = rows(
            sql,
            "SELECT w.version_id, w.space FROM passage_words AS w WHERE NOT EXISTS (SELECT 1 FROM "
            "passage_versions AS v WHERE v.id = w.version_id AND v.removed_at IS NULL "
            "AND v.space = w.space)",
        )
        return [(row[0], row[1]) for row in found]

    def is_whole(self, sql: SqlSession) -> bool:
        return sql.execute(text(f"SELECT 1 FROM passage_words AS w {_DIFFERS} LIMIT 1")).first() is None

    def rebuild(self, sql: SqlSession) -> None:
        sql.execute(
            text(f"UPDATE passage_words AS w SET lexemes = {_LEXEMES}, length = {_LENGTH} {_DIFFERS}"),
        )


_FTS5_TABLES = ("shared_words", "own_words")

# What `PostgresWords.add` writes beside the tokens, made of them by the server.
_TOKENS = "unnest(string_to_array(nullif(w.words, ''), ' ')) AS token"
_LENGTH = f"(SELECT count(*) FROM {_TOKENS})"
_LEXEMES = (
    "array_to_tsvector(ARRAY(SELECT DISTINCT w.space || '/' || "
    f"CASE WHEN octet_length(token) <= {_LONGEST_LEXEME} THEN token "
    f"ELSE '#' || encode(sha256(convert_to(token, 'UTF8')), 'hex') END FROM {_TOKENS}))"
)
_DIFFERS = f"WHERE w.lexemes <> {_LEXEMES} OR w.length <> {_LENGTH}"

_FTS5: WordIndex = Fts5Words()
_POSTGRES: WordIndex = PostgresWords()


def is_fts5_whole(sql: SqlSession, table: str) -> bool:
    """Whether an FTS5 table finds every row by the words that it holds of it; asked while writing."""
    try:
        sql.execute(text(f"INSERT INTO {table}({table}) VALUES ('integrity-check')"))
    except DatabaseError as error:
        if "malformed" in str(error.orig):
            return False
        raise
    return True


def rebuild_fts5(sql: SqlSession, table: str) -> None:
    """Has an FTS5 table find every row by the words that it holds of it."""
    sql.execute(text(f"INSERT INTO {table}({table}) VALUES ('rebuild')"))


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
