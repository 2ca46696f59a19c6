"""What sort learns from beside data/everyday: sentences of texts, typed as people type."""

from __future__ import annotations

import random

from assistant.learning.recipes.examples.example import Example
from assistant.learning.recipes.examples.sentences import WORLD, _typed, _unrepeated


def test_a_sentence_is_typed_in_many_ways_and_keeps_its_words() -> None:
    ways = {_typed("the Rhine isn't short.", random.Random(seed)) for seed in range(300)}
    assert {"The Rhine isn't short.", "the rhine isn't short", "the rhine isnt short"} <= ways
    assert {way.lower().replace("'", "").rstrip(".") for way in ways} == {"the rhine isnt short"}


def test_no_sentence_comes_twice() -> None:
    found = [Example(text, sort=WORLD) for text in ("The Rhine is long.", "the rhine is long", "", "Else.")]
    assert [one.first for one in _unrepeated(found)] == ["The Rhine is long.", "Else."]
