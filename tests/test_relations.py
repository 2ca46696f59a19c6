"""Of which things somebody has one at a time, so that the later statement takes the place of the earlier."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.relations.comparison import relations
from agents.relations.places import place_kind
from agents.value_changes import change

WORK, HOME = "I work at the harbour office.", "I live in Rome."
REPLACED = [
    (WORK, "I work at the library."),
    (WORK, "I work at the library now."),
    (WORK, "I'm now working at the library."),
    (WORK, "I work for the city library these days."),
    (WORK, "I have a new job at the library."),
    (WORK, "I've got a job at the library."),
    (WORK, "I started a new job at the library last week."),
    (WORK, "My new job is at the library."),
    (WORK, "I changed my job to the library."),
    (WORK, "I changed jobs, I'm at the library now."),
    (WORK, "I moved my job: I'm at the library now."),
    (WORK, "I switched jobs and I work at the library now."),
    (WORK, "Actually I work at the library."),
    (WORK, "I don't work at the harbour office but at the library."),
    (WORK, "I work not at the harbour office but at the library."),
    (WORK, "I work at the library, not at the harbour office."),
    (WORK, "I work at the library instead of the harbour office."),
    (WORK, "I no longer work at the harbour office, I work at the library."),
    (WORK, "I don't work at the harbour office any more, I work at the library now."),
    (WORK, "I left the harbour office to work at the library."),
    (WORK, "I work at Miller & Sons as a clerk."),
    (WORK, "We work for Siemens now."),
    ("My employer is Siemens.", "I work for Bosch."),
    ("I work in marketing.", "I work in sales now."),
    ("I work as a nurse.", "I work as a teacher."),
    ("I'm working as a cook.", "My job is teacher."),
    ("My profession is carpenter.", "My profession is now plumber."),
    (HOME, "I live in Bonn."),
    (HOME, "I live in Bonn now."),
    (HOME, "I moved to Bonn last week."),
    (HOME, "I've just moved to Bonn."),
    (HOME, "We have moved from Rome to Bonn."),
    (HOME, "I moved back to Bonn in March."),
    (HOME, "I'm living in Bonn these days."),
    (HOME, "I live in Bonn, not in Rome."),
    (HOME, "I don't live in Rome but in Bonn."),
    (HOME, "We live in Bonn, near the river."),
    (HOME, "I'm based in New York."),
    ("I live in Germany.", "I moved to Spain."),
    ("I live in a flat.", "We live in a house now."),
    ("I live in Mill Street 4.", "I live at 12 Station Road."),
    ("My mother lives in Oslo.", "My mother moved to Bergen."),
    ("Anna lives in Oslo.", "Anna lives in Bergen now."),
    ("Anna works at the zoo.", "Anna works for the museum."),
    ("I am 34 years old.", "I turned 35 today."),
    ("I'm 34.", "I'm 35 now."),
    ("I am thirty-four.", "I'm 35 years old."),
    ("I'm married to Anna.", "I'm married to Ben."),
    ("My wife is Anna.", "I married Berta last year."),
    ("My husband is called Carl.", "My husband's name is Dan."),
    ("I am single.", "I'm married now."),
    ("I'm engaged.", "I got married."),
    ("My birthday is on 4 May.", "My birthday is on 7 June."),
    ("My birthday is 4 May.", "I was born on 5 May."),
    ("My favourite food is pizza.", "My favourite food is ramen now."),
    ("My favourite colour is blue.", "I changed my favourite colour to green."),
    ("My favorite band is Abba.", "My favourite band is Queen."),
    ("Anna's favourite colour is blue.", "Anna's favourite colour is green."),
    ("My phone number is 555 1234.", "My new phone number is 555 9876."),
    ("My phone number is 555 1234.", "I have a new phone number: 555 9876."),
    ("My locker number is 214.", "My locker number has changed to 310."),
    ("My email is ann@example.org.", "My email address is ann@example.com."),
    ("My address is 4 Mill Street.", "My address is 12 Station Road."),
    ("The wifi password is swordfish.", "The wifi password is now marlin."),
    ("My boss is Kim.", "My new boss is Lee."),
    ("My dentist is Dr. Smith.", "My dentist is Dr Jones now."),
    ("Our landlord is called Moe.", "Our landlord is Olsen."),
    ("My name is Ann Berg.", "My name is Ann Moe now."),
    ("Call me Annie.", "Please call me Nan."),
    ("The key is under the mat.", "The key is now in the drawer."),
    ("My bike is in the cellar.", "I put my bike in the shed."),
    ("I drive a Golf.", "I drive a Polo now."),
    ("I study physics.", "I study law now."),
    ("The meeting is on Monday at 10.", "The meeting has been moved to Tuesday at 10."),
    (
        "My dentist appointment is on 3 December.",
        "The dentist appointment was postponed to 10 December.",
    ),
    ("My flight leaves at 14:20.", "My flight is delayed until 16:05."),
    ("The meeting is on Monday.", "The meeting is on Tuesday now."),
    ("Our house is at 14 Elm Grove.", "We moved house, we're at 3 Oak Lane now."),
    ("The passports are in the safe.", "I moved the passports to the desk drawer."),
    ("The twins are 4.", "The twins turned 5 last week."),
    ("My car is parked at the station.", "I parked my car behind the church."),
]
BOTH_STAY = [
    ("I like tea.", "I like coffee."),
    ("I love jazz.", "I love opera now."),
    ("I have a dog.", "I have a cat now."),
    ("I speak German.", "I speak French."),
    ("I play the violin.", "I play tennis."),
    (WORK, "I also work at the library."),
    (WORK, "I work at the library too."),
    (WORK, "I work at the library on Fridays."),
    (WORK, "I work part-time at the library."),
    (WORK, "I sometimes work at the library."),
    (WORK, "I have a second job at the library."),
    (WORK, "I will work at the library."),
    (WORK, "I'm going to work at the library next year."),
    (WORK, "I want to work at the library."),
    (WORK, "I worked at the library in 2010."),
    (WORK, "I used to work at the library."),
    (WORK, "I volunteer at the library."),
    (WORK, "I work as a nurse."),
    (WORK, "I work at night."),
    (WORK, "I work in shifts."),
    (WORK, "I work in Rome."),
    (WORK, "I work in a team."),
    (WORK, "I work from home."),
    (WORK, "I met Anna at the library."),
    (WORK, "My sister works at the library."),
    (WORK, "My job is stressful."),
    (WORK, "I no longer work at the library."),
    (WORK, "I work at the library during the summer."),
    (WORK, "I don't work at the library."),
    ("My friend works at the zoo.", "My friend works at the bank."),
    ("My sister lives in Oslo.", "My sister lives in Bergen."),
    ("Anna lives in Oslo.", "Ben lives in Bergen."),
    (HOME, "I live in Italy."),
    (HOME, "I live in a flat."),
    (HOME, "I live in Mill Street 4."),
    (HOME, "I live in a small village."),
    (HOME, "I lived in Bonn as a child."),
    (HOME, "I was living in Bonn in 2015."),
    (HOME, "I'm moving to Bonn in May."),
    (HOME, "I might move to Bonn."),
    (HOME, "I moved to Bonn in 2010."),
    (HOME, "I live with my sister."),
    (HOME, "I grew up in Bonn."),
    (HOME, "I was born in Bonn."),
    (HOME, "My parents live in Bonn."),
    (HOME, "I still live in Rome."),
    ("I live in Germany.", "I live in Bavaria."),
    ("I am 34 years old.", "I am 180 cm tall."),
    ("I am 34.", "I have been married for 35 years."),
    ("My boss is nice.", "My boss is strict."),
    ("My boss is Kim.", "My boss is in Rome."),
    ("My favourite mug is blue.", "My favourite mug is broken."),
    ("My favourite café is Lupo.", "My favourite café is closed on Mondays."),
    ("My favourite food is pizza.", "My favourite drink is tea."),
    ("My favourite dish at Lupo is carbonara.", "My favourite dish at Nino is lasagne."),
    ("One of my favourite books is Emma.", "One of my favourite books is Persuasion."),
    ("My name is Robert.", "Call me Bob."),
    ("My name is Robert Berg.", "My name is hard to spell."),
    ("My phone number is 555 1234.", "My office number is 214."),
    ("My cousin is called Ada.", "My cousin is called Ida."),
    ("My yoga class is on Monday.", "My yoga class is on Thursday."),
    ("The meeting is on Monday.", "The meeting is in room 4."),
    ("The party is on 3 May.", "The meeting was moved to 4 May."),
    ("The key is in the kitchen.", "The key is on the table."),
    ("I drive a Golf.", "I drive a lorry."),
    ("I use a Mac.", "I use Linux."),
    ("My daughter's name is Ada.", "My daughter's name is Ida."),
    ("My password is weak.", "My password is swordfish."),
    ("I work as a nurse.", "I became a nervous driver."),
    ("I work as a nurse.", "I became a bad cook."),
    (HOME, "I moved to Linux."),
    (HOME, "We moved to Slack."),
    ("My boss is Anna.", "My boss is Irish."),
]
ENDED = [
    (WORK, "I no longer work at the harbour office.", "withdrawn"),
    (WORK, "I don't work at the harbour office any more.", "withdrawn"),
    (WORK, "I used to work at the harbour office.", "negated"),
    (WORK, "I quit my job at the harbour office.", "negated"),
    (WORK, "I left my job.", "negated"),
    (WORK, "I retired last month.", "negated"),
    (WORK, "I don't work at the harbour office.", "negated"),
    ("My wife's called Sarah.", "Sarah and I got divorced.", "negated"),
    ("My husband is Paul.", "I am divorced.", "negated"),
    (HOME, "I no longer live in Rome.", "withdrawn"),
    (HOME, "I moved away from Rome.", "negated"),
    (HOME, "I used to live in Rome.", "negated"),
]


@pytest.mark.parametrize(("old", "new"), REPLACED)
def test_the_later_value_takes_the_place_of_the_earlier(old: str, new: str) -> None:
    assert change(old, new) == "value"


@pytest.mark.parametrize(("old", "new"), BOTH_STAY)
def test_what_may_both_hold_stays(old: str, new: str) -> None:
    assert change(old, new) == "other"


@pytest.mark.parametrize(("old", "new", "expected"), ENDED)
def test_what_is_said_to_be_over_ends_it(old: str, new: str, expected: str) -> None:
    assert change(old, new) == expected


def test_there_are_many_phrasings() -> None:
    assert len(REPLACED) >= 60
    assert len(BOTH_STAY) >= 40


@pytest.mark.parametrize("one", sorted({text for pair in REPLACED for text in pair}))
def test_no_statement_changes_itself(one: str) -> None:
    assert change(one, one) in ("same", "other")


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("Rome", "town"),
        ("New York", "town"),
        ("Germany", "country"),
        ("the Netherlands", "country"),
        ("Bavaria", "state"),
        ("Europe", "continent"),
        ("Mill Street 4", "street"),
        ("a small flat", "dwelling"),
        ("a village", "unknown"),
    ],
)
def test_the_kind_of_a_place(place: str, kind: str) -> None:
    assert place_kind(place) == kind


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    relations(text)
