"""What people say of themselves without saying "I", as in a profile."""

from __future__ import annotations

import pytest

from agents.asked_for import asked_for
from agents.claim_interfaces import Said
from agents.claim_rules.clipped import clips
from agents.claim_rules.statements import MOST_STATEMENTS, statements
from agents.interfaces import Exchange
from agents.reader_summarizer import candidates
from agents.relations.comparison import relations
from agents.relations.questions import gives


def learned(message: str, *before: str) -> list[str]:
    earlier = tuple(Exchange(text, text, "Noted.", number) for number, text in enumerate(before, start=1))
    return [statement.text for statement in candidates(Said(message, earlier))]


PROFILES = [
    (
        "Based in Ghent, two kids, allergic to nuts.",
        ["I am based in Ghent.", "I have two kids.", "I am allergic to nuts."],
    ),
    (
        "Hi, I'm Marit, 41, a carpenter from Bergen.",
        ["I'm Marit.", "I am 41.", "I am a carpenter from Bergen."],
    ),
    ("About me: Tobias, 34. Plays the cello.", ["My name is Tobias.", "I am 34.", "I play the cello."]),
    (
        "About me: Devon, 29, lives in Leeds. Vegetarian. Two cats (Mochi and Udon).",
        [
            "My name is Devon.",
            "I am 29.",
            "I live in Leeds.",
            "I am vegetarian.",
            "I have two cats called Mochi and Udon.",
        ],
    ),
    ("My bio:\n- 34 years old\n- has three kids", ["I am 34.", "I have three kids."]),
    (
        "Vegetarian, mother of two, from Porto.",
        ["I am vegetarian.", "I am a mother of two.", "I am from Porto."],
    ),
    (
        "Born in 1988 in Lyon, works as a nurse, married, three children.",
        ["I was born in 1988 in Lyon.", "I work as a nurse.", "I am married.", "I have three children."],
    ),
    (
        "Lives in Leeds, two dogs, peanut allergy",
        ["I live in Leeds.", "I have two dogs.", "I have a peanut allergy."],
    ),
    (
        "Software developer, based in Riga, into climbing and board games.",
        ["I am a software developer.", "I am based in Riga.", "I am into climbing and board games."],
    ),
    (
        "Allergic to nuts, shellfish and soy; vegan.",
        ["I am allergic to nuts, shellfish and soy.", "I am vegan."],
    ),
    ("Retired teacher, studies Greek.", ["I am a retired teacher.", "I study Greek."]),
    ("I'm Devon, a nurse and mother of two.", ["I'm Devon.", "I am a nurse.", "I am a mother of two."]),
    ("I'm Ana, 34, from Faro, nice to meet you.", ["I'm Ana.", "I am 34.", "I am from Faro."]),
    (
        "I'm Anna, married to Piet, two sons, Bas and Tim.",
        ["I'm Anna.", "I am married to Piet.", "I have two sons called Bas and Tim."],
    ),
    (
        "Paul here, 67, retired bus driver. Widowed. Live with my cat Misty.",
        [
            "My name is Paul.",
            "I am 67.",
            "I am a retired bus driver.",
            "I am widowed.",
            "I live with my cat Misty.",
        ],
    ),
    (
        "Freelance illustrator, based in Porto, one daughter (Inês), scared of flying.",
        [
            "I am a freelance illustrator.",
            "I am based in Porto.",
            "I have one daughter called Inês.",
            "I am scared of flying.",
        ],
    ),
    ("I'm Ana. Based in Faro, two dogs.", ["I'm Ana.", "I am based in Faro.", "I have two dogs."]),
]


@pytest.mark.parametrize(("message", "stated"), PROFILES)
def test_a_profile_states_each_of_its_parts_of_the_user(message: str, stated: list[str]) -> None:
    assert learned(message) == stated


@pytest.mark.parametrize("message", [message for message, _ in PROFILES])
def test_each_part_quotes_its_own_words(message: str) -> None:
    assert all(one.quote in message and one.quote for one in statements(message))


@pytest.mark.parametrize(
    "message",
    [
        "Based in Ghent.",  # one part alone may be of anything
        "Allergic to nuts.",
        "Two dogs, a cat.",
        "Based in London, founded in 1990, sells shoes.",
        "Based in Ghent, flexible hours, good salary.",
        "Tomatoes, two eggs, bread.",
        "Wanted: nurse, based in Ghent, works at nights.",
        "Works as a team, plays fair.",
        "Lives in Rome, works at the zoo, is ill.",
        "Translate this: based in Ghent, two kids, allergic to nuts.",
        "Here is a mail from Bob: based in Ghent, two kids, allergic to nuts.",
        "My brother is visiting. Based in Ghent, two kids, allergic to nuts.",
        "Is based in Ghent, has two kids?",
        "Live in the moment, love your work.",
        "I'm Sam, the landlord.",
        "I'm Ana, Rui's wife, from Faro.",  # whole, as one part is not understood
        "Carol here, I need help.",
    ],
)
def test_what_may_be_of_anybody_says_nothing_of_the_user(message: str) -> None:
    assert not [
        text for text in learned(message) if text.startswith(("I am ", "I have ", "I live ", "I work "))
    ]


@pytest.mark.parametrize(
    "before", ["My brother is visiting.", "Who is Ana?", "I met Anna today.", "She is nice."]
)
def test_behind_what_is_said_of_another_it_may_be_of_them(before: str) -> None:
    assert learned("Based in Ghent, two kids, allergic to nuts.", before) == []


@pytest.mark.parametrize("before", ["Hello", "I'm Ana from Faro.", "My name is Ana.", "I like tea."])
def test_behind_what_is_said_of_oneself_it_is_of_oneself(before: str) -> None:
    assert "I have two kids." in learned("Based in Ghent, two kids, allergic to nuts.", before)


def test_a_name_is_taken_only_from_what_is_said_to_be_ones_own() -> None:
    assert [clip.said for clip in clips("Ola, 52", is_led=True)] == ["My name is Ola.", "I am 52."]
    assert clips("Ola, 52") == []


@pytest.mark.parametrize(
    "told",
    ["I am a physiotherapist from Bergen.", "I am a freelance illustrator.", "I am a nurse by training."],
)
def test_a_trade_of_a_profile_answers_what_its_user_does(told: str) -> None:
    (asking,) = asked_for("What do I do for a living?")
    assert gives(told, asking)
    assert [one.name for one in relations(told)] == ["occupation"]


@pytest.mark.parametrize("told", ["I am a member from Ulm.", "I am a good cook from Ulm."])
def test_what_is_no_trade_gives_none(told: str) -> None:
    assert not relations(told)


def test_a_long_profile_states_no_more_than_any_message() -> None:
    message = "About me: " + ", ".join(["vegan", "from Ulm"] * 10) + ". " + "Has two kids. " * 40
    assert len(list(statements(message))) == MOST_STATEMENTS


def test_a_hostile_sentence_is_read_quickly() -> None:
    for hostile in ("two kids ", "a, ", "Two cats (Al, ", "vegan and ", "Al & Bo ", "very old "):
        assert clips(hostile * 30, is_led=True) is not None
