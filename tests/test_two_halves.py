"""An encoder of two halves: its cosine, its versions, and what is cut out of it for a training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Vectors
from agents.languages.signs import Signs
from agents.models.encoders.two_halves import (
    TwoHalves,
    first_half,
    first_halves,
    first_version,
    halves_of,
    with_first_half,
    with_first_version,
)
from agents.models.encoders.two_sided import TwoSidedEncoder

FIRST, SECOND = "mini-0123456789ab", "multi.v3-ba9876543210"


class Fixed:
    """An encoder whose vectors are given, by text."""

    def __init__(self, version: str, vectors: dict[str, list[float]]) -> None:
        self.version, self.vectors = version, vectors
        self.dimension = len(next(iter(vectors.values())))

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)

    encode_passages = encode_queries


ENGLISH = Fixed(FIRST, {"cat": [1, 0], "Katze": [0, 1]})
OTHERS = Fixed(SECOND, {"cat": [1, 0, 0], "Katze": [0.8, 0.6, 0]})


@given(st.integers(1, 99))
def test_a_cosine_is_the_weighted_mean_of_both(percent: int) -> None:
    both = TwoHalves(ENGLISH, OTHERS, percent / 100)
    cat, katze = both.encode_passages(["cat", "Katze"])
    assert both.dimension == len(cat) == 5
    assert np.linalg.norm(cat) == pytest.approx(1)
    assert float(cat @ katze) == pytest.approx((1 - percent / 100) * 0 + percent / 100 * 0.8, abs=1e-6)


class FixedLanguages:
    def is_english(self, text: str) -> bool:
        return text == "cat"

    def language(self, text: str) -> str:
        return "de"

    def signs(self, texts: Sequence[str]) -> list[Signs]:
        raise NotImplementedError


def test_an_english_question_asks_the_first_half_alone_and_others_more_of_the_second() -> None:
    both = TwoHalves(ENGLISH, OTHERS, 0.3, FixedLanguages())
    cat, katze = both.encode_passages(["cat", "Katze"])
    assert float(cat @ katze) == pytest.approx(0.3 * 0.8)  # of passages both halves speak, as stored
    of_cat, of_katze = both.encode_queries(["cat", "Katze"])
    assert (float(of_cat @ cat), float(of_cat @ katze)) == pytest.approx((1, 0), abs=1e-6)
    assert (float(of_katze @ cat), float(of_katze @ katze)) == pytest.approx((0.6 * 0.8, 1))


def test_a_version_names_both_halves_and_the_share() -> None:
    version = TwoHalves(ENGLISH, OTHERS, 0.3).version
    assert version == f"{FIRST}.{SECOND}.30"
    assert halves_of(version) == (FIRST, SECOND, 0.3)
    assert first_version(version) == FIRST
    assert with_first_version(version, "trained-aaaaaaaaaaaa") == f"trained-aaaaaaaaaaaa.{SECOND}.30"
    assert halves_of(FIRST) is None
    assert first_version(FIRST) == FIRST
    assert with_first_version(FIRST, "trained-aaaaaaaaaaaa") == "trained-aaaaaaaaaaaa"


@pytest.mark.parametrize("share", [0, 1, 0.004, -0.2])
def test_a_half_without_a_share_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.01 and 0\.99"):
        TwoHalves(ENGLISH, OTHERS, share)


def test_a_trained_first_half_meets_the_second_as_it_is() -> None:
    trained = Fixed("trained-aaaaaaaaaaaa", {"cat": [0, 1], "Katze": [0, 1]})
    both = TwoHalves(ENGLISH, OTHERS, 0.25)
    queries = TwoSidedEncoder(both, with_first_half(both, trained))
    (asked,), (searched,) = queries.encode_queries(["cat"]), queries.encode_passages(["Katze"])
    assert float(asked @ searched) == pytest.approx(0.75 * 1 + 0.25 * 0.8)
    assert with_first_half(ENGLISH, trained) is trained
    assert first_half(both) is ENGLISH
    alone = first_half(queries)
    assert alone.encode_queries(["cat"]).tolist() == [[0, 1]]
    assert alone.encode_passages(["cat"]).tolist() == [[1, 0]]
    assert first_half(ENGLISH) is ENGLISH


def test_the_first_half_of_what_is_stored_is_what_it_encodes() -> None:
    stored = TwoHalves(ENGLISH, OTHERS, 0.3).encode_passages(["cat", "Katze"])
    cut = first_halves({7: stored[0].tobytes(), 9: stored[1].tobytes()}, 2)
    assert np.frombuffer(cut[7], "<f4") == pytest.approx([1, 0])
    assert np.frombuffer(cut[9], "<f4") == pytest.approx([0, 1])
    whole = {1: ENGLISH.encode_passages(["cat"])[0].tobytes()}
    assert first_halves(whole, 2) == whole
