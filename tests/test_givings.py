"""Which statements give what is asked for: the same ones, however often it is asked."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from agents import givings
from agents.asked_for import asked_for, how_it_gives
from agents.givings import Givings
from agents.relations.mentions import may_give
from agents.relations.questions import Asked
from agents.sentences import sentences

QUESTIONS = [
    "Where do I live?",
    "Where do I work?",
    "What is my phone number?",
    "What car do I have?",
    "When do I swim?",
    "What is my dog called?",
    "Am I vegetarian?",
]
TOLD = [
    "I moved to Brussels.",
    "My brother says that I live in Oslo.",
    "I work at the library.",
    "My phone number is 222.",
    "I drive a Skoda.",
    "I swapped my Skoda for a Fiat.",
    "I swim on Tuesdays.",
    "I also swim on Fridays.",
    "My dog is called Rex.",
    "We renamed the dog, he is Max now.",
    "I eat fish again.",
    "My mother lives in Bonn.",
    "It rains. I live in Ulm.",
    "The library is old.",
]


def slowly(asking: Sequence[Asked], told: Sequence[tuple[int, str]], most: int) -> list[int]:
    """Each statement read anew for each question."""
    plain: list[int] = []
    passed_on: list[int] = []
    for version_id, text in told:
        how = [how_it_gives(one.text, asking) for one in sentences(text)]
        if "plainly" in how:
            plain.append(version_id)
        elif "by hearsay" in how:
            passed_on.append(version_id)
    return (plain or passed_on)[:most]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_kept_gives_the_same_as_reading_all_anew(seed: int) -> None:
    chance = random.Random(seed)
    kept = Givings(most=3, kinds=3)  # fewer than are asked for: some are forgotten and read again
    told: list[tuple[int, str]] = []
    for version_id in range(60):
        told.insert(0, (version_id, chance.choice(TOLD)))
        if chance.random() < 0.3:
            told.pop(chance.randrange(len(told)))  # it is live no more
        asking = asked_for(chance.choice(QUESTIONS))
        assert kept.first(asking, told) == slowly(asking, told, 3)


def test_a_statement_is_read_once_for_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str, wanted: Asked) -> bool:
        read.append(text)
        return may_give(text, wanted)

    monkeypatch.setattr(givings, "may_give", counted)
    kept, asking = Givings(most=3), asked_for("Where do I live?")
    told = list(enumerate(TOLD[:4]))
    assert kept.first(asking, told) == kept.first(asking, told) == [0]
    assert len(read) == 4
    kept.first(asking, [(99, "I moved to Rome."), *told])
    assert read[4:] == ["I moved to Rome."]
    kept.first(asked_for("Where do I work?"), told)
    assert len(read) == 9  # for something else they are read for that


def test_no_more_statements_are_looked_into_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(givings, "_LOOKED_INTO", 2)
    kept, asking = Givings(most=3), asked_for("Where do I live?")
    told = [(5, "My mother lives in Bonn, I think."), (4, "I live for music."), (3, "I live in Rome.")]
    assert all(may_give(text, asking[0]) for _, text in told)
    assert kept.first(asking, told) == kept.first(asking, told) == []
    assert kept.first(asking, told[1:]) == [3]
