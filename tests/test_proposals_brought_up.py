"""Proposals of an earlier release, which did not say what they would change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

import stores.database.database as database_module
from stores.claims.proposals import Proposals
from stores.database.database import Database

_CLAIM = (
    "INSERT INTO claims(id, user_id, origin, number, text, text_key, quote, kind, about, is_hearsay, state, "
    "status, confidence, scope, action, passage_id, grounds, created_at) VALUES (:id, 1, :origin, 1, "
    ":text, :key, '', 'fact', 'world', false, 'stored', 'correct', 1, 'yours', 'add', :passage, '{}', "
    "CURRENT_TIMESTAMP)"
)
_PROPOSAL = (
    "INSERT INTO proposals(claim_id, text, text_key, reason, state, created_at) "
    "VALUES (:id, :text, :key, :reason, 'open', CURRENT_TIMESTAMP)"
)


@pytest.fixture(params=["sqlite", "postgresql"])
def before_changes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database whose proposals do not say yet what they would change: one of each kind."""
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    url = server.new_database() if server else f"sqlite:///{tmp_path / 'old.db'}"
    engine = database_module._engine(url)
    database_module._migrate(engine, "0006")
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as sql:
        for i, name in enumerate(("ann", "eve"), start=1):
            sql.execute(
                text("INSERT INTO users VALUES (:id, :name, CURRENT_TIMESTAMP)"), {"id": i, "name": name}
            )
        sql.execute(
            text(
                "INSERT INTO passages(id, space, kind, external_id, created_at) "
                "VALUES (7, 'shared', 'fact', '', CURRENT_TIMESTAMP)"
            )
        )
        for number, removed in ((1, "CURRENT_TIMESTAMP"), (2, "NULL")):
            sql.execute(
                text(
                    "INSERT INTO passage_versions(id, passage_id, position, space, number, title, text, "
                    "text_hash, author, created_at, removed_at) VALUES (:id, 7, 0, 'shared', :number, '', "
                    f":text, '', 'test', CURRENT_TIMESTAMP, {removed})"
                ),
                {"id": 20 + number, "number": number, "text": f"Version {number}."},
            )
        stated = (
            ("removal", "", "removal:7", 7),
            ("change", "It opens at ten.", "ten", None),
            ("share", "The lift is gone.", "gone", None),
        )
        for i, (reason, words, key, passage) in enumerate(stated, start=1):
            origin = reason if reason == "removal" else "turn"
            given = {
                "id": i,
                "origin": origin,
                "text": words,
                "key": key,
                "passage": passage,
                "reason": reason,
            }
            sql.execute(text(_CLAIM), {k: given[k] for k in ("id", "origin", "text", "key", "passage")})
            sql.execute(text(_PROPOSAL), {k: given[k] for k in ("id", "text", "key", "reason")})
    engine.dispose()
    yield url
    if server:
        server.drop(url)


def test_what_was_proposed_before_is_brought_up_to_date(before_changes: str) -> None:
    database = Database(before_changes, migrates=True)
    removal, offer = Proposals(database).open()  # of the change nobody knows what it would change
    assert (removal.reason, removal.action, removal.text) == ("removal", "delete", "Version 2.")
    assert (offer.reason, offer.action, offer.text) == ("share", "add", "The lift is gone.")
    with database.reading() as sql:
        rows = sql.execute(text("SELECT state, action, passage_id, version_id FROM proposals ORDER BY id"))
        assert [tuple(row) for row in rows] == [
            ("open", "delete", 7, 22),
            ("withdrawn", "add", None, None),
            ("open", "add", None, None),
        ]
    database.close()
