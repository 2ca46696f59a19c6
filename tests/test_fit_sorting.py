"""The sort head fitted to phrases: it learns them, and nothing else of the reader changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.models.reader import OnnxReader
from agents.models.reader_files import SMALL
from training.reader.fit_sorting import Served, fitted, learn, shares_of

PHRASES = [
    "opening hours of the kiln",
    "cone for a first firing",
    "keep a glaze from running",
    "weight of the lid",
]
STATEMENTS = ["I fire on Sundays.", "The lid weighs 4 kg.", "My sister paints the bowls."]


def test_it_learns_phrases_and_leaves_all_else_as_it_was(tmp_path: Path) -> None:
    served = Served(SMALL)
    weight, bias = served.head
    wanted = np.zeros((len(PHRASES), 4), np.float32)
    wanted[:, 3] = 1  # what no such phrase is taken for before
    served.put(*fitted(weight, bias, served.features(PHRASES), wanted, np.ones(4, np.float32)))
    served.write(tmp_path / "made", SMALL)
    before, after = OnnxReader(SMALL), OnnxReader(tmp_path / "made")
    assert [row.nothing for row in after.sort(PHRASES)] == pytest.approx([1] * 4, abs=0.1)
    assert max(row.nothing for row in before.sort(PHRASES)) < 0.9
    asked = "how heavy is the lid?"
    assert before.read(asked, STATEMENTS) == after.read(asked, STATEMENTS)
    pairs = [(STATEMENTS[0], STATEMENTS[1])]
    assert before.relate(pairs) == after.relate(pairs)
    assert before.verify(pairs) == after.verify(pairs)
    assert before.name != after.name


def test_statements_stay_what_they_were() -> None:
    served = Served(SMALL)
    features = served.features(STATEMENTS)
    weight, bias = served.head
    before = shares_of(features @ weight + bias)
    assert learn(served, PHRASES, STATEMENTS) == 4
    weight, bias = served.head
    assert shares_of(features @ weight + bias) == pytest.approx(before, abs=0.05)
    assert (shares_of(served.features(PHRASES) @ weight + bias).argmax(1) == 2).all()


def test_a_head_that_is_dear_to_change_does_not() -> None:
    draw = np.random.default_rng(1)
    weight, features = (draw.standard_normal(shape).astype(np.float32) for shape in ((6, 4), (20, 6)))
    bias = np.zeros(4, np.float32)
    wanted = shares_of(draw.standard_normal((20, 4)).astype(np.float32))
    counts = np.arange(1, 21, dtype=np.float32) / 10.5
    kept, _ = fitted(weight, bias, features, wanted, counts, kept=1e6)
    free, moved = fitted(weight, bias, features, wanted, counts, kept=0)
    assert kept == pytest.approx(weight, abs=1e-3)
    # at the least mean cross entropy its gradient is 0
    odd = (shares_of(features @ free + moved) - wanted) * counts[:, None]
    assert features.T @ odd / 20 == pytest.approx(0, abs=1e-3)
