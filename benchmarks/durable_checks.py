"""What holds in every store, whatever process was killed over it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.orm import Session as SqlSession

from benchmarks.durable_worker import QuickAssistant, Specification
from stores.base.passages import searchable_text


class NotDurable(AssertionError):
    """Something acknowledged is lost, or something is there by half."""


def require(holds: bool, otherwise: str) -> None:
    """Raises `NotDurable` unless it holds."""
    if not holds:
        raise NotDurable(otherwise)


@contextmanager
def opened(specification: Specification) -> Iterator[QuickAssistant]:
    """The store that a process left behind."""
    assistant = QuickAssistant(specification)
    try:
        yield assistant
    finally:
        assistant.close()


def check_whole(assistant: QuickAssistant, *, is_caught_up: bool) -> None:
    """Nothing is there by half. is_caught_up: everything has a vector, no job waits, the index agrees."""
    with assistant.stores.database.reading() as sql:
        require(assistant.stores.database.integrity_problems() == [], "the database is damaged")
        if not assistant.stores.database.is_postgresql:
            require(rows(sql, "PRAGMA foreign_key_check") == [], "a row names another that is not there")
        _check_documents(sql)
        _check_words(sql, is_postgresql=assistant.stores.database.is_postgresql)
        _check_vectors(sql, assistant.stores.encoder_versions.live(), is_caught_up=is_caught_up)
        _check_turns(sql)
        is_indexed = assistant.search.searching.shared_index.is_wanted(sql)
    if is_caught_up:
        differences = assistant.search.searching.shared_index.differences()
        require(differences is not None or not is_indexed, "the index is not filled")
        require(differences in (None, (set(), set())), f"the index differs: {differences}")


def _check_documents(sql: SqlSession) -> None:
    live = rows(sql, "SELECT document_id, passage_count FROM document_versions WHERE removed_at IS NULL")
    expected = dict(live)
    require(len(live) == len(expected), "a document has two live versions")
    places: dict[int, list[int]] = defaultdict(list)
    for document_id, position in rows(
        sql,
        "SELECT v.document_id, v.position FROM passage_versions AS v "
        "JOIN passages AS p ON p.id = v.passage_id "
        "WHERE v.removed_at IS NULL AND p.kind = 'document' ORDER BY v.document_id, v.position",
    ):
        places[document_id].append(position)
    require(places == {i: list(range(count)) for i, count in expected.items()}, "a document is not whole")


def _check_words(sql: SqlSession, *, is_postgresql: bool) -> None:
    live = set(rows(sql, "SELECT id, space FROM passage_versions WHERE removed_at IS NULL"))
    if is_postgresql:
        stored = rows(sql, "SELECT version_id, space, words FROM passage_words")
    else:
        own = rows(sql, "SELECT rowid, space, words FROM own_words")
        stored = rows(sql, "SELECT rowid, 'shared', words FROM shared_words")
        stored += [(i, space.replace("user", "user:"), words) for i, space, words in own]
    require({row[:2] for row in stored} == live, "the words are not those of the live passages")
    counts = Counter((space, token) for _, space, words in stored for token in set(words.split()))
    kept = {row[:2]: row[2] for row in rows(sql, "SELECT space, token, passages FROM word_counts")}
    require(kept == counts, "words are counted wrongly")
    sizes = Counter(space for _, space, _ in stored)
    known = rows(sql, "SELECT space, passages FROM space_statistics WHERE passages <> 0")
    require(dict(known) == sizes, "passages are counted wrongly")


def _check_vectors(sql: SqlSession, live: Any, *, is_caught_up: bool) -> None:
    if live is None:
        return
    without = {
        row[0]
        for row in rows(
            sql,
            "SELECT id FROM passage_versions WHERE removed_at IS NULL AND id NOT IN "
            f"(SELECT version_id FROM passage_vectors WHERE encoder_version = '{live.version}')",
        )
    }
    payloads = [
        row[0] for row in rows(sql, "SELECT payload FROM jobs WHERE kind = 'index' AND done_at IS NULL")
    ]
    waiting = {i for p in payloads for i in (p if isinstance(p, dict) else json.loads(p))["version_ids"]}
    require(without <= waiting, "a passage has no vector and waits for none")
    if is_caught_up:
        require(not without and not waiting, "jobs wait although the start has caught up")


def _check_turns(sql: SqlSession) -> None:
    told: dict[int, str] = {}
    for turn_id, text in rows(
        sql,
        "SELECT p.turn_id, v.text FROM passages AS p JOIN passage_versions AS v ON v.passage_id = p.id "
        "WHERE p.kind = 'message' ORDER BY v.position",
    ):
        told[turn_id] = f"{told[turn_id]} {text}" if turn_id in told else text
    searched = {row[0] for row in rows(sql, "SELECT turn_id FROM retrievals")}
    turns = rows(sql, "SELECT id, state, message, answer, answered_at FROM turns")
    require(told == {turn[0]: turn[2] for turn in turns}, "a message and its passages do not agree")
    for turn_id, state, _, answer, answered_at in turns:
        require(state in ("accepted", "done"), f"turn {turn_id} is {state}")
        is_done = state == "done"
        require(
            is_done == bool(answer) == bool(answered_at) == (turn_id in searched),
            f"turn {turn_id} is answered by half",
        )


def check_found(assistant: QuickAssistant, user_id: int, text: str, title: str = "") -> None:
    """Search by meaning and by words finds a passage by its own text."""
    searching = assistant.search.searching
    space = searching.spaces.of(user_id)
    query = searching.encoder.encode_queries([searchable_text(title, text)])[0]
    near = space.passages([i for i, _ in space.nearest(query, 1)])
    require([p.text for p in near.values()] == [text], f"not found by meaning: {text}")
    matching = space.passages(space.matching(text, 50))
    require(text in [p.text for p in matching.values()], f"not found by words: {text}")


def rows(sql: SqlSession, statement: str) -> list[tuple[Any, ...]]:
    """What a statement gives."""
    return [tuple(row) for row in sql.connection().exec_driver_sql(statement)]
