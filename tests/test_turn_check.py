"""What is wrong in the index of turns is told, written anew from the turns, and gone."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import pytest
from sqlalchemy import text
from store_fixtures import Stores

import stores.words.turn_words as turn_words
from stores.checks.turns import TurnWordFaults, repair_turn_words, turn_word_faults
from stores.conversation.journal import Outcome
from stores.conversation.turn_search import TurnSearch


class Fault(NamedTuple):
    """Planted in turn 1, "My cat" with the answer "Ada"; turn 2 is private, turn 3 says "A dog"."""

    told: TurnWordFaults
    sqlite: str
    postgresql: str


FAULTS = {
    "a turn that is not in it": Fault(
        TurnWordFaults(missing=(1,)),
        "DELETE FROM turn_words WHERE rowid = 1",
        "DELETE FROM turn_words WHERE turn_id = 1",
    ),
    "an empty index": Fault(
        TurnWordFaults(missing=(1, 3)), "DELETE FROM turn_words", "DELETE FROM turn_words"
    ),
    "words of another turn": Fault(
        TurnWordFaults(wrong=(1,)),
        "UPDATE turn_words SET words = 's1 1uyeti' WHERE rowid = 1",
        "UPDATE turn_words SET lexemes = array_to_tsvector(ARRAY['s1', '1uyeti']) WHERE turn_id = 1",
    ),
    "words of another user": Fault(
        TurnWordFaults(wrong=(1,)),
        "UPDATE turn_words SET words = 's1 2uada 2ucat' WHERE rowid = 1",
        "UPDATE turn_words SET lexemes = array_to_tsvector(ARRAY['s1', '2uada', '2ucat']) WHERE turn_id = 1",
    ),
    "a turn that is not there": Fault(
        TurnWordFaults(extra=(9,)),
        "INSERT INTO turn_words(rowid, words) VALUES (9, 's1 1ucat')",
        "INSERT INTO turn_words VALUES (9, array_to_tsvector(ARRAY['s1', '1ucat']))",
    ),
    "a private turn": Fault(
        TurnWordFaults(extra=(2,)),
        "INSERT INTO turn_words(rowid, words) VALUES (2, 's2 1usecret')",
        "INSERT INTO turn_words VALUES (2, array_to_tsvector(ARRAY['s2', '1usecret']))",
    ),
    "an index that does not find what it holds": Fault(
        TurnWordFaults(is_index_whole=False), "DELETE FROM turn_words_data WHERE id > 10", ""
    ),
}


@pytest.fixture
def said(stores: Stores, ann: int) -> Stores:
    for message, answer, is_private in (("My cat", "Ada", False), ("secret", "", True), ("A dog", "", False)):
        session = stores.journal.open_session(ann, is_private=is_private)
        turn = stores.journal.accept(ann, session, message, parts=[]).turn_id
        stores.journal.finish(turn, Outcome(state="done", answer=answer))
    return stores


def found(stores: Stores, words: str) -> list[int]:
    return [hit.turn_id for hit in TurnSearch(stores.database).find(1, words)]


def held(stores: Stores) -> list[object]:
    with stores.database.reading() as sql:
        return [tuple(row) for row in sql.execute(text("SELECT * FROM turn_words"))]


def test_what_is_right_is_left_alone(said: Stores) -> None:
    before = held(said)
    assert not repair_turn_words(said.database)
    assert held(said) == before


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_told_and_written_anew_from_the_turns(said: Stores, name: str) -> None:
    fault = FAULTS[name]
    statement = fault.postgresql if said.database.is_postgresql else fault.sqlite
    if not statement:
        pytest.skip("a fault of the other database's files")
    with said.database.writing() as sql:
        assert sql.execute(text(statement)).rowcount, statement  # type: ignore[attr-defined]
    planted = held(said)
    assert turn_word_faults(said.database) == fault.told
    assert held(said) == planted  # looking changes nothing

    assert repair_turn_words(said.database) == fault.told
    assert turn_word_faults(said.database) == TurnWordFaults()
    assert [found(said, words) for words in ("cat ada", "dog", "secret")] == [[1], [3], []]


def test_each_fault_alone_is_one() -> None:
    for field, value in zip(fields(TurnWordFaults), ((1,), (1,), (1,), False), strict=True):
        assert TurnWordFaults(**{field.name: value})  # type: ignore[arg-type]


def test_a_long_turn_that_an_earlier_release_wrote_whole_is_written_anew(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"word{number:09}" for number in range(80_000)]
    with monkeypatch.context() as earlier:
        earlier.setattr(turn_words, "_MOST_BYTES", 10**9)
        turn = stores.journal.accept(
            ann, stores.journal.open_session(ann), " ".join(words), parts=["x"]
        ).turn_id
    assert repair_turn_words(stores.database) == TurnWordFaults(wrong=(turn,))
    assert turn_word_faults(stores.database) == TurnWordFaults()
    assert [found(stores, f"{word} ") for word in words[::10_000]] == [[turn]] * 7 + [[]]


def test_many_turns_are_looked_through_and_repaired_in_parts(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann)
    turns = [stores.journal.accept(ann, session, f"cat {n}", parts=[]).turn_id for n in range(450)]
    with stores.database.writing() as sql:
        sql.execute(text("DELETE FROM turn_words"))
    looked: list[int] = []
    assert turn_word_faults(stores.database, looked_at=looked.append) == TurnWordFaults(missing=tuple(turns))
    assert sum(looked) == 450
    repair_turn_words(stores.database)
    assert not turn_word_faults(stores.database)
    assert found(stores, "cat 3 ") == [turns[3]]
