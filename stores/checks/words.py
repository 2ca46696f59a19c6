"""Whether the full-text index and the statistics of BM25 are those of the live texts.

All of it is derived. What is repaired is looked for again in the transaction that repairs it, so that
what other processes write meanwhile is neither taken for a fault nor lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.base.passages import searchable_text
from stores.database.database import Database
from stores.words.full_text import word_index
from stores.words.lexical import searched, tokens

_ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class WordFaults:
    """What does not fit, by number."""

    missing: int = 0  # live passages that are not in the full-text index
    wrong: int = 0  # passages under words that are not their text's
    extra: int = 0  # entries of what is no live passage of that space
    miscounted: int = 0  # spaces whose statistics are wrong
    is_index_whole: bool = True  # whether the full-text index finds what it holds

    def __bool__(self) -> bool:
        return bool(self.missing or self.wrong or self.extra or self.miscounted or not self.is_index_whole)


def word_faults(database: Database, *, looked_at: Callable[[int], None] = lambda count: None) -> WordFaults:
    """Looks through all live passages, as they are at one moment."""
    with database.writing() as sql:  # SQLite checks its index by a statement that writes
        is_whole = word_index(sql).is_whole(sql)
    with database.reading() as sql:
        return _look(sql, looked_at, is_index_whole=is_whole).faults()


def repair_words(database: Database, *, looked_at: Callable[[int], None] = lambda count: None) -> WordFaults:
    """Puts right what does not fit, and returns what that was. Writers wait meanwhile."""
    with database.writing() as sql:
        index = word_index(sql)
        is_whole = index.is_whole(sql)
        if not is_whole:
            index.rebuild(sql)
        found = _look(sql, looked_at, is_index_whole=is_whole)
        for space, ids in found.extra.items():
            index.remove(sql, space, ids)
        for space, words in found.wrong.items():
            index.remove(sql, space, list(words))
            index.add(sql, space, words)
        for space, words in found.missing.items():
            index.add(sql, space, words)
        for space in sorted(found.miscounted):
            _count_anew(sql, space, found)
        return found.faults()


@dataclass
class _Found:
    """What one look through all live passages found, by space."""

    is_index_whole: bool
    missing: dict[str, dict[int, list[str]]] = field(default_factory=dict)  # tokens by version id
    wrong: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    extra: dict[str, list[int]] = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)  # passages and words
    holding: Counter[tuple[str, str]] = field(default_factory=Counter)  # passages by space and token
    miscounted: set[str] = field(default_factory=set)

    def faults(self) -> WordFaults:
        return WordFaults(
            missing=sum(map(len, self.missing.values())),
            wrong=sum(map(len, self.wrong.values())),
            extra=sum(map(len, self.extra.values())),
            miscounted=len(self.miscounted),
            is_index_whole=self.is_index_whole,
        )


def _look(sql: SqlSession, looked_at: Callable[[int], None], *, is_index_whole: bool) -> _Found:
    found = _Found(is_index_whole)
    index = word_index(sql)
    for version_id, space in index.stray(sql):
        found.extra.setdefault(space, []).append(version_id)
    for texts in _live_texts(sql):
        for space, of_space in texts.items():
            stored = index.stored(sql, space, list(of_space))
            passages, total = found.sizes.get(space, (0, 0))
            for version_id, written in of_space.items():
                words = searched(written)
                if version_id not in stored:
                    found.missing.setdefault(space, {})[version_id] = words
                elif stored[version_id] == " ".join(before := tokens(written)):
                    words = before  # of before options were searched
                elif stored[version_id] != " ".join(words):
                    found.wrong.setdefault(space, {})[version_id] = words
                passages, total = passages + 1, total + len(words)
                found.holding.update((space, token) for token in set(words))
            found.sizes[space] = (passages, total)
            looked_at(len(of_space))
    found.miscounted = _miscounted(sql, found)
    return found


def _live_texts(sql: SqlSession) -> Iterator[dict[str, dict[int, str]]]:
    """Some thousand live texts at a time, by space and version id."""
    after = 0
    while rows := sql.execute(text(_TEXTS), {"after": after, "limit": _ROWS_AT_ONCE}).all():
        after = rows[-1][0]
        texts: dict[str, dict[int, str]] = {}
        for version_id, space, title, written in rows:
            texts.setdefault(space, {})[version_id] = searchable_text(title, written)
        yield texts


def _miscounted(sql: SqlSession, found: _Found) -> set[str]:
    kept = sql.execute(text("SELECT space, passages, words FROM space_statistics")).all()
    sizes = {row[0]: (row[1], row[2]) for row in kept}
    spaces = sizes.keys() | found.sizes.keys()
    wrong = {space for space in spaces if sizes.get(space, (0, 0)) != found.sizes.get(space, (0, 0))}
    known = 0
    for space, token, passages in sql.execute(text("SELECT space, token, passages FROM word_counts")):
        known += 1
        if found.holding.get((space, token)) != passages:
            wrong.add(space)
    if known < len(found.holding) or wrong:
        counted = {(row[0], row[1]) for row in sql.execute(text("SELECT space, token FROM word_counts"))}
        wrong.update(space for space, _ in found.holding.keys() - counted)
    return wrong


def _count_anew(sql: SqlSession, space: str, found: _Found) -> None:
    sql.execute(text("DELETE FROM word_counts WHERE space = :space"), {"space": space})
    sql.execute(text("DELETE FROM space_statistics WHERE space = :space"), {"space": space})
    if space not in found.sizes:
        return
    passages, words = found.sizes[space]
    sql.execute(
        text("INSERT INTO space_statistics(space, passages, words) VALUES (:space, :passages, :words)"),
        {"space": space, "passages": passages, "words": words},
    )
    rows = [
        {"space": space, "token": token, "passages": count}
        for (of_space, token), count in sorted(found.holding.items())
        if of_space == space
    ]
    if rows:
        sql.execute(
            text("INSERT INTO word_counts(space, token, passages) VALUES (:space, :token, :passages)"), rows
        )


_TEXTS = (
    "SELECT id, space, title, text FROM passage_versions WHERE id > :after AND removed_at IS NULL "
    "ORDER BY id LIMIT :limit"
)
