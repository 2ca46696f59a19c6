"""What a correction makes of what was told last, and what is told anew though its words were shown."""

from __future__ import annotations

import pytest

from agents.claim_interfaces import Said
from agents.claim_rules.corrections import right_words
from agents.interfaces import Exchange
from agents.pointed_to import standalone
from agents.slips import without_slip
from agents.told_before import meant_by, put_right, tells_anew


def told(*messages: str) -> list[Exchange]:
    """Messages that were each answered by "Noted."."""
    return [Exchange(message, message, "Noted.", number) for number, message in enumerate(messages, start=1)]


@pytest.mark.parametrize(
    ("before", "said", "becomes"),
    [
        ("My locker code is 4213.", "I meant 4231.", "My locker code is 4231."),
        ("We meet Ben on Monday.", "Sorry, on Tuesday.", "We meet Ben on Tuesday."),
        ("My phone number is 0151 2345678.", "oops, 0151 2345687", "My phone number is 0151 2345687."),
        ("The talk is on 3 March.", "Sorry, I meant 4 March.", "The talk is on 4 March."),
        ("Our train leaves at 7:40.", "make that 8:40", "Our train leaves at 8:40."),
        ("My boss is Mrs Lindqvist.", "No, Mr Okafor.", "My boss is Mr Okafor."),
        ("My neighbour is Thibaut.", "I meant Thibault, not Thibaut.", "My neighbour is Thibault."),
        ("My favourite colour is blue.", "I meant green.", "My favourite colour is green."),
        ("My flat number is 12.", "actually it's 14", "My flat number is 14."),
        ("My locker number is 88.", "wait, 89", "My locker number is 89."),
        ("My locker code is 88.", "No, 89.", "My locker code is 89."),
        ("The meeting is on Monday.", "actually it's Thursday", "The meeting is on Thursday."),
        ("My aunt Rosa lives in Genk.", "no, in Hasselt", "My aunt Rosa lives in Hasselt."),
        (
            "My dentist appointment is on Tuesday at 3.",
            "no, the dentist is on Thursday",
            "My dentist appointment is on Thursday at 3.",
        ),
        ("My favourite food is spagetti.", "typo, spaghetti", "My favourite food is spaghetti."),
    ],
)
def test_right_words_take_the_place_of_those_that_look_like_them(
    before: str, said: str, becomes: str
) -> None:
    assert put_right(said, "", told(before)) == becomes


def test_right_words_in_the_same_message_mean_the_sentence_before_them() -> None:
    earlier = told("My locker code is 4213.")
    assert put_right("I meant 18.", "My shoe size is 81.", earlier) == "My shoe size is 18."


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("I have two dogs and two cats.", "I meant three."),  # of which?
        ("I live in Ulm.", "No, thanks."),
        ("I live in Ulm.", "No idea."),
        ("I meet Ben at 5.", "Sorry, Anna."),  # speaks to Anna
        ("I live in Ulm.", "I meant well."),
        ("My flat number is 12.", "actually it's raining"),
        ("My alarm rings at 7.", "wait 5 minutes"),
        ("My flat has 4 rooms.", "actually 14 people came"),
        ("My meeting is at 3 and my flight is at 5.", "actually it's 6"),
        ("My dentist appointment is on Tuesday.", "no, the party is on Thursday"),
        ("My appointment is on Tuesday.", "the appointment is on Thursday"),
        ("I live in Ulm.", "The fifth."),  # no correction
        ("I live in Ulm.", "No, I live in Bonn."),  # says all of it itself
    ],
)
def test_in_doubt_nothing_is_put_right(before: str, said: str) -> None:
    assert put_right(said, "", told(before)) is None


def test_what_was_told_before_a_question_is_meant_only_where_its_answer_repeated_it() -> None:
    asked = Exchange("What is the gate code?", "", "I found nothing about that.", 2)
    assert put_right("No, 4231.", "", [*told("My locker code is 4213."), asked]) is None

    asked = Exchange("What is my locker code?", "", "You said: “My locker code is 4213.” [1]", 2)
    put = put_right("No, 4231.", "", [*told("My locker code is 4213."), asked])
    assert put == "My locker code is 4231."


def test_a_second_correction_puts_the_first_one_right() -> None:
    earlier = told("My locker code is 4213.", "I meant 4231.")
    assert put_right("Sorry, 4232.", "", earlier) == "My locker code is 4232."


@pytest.mark.parametrize("said", ["It is 4231.", "That is a problem.", "Really?", "sorry", "x " * 200])
def test_most_sentences_are_no_right_words(said: str) -> None:
    assert right_words(said) is None


def test_a_value_told_again_after_another_is_told_anew() -> None:
    said = Said("My pin is 9090.", tuple(told("My pin is 9090.", "My pin is 7171.")))
    assert tells_anew("My pin is 9090.", said)
    assert not tells_anew("My pin is 7171.", Said("", tuple(told("My pin is 7171."))))


def test_what_was_to_come_is_told_anew_when_it_has_come() -> None:
    assert tells_anew("I moved to Lisbon.", Said("", tuple(told("I am moving to Lisbon in June."))))
    assert not tells_anew("The lift moved to Lisbon.", Said("", tuple(told("The lift moves to Lisbon."))))


@pytest.mark.parametrize(
    ("earlier", "said", "becomes"),
    [
        (["My sister Jana lives in Ulm."], "She works at the zoo.", "My sister Jana works at the zoo."),
        (["Our flight leaves at 7:40."], "It leaves at 8:40.", "Our flight leaves at 8:40."),
        (["My dog is called Rex.", "He is 3."], "He eats fish.", "My dog eats fish."),
        (["The yoga class is at 6 pm."], "It's at 7 pm.", "The yoga class is at 7 pm."),
        (["When is the yoga class?"], "It's at 7 pm.", None),
        (["The yoga class is at 6 pm."], "It's 1891.", None),
        (["Paul likes Ann."], "She lives in Rome.", None),
        (["Paul lives in Rome."], "It is big.", None),
        (["My sister Jana lives in Ulm.", "Is Ulm big?"], "She works at the zoo.", None),
        ([], "They moved my desk upstairs.", "They moved my desk upstairs."),
        ([], "They moved upstairs.", None),
    ],
)
def test_a_pronoun_means_what_the_last_message_told_of(
    earlier: list[str], said: str, becomes: str | None
) -> None:
    assert standalone(said, "", told(*earlier)) == becomes


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("The meeting is on 3 May, I mean 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May, no, 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May, no 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May, sorry, 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May, rather 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May - make that 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May, no wait, sorry, on 4 May.", "The meeting is on 4 May."),
        ("The meeting is on 3 May, no, 4 May at noon.", "The meeting is on 4 May at noon."),
        ("The meeting on 3 May, sorry, 4 May, is in Hall 2.", "The meeting on 4 May is in Hall 2."),
        ("The meeting is on 3 May, no, 4 May, no, 5 May.", "The meeting is on 5 May."),
        ("Our cat is called Pixel, or rather Pixie.", "Our cat is called Pixie."),
        ("I moved from Rome to Bonn, I mean Ulm.", "I moved from Rome to Ulm."),
        ("My favourite colour is blue, I mean green.", "My favourite colour is green."),
        ("The train leaves at 7:40 (sorry, 7:50).", "The train leaves at 7:50."),
        ("My cousin is called Marit, sorry, Merit.", "My cousin is called Merit."),
    ],
)
def test_a_slip_that_is_put_right_in_its_own_sentence_is_left_out(said: str, meant: str) -> None:
    assert without_slip(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "I am meeting Tom on Monday, sorry, Anna.",  # speaks to Anna
        "My favourite colour is blue, rather dark.",
        "My phone number is 12345, no extension.",
        "I have two cats, no dogs.",
        "I like tea, I mean really strong tea.",
        "The meeting is on 3 May, I mean it is on 4 May.",
        "I have 3 cats, actually they are 4 kittens.",
        "He said no, I mean yes.",
        "We meet at 5, well, if it rains at 6.",
    ],
)
def test_a_sentence_that_may_mean_all_it_says_stays_as_it_is(said: str) -> None:
    assert without_slip(said) == said


def test_what_was_told_of_a_pointer_is_put_right_as_it_was_understood() -> None:
    asked = Exchange("When was the Tarn mill built?", "When was the Tarn mill built?", "I found nothing.", 1)
    told_then = [asked, *told("It was built in 1871.")]
    assert put_right("No, it was built in 1878.", "", told_then) == "The Tarn mill was built in 1878."
    jana = told("My sister is called Jana. She is 30.")
    assert put_right("I meant 31.", "", jana) == "My sister is 31."


def test_what_was_to_be_remembered_is_put_right_without_the_order() -> None:
    code = told("Please remember that my locker code is 4213.")
    assert put_right("I meant 4231.", "", code) == "My locker code is 4231."
    heard = told("My friend says the bakery closes at 6.")
    assert put_right("Sorry, at 7.", "", heard) == "My friend says the bakery closes at 7."


def test_what_is_too_long_to_be_a_statement_is_not_put_right() -> None:
    assert put_right("I meant 4231.", "My locker code is 4213.", ()) == "My locker code is 4231."
    assert put_right("I meant 4231.", f"My locker code is 4213{' or so' * 60}.", ()) is None


BOAT = "My boat is called Stella."


@pytest.mark.parametrize("between", [["How long is my boat?"], ["My cat is called Ada."], ["Is it?", "Why?"]])
def test_words_that_are_called_wrong_are_looked_for_further_back(between: list[str]) -> None:
    earlier = told(BOAT, *between)
    assert meant_by("I meant Sirius, not Stella", "", earlier) == "My boat is called Sirius."
    assert meant_by("I meant Sirius, not Rex", "", earlier) is None


def test_words_that_are_called_wrong_are_not_put_right_where_two_statements_have_them() -> None:
    earlier = told(f"{BOAT} My aunt is called Stella.", "How long is my boat?")
    assert meant_by("I meant Sirius, not Stella", "", earlier) is None


def test_words_that_are_called_wrong_may_stand_in_what_is_known_if_one_statement_has_them() -> None:
    meant = "I meant Sirius, not Stella"
    assert (
        put_right(meant, "", told("How long is my boat?"), [BOAT, "I sail."]) == "My boat is called Sirius."
    )
    assert put_right(meant, "", (), [BOAT, "My aunt is called Stella."]) is None
    assert put_right(meant, "", (), ["My stellar boat is blue."]) is None
    assert put_right("I meant Sirius.", "", (), [BOAT]) is None
