"""Plain mode: a session renamed or put into the archive, what was learned of a turn, and privacy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_fixtures import counting, talk
from screen_fixtures import assistant_in

from assistant.wiring.assistant import Assistant
from stores.claims.claims import NewClaim
from stores.conversation.sessions import Shelf


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Assistant]:
    with assistant_in(tmp_path, counting) as made:
        yield made


def titles(assistant: Assistant, shelf: Shelf = "open") -> list[str]:
    return [
        line.title
        for line in assistant.stores.sessions.lines(assistant.stores.journal.user_id("ann"), shelf=shelf)
    ]


def test_a_session_is_renamed_and_its_old_title_is_given_back_as_told(assistant: Assistant) -> None:
    told, session = talk(assistant, "About lockers?", "/rename  The   cellar ")
    assert "Renamed: “The cellar”.\n" in told
    assert "To restore its title: /rename About lockers?\n" in told
    assert titles(assistant) == ["The cellar"]
    told, _ = talk(assistant, "/rename About lockers?", session=session)
    assert "To restore its title: /rename The cellar\n" in told
    assert titles(assistant) == ["About lockers?"]


def test_a_session_in_which_nothing_was_said_can_have_a_title(assistant: Assistant) -> None:
    told, _ = talk(assistant, "/rename The cellar", "About lockers?")
    assert "Renamed: “The cellar”.\n\n" in told
    assert titles(assistant) == ["The cellar"]


def test_this_session_is_archived_goes_on_and_comes_back(assistant: Assistant) -> None:
    told, session = talk(assistant, "About lockers?", "/archive", "And ladders?")
    assert "Archived: “About lockers?”.\n/archive brings it back;" in told
    assert "Assistant: Answer to" in told.partition("You: And ladders?")[2]
    assert (titles(assistant), titles(assistant, "archived")) == ([], ["About lockers?"])
    told, _ = talk(assistant, "/archive", session=session)
    assert "Out of the archive: “About lockers?”.\n/archive archives it again.\n" in told
    assert (titles(assistant), titles(assistant, "archived")) == (["About lockers?"], [])


def test_another_session_is_archived_by_its_number_and_a_deleted_one_comes_back(assistant: Assistant) -> None:
    _, session = talk(assistant, "About lockers?")
    told, _ = talk(assistant, f"/archive {session}")
    assert f"/archive {session} brings it back;" in told
    assert titles(assistant, "archived") == ["About lockers?"]
    assistant.stores.sessions.delete(assistant.stores.journal.user_id("ann"), session)
    told, _ = talk(assistant, f"/archive {session}")
    assert "Brought back: “About lockers?”.\n\n" in told
    assert titles(assistant, "archived") == ["About lockers?"]


def test_nobody_archives_what_is_anothers(assistant: Assistant) -> None:
    bob = assistant.stores.journal.user_id("bob")
    session = assistant.stores.journal.open_session(bob)
    assistant.stores.journal.accept(bob, session, "Mine.", parts=["Mine."])
    told, _ = talk(assistant, f"/archive {session}")
    assert f"there is no session {session} of yours" in told
    assert assistant.stores.sessions.shelf(bob, session) == "open"


def test_what_was_learned_is_told_of_the_last_turn_and_of_one_that_is_named(assistant: Assistant) -> None:
    user = assistant.stores.journal.user_id("ann")
    told, session = talk(assistant, "The lift works.", "Is it open?")
    (first, second) = (turn.id or 0 for turn in assistant.stores.journal.turns(user, session))
    claim = NewClaim(text="The lift works.", quote="The lift works.", kind="fact", about="world")
    assistant.stores.claims.put_one(user, claim, origin="taught", turn_id=first)
    told, _ = talk(assistant, "/learned", f"/learned {first}", session=session)
    assert f"Learned from turn {second}:\nNothing new: it was known already" in told
    assert f"Learned from turn {first}:\n" in told
    assert "“The lift works.”" in told.partition(f"Learned from turn {first}:")[2]


def test_nobody_is_told_what_another_taught(assistant: Assistant) -> None:
    bob = assistant.stores.journal.user_id("bob")
    session = assistant.stores.journal.open_session(bob)
    turn = assistant.stores.journal.accept(bob, session, "Mine.", parts=["Mine."]).turn_id
    told, _ = talk(assistant, f"/learned {turn}")
    assert "Learned from" not in told
    assert "Mine." not in told


def test_privacy_tells_what_is_kept_and_how_all_of_it_is_forgotten(assistant: Assistant) -> None:
    told, _ = talk(assistant, "/remember I like tea.", "/privacy")
    assert "What is kept about you\n  Only you can find: 1 note.\n" in told
    for heading in ("Who can read it", "What left this machine", "What was trained on it"):
        assert f"\n\n{heading}\n  " in told
    assert "vouch memory forget --all-mine\n" in told
