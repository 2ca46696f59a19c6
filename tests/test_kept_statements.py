"""What is kept of a user's statements is what the database holds, whoever has changed it."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import event, select
from sqlmodel import col
from store_fixtures import Stores, fresh_database

from benchmarks.own_statements_cost import fill
from stores.base.errors import VouchError
from stores.base.passages import own_space
from stores.database.database import Database
from stores.database.tables import PassageVersion, known_id
from stores.forgetting.forgetting import Forgetting
from stores.search.spaces import Spaces
from stores.versions import statements
from stores.versions.changes import remove_versions, revive_versions
from stores.versions.statements import KeptStatements, newest_statements

ROOT = Path(__file__).parent.parent


def both(
    stores: Stores, kept: KeptStatements, user: int
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """What is kept, and what the database holds at that moment."""
    with stores.database.reading() as sql:
        return kept.newest(sql), newest_statements(sql, own_space(user), kept.most)


def change(stores: Stores, user: int, chance: random.Random, number: int) -> None:
    """One change of a memory, of any kind."""
    knowledge = stores.knowledge
    lines = stores.catalogue.lines(user, scope="yours")
    kind = chance.choice(["add", "add", "edit", "forget", "undo", "remove", "revive", "message"])
    if kind == "add" or (kind in ("edit", "forget", "remove") and not lines):
        knowledge.remember(user, f"told {number}", kind=chance.choice(["note", "fact", "correction"]))
    elif kind == "edit":
        knowledge.edit(user, chance.choice(lines).passage_id, f"edited {number}")
    elif kind == "forget":
        Forgetting(stores.database).forget(user, [chance.choice(lines).passage_id])
    elif kind == "undo" and (receipts := knowledge.receipts(user, limit=1)):
        knowledge.undo(user, receipts[0].id)
    elif kind == "message":
        session = stores.journal.open_session(user)
        stores.journal.accept(user, session, f"said {number}", parts=[f"said {number}"])
    else:
        with stores.database.writing() as sql:
            own = select(PassageVersion).where(col(PassageVersion.space) == own_space(user))
            rows = sql.scalars(own.where(col(PassageVersion.erased_at).is_(None))).all()
            live = [known_id(row.id) for row in rows if row.removed_at is None]
            open_again = [
                known_id(row.id)
                for row in rows
                if row.removed_at is not None
                and not any(r.passage_id == row.passage_id and r.removed_at is None for r in rows)
            ]
            if kind == "remove" and live:
                remove_versions(sql, [chance.choice(live)], receipt_id=None)
            elif kind == "revive" and open_again:
                revive_versions(sql, [chance.choice(open_again)])


@pytest.mark.parametrize("most", [3, 100])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_is_what_is_there_whatever_is_changed(
    tmp_path: Path, seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "_FEW", 2 + seed)  # sometimes too many have changed
    stores = Stores.fresh(tmp_path)
    other = Stores.over(Database.at(tmp_path))  # as another process has it
    ann, bob = (stores.journal.user_id(name) for name in ("ann", "bob"))
    chance, kept = random.Random(seed), KeptStatements(own_space(ann), most)
    for number in range(40):
        for _ in range(chance.randint(0, 3)):
            with suppress(VouchError):  # a message is not edited, and what was changed since not undone
                change(chance.choice([stores, other]), chance.choice([ann, ann, bob]), chance, number)
        seen, there = both(stores, kept, ann)
        assert seen == there


def test_another_process_that_changes_or_forgets_is_heeded(tmp_path: Path) -> None:
    stores = Stores.over(fresh_database(tmp_path))
    ann = stores.journal.user_id("ann")
    locker, _ = stores.knowledge.remember(ann, "My locker is 12.", kind="fact")
    secret, _ = stores.knowledge.remember(ann, "My pin is 4711.", kind="fact")
    space = stores.spaces().of(ann)
    assert {text for _, text in space.statements(10)} == {"My locker is 12.", "My pin is 4711."}
    acts = f"""
        from pathlib import Path
        from stores.database.database import Database
        from stores.forgetting.forgetting import Forgetting
        from stores.memory.edits import Knowledge
        database = Database.at(Path({str(tmp_path)!r}))
        Knowledge(database).edit({ann}, {locker}, "My locker is 14.")
        Forgetting(database).forget({ann}, [{secret}])
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(acts)], cwd=ROOT, check=True)
    assert [text for _, text in space.statements(10)] == ["My locker is 14."]
    stores.knowledge.undo_latest(ann)
    assert [text for _, text in space.statements(10)] == ["My locker is 12."]


def test_nobody_is_given_what_is_kept_of_somebody_else(stores: Stores, ann: int, bob: int) -> None:
    spaces: Spaces = stores.spaces()
    stores.knowledge.remember(ann, "My pin is 4711.", kind="fact")
    assert len(spaces.of(ann).statements(10)) == 1
    assert spaces.of(bob).statements(10) == []
    stores.knowledge.remember(bob, "My pin is 12.", kind="fact")
    stores.knowledge.remember(ann, "My locker is 1.", kind="fact")
    assert [text for _, text in spaces.of(bob).statements(10)] == ["My pin is 12."]
    assert [text for _, text in spaces.of(ann).statements(1)] == ["My locker is 1."]
    assert len(spaces.of(ann).statements(10)) == 2


# How much is looked at: counted in steps of SQLite's machine, not in time


@contextmanager
def steps(database: Database) -> Iterator[list[int]]:
    """Counts, in hundreds."""
    counted: list[int] = []

    def count() -> int:
        counted.append(1)
        return 0

    def watch(connection: object) -> None:
        connection.connection.driver_connection.set_progress_handler(count, 100)  # type: ignore[attr-defined]

    engine = database._engine
    event.listen(engine, "begin", watch)
    try:
        yield counted
    finally:
        event.remove(engine, "begin", watch)


def filled(folder: Path, facts: int) -> tuple[Stores, int]:
    """A memory of so many statements, some of them replaced or ended since."""
    folder.mkdir()
    stores = Stores.over(fresh_database(folder))
    ann = stores.journal.user_id("ann")
    fill(stores.database, ann, facts, random.Random(facts))
    return stores, ann


def test_an_unchanged_memory_is_not_read_again(tmp_path: Path) -> None:
    stores, ann = filled(tmp_path / "some", 300)
    space = stores.spaces().of(ann)
    first = space.statements(10_000)
    with steps(stores.database) as counted:
        assert space.statements(10_000) == first
    assert len(counted) <= 2
    stores.knowledge.remember(ann, "My parcel is 5.", kind="fact")
    with steps(stores.database) as counted:
        assert len(space.statements(10_000)) == len(first) + 1
    assert len(counted) <= 5
