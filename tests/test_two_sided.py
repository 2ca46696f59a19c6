"""An encoder of two sides: passages as they always were, questions by the trained one."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import FixedEncoder

from agents.models.two_sided import TwoSidedEncoder

CAT, DOG = (1, 0, 0, 0), (0, 1, 0, 0)


class WiderEncoder(FixedEncoder):
    dimension = 5


def test_each_side_encodes_with_its_own_model() -> None:
    encoder = TwoSidedEncoder(FixedEncoder({"cat": CAT}), FixedEncoder({"cat": DOG}))
    np.testing.assert_array_equal(encoder.encode_passages(["cat"]), [CAT])
    np.testing.assert_array_equal(encoder.encode_queries(["cat"]), [DOG])


def test_it_goes_by_the_version_of_the_vectors_that_are_stored() -> None:
    queries = FixedEncoder({})
    queries.version = "trained"
    encoder = TwoSidedEncoder(FixedEncoder({}), queries)
    assert (encoder.version, encoder.dimension) == ("fixed-1", 4)


def test_sides_that_cannot_meet_are_refused() -> None:
    with pytest.raises(ValueError, match="questions have 5"):
        TwoSidedEncoder(FixedEncoder({}), WiderEncoder({}))
