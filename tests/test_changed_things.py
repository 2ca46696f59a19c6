"""What takes the place of what: days, names, cars, gyms, diets, appointments; and what stays beside it."""

from __future__ import annotations

import pytest
from agent_fakes import source
from test_everyday import remembered

from agents.asked_for import asked_for, how_it_gives, may_be_meant
from agents.quote_order import Quote, as_asked_for, with_what_changed_since
from agents.relations.comparison import exchange_change, relations
from agents.relations.mentions import may_give
from agents.value_changes import change

REPLACED = [  # the later one holds, and is all that is known
    ("I swim on Tuesdays.", "I swim on Thursdays now."),
    ("I go swimming every Tuesday.", "I moved my swimming to Thursdays."),
    ("I have yoga on Mondays.", "Yoga is on Wednesdays now."),
    ("The choir meets on Mondays.", "The choir meets on Thursdays now."),
    ("My violin lesson is on Mondays.", "My violin lesson has moved to Wednesdays."),
    ("My dog is called Rex.", "We renamed the dog, he is Max now."),
    ("We have a cat called Mia.", "We renamed Mia to Luna."),
    ("My dog is called Rex.", "My dog died, we have a new one called Max."),
    ("I drive a Skoda.", "I swapped my Skoda for a Fiat."),
    ("I drive a Skoda.", "I traded in the Skoda for a Fiat last week."),
    ("My car is a Skoda.", "I sold the Skoda and bought a Fiat."),
    ("My car is red.", "I sold my car and bought a van."),
    ("My wife drives a Volvo.", "My wife swapped her Volvo for a Mini."),
    ("I have an iPhone.", "I replaced my iPhone with a Pixel."),
    ("I use Firefox.", "I switched from Firefox to Brave last month."),
    ("I wear glasses.", "I got contact lenses instead of my glasses."),
    ("I go to the gym FitHaus.", "I switched gyms, I go to McFit now."),
    ("My gym is FitHaus.", "I changed gyms, it's McFit now."),
    ("My bank is Sparkasse.", "I switched from Sparkasse to ING."),
    ("My mobile provider is O2.", "I moved from O2 to Vodafone."),
    ("My therapist is Dr Kern.", "I changed therapists, I see Dr Lang now."),
    ("My class teacher is Mrs Bell.", "We got a new class teacher, Mr Hood."),
    ("My horse is called Storm.", "We sold Storm and bought Bella."),
    ("I'm learning Welsh.", "I gave up Welsh and started Irish."),
    ("I am vegan.", "I went back to eating cheese."),
    ("My password hint is blue.", "I changed my password hint to green."),
    ("I have a subscription to the Guardian.", "I cancelled the Guardian and subscribed to the Times."),
    ("My bike is a Brompton.", "My bike was stolen."),
    ("My laptop is a ThinkPad.", "I lost my laptop."),
    ("I own a drum kit.", "I gave the drum kit to Ben."),
    ("I have a house in Bonn.", "I sold my house in Bonn."),
    ("My bike is a Brompton.", "I sold my bike in Bonn."),
    ("I am vegetarian.", "I eat fish again."),
    ("I am vegetarian.", "I am vegan now."),
    ("My girlfriend is Eva.", "I broke up with Eva."),
    ("My doctor is Dr Weil.", "I have a new doctor, Dr French."),
    ("My wife is Sofie.", "My wife and I are separated."),
    ("My wife is called Sofie.", "Sofie and I got divorced."),
    ("My girlfriend is called Marta.", "My girlfriend and I broke up."),
    ("My wife is Sofie.", "Sofie and I got a divorce."),
    ("My wife is Sofie.", "My wife left me."),
    ("My boyfriend is Tom.", "Tom dumped me."),
    ("My fiancee is Kim.", "Kim and I broke up."),
    ("My canary is called Tweety.", "My canary Tweety died."),
    ("I drive a Kia.", "I returned the Kia."),
    ("I have a canary called Tweety.", "The canary died."),
    ("I take 20 mg of lisinopril every morning.", "The doctor put me on 40 mg of lisinopril."),
    ("I take 20 mg of lisinopril every morning.", "I now take 40 mg of lisinopril."),
    ("I take 20 mg of lisinopril.", "I take 40 mg of lisinopril."),
    ("My tent is green.", "My tent is orange now."),
    ("My favourite film is Amelie.", "My favourite film is now Her."),
    ("My landlord is Mr Brown.", "We have a new landlord: Mrs Green."),
    ("My phone number is 111.", "I got a new number: 222."),
    ("I live at 5 Elm Street.", "We moved to 7 Oak Road."),
    ("I live in Bonn.", "I left Bonn and moved to Ulm."),
    ("I work at Nestle.", "I left Nestle and joined Lindt."),
    ("I am a nurse.", "I quit nursing and am a teacher now."),
    ("My dentist appointment is on Monday.", "My dentist appointment moved to Friday."),
    ("My physio appointment is on 3 May.", "They rescheduled my physio appointment for 5 May."),
]
BESIDE = [  # both may hold
    ("I swim on Tuesdays.", "I also swim on Fridays."),
    ("I swim on Tuesdays.", "I swim on Fridays."),
    ("I swim on Tuesdays and Fridays.", "I swim on Thursdays."),
    ("I swim on Tuesdays.", "I play chess on Thursdays now."),
    ("My brother swims on Tuesdays.", "I swim on Thursdays now."),
    ("I have a sister called Ines.", "I have another sister called Jana."),
    ("I have a dog called Rex.", "I got a second dog called Bo."),
    ("My dog is called Rex.", "My new dog is called Bo."),
    ("My dog is called Rex.", "My dog is a Labrador."),
    ("I speak Spanish.", "I speak Portuguese."),
    ("I speak German.", "I switched from German to English at work."),
    ("I am allergic to nuts.", "I am allergic to cats."),
    ("I drive a Skoda.", "My brother swapped his Skoda for a Fiat."),
    ("I drive a Skoda.", "I swapped my Skoda for a Fiat for the weekend."),
    ("I have a phone call at five.", "I lost my phone."),
    ("I have a house in Ulm.", "We sold the garden shed."),
    ("I play the guitar.", "I gave my guitar to Ben."),
    ("I work at the bakery.", "I swapped shifts with Ben."),
    ("I am a vegetarian.", "I had fish yesterday."),
    ("I am vegetarian.", "My wife eats meat again."),
    ("The gym costs 30 euros.", "I changed gyms, it's McFit now."),
    ("We have a cat called Tom.", "We got a new cat, Bo."),
    ("I live in Bonn.", "I changed therapists, I see Dr Lang now."),
    ("I have a car.", "I bought a car for my son."),
    ("I work at the bakery on Mondays.", "I work at the library on Tuesdays now."),
    ("I have a car.", "I left the car and took the bus."),
    ("I have a Brompton.", "I left my Brompton and took the train."),
    ("I have a son called Ben.", "I left Ben and went to Ulm."),
    ("I have a Skoda.", "I broke the Skoda and took a taxi."),
    ("I have two bikes.", "My bike was stolen."),
    ("I have three cats.", "My cat died, I got a new one called Kit."),
    ("I have a house in Ulm.", "I sold my house in Bonn."),
    ("I use Firefox at home.", "I switched from Firefox to Chrome at work."),
    ("I have a laptop.", "I lost my laptop at school but it was found."),
    ("I have a sister called Ann.", "I lost my sister Ann in the crowd."),
    ("I take 20 mg of lisinopril every morning.", "I take 40 mg of lisinopril every evening."),
    ("I take 20 mg of lisinopril.", "The doctor put me on 5 mg of bisoprolol."),
    ("I take 20 mg of lisinopril.", "I also take 5 mg of lisinopril at night."),
    ("I take 20 mg of lisinopril.", "My wife takes 40 mg of lisinopril now."),
    ("My tent is green.", "My tent is orange."),
    ("My tent is green.", "My bike is orange now."),
    ("My cat is black.", "My cat is white now."),
    ("My husband is Jan.", "My girlfriend and I broke up."),
    ("My wife is Sofie.", "My wife left me a note."),
    ("My wife is Sofie.", "My wife and I got separated in the crowd."),
    ("My boyfriend is Tom.", "Ben dumped me."),
    ("My canary is called Tweety.", "My canary Bo died."),
    ("I have a library card.", "I returned the book."),
    ("I have a hamster called Pip.", "The canary died."),
    ("I have two canaries.", "The canary died."),
    ("My phone is a Pixel.", "My phone died."),
    ("I have a Kia.", "I returned the Kia for the weekend."),
    ("I have a dog.", "I gave my dog to the vet."),
    ("I have a house in Ulm.", "I have a house in Bonn now."),
    ("I have a meeting with Ann.", "I have a meeting with Ben now."),
]


@pytest.mark.parametrize(("earlier", "later"), REPLACED)
def test_a_change_takes_the_place_of_what_it_changes(earlier: str, later: str) -> None:
    assert remembered(earlier, later) == [later]


@pytest.mark.parametrize(("earlier", "later"), BESIDE)
def test_what_may_both_hold_is_kept_beside_each_other(earlier: str, later: str) -> None:
    assert remembered(earlier, later) == [earlier, later]


@pytest.mark.parametrize("text", sorted({text for pair in (*REPLACED, *BESIDE) for text in pair}))
def test_no_statement_changes_itself(text: str) -> None:
    assert change(text, text) in ("same", "other")


def test_what_was_changed_may_change_again() -> None:
    told = ("I drive a Skoda.", "I swapped my Skoda for a Fiat.", "I replaced the Fiat with a Tesla.")
    assert remembered(*told) == ["I replaced the Fiat with a Tesla."]
    days = ("I swim on Tuesdays.", "I also swim on Fridays.", "I swim on Thursdays now.")
    assert remembered(*days) == ["I swim on Thursdays now.", "I also swim on Fridays."]


def test_who_would_exchange_it_still_has_it() -> None:
    for said in ("I would swap my Skoda for a Fiat.", "Should I swap my Skoda for a Fiat?"):
        assert exchange_change("I drive a Skoda.", said) is None
    assert exchange_change("I drive a Skoda.", "I swapped my Skoda for a Fiat.") == "value"
    assert exchange_change("I swapped my Skoda for a Fiat.", "I drive a Skoda.") is None


def test_one_that_is_given_away_leaves_the_list() -> None:
    known = remembered("I have an Audi and a Vespa.", "I sold the Audi and got a Tesla.")
    assert known == ["I have a Vespa. I sold the Audi and got a Tesla."]
    known = remembered("I have two cats, Tom and Mia.", "I gave Tom away.")
    assert known == ["I have a cat called Mia. I gave Tom away."]
    known = remembered("We have two cars, a Skoda and a Fiat.", "We sold the Skoda.")
    assert known == ["We have cars, a Fiat. We sold the Skoda."]
    assert remembered("I have a car, a Skoda.", "I sold my car.") != ["I have a Skoda. I sold my car."]


GIVEN = [
    ("When do I swim?", "I swim on Tuesdays."),
    ("When do I swim?", "I also swim on Fridays."),
    ("On which days do I go swimming?", "I moved my swimming to Thursdays."),
    ("What is my dog called?", "My dog died, we have a new one called Max."),
    ("What is my gym?", "I changed gyms, it's McFit now."),
    ("Which gym do I go to?", "I go to the gym FitHaus."),
    ("What car do I have?", "I drive a Skoda."),
    ("What car do I have?", "My car is a Skoda."),
    ("Do I have a bike?", "My bike was stolen."),
    ("What is my canary called?", "The canary died."),
    ("How much lisinopril do I take?", "The doctor put me on 40 mg of lisinopril."),
    ("What is my dose of lisinopril?", "I take 20 mg of lisinopril every morning."),
    ("Who is my wife?", "My wife and I are separated."),
    ("Who is my girlfriend?", "Marta and I broke up."),
    ("Do I wear glasses?", "I wear glasses."),
    ("Am I vegetarian?", "I eat fish again."),
    ("Who is my therapist?", "I changed therapists, I see Dr Lang now."),
    ("What is my password hint?", "I changed my password hint to green."),
    ("What are my sisters called?", "I have another sister called Jana."),
]


@pytest.mark.parametrize(("question", "statement"), GIVEN)
def test_what_was_told_of_it_gives_it(question: str, statement: str) -> None:
    assert how_it_gives(statement, asked_for(question)) == "plainly"


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("When do I swim?", "I play chess on Thursdays."),
        ("When do I swim?", "My brother swims on Tuesdays."),
        ("What is my dog called?", "My dog is a Labrador."),
        ("What dog do I have?", "I swapped my Skoda for a Fiat."),
        ("What car do I have?", "I ride a Brompton."),
        ("Am I vegetarian?", "I like fish."),
    ],
)
def test_what_tells_of_something_else_does_not(question: str, statement: str) -> None:
    assert how_it_gives(statement, asked_for(question)) is None


def test_an_exchange_whose_kind_is_not_told_may_be_meant() -> None:
    asking = asked_for("What car do I have?")
    assert may_be_meant("I swapped my Skoda for a Fiat.", asking)
    assert not may_be_meant("I swapped my bike for a Fiat.", asking)  # a bike is told to be one
    assert not may_be_meant("I drive a Skoda.", asking)
    assert not may_be_meant("I swapped my Skoda for a Fiat.", asked_for("Where do I live?"))


def test_an_exchange_gives_what_came_and_ends_what_went() -> None:
    (own, called) = relations("We renamed the dog, he is Max now.")
    assert (own.name, called.name, called.value) == ("own dog", "called dog", frozenset({"max"}))
    (gone, _) = relations("My bike was stolen.")
    assert (gone.over, gone.value) == ("negated", frozenset())


def test_what_was_said_to_be_over_is_marked_as_earlier() -> None:
    def earlier(question: str, *texts: str) -> list[bool]:
        told = [Quote(source(n, text, kind="fact"), text, 0.9) for n, text in enumerate(texts, start=1)]
        return [quote.is_earlier for quote in with_what_changed_since(told, told, asked_for(question))]

    who, ended = "Who is my girlfriend?", "Marta and I broke up."
    assert earlier(who, "My girlfriend Marta lives in Ghent.", ended) == [False, True]
    assert earlier(who, "My girlfriend Anna lives in Ghent.", ended) == [False, False]
    assert earlier(who, ended, "My girlfriend Marta lives in Ghent.") == [False, False]  # again


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("How much lisinopril do I take?", "The doctor put me on 40 mg of lisinopril."),
        ("Who is my girlfriend?", "Marta and I broke up."),
        ("Who is my boyfriend?", "Tom dumped me."),
    ],
)
def test_what_changed_it_is_looked_into(question: str, statement: str) -> None:
    (wanted,) = asked_for(question)
    assert may_give(statement, wanted)
    assert not may_give("I bought a car.", wanted)


def test_it_is_quoted_where_its_words_are_near_and_nothing_else_gives_it() -> None:
    def probability(near: float, *others: str) -> float:
        said = "I swapped my Skoda for a Fiat."
        told = [Quote(source(1, said, kind="fact"), said, near)]
        told += [Quote(source(2, text, kind="fact"), text, 0.1) for text in others]
        return as_asked_for(asked_for("What car do I have?"), told)[0].probability

    assert probability(0.02) == pytest.approx(0.3)
    assert probability(0.001) == pytest.approx(0.015)  # it may be a guitar
    assert probability(0.5) == pytest.approx(0.9)  # as much as what gives it, and no more
    assert probability(0.02, "My car is a Volvo.") == pytest.approx(0.02)
