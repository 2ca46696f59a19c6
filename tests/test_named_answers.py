"""The words named in front of a quote are what it says to hold, never what it says to be over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.named_answers import that_holds

SOLD = "I sold the Skoda, I drive a blue Fiat now."


@pytest.mark.parametrize(
    ("sentence", "question", "wrong", "named"),
    [
        (SOLD, "What car do I drive?", "Skoda", "blue Fiat"),
        (SOLD, "What do I drive now?", "the Skoda", "blue Fiat"),
        ("I moved from Leeds to York.", "Where do I live?", "Leeds", "York"),
        ("I moved from Leeds to York.", "Which town did I move to?", "Leeds", "York"),
        ("I moved to York from Leeds.", "Where do I live?", "Leeds", "York"),
        ("I quit Acme and work at Bolt now.", "Where do I work?", "Acme", "Bolt"),
        ("I left Acme for Bolt.", "Where do I work?", "Acme", ""),
        ("I drink not tea but coffee.", "What do I drink?", "tea", ""),
        ("I drink coffee instead of tea.", "What do I drink?", "tea", ""),
        ("I take the tram rather than the bus.", "How do I get to work?", "the bus", ""),
        ("I don't drink tea, I drink coffee.", "What do I drink?", "tea", ""),
        ("I'm not learning Welsh any more.", "What language am I learning?", "Welsh", ""),
        ("I no longer play the cello.", "Which instrument do I play?", "cello", ""),
        ("I used to play the cello, now I play the flute.", "What do I play?", "cello", ""),
        ("I no longer live in Lyon.", "Where do I live?", "Lyon", ""),
        ("If I had a boat I would call it Zed.", "What is my boat called?", "Zed", ""),
        ("My sister wishes she had a dog called Rex.", "What is my sister's dog called?", "Rex", ""),
        ("My boat might be called Zed.", "What is my boat called?", "Zed", ""),
        ("Marta and I broke up.", "Who is my girlfriend?", "Marta", ""),
        ("I broke up with Marta.", "Who is my girlfriend?", "Marta", ""),
        ("Sofie and I got divorced.", "Who is my wife?", "Sofie", ""),
        ("My wife and I are separated.", "Who is my wife?", "My wife", ""),
        ("My canary Tweety died.", "What is my canary called?", "Tweety", ""),
        ("I returned the Kia.", "What car do I have?", "Kia", ""),
        ("I quit my job at Umicore.", "Where do I work?", "Umicore", ""),
        ("I gave up chess.", "Which game do I play?", "chess", ""),
        ("I swapped my Skoda for a Fiat.", "What car do I drive?", "Skoda", ""),
        ("My dentist was Dr Okafor, now it's Dr Lim.", "Who is my dentist?", "Dr Okafor", ""),
        ("My rent went up from 950 to 1020 pounds.", "How much rent do I pay?", "950", "1020 pounds"),
    ],
)
def test_what_is_over_is_not_named(sentence: str, question: str, wrong: str, named: str) -> None:
    assert that_holds(wrong, sentence, question) == named


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (SOLD, "What car do I drive?", "blue Fiat"),
        (SOLD, "What car do I drive?", "a blue Fiat"),
        (SOLD, "What did I sell?", "Skoda"),
        (SOLD, "What car did I drive before?", "Skoda"),
        ("I moved from Leeds to York.", "Where did I move from?", "Leeds"),
        ("I left Acme for Bolt.", "Where do I work?", "Bolt"),
        ("I drink not tea but coffee.", "What do I drink?", "coffee"),
        ("I eat not only fish but also eggs.", "What do I eat?", "fish"),
        ("I can't have peanuts.", "What am I allergic to?", "peanuts"),
        ("I don't eat meat.", "What don't I eat?", "meat"),
        ("I work from 9 to 5.", "What hours do I work?", "9 to 5"),
        ("My shop is open from Monday to Friday.", "When is my shop open?", "Monday to Friday"),
        ("I'm from Leeds.", "Where am I from?", "Leeds"),
        ("I returned to Leeds.", "Where do I live?", "Leeds"),
        ("My dentist was trained in Lagos.", "Where was my dentist trained?", "Lagos"),
        ("I am used to the cold.", "What am I used to?", "the cold"),
        ("My sister lives in Bonn.", "Where does my sister live?", "Bonn"),
    ],
)
def test_what_holds_or_is_asked_for_stays(sentence: str, question: str, answer: str) -> None:
    assert that_holds(answer, sentence, question) == answer


@given(st.text(max_size=60), st.text(max_size=300), st.text(max_size=200))
def test_any_texts_can_be_looked_into(answer: str, sentence: str, question: str) -> None:
    named = that_holds(answer, sentence, question)
    assert named == answer or named in sentence


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("Thursdays now", "Thursdays"),
        ("Jana now", "Jana"),
        ("now Jana", "Jana"),
        ("now", "now"),
        ("Now", "Now"),
    ],
)
def test_that_it_is_so_now_is_no_part_of_an_answer(answer: str, named: str) -> None:
    assert that_holds(answer, f"It is {answer}.", "What is it?") == named
