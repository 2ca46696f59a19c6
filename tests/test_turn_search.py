"""Find: all turns of one user by their words, and never anybody else's, a private or a forgotten one."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from store_fixtures import Stores

import stores.database.database as database_module
import stores.words.turn_words as turn_words
from stores.checks.turns import TurnWordFaults, turn_word_faults
from stores.conversation.journal import Outcome
from stores.conversation.sessions import Sessions
from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database
from stores.forgetting.forgetting import Forgetting


@pytest.fixture
def stores_(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


def says(stores: Stores, user: int, message: str, answer: str = "", *, session: int | None = None) -> int:
    """A whole turn; returns its id."""
    chosen = session or stores.journal.open_session(user)
    turn = stores.journal.accept(user, chosen, message, parts=[message]).turn_id
    if answer:
        stores.journal.finish(turn, Outcome(state="done", answer=answer))
    return turn


def found(stores: Stores, user: int, words: str, *, session: int | None = None) -> list[int]:
    return [hit.turn_id for hit in TurnSearch(stores.database).find(user, words, session_id=session)]


def test_every_word_must_stand_in_the_message_or_the_answer(stores_: Stores, ann: int) -> None:
    one = says(stores_, ann, "Where is my bicycle?", "In the cellar.")
    two = says(stores_, ann, "My bicycle is red.")
    assert found(stores_, ann, "bicycle") == [two, one]
    assert found(stores_, ann, "the bicycles, in a cellar") == [one]
    assert found(stores_, ann, "bicycle garage") == []
    assert found(stores_, ann, "the") == []
    assert found(stores_, ann, "  ") == []


def test_the_last_word_may_be_the_beginning_of_one(stores_: Stores, ann: int) -> None:
    turn = says(stores_, ann, "The Bundesverfassungsgericht of Käsekuchen, зоопарк")
    for typed in ("bun", "bundesverf", "Bundesverfassungsgericht", "of bundes", "зоо", "kas"):
        assert found(stores_, ann, typed) == [turn], typed
    for typed in ("bu", "undes", "bundes of käse x", "bundes ", "zoo"):
        assert found(stores_, ann, typed) == [], typed


def test_a_session_comes_first_and_the_newest_of_the_others_behind_it(stores_: Stores, ann: int) -> None:
    here = stores_.journal.open_session(ann)
    one = says(stores_, ann, "a cat", session=here)
    two = says(stores_, ann, "my cat")
    three = says(stores_, ann, "that cat", session=here)
    four = says(stores_, ann, "cats")
    assert found(stores_, ann, "cat", session=here) == [three, one, four, two]
    assert found(stores_, ann, "cat") == [four, three, two, one]


def test_a_hit_tells_where_the_words_stand(stores_: Stores, ann: int) -> None:
    says(stores_, ann, "Where is it?", f"{'Look around. ' * 20}It is in the cellar, under the stairs.")
    [hit] = TurnSearch(stores_.database).find(ann, "cellar")
    assert hit.is_answer
    assert hit.title == "Where is it?"
    assert hit.excerpt.startswith("…")
    assert "in the cellar, under the stairs." in hit.excerpt


@pytest.mark.parametrize(
    ("message", "answer", "words", "excerpt"),
    [
        ("What is that?", "The zzboiler.", "a zzboiler", "The zzboiler."),  # "a" stands in the message
        ("It is there", "My cat", "it THERE my cat", None),
        ("ß" * 300 + " the cat", "", "cat", "…the cat"),  # each is two letters when it is folded
        ("İ" * 300 + " the cat", "", "cat", "…the cat"),
        ("straße " * 40 + "the cat", "", "cat", "…straße straße the cat"),
        ("cat " + "ß" * 300, "", "CAT", "cat " + "ß" * 236),
    ],
)
def test_an_excerpt_shows_the_words_searched_for_and_no_others(
    stores_: Stores, ann: int, message: str, answer: str, words: str, excerpt: str | None
) -> None:
    says(stores_, ann, message, answer)
    [hit] = TurnSearch(stores_.database).find(ann, words)
    assert (hit.is_answer, hit.excerpt) == (excerpt == answer or excerpt is None, excerpt or answer)


def test_of_a_very_long_turn_the_words_that_come_first_are_found(stores_: Stores, ann: int) -> None:
    words = [f"word{number:09}" for number in range(80_000)]  # 15 bytes each, where 1,000,000 are kept
    turn = says(stores_, ann, " ".join(words))
    assert [found(stores_, ann, f"{words[at]} ") for at in (0, 30_000, 66_000, 67_000)] == [[turn]] * 3 + [[]]
    assert found(stores_, ann, "word 000000001") == []
    if stores_.database.is_postgresql:
        with stores_.database.reading() as sql:  # as a dump is read back: what is too long is refused here
            sql.execute(text("SELECT CAST(CAST(lexemes AS text) AS tsvector) FROM turn_words")).all()


def test_letters_that_take_more_bytes_are_bounded_by_their_bytes(stores_: Stores, ann: int) -> None:
    words = ["".join("абвгдежзик"[int(digit)] for digit in f"{number:09}") for number in range(30_000)]
    turn = says(stores_, ann, " ".join(words))
    assert [found(stores_, ann, f"{words[at]} ") for at in (0, 20_000, 26_000, 27_000)] == [[turn]] * 3 + [[]]


def test_many_words_are_searched_for_by_the_first_of_them(stores_: Stores, ann: int) -> None:
    words = [f"word{number}" for number in range(20_000)]
    turn = says(stores_, ann, " ".join(words[:64]))
    says(stores_, ann, " ".join(words[:63]))
    assert found(stores_, ann, " ".join(words)) == [turn]
    assert found(stores_, ann, " ".join(words[:64])) == [turn]


def test_old_turns_are_found_as_new_ones_are(
    stores_: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_words, "_LOOKED_THROUGH", 3)  # ids; older ones are asked for in another way
    here, there = stores_.journal.open_session(ann), stores_.journal.open_session(ann)
    bob = stores_.journal.user_id("bob")
    turns = []
    for number in range(12):
        turns.append(says(stores_, ann, f"cat {number}", session=there if number % 2 else here))
        says(stores_, bob, "a cat")
    newest_first = turns[::-1]
    assert found(stores_, ann, "cat") == newest_first
    assert found(stores_, ann, "cat 0 ") == [turns[0]]
    assert found(stores_, ann, "cat", session=there) == newest_first[::2] + newest_first[1::2]
    with stores_.database.reading() as sql:
        for before in range(turns[-1] + 2):
            for limit in (1, 5, 12):
                asked = turn_words.turns_holding(sql, ann, "cat", before=before or None, limit=limit)
                expected = [turn for turn in newest_first if turn < (before or 2**31 - 1)]
                assert asked == expected[:limit], (before, limit)


def test_nobody_finds_what_somebody_else_said(stores_: Stores, ann: int) -> None:
    others = [stores_.journal.user_id(f"user {number}") for number in range(12)]  # ids 1 and 1x among them
    turns = {user: says(stores_, user, f"canary {user}") for user in [ann, *others]}
    for user, turn in turns.items():
        assert found(stores_, user, "canary") == [turn]
        assert found(stores_, user, "cana") == [turn]
    session = stores_.journal.open_session(others[0])
    assert found(stores_, ann, "canary", session=session) == [turns[ann]]
    assert found(stores_, 999, "canary") == []


def test_an_index_that_is_wrong_shows_nothing_of_somebody_else(stores_: Stores, ann: int) -> None:
    bob = stores_.journal.user_id("bob")
    turn = says(stores_, bob, "canary")
    with stores_.database.writing() as sql:  # as if bob's turn had been written for ann
        if stores_.database.is_postgresql:
            sql.execute(text(f"UPDATE turn_words SET lexemes = array_to_tsvector(ARRAY['{ann}ucanari'])"))
        else:
            sql.execute(text(f"UPDATE turn_words SET words = '{ann}ucanari' WHERE rowid = {turn}"))
    assert found(stores_, ann, "canary") == []


def test_an_index_that_is_wrong_shows_nothing_private(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    turn = says(stores_, ann, "canary", session=session)
    assert found(stores_, ann, "canary") == [turn]
    with stores_.database.writing() as sql:  # as if it had been written into the index in spite of that
        sql.execute(text("UPDATE sessions SET is_private = NOT is_private"))
    assert found(stores_, ann, "canary") == []


def test_what_is_said_in_private_is_never_found(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann, is_private=True)
    says(stores_, ann, "canary", "a canary", session=session)
    assert found(stores_, ann, "canary", session=session) == []
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM turn_words")).scalar() == 0


def test_what_is_forgotten_is_found_no_more_and_leaves_the_index(stores_: Stores, ann: int) -> None:
    session = stores_.journal.open_session(ann)
    says(stores_, ann, "My canary is yellow.", session=session)
    repeated = says(stores_, ann, "So: My canary is yellow. And the dog?", "Brown.", session=session)
    [passage] = {line.passage_id for line in stores_.catalogue.said_in(ann, 1)}
    Forgetting(stores_.database).forget(ann, [passage])
    assert found(stores_, ann, "canary") == []
    assert found(stores_, ann, "dog brown") == [repeated]
    Forgetting(stores_.database).forget_everything(ann)
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM turn_words")).scalar() == 0


def test_an_answer_that_ends_after_its_message_was_forgotten_is_not_found(stores_: Stores, ann: int) -> None:
    turn = says(stores_, ann, "My canary is yellow.")
    [passage] = {line.passage_id for line in stores_.catalogue.said_in(ann, turn)}
    Forgetting(stores_.database).forget(ann, [passage])
    stores_.journal.finish(turn, Outcome(state="done", answer="Your canary is yellow."))
    assert found(stores_, ann, "canary") == []


def test_a_deleted_session_is_not_found_until_it_is_brought_back(stores_: Stores, ann: int) -> None:
    sessions = Sessions(stores_.database)
    session = stores_.journal.open_session(ann)
    for number in range(250):
        says(stores_, ann, f"cat {number}", session=session)
    kept = stores_.journal.accept(ann, stores_.journal.open_session(ann), "old cat", parts=[]).turn_id
    newer = stores_.journal.open_session(ann)
    hidden = [says(stores_, ann, f"cat {number}", session=newer) for number in range(250)]
    assert found(stores_, ann, "cat")[0] == hidden[-1]
    sessions.delete(ann, newer)
    assert found(stores_, ann, "cat")[0] == kept
    assert len(found(stores_, ann, "cat")) == 100
    sessions.bring_back(ann, newer)
    assert found(stores_, ann, "cat")[0] == hidden[-1]
    sessions.archive(ann, newer)
    assert found(stores_, ann, "cat")[0] == hidden[-1]


@pytest.mark.parametrize(
    "words", ['"', "'", "cat' | 'dog", "a:*", "NEAR(cat dog)", "cat\0", "\ud800", "(" * 500, "x " * 5_000]
)
def test_no_text_is_taken_for_a_query(stores_: Stores, ann: int, words: str) -> None:
    turn = says(stores_, ann, "dog")
    assert found(stores_, ann, words) == []
    assert found(stores_, ann, "dog") == [turn]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_turns_of_an_earlier_release_are_found_after_the_migration(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    engine = database_module._engine(url)
    database_module._migrate(engine, "0005")
    with engine.execution_options(vouch_writes=True, vouch_migrates=True).begin() as sql:
        sql.execute(text("INSERT INTO users(id, name, created_at) VALUES (1, 'ann', CURRENT_TIMESTAMP)"))
        long = " ".join(f"word{number:09}" for number in range(80_000))
        for number, is_private, message in ((1, False, "My cats"), (2, True, "My cats"), (3, False, long)):
            sql.execute(
                text(
                    "INSERT INTO sessions(id, user_id, title, draft, is_private, created_at) "
                    "VALUES (:number, 1, '', '', :private, CURRENT_TIMESTAMP)"
                ),
                {"number": number, "private": is_private},
            )
            sql.execute(
                text(
                    "INSERT INTO turns(id, session_id, user_id, message, material, accepted_at, state, "
                    "standalone, answer, failure, model, details) VALUES (:number, :number, 1, :message, "
                    "'', CURRENT_TIMESTAMP, 'done', '', 'Ada and Tom', '', '', '{}')"
                ),
                {"number": number, "message": message},
            )
    engine.dispose()
    with monkeypatch.context() as later:  # the code that a migration was written beside goes on changing
        for name in ("tokens", "lexemes", "_lexeme", "note_turns"):
            later.setattr(turn_words, name, None)
        opened = Database(url, migrates=True)
    assert found(Stores.over(opened), 1, "cat ada") == [1]
    # what the migration wrote is what is written today: when that changes, all turns are to be written anew
    assert turn_word_faults(opened) == TurnWordFaults()
    opened.close()
