"""With a secret go, where its user says so, the questions and other messages that hold its very value."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from cli_helpers import Vouch
from memory_on_screen import opened, remembered, texts
from screen_fixtures import on_screen
from store_fixtures import Stores, passages_by_text
from test_claims import UNKNOWN, new, state, taken, tell
from test_forgetting import answered, fact_of, places_holding, turn_of

from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from stores.claims.claims import Claims
from stores.forgetting.forgetting import Forgetting, Mentions
from stores.forgetting.mentions import values_of
from stores.words.word_overlap import FORGOTTEN


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("My pin is 4711-XYZ.", ["4711-XYZ"]),
        ("My pin is 4711.", ["4711"]),
        ("My phone number is 222 333.", ["222 333"]),
        ("My mail is ada@example.org.", ["ada@example.org"]),
        ("The key is abc123def.", ["abc123def"]),
        ("My password is hunterTwo.", ["hunterTwo"]),
        ("My sister Rosa lives in Genk.", ["Genk", "Rosa"]),
        ("My locker is in the hall.", []),
        ("I am 41 and meet Ann at 10:30 on Monday, 3rd May.", []),
        ("Tea is what I like. Milk is not.", []),
        ("My neighbour speaks English in December.", []),
        ("", []),
    ],
)
def test_values_are_numbers_codes_and_names(text: str, values: list[str]) -> None:
    assert values_of([text]) == values


@pytest.mark.parametrize("hostile", ["1 ", "1-", "A.", "a1@", "9", "(", "X" * 40 + " "])
def test_hostile_text_gives_few_values(hostile: str) -> None:
    assert len(values_of([hostile * 30_000])) <= 20


def mentions(stores: Stores, user: int, *passages: int) -> Mentions:
    return Forgetting(stores.database).mentions(user, passages)


def test_a_question_that_holds_the_value_is_named_and_stays_unless_it_is_meant(
    stores: Stores, ann: int
) -> None:
    pin = fact_of(stores, state(stores, ann, "My pin is 4711-XYZ."))
    asked = tell(stores, ann, "Is my pin 4711-xyz?")
    tell(stores, ann, "Is my pin safe?")
    found = mentions(stores, ann, pin)
    assert found.values == ("4711-XYZ",)
    assert [line.text for line in found.lines] == ["Is my pin 4711-xyz?"]
    assert found.turns == ()
    forgetting = Forgetting(stores.database)
    forgotten = forgetting.forget(ann, [pin])
    assert asked not in forgotten.turns
    assert turn_of(stores, asked).message == "Is my pin 4711-xyz?"
    assert "Is my pin 4711-xyz?" in passages_by_text(stores)


def test_with_its_mentions_no_byte_of_a_secret_is_left(stores: Stores, ann: int) -> None:
    canary = f"Zq{secrets.token_hex(12)}"
    pin = fact_of(stores, state(stores, ann, f"My pin is {canary}."))
    state(stores, ann, f"The alarm opens with {canary}, too.")
    tell(stores, ann, f"is my pin {canary}?")
    stores.knowledge.remember(ann, f"Write {canary} on no paper.")
    private = answered(stores, ann, f"In private: {canary}!", answer=f"{canary} it is.")
    rated = answered(stores, ann, "Is it safe?", answer="Yes.")
    stores.journal.rate(ann, rated, "bad", reason=f"it is {canary}")
    found = mentions(stores, ann, pin)
    assert {line.text for line in found.lines} == {
        f"is my pin {canary}?",
        f"The alarm opens with {canary}, too.",
        f"Write {canary} on no paper.",
    }
    assert found.turns == ((private, f"In private: {canary}!"),)
    forgetting = Forgetting(stores.database)
    forgotten = forgetting.forget(ann, [pin], with_mentions=True)
    forgetting.compact()
    assert private in forgotten.marked
    assert turn_of(stores, private).message == f"In private: {FORGOTTEN}!"
    assert places_holding(stores, canary) == []


def test_what_many_passages_hold_is_no_mention(stores: Stores, ann: int) -> None:
    home = fact_of(stores, state(stores, ann, "My home is in Genk."))
    for number in range(12):
        stores.knowledge.remember(ann, f"Shop {number} of Genk.")
    assert not mentions(stores, ann, home)


def test_what_else_the_same_message_says_is_not_looked_for(stores: Stores, ann: int) -> None:
    claims, text = Claims(stores.database), "My pin is 4711-XYZ."
    turn = tell(stores, ann, f"{text} My sister Rosa is ill.")
    claims.put(ann, taken(stores, ann).id, turn, [new(text)], by="test")
    job = taken(stores, ann)
    learned = claims.decide(ann, job.id, job.subject_id, UNKNOWN)
    assert learned is not None
    pin = fact_of(stores, learned)
    tell(stores, ann, "Rosa called.")
    assert not mentions(stores, ann, pin)


def test_another_users_words_are_no_mentions_and_stay(stores: Stores, ann: int, bob: int) -> None:
    pin = fact_of(stores, state(stores, ann, "My pin is 4711-XYZ."))
    his = tell(stores, bob, "My pin is 4711-XYZ as well.")
    assert not mentions(stores, ann, pin)
    Forgetting(stores.database).forget(ann, [pin], with_mentions=True)
    assert turn_of(stores, his).message == "My pin is 4711-XYZ as well."


# As a person meets it


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path, minilm_folder.parent)


def ask_of_a_pin(vouch: Vouch) -> None:
    vouch.chat("/remember My pin is 4711-XYZ.", "is my pin 4711-XYZ?")


def test_forget_names_what_stays_and_forgets_it_everywhere_where_told_so(vouch: Vouch) -> None:
    ask_of_a_pin(vouch)
    told = vouch.chat("/forget 1 --yes")
    assert "“4711-XYZ” still stands in your passage 2; `/forget 2` forgets the passages too." in told.replace(
        "\n", " "
    )
    vouch.chat("/remember My pin is 4711-XYZ.")
    told = vouch.chat("/forget 3 --yes --everywhere")
    assert "Forgotten with it: “is my pin 4711-XYZ?”." in told
    assert "still stands" not in told
    assert b"4711-XYZ" not in b"".join(file.read_bytes() for file in vouch.data.rglob("*") if file.is_file())


def test_the_command_asks_of_the_mentions_and_yes_erases_every_byte(vouch: Vouch) -> None:
    ask_of_a_pin(vouch)
    with vouch.terminal("memory", "forget", "1") as person:
        person.sees(
            "Forget this passage for good? What was made from it goes too: 1 answer. This cannot be undone."
        )
        person.types("y\n")
        person.sees("“4711-XYZ” stands elsewhere, too:")
        person.sees("is my pin 4711-XYZ?")
        person.sees("Forget that for good, too? [y/N]")
        person.types("y\n")
        assert person.exit_code() == 0
    assert b"4711-XYZ" not in b"".join(file.read_bytes() for file in vouch.data.rglob("*") if file.is_file())


def test_without_being_asked_the_command_says_what_stays(vouch: Vouch) -> None:
    ask_of_a_pin(vouch)
    ran = vouch.run("memory", "forget", "1", "--yes")
    assert "“4711-XYZ” still stands in your passage 2; `/forget 2` forgets the passages too." in ran.err
    assert vouch.run("memory", "list", "--query", "pin", "--json").object["text"] == "is my pin 4711-XYZ?"


async def test_the_screen_asks_of_the_mentions_and_no_keeps_them(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "My pin is 4711-XYZ.", "Never tell 4711-XYZ.")
        await opened(chat)
        await chat.until(lambda: len(texts(chat)) == 2)
        await chat.presses("x")
        await chat.until(lambda: isinstance(chat.screen, Question))
        await chat.presses("y")
        await chat.shows("stands elsewhere, too:")
        await chat.presses("n")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        assert "still stands in your passage" in chat.text
        await chat.presses("escape")
        await chat.until(lambda: len(texts(chat)) == 1)
