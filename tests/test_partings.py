"""Who asks of somebody they have parted from is told so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import source

from agents.partings import with_the_parting
from agents.quote_order import Quote

GIRLFRIEND = "My girlfriend Hannah lives in Ghent."
PARTED = "Hannah and I broke up."


def told(*texts: str) -> list[Quote]:
    """The user's words, oldest first."""
    first = source(1, texts[0], kind="fact")
    return [
        Quote(
            replace(
                source(number, text, kind="fact"),
                passage=replace(
                    source(number, text, kind="fact").passage,
                    created_at=first.passage.created_at + timedelta(days=number),
                ),
            ),
            text,
            0.2,
            is_sure=False,
        )
        for number, text in enumerate(texts, start=1)
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Who is Hannah?",
        "Am I still with Hannah?",
        "Am I still together with Hannah?",
        "Are Hannah and I still together?",
        "Is Hannah still my girlfriend?",
    ],
)
def test_who_was_parted_from_is_told_of_as_such(question: str) -> None:
    quotes = told(GIRLFRIEND, PARTED, "Hannah likes tulips.")
    said = with_the_parting(question, quotes[:1], quotes)
    assert [(quote.text, quote.is_sure, quote.is_earlier) for quote in said] == [
        (PARTED, True, False),
        (GIRLFRIEND, True, True),
    ]
    assert [quote.text for quote in with_the_parting(question, [], quotes)] == [PARTED]


@pytest.mark.parametrize(
    ("question", "later"),
    [
        ("Who is Hannah?", "Hannah and I are together again."),
        ("Am I still with Hannah?", "I married Hannah."),
        ("Who is Nell?", "Nell is a vet."),
        ("Where does Hannah live?", "Hannah likes tulips."),
    ],
)
def test_all_else_stays_as_it_is(question: str, later: str) -> None:
    quotes = told(GIRLFRIEND, PARTED, later)
    assert with_the_parting(question, quotes[:1], quotes) == quotes[:1]


def test_a_parting_of_others_is_none_of_ones_own() -> None:
    quotes = told(GIRLFRIEND, "Hannah left the party.", "My brother and Hannah split the bill.")
    assert with_the_parting("Who is Hannah?", quotes[:1], quotes) == quotes[:1]
