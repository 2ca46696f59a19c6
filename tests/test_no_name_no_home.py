"""What somebody is by office names nobody, and what one lives in is not always a place."""

from __future__ import annotations

import pytest
from agent_fakes import FixedEncoder, source
from test_everyday import remembered

from agents.asked_for import asked_for, how_it_gives
from agents.quoting import Quoter
from agents.relations.comparison import relations
from agents.relations.named_persons import NamedPersons


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("My boss is Carla.", "My boss is CEO."),
        ("My boss is Carla.", "My boss is Head of Sales."),
        ("My boss is Carla.", "My boss is Vice President."),
        ("My boss is Carla.", "My boss is a doctor."),
        ("My boss is Carla.", "My boss is 50."),
        ("My wife is Nora.", "My wife is CFO."),
        ("My wife is Nora.", "My wife is Director here."),
        ("My brother is Ben.", "My brother is a doctor."),
        ("My brother is Ben.", "My brother is tall."),
        ("My brother is Ben.", "My brother is 30."),
        ("My boss is CEO.", "My boss is Carla."),
    ],
)
def test_what_somebody_is_stands_beside_their_name(name: str, more: str) -> None:
    assert remembered(name, more) == [name, more]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My boss is Carla.", "My boss is Piet."),
        ("My boss is JJ.", "My boss is AJ."),
        ("My boss is Carla Head.", "My boss is Captain Reed."),
    ],
)
def test_another_name_takes_its_place(before: str, after: str) -> None:
    assert remembered(before, after) == [after]


@pytest.mark.parametrize(
    ("sentence", "question", "how"),
    [
        ("My boss is CEO.", "Who is my boss?", None),
        ("My sister is VP of Marketing.", "What is my sister called?", None),
        ("My brother is Irish.", "Who is my brother?", None),
        ("My boss is Carla.", "Who is my boss?", "plainly"),
        ("My sister Vera is VP of Marketing.", "What is my sister called?", "plainly"),
    ],
)
def test_an_office_is_no_answer_to_who_somebody_is(sentence: str, question: str, how: str | None) -> None:
    assert how_it_gives(sentence, asked_for(question)) == how


def test_nobody_is_known_by_an_office() -> None:
    assert (
        NamedPersons(["My wife is CFO."]).named("My wife works at the mill.") == "My wife works at the mill."
    )


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("I live in fear.", "way of life"),
        ("I live in the moment.", "way of life"),
        ("I live in constant fear.", "way of life"),
        ("I live on coffee.", "way of life"),
        ("We live in interesting times.", "way of life"),
        ("I live in a dream.", "way of life"),
        ("I live in a big house.", "dwelling"),
        ("I moved to a bigger flat.", "dwelling"),
        ("I live in Fear Street.", "home"),
        ("I live in Peace River.", "home"),
        ("I live in the city centre.", "home"),
        ("I live in bonn.", "home"),
        ("I live in a village.", "home"),
        ("I live in a house in Bonn.", "home"),
    ],
)
def test_what_one_lives_in(sentence: str, name: str) -> None:
    assert [one.name for one in relations(sentence)][:1] == [name]


@pytest.mark.parametrize(
    ("before", "after", "known"),
    [
        ("I live in Bonn.", "I live in fear.", ["I live in Bonn.", "I live in fear."]),
        ("I live in Bonn.", "I live in the moment.", ["I live in Bonn.", "I live in the moment."]),
        ("I live in Bonn.", "I live in a big house.", ["I live in Bonn.", "I live in a big house."]),
        ("I live in a flat in Rome.", "I live in Bonn.", ["I live in Bonn."]),
        ("I live in a small flat.", "I moved to a big house.", ["I moved to a big house."]),
    ],
)
def test_what_is_no_place_takes_the_place_of_none(before: str, after: str, known: list[str]) -> None:
    assert remembered(before, after) == known


@pytest.mark.parametrize(
    "sentence",
    [
        "I moved from O2 to Vodafone.",
        "I moved to Vodafone.",
        "I switched from Chrome to Firefox.",
        "I moved from Chrome to Brave.",
        "I moved to a new team.",
        "I moved to the Berlin office.",
        "I relocated to the London office.",
        "I moved to the sales team at Siemens.",
        "I moved to the Bonn branch.",
        "I moved to a different school.",
        "I moved to a standing desk.",
        "I moved to a desk by the window.",
        "I moved to the night shift.",
        "I moved to management.",
        "I moved to Linux.",
        "I moved to Arch Linux.",
        "I moved to an iPhone.",
        "I moved to N26.",
        "I moved to 5G.",
        "I moved from Netflix to Disney+.",
        "I moved from Sparkasse to ING.",
        "I moved to seat 14.",
    ],
)
def test_what_one_moves_to_is_not_always_a_home(sentence: str) -> None:
    home = "I live in Lyon."
    assert not {"home", "address", "dwelling"} & {one.name for one in relations(sentence)}
    assert how_it_gives(sentence, asked_for("Where do I live?")) is None
    assert remembered(home, sentence)[0] == home


@pytest.mark.parametrize(
    "sentence",
    [
        "I moved from Leeds to York.",
        "I moved to LA.",
        "I moved from the USA to Bonn.",
        "I moved to The Hague.",
        "I moved from a flat to Orange County.",
        "I moved to the countryside.",
        "I moved into 5 Mill Lane.",
        "I moved to Office Park Road 3.",
        "I moved to berlin.",
        "I moved from my parents to Bonn.",
        "I moved from the Berlin office to Bonn.",
        "I moved to a place near the office.",
        "I'm based in Bonn with my team.",
    ],
)
def test_a_place_that_one_moves_to_is_a_home(sentence: str) -> None:
    assert how_it_gives(sentence, asked_for("Where do I live?")) == "plainly"


def test_a_move_from_elsewhere_takes_the_place_of_no_home() -> None:
    left, home = "I moved from Tarvik to Ombra.", "I live in Lyon."  # they may be anything
    assert remembered(home, left) == [home, left]
    assert remembered("I live in Tarvik.", left) == [left]


HOME = "Where do I live?"


def quoted(*told: str) -> list[tuple[str, bool]]:
    """What is quoted of these own facts, all of them near to the question, and whether it is sure."""
    encoder = FixedEncoder({HOME: (1, 0, 0, 0)} | dict.fromkeys(told, (0.95, 0.31, 0, 0)))
    sources = [source(number, text, kind="fact") for number, text in enumerate(told, start=1)]
    best = Quoter(encoder, threshold=0.6, unsure_from=0.2, quotes=3).best_quotes(HOME, sources)
    return [(quote.text, quote.is_sure) for quote in best]


def test_where_one_lives_is_a_place() -> None:
    told = ("I live in fear.", "I live in the moment.", "I live in a big house.", "I live in Bonn.")
    assert quoted(*told) == [("I live in Bonn.", True)]


def test_where_no_place_is_known_a_way_of_life_answers_nothing_and_a_dwelling_not_surely() -> None:
    assert quoted("I live in fear.", "I live in the moment.") == []
    assert quoted("I live in fear.", "I live in a big house.") == [("I live in a big house.", False)]


BOSS = "Who is my boss?"


@pytest.mark.parametrize(
    "more", ["My boss is CEO.", "My boss is a doctor.", "My boss is tall.", "My boss is 50."]
)
def test_where_a_name_is_known_it_says_who_somebody_is(more: str) -> None:
    encoder = FixedEncoder({BOSS: (1, 0, 0, 0), more: (1, 0, 0, 0), "My boss is Carla.": (0.9, 0.43, 0, 0)})
    quoter = Quoter(encoder, threshold=0.6, unsure_from=0.2, quotes=3)
    name, other = source(1, "My boss is Carla.", kind="fact"), source(2, more, kind="fact")
    assert [quote.text for quote in quoter.best_quotes(BOSS, [name, other])] == ["My boss is Carla."]
    assert [quote.text for quote in quoter.best_quotes(BOSS, [other])] == [more]
