"""What "I quit." means, and who is gone for good."""

from __future__ import annotations

import pytest
from test_everyday import remembered

from agents.claim_interfaces import Said
from agents.interfaces import Exchange
from agents.reader_summarizer import candidates


def said(message: str, *earlier: str, known: tuple[str, ...] = ()) -> list[str]:
    exchanges = tuple(Exchange(text, text, "Noted.", number) for number, text in enumerate(earlier, start=1))
    return [one.text for one in candidates(Said(message, exchanges, known=known))]


@pytest.mark.parametrize(
    ("message", "understood"),
    [
        ("I quit.", "I quit my job."),
        ("I just quit.", "I just quit my job."),
        ("I've quit.", "I've quit my job."),
        ("I quit yesterday.", "I quit my job yesterday."),
        ("I finally quit today.", "I finally quit my job today."),
    ],
)
def test_who_quits_and_has_one_job_quits_that(message: str, understood: str) -> None:
    assert said(message, known=("I work at Acme.",)) == [understood]
    assert said(message, "My boss is awful.", known=("I work at Acme.",)) == [understood]


@pytest.mark.parametrize(
    ("earlier", "known"),
    [
        ([], ()),  # no job is known
        ([], ("I work at Acme.", "I work at the zoo.")),
        (["I smoke."], ("I work at Acme.",)),
        (["I'm learning Korean."], ("I work at Acme.",)),
        (["I go to the gym on Mondays."], ("I work at Acme.",)),
        ([], ("My brother works at Acme.",)),
        ([], ("I used to work at Acme.",)),
    ],
)
def test_in_doubt_nobody_quits_a_job(earlier: list[str], known: tuple[str, ...]) -> None:
    assert said("I quit.", *earlier, known=known) == ["I quit."]


def test_an_outcry_is_of_the_job_only_behind_words_of_it() -> None:
    assert said("I quit!", known=("I work at Acme.",)) == ["I quit!"]
    assert said("I quit!", "My shift was hell.", known=("I work at Acme.",)) == ["I quit my job."]


@pytest.mark.parametrize(
    "job", ["I work at Acme.", "I work nights at Acme.", "I work as a porter at St Brendan's."]
)
def test_the_job_that_is_quit_is_known_no_more(job: str) -> None:
    assert remembered(job, "I quit.") == ["I quit my job."]


@pytest.mark.parametrize(
    ("messages", "known"),
    [
        (["My dog is called Rex.", "Rex ran away."], ["My dog Rex ran away."]),
        (["I have a parrot called Jo.", "Jo has flown away."], ["My parrot Jo has flown away."]),
        (["Our dog is a collie named Bran.", "Bran died."], ["Our dog Bran died."]),
        (["My son is called Rex.", "Rex ran away."], ["My son is called Rex.", "Rex ran away."]),
        (["My dog is called Rex.", "Rex ran away to fetch a stick."], None),
        (["My dog is called Rex.", "Rex ran away but came back."], None),
        (["My dog is called Rex.", "Max ran away."], None),
    ],
)
def test_a_pet_that_ran_away_is_had_no_more(messages: list[str], known: list[str] | None) -> None:
    assert remembered(*messages) == (messages if known is None else known)
