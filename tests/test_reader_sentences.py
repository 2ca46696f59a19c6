"""What users say: templates, dialogues, and classes that no surface gives away."""

from __future__ import annotations

import random
import re

import pytest

from assistant.learning import other_templates, personal_templates
from assistant.learning.dialogue_turns import keeps_nothing, tells_a_taste
from assistant.learning.example import Part
from assistant.learning.other_templates import NOTHING as NOTHING_FAMILIES
from assistant.learning.other_templates import WORLD as WORLD_FAMILIES
from assistant.learning.personal_templates import PERSONAL as PERSONAL_FAMILIES
from assistant.learning.reader_sentences import NOTHING, PERSONAL, WORLD, _from_templates, _put
from assistant.learning.sentence_slots import families, filled

CLASSES = ((PERSONAL_FAMILIES, PERSONAL), (WORLD_FAMILIES, WORLD), (NOTHING_FAMILIES, NOTHING))
PARTS: tuple[Part, ...] = ("train", "calibration", "test")


def test_families_are_read_line_by_line() -> None:
    assert families("\n    a: one two | three\n        four\n    b: five\n") == {
        "a": ("one two", "three four"),
        "b": ("five",),
    }


def test_every_slot_is_known_and_filled() -> None:
    rng = random.Random(0)
    for group, _ in CLASSES:
        for forms in group.values():
            for form in forms:
                assert not re.search(r"[{}|]", filled(form, rng)), form


def test_two_slots_of_a_name_differ() -> None:
    for seed in range(50):
        first, second = filled("{city}|{city}", random.Random(seed)).split("|")
        assert first != second


def test_articles_fit_the_word_behind() -> None:
    for seed in range(50):
        said = filled("a {animal} and an {animal}", random.Random(seed))
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", said)


@pytest.mark.parametrize(("group", "label"), CLASSES)
def test_a_family_is_in_one_part_only(group: dict[str, tuple[str, ...]], label: int) -> None:
    keys = [{one.key for one in _from_templates(group, label, part, random.Random(0))} for part in PARTS]
    assert all(keys)
    assert not keys[0] & keys[1]
    assert not keys[0] & keys[2]
    assert not keys[1] & keys[2]


def test_held_out_families_exist() -> None:
    named = {**PERSONAL_FAMILIES, **WORLD_FAMILIES, **NOTHING_FAMILIES}
    assert set(named) >= personal_templates.HELD_OUT | other_templates.HELD_OUT
    assert set(named) >= personal_templates.CALIBRATION | other_templates.CALIBRATION
    assert len(named) == len(PERSONAL_FAMILIES) + len(WORLD_FAMILIES) + len(NOTHING_FAMILIES)


def test_i_is_no_sign_of_a_class() -> None:
    """Personal sentences often lack "I", and the others often have it."""
    rng = random.Random(0)
    with_i = {
        label: sum(bool(re.search(r"\b[Ii]\b", one.first)) for one in found) / len(found)
        for group, label in CLASSES
        for found in [list(_from_templates(group, label, "train", rng))]
    }
    assert with_i[PERSONAL] < 0.8
    assert with_i[WORLD] > 0.1
    assert with_i[NOTHING] > 0.15


def test_a_sentence_is_put_in_many_ways_and_keeps_its_words() -> None:
    ways = {_put("the Rhine is long", WORLD, random.Random(seed)) for seed in range(300)}
    assert {"The Rhine is long.", "The Rhine is long", "the rhine is long"} <= ways
    assert all("rhine is long" in way.lower() for way in ways)


@pytest.mark.parametrize(
    ("said", "personal", "nothing"),
    [
        ("I usually like eating Thai food.", True, False),
        ("I love reggae.", True, False),
        ("I love it.", False, True),
        ("I need to find a bus.", False, True),
        ("I'm looking for a cheap restaurant in the north.", False, True),
        ("Is my account open?", False, False),
        ("I have a meeting then.", False, False),
        ("Thank you very much.", False, True),
    ],
)
def test_what_a_turn_of_a_dialogue_tells(said: str, personal: bool, nothing: bool) -> None:
    assert tells_a_taste(said) == personal
    assert keeps_nothing(said) == nothing
