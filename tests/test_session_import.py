"""What was taken in before is gone on with: later turns, later answers, and learning from them later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from sqlalchemy import text
from store_fixtures import Stores

from assistant.library.chat_logs import batches as chat_log_batches
from assistant.library.chat_logs.batches import in_batches
from stores.base.errors import UnreadableDocument
from stores.conversation.imported_sessions import SessionImport, TakenIn, ToldSession, ToldTurn
from stores.conversation.sessions import Sessions
from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database
from stores.forgetting.forgetting import Forgetting
from stores.words.word_overlap import FORGOTTEN


@pytest.fixture
def stores_(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


ONE = ToldTurn(key="1", follows="", message="one", answer="re one")
TWO = ToldTurn(key="2", follows="1", message="two", answer="re two")
THREE = ToldTurn(key="3", follows="2", message="three", answer="re three")


def session(*turns: ToldTurn, key: str = "c", last: str = "") -> ToldSession:
    return ToldSession(origin="ChatGPT", key=key, title="t", turns=turns, last=last)


def take_in(stores: Stores, user: int, *told: ToldSession, learn: bool = False) -> TakenIn:
    cut = (lambda message: [message] if message != "nothing" else []) if learn else None
    return SessionImport(stores.database).take_in(user, told, cut=cut)


def follows(stores: Stores, user: int) -> dict[str, str]:
    """Which message each message follows, in the user's one session."""
    [line] = Sessions(stores.database).lines(user)
    tree = Sessions(stores.database).tree(user, line.session_id)
    said = {turn.id: turn.message for turn in tree.turns}
    return {said[turn]: said.get(before, "") for turn, before in tree.follows.items()}


def shown(stores: Stores, user: int) -> list[str]:
    [line] = Sessions(stores.database).lines(user)
    return [turn.message for turn in stores.journal.turns(user, line.session_id)]


def go_on(stores: Stores, user: int, *messages: str) -> None:
    [line] = Sessions(stores.database).lines(user)
    for message in messages:
        stores.journal.accept(user, line.session_id, message, parts=[message])


# Turns that come later


def test_what_comes_later_follows_what_it_followed_there_and_not_what_was_said_here(
    stores_: Stores, ann: int
) -> None:
    take_in(stores_, ann, session(ONE, TWO))
    go_on(stores_, ann, "here", "here too")
    assert take_in(stores_, ann, session(ONE, TWO, THREE)) == TakenIn(0, 1, 2)
    assert follows(stores_, ann) == {
        "one": "",
        "two": "one",
        "here": "two",
        "here too": "here",
        "three": "two",
    }


def test_one_goes_on_where_one_spoke_last_whatever_came_since(stores_: Stores, ann: int) -> None:
    take_in(stores_, ann, session(ONE, TWO))
    go_on(stores_, ann, "here")
    take_in(stores_, ann, session(ONE, TWO, THREE, last="3"))
    go_on(stores_, ann, "again")
    assert shown(stores_, ann) == ["one", "two", "here", "again"]


def test_a_session_told_in_parts_is_the_same_as_one_told_at_once(stores_: Stores, ann: int) -> None:
    changed = ToldTurn(key="2b", follows="1", message="two, changed", answer="")
    whole = session(ONE, TWO, changed, THREE, last="2b")
    bob = stores_.journal.user_id("bob")
    take_in(stores_, bob, whole)
    counted = [take_in(stores_, ann, session(turn, last=whole.last)) for turn in (ONE, TWO, changed, THREE)]
    assert counted == [TakenIn(1, 1, 0), *[TakenIn(0, 1, 0)] * 3]
    assert follows(stores_, ann) == follows(stores_, bob)
    assert shown(stores_, ann) == shown(stores_, bob) == ["one", "two, changed"]


def test_turns_and_sessions_of_one_name_are_taken_in_once(stores_: Stores, ann: int) -> None:
    same = ToldTurn(key="1", follows="1", message="another of this name", answer="")
    assert take_in(stores_, ann, session(ONE, same), session(ONE, TWO)) == TakenIn(1, 2, 2)
    assert shown(stores_, ann) == ["one", "two"]


# Answers that come later


def test_an_answer_that_came_since_is_taken_in_and_found(stores_: Stores, ann: int) -> None:
    asked = ToldTurn(key="1", follows="", message="one", answer="")
    take_in(stores_, ann, session(asked))
    assert take_in(stores_, ann, session(ONE)) == TakenIn(0, 0, 1, answered=1)
    longer = ToldTurn(key="1", follows="", message="one", answer="re one\n\nand a walrus", model="m")
    assert take_in(stores_, ann, session(longer)) == TakenIn(0, 0, 1, answered=1)
    assert take_in(stores_, ann, session(ONE)) == TakenIn(0, 0, 1)  # an older file takes nothing back
    [hit] = TurnSearch(stores_.database).find(ann, "walrus")
    turn = stores_.journal.turn(ann, hit.turn_id)
    assert (turn.answer, turn.model) == ("re one\n\nand a walrus", "m")


def test_a_turn_that_was_forgotten_gets_no_answer(stores_: Stores, ann: int) -> None:
    asked = [
        ToldTurn(key="1", follows="", message="My cat is Ada.", answer=""),
        ToldTurn(key="2", follows="1", message="And my cat is Ada. so?", answer=""),
    ]
    take_in(stores_, ann, session(asked[0]), learn=True)
    take_in(stores_, ann, session(*asked))
    forget(stores_, ann, "My cat is Ada.")
    answered = [
        ToldTurn(key=turn.key, follows=turn.follows, message=turn.message, answer="Ada it is")
        for turn in asked
    ]
    assert take_in(stores_, ann, session(*answered), learn=True) == TakenIn(0, 0, 2)
    with stores_.database.reading() as sql:
        said = [tuple(row) for row in sql.execute(text("SELECT message, answer FROM turns ORDER BY id"))]
    assert said[0] == ("", "")
    assert FORGOTTEN in said[1][0]
    assert said[1][1] == ""
    assert stores_.own_texts(ann) == set()


def forget(stores: Stores, user: int, said: str) -> None:
    with stores.database.reading() as sql:
        found = sql.execute(
            text("SELECT passage_id FROM passage_versions WHERE text = :said"), {"said": said}
        )
        passages = list(found.scalars())
    Forgetting(stores.database).forget(user, passages)


# Learning


def jobs(stores: Stores) -> list[int]:
    with stores.database.reading() as sql:
        found = sql.execute(text("SELECT subject_id FROM jobs WHERE kind = 'summarize' ORDER BY id"))
        return list(found.scalars())


def test_what_was_taken_in_before_can_be_learned_from_later_and_once(stores_: Stores, ann: int) -> None:
    take_in(stores_, ann, session(ONE, TWO))
    assert jobs(stores_) == []
    assert take_in(stores_, ann, session(ONE, TWO, THREE), learn=True) == TakenIn(0, 1, 2, to_learn=3)
    assert len(set(jobs(stores_))) == 3
    assert stores_.own_texts(ann) == {"one", "two", "three"}
    assert take_in(stores_, ann, session(ONE, TWO, THREE), learn=True) == TakenIn(0, 0, 3)
    assert len(jobs(stores_)) == 3


def test_a_message_without_words_is_not_learned_from(stores_: Stores, ann: int) -> None:
    silent = ToldTurn(key="1", follows="", message="nothing", answer="a fine picture")
    assert take_in(stores_, ann, session(silent), learn=True) == TakenIn(1, 1, 0)
    assert jobs(stores_) == []
    assert stores_.own_texts(ann) == set()


# In parts


def told(batches: Sequence[Sequence[ToldSession]]) -> list[list[tuple[str, list[str]]]]:
    return [[(part.key, [turn.key for turn in part.turns]) for part in batch] for batch in batches]


def test_long_sessions_are_told_in_parts_and_short_ones_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_log_batches, "MOST_TURNS", 2)
    batches = list(in_batches([session(ONE, key="a"), session(ONE, TWO, THREE, key="b", last="2")]))
    assert told(batches) == [[("a", ["1"]), ("b", ["1"])], [("b", ["2", "3"])]]
    assert {part.last for batch in batches for part in batch if part.key == "b"} == {"2"}


def test_a_part_has_few_characters_or_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_log_batches, "MOST_CHARACTERS", 20)
    long = ToldTurn(key="l", follows="", message="x" * 15, answer="y" * 15)
    batches = list(in_batches([session(ONE, TWO), session(long, key="d"), session(THREE, key="e")]))
    assert told(batches) == [[("c", ["1", "2"])], [("d", ["l"])], [("e", ["3"])]]


def test_what_was_read_before_a_file_was_torn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn() -> Iterator[ToldSession]:
        yield session(ONE)
        raise UnreadableDocument("file", "it is torn")

    batches = in_batches(torn())
    assert told([next(batches)]) == [[("c", ["1"])]]
    with pytest.raises(UnreadableDocument, match="torn"):
        next(batches)
