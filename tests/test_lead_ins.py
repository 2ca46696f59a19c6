"""What leads into a statement is left out only where a whole statement is left."""

from __future__ import annotations

import pytest

from agents.claim_rules.statements import stated_in

LEFT_OUT = [
    ("I looked it up and found that the museum opens at nine.", "The museum opens at nine."),
    ("We talked about it over lunch, and the museum opens at nine.", "The museum opens at nine."),
    ("I read about this and it turns out that snails have teeth.", "Snails have teeth."),
    ("I checked yesterday: the museum opens at nine.", "The museum opens at nine."),
    ("If I remember rightly, my aunt is 70.", "My aunt is 70."),
    ("One thing I learned is that snails have teeth.", "Snails have teeth."),
    ("My locker is 12, if I remember rightly.", "My locker is 12."),
    ("Snails have teeth, as I read.", "Snails have teeth."),
    ("I read about it and United lost.", "United lost."),
]
LEFT_IN = [  # the lead says who does it, when, or under which condition
    "We talked about this and decided to sell the car.",
    "We talked about this and agreed to sell the car.",
    "I checked yesterday and closed the window.",
    "We looked into this and bought a heat pump.",
    "One thing I learned is to keep calm.",
    "One thing I remember is my grandmother's garden.",
    "I lock the door if I remember.",
    "My eyes hurt as I read.",
]


@pytest.mark.parametrize(("sentence", "text"), LEFT_OUT)
def test_how_it_is_known_is_no_part_of_what_is_stated(sentence: str, text: str) -> None:
    stated = stated_in(sentence)
    assert stated is not None
    assert stated.text == text


@pytest.mark.parametrize("sentence", LEFT_IN)
def test_no_half_of_a_sentence_is_taken_for_its_lead(sentence: str) -> None:
    stated = stated_in(sentence)
    assert stated is not None
    assert stated.text == sentence


@pytest.mark.parametrize(
    "sentence", ["If I know that, I am calm.", "If I remember, I take my pills at nine."]
)
def test_a_condition_states_nothing(sentence: str) -> None:
    assert stated_in(sentence) is None
