"""A copy of a database as it was: of one moment, also while it is written, and of what was there by then."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col
from store_fixtures import Stores
from test_claims import state

from stores.base.clock import now, time_by
from stores.database.tables import StatedClaim
from stores.exchange.earlier_state import copy_untouched, go_back_to

ROWS = (
    4_000  # of two tables that every transaction changes alike; more than a page cache of a few pages holds
)


def write_alike(file: Path, value: int) -> None:
    """Opens the database, changes both tables, and closes it: all is in the file then."""
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("UPDATE one SET value = ?", (value,))
        opened.execute("UPDATE other SET value = ?", (value,))


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    file = tmp_path / "pair.db"
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        with made:
            for table in ("one", "other"):
                made.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, value INT, text TEXT)")
                rows = [(0, "x" * 200)] * ROWS
                made.executemany(f"INSERT INTO {table} (value, text) VALUES (?, ?)", rows)
    return file


@pytest.mark.parametrize("times", [1, 99])
def test_a_copy_is_of_one_moment_though_others_write_while_it_is_made(
    pair: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Another process opens the database while it is copied, writes and closes it: once, or each time."""
    connect, written = sqlite3.connect, [0]

    def interrupted(*given: Any, **more: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(*given, **more)
        calls = [0]

        def meanwhile() -> int:
            calls[0] += 1
            if calls[0] == 20 and written[0] < times:
                written[0] += 1
                monkeypatch.setattr(sqlite3, "connect", connect)
                write_alike(pair, written[0])
                monkeypatch.setattr(sqlite3, "connect", interrupted)
            return 0

        opened.set_progress_handler(meanwhile, 1_000)
        return opened

    monkeypatch.setattr(sqlite3, "connect", interrupted)
    copy_untouched(pair, tmp_path / "copy.db")
    monkeypatch.setattr(sqlite3, "connect", connect)
    assert written[0] >= 1
    with closing(connect(tmp_path / "copy.db")) as copied:
        values = [
            copied.execute(f"SELECT count(*), min(value), max(value) FROM {table}").fetchone()
            for table in ("one", "other")
        ]
    assert values[0] == values[1]
    assert values[0][0] == ROWS
    assert values[0][1] == values[0][2]


def test_nothing_is_written_beside_a_database_that_nobody_has_open(pair: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    (tmp_path / "elsewhere").mkdir()
    copy_untouched(pair, tmp_path / "elsewhere" / "copy.db")
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "elsewhere"])


DAY = timedelta(days=1)


@pytest.fixture
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A memory written elsewhere: a text of a hundred days ago that was changed fifty days ago."""
    stores = Stores.fresh(tmp_path_factory.mktemp("elsewhere"))
    ann = stores.journal.user_id("ann")
    with time_by(lambda: datetime.now(UTC) - 100 * DAY):
        stores.knowledge.remember(ann, "The cat is called Ada.")
    (line,) = stores.catalogue.lines(ann)
    with time_by(lambda: datetime.now(UTC) - 50 * DAY):
        stores.knowledge.edit(ann, line.passage_id, "The cat is called Bea.")
    lines = stores.exported(ann)
    stores.database.close()
    return lines


@pytest.mark.parametrize("days_ago", [1, 60, 200])
def test_what_was_imported_since_was_not_known_whatever_times_it_brings(
    exported: list[str], tmp_path: Path, days_ago: int
) -> None:
    stores = Stores.fresh(tmp_path)
    ann = stores.journal.user_id("ann")
    assert stores.import_lines(ann, exported).new == 1
    assert stores.own_texts(ann) == {"The cat is called Bea."}
    go_back_to(stores.database, now() - days_ago * DAY)
    assert stores.own_texts(ann) == set()
    stores.database.close()


def test_an_import_of_before_that_was_undone_since_was_known(exported: list[str], tmp_path: Path) -> None:
    stores = Stores.fresh(tmp_path)
    ann = stores.journal.user_id("ann")
    with time_by(lambda: datetime.now(UTC) - 10 * DAY):
        stores.import_lines(ann, exported)
    stores.knowledge.undo(ann)
    assert stores.own_texts(ann) == set()
    go_back_to(stores.database, now() - DAY)
    assert stores.own_texts(ann) == {"The cat is called Bea."}
    stores.database.close()


def test_claims_that_came_with_an_import_since_do_not_stand(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = Stores.fresh(tmp_path / "elsewhere")
    with time_by(lambda: datetime.now(UTC) - 100 * DAY):
        state(other, other.journal.user_id("ann"), "The gate opens at nine.", about="world")
    stores = Stores.fresh(tmp_path)
    ann = stores.journal.user_id("ann")
    stores.import_lines(ann, other.exported(other.journal.user_id("ann")))
    go_back_to(stores.database, now() - DAY)
    with stores.database.reading() as sql:
        assert set(sql.scalars(select(col(StatedClaim.state)))) == {"withdrawn"}
    for opened in (stores, other):
        opened.database.close()
