"""A glance at the end of a session tells what the stores would, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_fixtures import Stores, fresh_database

from assistant.terminal.facts.messages import messages_of
from stores.conversation.glance import Glance, glance
from stores.conversation.journal import Outcome
from stores.conversation.sessions import Sessions
from stores.database.data_directory import DirectoryLock
from stores.database.database import Database


@pytest.fixture
def stores_(tmp_path: Path) -> Stores:
    return Stores.over(fresh_database(tmp_path))


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


def says(stores: Stores, user: int, session: int, *messages: str, state: str = "done") -> list[int]:
    turns = []
    for message in messages:
        turn = stores.journal.accept(user, session, message, parts=[message]).turn_id
        outcome = Outcome(state=state, answer=f"re {message}", model="m", details={"cited": [1]})
        stores.journal.finish(turn, outcome)
        turns.append(turn)
    return turns


def seen(folder: Path, session: int | None = None, user: str = "ann") -> list[str] | None:
    found = glance(folder, user, session, turns=2)
    return None if found is None else [turn.message for turn in found.turns]


def test_it_tells_every_word_that_the_journal_tells(tmp_path: Path, stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann, title="About trains")
    says(stores_, ann, session, "one", "two")
    says(stores_, ann, session, "three", state="failed")
    stores_.journal.accept(ann, session, "four", parts=["four"])  # not answered
    found = glance(tmp_path, "ann", session, turns=3)
    assert isinstance(found, Glance)
    assert (found.session_id, found.title) == (session, "About trains")
    assert [turn.message for turn in found.turns] == ["two", "three", "four"]
    read = stores_.journal.turns(ann, session, limit=3)
    names = vars(found.turns[0])
    assert [{name: getattr(turn, name) for name in names} for turn in read] == [vars(t) for t in found.turns]
    shown = [vars(message) for message in messages_of(found.turns, {})]
    assert shown == [vars(message) for message in messages_of(read, {})]


def test_the_last_session_is_no_single_question_of_the_shell_until_one_goes_on_with_it(
    tmp_path: Path, stores_: Stores, ann: int
) -> None:
    talk = stores_.journal.open_session(ann)
    asked = stores_.journal.open_session(ann, is_asked=True)
    says(stores_, ann, talk, "one", "two")
    says(stores_, ann, asked, "three")
    assert (stores_.journal.last_session(ann), seen(tmp_path)) == (talk, ["one", "two"])
    assert stores_.journal.last_session(ann, also_asked=True) == asked
    says(stores_, ann, asked, "four")
    assert (stores_.journal.last_session(ann), seen(tmp_path)) == (asked, ["three", "four"])


def test_the_last_session_is_the_one_spoken_in_last_and_no_private_or_deleted_one(
    tmp_path: Path, stores_: Stores, ann: int
) -> None:
    journal = stores_.journal
    first, second, private = (
        journal.open_session(ann, is_private=is_private) for is_private in (False, False, True)
    )
    says(stores_, ann, second, "of the second")
    says(stores_, ann, first, "of the first")
    says(stores_, ann, private, "secret")
    assert journal.last_session(ann) == first
    assert seen(tmp_path) == ["of the first"]
    assert seen(tmp_path, private) == ["secret"]  # asked for by its number
    Sessions(stores_.database).delete(ann, first)
    assert seen(tmp_path) == ["of the second"]
    assert seen(tmp_path, first) is None


def test_nobody_sees_a_session_of_another_user(tmp_path: Path, stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    says(stores_, ann, session, "mine")
    bob = stores_.journal.user_id("bob")
    assert bob != ann
    assert seen(tmp_path, session) == ["mine"]
    assert seen(tmp_path, session, "bob") is None
    assert seen(tmp_path, None, "bob") is None
    assert seen(tmp_path, None, "nobody") is None


def test_a_session_with_branches_is_left_to_the_stores(tmp_path: Path, stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    first, _ = says(stores_, ann, session, "one", "two")
    assert seen(tmp_path) == ["one", "two"]
    stores_.journal.accept(ann, session, "one, but otherwise", parts=[], instead_of=first)
    assert seen(tmp_path) is None


def test_what_cannot_be_read_is_left_to_the_stores(tmp_path: Path) -> None:
    assert seen(tmp_path) is None
    assert list(tmp_path.iterdir()) == []  # nothing was made
    (tmp_path / "vouch.db").write_bytes(b"no database" * 100)
    assert seen(tmp_path) is None
    (tmp_path / "vouch.db").unlink()
    fresh_database(tmp_path).close()
    assert seen(tmp_path, user="half a character \udc80") is None


def test_a_folder_that_is_closed_to_this_user_is_left_to_the_stores(
    tmp_path: Path, stores_: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(stores_, ann, stores_.journal.open_session(ann), "one")

    def is_closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    assert seen(tmp_path) == ["one"]
    monkeypatch.setattr(Path, "is_file", is_closed)  # as it answers where the folder may not be searched
    assert seen(tmp_path) is None


def test_nothing_is_read_while_the_data_directory_is_replaced(
    tmp_path: Path, stores_: Stores, ann: int
) -> None:
    says(stores_, ann, stores_.journal.open_session(ann), "one")
    stores_.database.close()
    with DirectoryLock(tmp_path, is_exclusive=True):
        assert seen(tmp_path) is None
    assert seen(tmp_path) == ["one"]


def test_it_waits_for_nobody_who_writes(tmp_path: Path, stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    says(stores_, ann, session, "one")
    database: Database = stores_.database
    with database.writing():
        assert seen(tmp_path) == ["one"]
