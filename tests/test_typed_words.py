"""A word that is being typed finds what the whole word finds, letter by letter."""

from __future__ import annotations

from store_fixtures import Stores

from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database
from stores.words.lexical import tokens
from stores.words.turn_words import stems_of_longer

_WORDS = (
    "opening running studies studied making happiness organization nationality hopefully swimming babies "
    "decisively using quickly stopped dogs churches libraries responsibility usually arrangements generously "
    "carefully believed dying tied colours Geschichte"
).split()


def test_every_beginning_of_three_letters_finds_the_word(database: Database) -> None:
    stores = Stores.over(database)
    ann = stores.journal.user_id("ann")
    session = stores.journal.open_session(ann)
    for word in _WORDS:
        turn = stores.journal.accept(ann, session, f"the {word} of it", parts=()).turn_id
        for end in range(3, len(word) + 1):
            if tokens(word[:end]):  # a beginning that is a word like "her" is looked for as nothing
                found = TurnSearch(database).find(ann, f"of {word[:end]}")
                assert turn in [hit.turn_id for hit in found], word[:end]


def test_what_is_typed_behind_a_whole_word_must_still_stand_there(database: Database) -> None:
    stores = Stores.over(database)
    ann = stores.journal.user_id("ann")
    stores.journal.accept(ann, stores.journal.open_session(ann), "the opening hours", parts=())
    for typed in ("openx", "opent", "penin", "openin "):  # with a blank the word is whole
        assert TurnSearch(database).find(ann, typed) == [], typed


def test_another_user_is_not_found_by_a_beginning(database: Database) -> None:
    stores = Stores.over(database)
    ann, bob = stores.journal.user_id("ann"), stores.journal.user_id("bob")
    stores.journal.accept(ann, stores.journal.open_session(ann), "the opening hours", parts=())
    assert TurnSearch(database).find(bob, "openin") == []


def test_only_stems_that_the_beginning_itself_does_not_find_are_added() -> None:
    assert "open" in stems_of_longer("openin")
    assert all(not stem.startswith("bundesverf") for stem in stems_of_longer("bundesverf"))
    assert "studi" in stems_of_longer("studie")
    assert stems_of_longer("käsek") == ()  # words with other letters have no stems
