"""What ends takes the place of what it ends: a job that is left, somebody who died, a thing that is sold."""

from __future__ import annotations

import pytest
from agent_fakes import source
from test_everyday import remembered

from agents.asked_for import asked_for, how_it_gives
from agents.met_statements import ended_by
from agents.named_answers import that_holds
from agents.quote_order import Quote, with_what_changed_since
from agents.relations.endings import death_of, work_left
from agents.relations.mentions import may_give
from agents.value_changes import change

ENDED = [  # the end is all that is known
    ("I work at Acme.", "I left Acme."),
    ("I work at Acme.", "I left Acme last week."),
    ("I work for Acme Tools.", "I've left Acme for good."),
    ("I work at Acme.", "I left Acme for Beta."),
    ("I work at Acme.", "I left Acme after twelve years."),
    ("I work at Acme.", "I left Acme because the pay was bad."),
    ("I work at Acme.", "I quit Acme."),
    ("My employer is Acme.", "I resigned from Acme."),
    ("My wife works at Acme.", "My wife left Acme."),
    ("I work at Acme.", "I was laid off."),
    ("I work at Acme.", "I was laid off from Acme last month."),
    ("I work at Acme.", "I got fired."),
    ("I work at Acme.", "I was made redundant."),
    ("I work at Acme.", "I was let go by Acme."),
    ("I work at Acme.", "I got sacked."),
    ("I work at Acme.", "I am unemployed now."),
    ("I work at Acme.", "I'm out of work."),
    ("I work at Acme.", "I quit my job."),
    (
        "I work as a nurse at St James's.",
        "I quit my job at St James's last Friday and start at Bradford Royal on 1 December.",
    ),
    ("I work at Acme.", "I left my job at Acme and I will start at Beta in May."),
    ("I work at Acme.", "I retired."),
    ("I work at Acme.", "I left the company."),
    ("I am married.", "My wife died."),
    ("My bird is called Tweety.", "My bird Tweety died."),
    ("My canary is called Tweety.", "My dear canary Tweety died."),
    ("My bird is called Tweety.", "We lost Tweety last week."),
    ("I drive a Skoda.", "I sold my Skoda."),
    ("I have a red car.", "I sold my car."),
    ("I have a house in Bonn.", "I sold my house in Bonn."),
]
BECOMES = [  # said of somebody by name: with what they are; by what they are: with their name
    (["My sister is called Sofie.", "My sister died."], ["My sister Sofie died."]),
    (["My dog is called Rex.", "My dog passed away last year."], ["My dog Rex passed away last year."]),
    (["My grandfather is called Karl.", "He died in 1990."], ["My grandfather Karl died in 1990."]),
    (["My sister is Sofie.", "Sofie died."], ["My sister Sofie died."]),
    (["Sofie is my sister.", "Sofie passed away in May."], ["My sister Sofie passed away in May."]),
    (["My sister is called Sofie.", "My sister Sofie died."], ["My sister Sofie died."]),
    (["My bird is called Tweety.", "Tweety passed away."], ["My bird Tweety passed away."]),
    (["I have a bird called Tweety.", "Tweety died."], ["My bird Tweety died."]),
    (["My bird is called Tweety.", "Tweety was put to sleep."], ["My bird Tweety was put to sleep."]),
    (["My wife is called Sofie.", "My wife died in May."], ["My wife Sofie died in May."]),
    (["I work at Acme.", "I no longer work there."], ["I no longer work at Acme."]),
    (["I drive a Skoda.", "I sold it."], ["I sold my Skoda."]),
    (["My car is a Skoda.", "I sold it last week."], ["I sold my car last week."]),
    (["My boat is called Zed.", "We sold her."], ["We sold my boat."]),
    (["My dog is called Rex.", "We had to put Rex down."], ["We had to put Rex down."]),
    (["We have a bird, Tweety.", "We lost Tweety last week."], ["We lost Tweety last week."]),
    (["My cat is called Mia.", "Mia has been put to sleep."], ["My cat Mia has been put to sleep."]),
    (["I bought a car. I sold it."], ["I sold my car."]),
    (["I live in Bonn.", "I don't live there any more."], ["I don't live in Bonn any more."]),
    (["I have a house in Bonn. I sold it."], ["I sold my house."]),
    (["My canary is called Tweety.", "My canary has died."], ["My canary Tweety has died."]),
    (["My canary is called Tweety.", "She died."], ["My canary Tweety died."]),
]
BESIDE = [
    ("I work at Acme.", "I quit my job at Delta and start at Beta on 1 December."),
    ("I work at Acme.", "I left my keys at Acme."),
    ("I work at Acme.", "I left Acme early today."),
    ("I work at Acme.", "I left Acme at five."),
    ("I work at Acme.", "I left Acme this morning."),
    ("I work at Acme.", "I left Acme for lunch."),
    ("I work at Acme.", "I left the company early."),
    ("I work at Acme.", "I left Beta."),
    ("I live in Bonn.", "I left Bonn."),
    ("I have a son called Ben.", "I left Ben."),
    ("I work at Ghent University.", "I left Ghent."),
    ("I work at Acme.", "My phone died."),
    ("My phone is a Pixel.", "The battery died."),
    ("My phone is called Sofie.", "Sofie died."),
    ("My sister is Sofie.", "I died laughing."),
    ("My sister is Sofie.", "Sofie nearly died."),
    ("My sister is Sofie.", "Sofie died of laughter."),
    ("My sister is Sofie.", "Sofie died in my dream."),
    ("My sister is Sofie.", "Tom died."),
    ("My sister is Sofie.", "My friend Sofie died."),
    ("My favourite singer is Tina.", "Tina died."),
    ("I have a meeting with Sofie.", "Sofie died."),
    ("My grandmother Tekla bakes bread.", "Tekla died."),
    ("My brother's bird is called Tweety.", "My bird died."),
    ("I work for the city of Ghent.", "I left Ghent."),
    ("My dog Rex is 4.", "Rex died."),
    ("My dog Rex is 4.", "We put Rex in the car."),
    ("My dog is called Rex.", "We lost Rex in the park."),
    ("My dog is called Rex.", "I put Rex first."),
    ("I work at Acme.", "I quit smoking."),
    ("I work at Acme.", "My brother left Acme."),
    ("I work at Acme.", "My brother says I left Acme."),
    ("I work at Acme.", "My brother was laid off."),
    ("I work at Acme.", "I was laid off in 2008."),
    ("I work at Acme.", "I was fired up."),
    ("I am a nurse.", "I was laid off."),
    ("I work at Acme.", "I may be laid off."),
    ("I work at Acme.", "I left Acme after lunch."),
    ("I work at Acme.", "I left Acme after the meeting."),
    ("I work at Acme.", "I left Acme because of a headache."),
    ("I work at Acme.", "I left Acme because it was raining."),
    ("I work at Acme.", "I left Acme for France."),
    ("My daughter is called Emma.", "We put Emma to sleep."),
    ("My daughter is called Emma.", "I put my daughter Emma down."),
    ("My colleague is called Tom.", "We lost Tom to Google."),
    ("My friend is called Tom.", "We lost Tom."),
    ("My sister is called Anna.", "Anna is dead on her feet."),
    ("My aunt is called Anna.", "My aunt Anna drowned in paperwork."),
    ("My husband is called Tom.", "Tom is no more at Acme."),
]


@pytest.mark.parametrize(("earlier", "end"), ENDED)
def test_an_end_takes_the_place_of_what_it_ends(earlier: str, end: str) -> None:
    assert remembered(earlier, end) == [end]


@pytest.mark.parametrize(("messages", "known"), BECOMES)
def test_an_end_is_kept_with_what_it_is_of(messages: list[str], known: list[str]) -> None:
    assert remembered(*messages) == known


@pytest.mark.parametrize(("earlier", "later"), BESIDE)
def test_what_ends_nothing_stands_beside(earlier: str, later: str) -> None:
    assert earlier in remembered(earlier, later)


def test_of_several_sisters_none_is_meant_by_what_they_are() -> None:
    told = ("My sister is called Sofie.", "My sister is called Ines.", "My sister died.")
    assert remembered(*told) == list(told)
    assert remembered(*told[:2], "Ines died.") == [told[0], "My sister Ines died."]


def test_of_two_of_a_name_none_is_meant_by_it() -> None:
    told = ("I have a dog called Rex.", "I have a son called Rex.", "Rex died.")
    assert remembered(*told) == list(told)


def test_what_one_is_by_trade_stays_when_the_job_is_lost() -> None:
    for end in ("I was laid off.", "I left Acme."):
        assert remembered("I am a nurse at Acme.", end) == ["I am a nurse at Acme.", end]


@pytest.mark.parametrize(
    ("question", "earlier", "end"),
    [
        ("Where do I work?", "I work at Acme.", "I left Acme."),
        ("Where do I work?", "I work at Acme.", "I was laid off from Acme."),
        ("Where do I work?", "I am a nurse at Acme.", "I was laid off."),
        ("Where do I work?", "I am a nurse at Acme.", "I left Acme."),
        ("Who is my sister?", "My sister is Sofie.", "Sofie died."),
        ("What is my bird called?", "My bird is called Tweety.", "We lost Tweety."),
        ("How old is my dog Rex?", "My dog Rex is 4.", "Rex died."),
        ("What is my dog called?", "My dog Rex is a poodle.", "Rex died."),
        ("What car do I have?", "I drive a Skoda.", "I sold my Skoda."),
    ],
)
def test_the_end_answers_and_what_it_ends_is_marked_as_earlier(question: str, earlier: str, end: str) -> None:
    told = [Quote(source(n, text, kind="fact"), text, 0.9) for n, text in enumerate((earlier, end), start=1)]
    quotes = with_what_changed_since(told, told, asked_for(question))
    assert [(quote.text, quote.is_earlier) for quote in quotes] == [(end, False), (earlier, True)]


@pytest.mark.parametrize(
    ("question", "end", "read"),
    [
        ("Where do I work?", "I was laid off from Acme.", "Acme"),
        ("Where do I work?", "I left Acme.", "Acme"),
        ("Who is my sister?", "My sister Sofie died.", "Sofie"),
        ("Who is my wife?", "My wife Sofie passed away.", "Sofie"),
        ("What is my bird called?", "My bird Tweety died.", "Tweety"),
        ("What is my bird called?", "We lost Tweety last week.", "Tweety"),
    ],
)
def test_nothing_over_is_a_headline(question: str, end: str, read: str) -> None:
    assert that_holds(read, end, question) == ""


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("Where do I work?", "I was made redundant."),
        ("Where do I work?", "I am unemployed."),
        ("Who is my sister?", "My sister died."),
        ("Am I married?", "My wife died."),
        ("What is my dog called?", "My dog was put to sleep."),
    ],
)
def test_an_end_gives_what_is_asked_for(question: str, end: str) -> None:
    assert how_it_gives(end, asked_for(question)) == "plainly"
    assert any(may_give(end, one) for one in asked_for(question))


@pytest.mark.parametrize(
    ("end", "earlier"),
    [
        ("I left Acme.", "I work at Acme."),
        ("Sofie died.", "My sister is Sofie."),
        ("My dog died.", "My dog is called Rex."),
    ],
)
def test_what_is_ended_is_looked_for_among_all_that_was_told(end: str, earlier: str) -> None:
    told = [(9, "I like tea."), (8, earlier), (7, "I work at Beta."), (6, "My aunt is Ann.")]
    assert ended_by(end, told, most=3) == [8]


@pytest.mark.parametrize("text", sorted({text for pair in (*ENDED, *BESIDE) for text in pair}))
def test_no_statement_ends_itself(text: str) -> None:
    assert change(text, text) in ("same", "other")


@pytest.mark.parametrize("hostile", ["I left ", "Sofie died ", "my dog ", "of A ", "  ", "A", "I lost my "])
def test_a_long_text_tells_no_end_and_takes_no_time(hostile: str) -> None:
    long = hostile * (30_000 // len(hostile))
    assert work_left(long) is None
    assert death_of(long) is None
