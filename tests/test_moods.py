"""What only tells how somebody feels just now is not kept; what lasts is."""

from __future__ import annotations

import pytest

from agents.claim_rules.moods import is_mood
from agents.claim_rules.statements import statements

MOODS = [
    "I'm tired.",
    "I'm so exhausted today!",
    "i feel sad",
    "I feel really down today.",
    "I am feeling a bit low.",
    "I can't stop crying.",
    "I just can't stop laughing",
    "I'm bored",
    "I'm starving right now.",
    "Ugh, I feel awful.",
    "I'm in a bad mood today.",
    "I'm having a terrible day.",
    "I had a really long day.",
    "I had a rough night.",
    "I'm fed up with everything.",
    "I could cry.",
    "I'm fine, thanks.",
    "I don't feel well today.",
    "I can't take it anymore.",
    "I slept badly last night.",
    "I need a coffee.",
    "We're so excited!",
    "My wife is grumpy today.",
    "Today was a good day.",
]
LASTING = [
    "I'm always tired.",
    "I've been tired since March.",
    "I'm tired of my job at the mill.",
    "I'm happy in Oslo.",
    "I'm afraid of spiders.",
    "I'm happily married.",
    "I'm a good swimmer.",
    "I'm blue-eyed.",
    "I'm lost without my glasses.",
    "I'm proud of my daughter Mia.",
    "I'm late for the train at 9 on Mondays.",
    "I'm depressed.",
    "I have depression.",
    "I feel cold in rooms below 20 degrees.",
    "I'm busy on Fridays.",
    "I had a bad accident in 2010.",
    "I sleep badly.",
    "I need a new passport by June.",
    "I am well known in Ghent.",
    "I was sad when my grandad died.",
    "I'm back in Lyon for good.",
    "I'm out of work.",
    "My son is afraid of dogs.",
    "My wife is at work today.",
    "Tom is early.",
]


@pytest.mark.parametrize("message", MOODS)
def test_a_mood_states_nothing(message: str) -> None:
    assert is_mood(message)
    assert not list(statements(message))


@pytest.mark.parametrize("message", LASTING)
def test_what_lasts_is_no_mood(message: str) -> None:
    assert not is_mood(message)


def test_a_mood_is_kept_where_its_user_asks_for_it() -> None:
    assert [one.text for one in statements("Remember that I'm tired today.")] == ["I'm tired today."]


def test_a_mood_keeps_nothing_else_from_being_stated() -> None:
    assert [one.text for one in statements("I'm so tired. My son Bas is two.")] == ["My son Bas is two."]


def test_a_hostile_sentence_is_read_quickly() -> None:
    assert not is_mood("I'm " + "so very " * 5_000 + "x")
    assert not is_mood(("I'm " + "so very " * 14 + "x")[:119])
