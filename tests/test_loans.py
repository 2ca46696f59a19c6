"""Who has a thing of the user's, and that it came back."""

from __future__ import annotations

import pytest
from test_everyday import remembered

from agents.relations.questions import asked, gives

LENT = "I lent my drill to Steve."


@pytest.mark.parametrize(
    "back",
    [
        "Steve gave my drill back.",
        "Steve gave me back my drill.",
        "Steve brought the drill back yesterday.",
        "Steve has returned my drill.",
        "I got my drill back.",
        "I got my drill back from Steve.",
    ],
)
def test_what_came_back_is_lent_no_more(back: str) -> None:
    assert remembered(LENT, back) == [back]
    assert remembered("I lent Steve my drill.", back) == [back]


@pytest.mark.parametrize(
    "other",
    [
        "I lent my saw to Ann.",
        "Steve gave my saw back.",
        "Ann gave my drill back.",  # who had it is another: in doubt both stay
        "Steve has my number.",
        "Steve is back.",
    ],
)
def test_what_is_of_another_thing_leaves_it_lent(other: str) -> None:
    assert remembered(LENT, other) == [LENT, other]


def test_one_thing_is_with_one_person() -> None:
    assert remembered(LENT, "I lent my drill to Ann.") == ["I lent my drill to Ann."]
    both = ["My sister has my old bike.", "My sister has my tent."]
    assert remembered(*both) == both


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Who has my drill?", LENT),
        ("Who did I lend my drill to?", "I lent Steve my drill."),
        ("Who has my spare key?", "My neighbour Carol has my spare key."),
        ("Do I have my drill back?", "Steve gave my drill back."),
    ],
)
def test_who_asks_for_a_thing_is_told_who_has_it(question: str, statement: str) -> None:
    wanted = asked(question)
    assert wanted is not None
    assert gives(statement, wanted)


@pytest.mark.parametrize("statement", ["My son has my nose.", "Ann has my back.", "Ann has my number."])
def test_what_nobody_lends_is_no_loan(statement: str) -> None:
    assert not any(word in statement and asked(f"Who has my {word}?") for word in ("nose", "back", "number"))
