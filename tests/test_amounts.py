"""An amount that was told to change, and the time at which something is done every day."""

from __future__ import annotations

import pytest
from test_everyday import remembered

from agents.relations.comparison import relations
from agents.relations.mentions import may_give
from agents.relations.questions import asked, gives
from agents.value_changes import change

LANDLORD = "My landlord is Mr Petrie"
RENT = f"{LANDLORD} and the rent is 950 pounds."


@pytest.mark.parametrize(
    "told",
    [
        "My rent went up to 1020 pounds.",
        "My rent was raised to 1020 pounds.",
        "The rent was lowered to 900 pounds.",
        "My rent has increased from 950 to 1020 pounds.",
        "The rent dropped to 900.",
        "My rent changed to 1,020 pounds.",
        "My rent is now 1020 pounds.",
        "They put my rent up to £1020.",
        "My rent went up by 70 pounds to 1020 pounds.",
        "I now pay 1020 pounds rent.",
        "I pay 1020 pounds a month in rent.",
    ],
)
def test_the_newer_amount_takes_the_place_of_its_clause_alone(told: str) -> None:
    assert remembered(RENT, told) == [f"{LANDLORD}. {told}"]


@pytest.mark.parametrize(
    "told",
    [
        "My rent goes up in May to 1020 pounds.",
        "Anna's rent went up to 1020 pounds.",
        "My friend's rent is 1020 pounds.",
        "My rent went up.",
        "My deposit is 1020 pounds.",
    ],
)
def test_what_is_to_come_or_of_another_amount_stays_beside(told: str) -> None:
    assert remembered(RENT, told) == [RENT, told]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("My salary is 3000 euros.", "My salary was raised to 3200 euros.", "value"),
        ("I earn 3000 euros.", "I earn 3200 euros now.", "value"),
        ("My weight is 80 kilos.", "I weigh 76 kilos now.", "value"),
        ("The price of milk is 2 pounds.", "The price of bread is 3 pounds.", "other"),
        ("I usually get up at six", "I get up at seven these days", "value"),
        ("I go to bed at 11 every night.", "I go to bed at 10:30 now.", "value"),
        ("I get up at six.", "I get up at seven.", "other"),
        ("I get up at six.", "I get up at nine on Sundays now.", "other"),
        ("I get up at six.", "I go to bed at ten now.", "other"),
    ],
)
def test_what_one_does_to_the_other(old: str, new: str, expected: str) -> None:
    assert change(old, new) == expected


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("How much rent do I pay?", RENT.removeprefix(f"{LANDLORD} and ")),
        ("How much rent do I pay?", RENT),
        ("What is my rent?", "My rent goes up in May to 1020 pounds."),
        ("How much is the rent?", "My rent went up to 1020 pounds."),
        ("How much do I pay for my rent?", "I pay 1020 pounds rent."),
        ("How much do I earn?", "My salary was cut to 2800 euros."),
        ("What is my salary?", "I earn 3200 euros."),
        ("How much is my gym fee?", "The gym fee rose to 35 pounds."),
        ("How much is our gym fee?", "Our gym fee rose to 35 pounds."),
        ("What time do I get up?", "I get up at seven these days"),
        ("When do I usually get up?", "I usually get up at six"),
        ("When do I go to bed?", "I go to bed at 10:30 now."),
        ("How much do I weigh?", "I weigh 76 kilos."),
    ],
)
def test_what_is_asked_for_is_given(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert gives(statement, wanted)
    assert may_give(statement, wanted)


def test_a_number_is_read_whole() -> None:
    assert {item for one in relations("My rent is 1,020 pounds.") for item in one.value} == {"#1020", "pound"}


def test_a_new_address_told_with_the_move_takes_the_place_of_the_old() -> None:
    old = "My address is 5 Elm Road."
    for told in ("I moved house: 9 Oak Lane now.", "I moved to 9 Oak Lane.", "We moved, 9 Oak Lane now."):
        assert remembered(old, told) == [told]
    assert remembered(old, "I moved to Cardiff.") == [old, "I moved to Cardiff."]
