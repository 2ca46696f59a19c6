"""Which model of each role answers now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from agent_fakes import FixedEncoder
from store_fixtures import fresh_database

from agents.models.encoders.two_sided import TwoSidedEncoder
from stores.base.errors import CannotUndo
from stores.database.tables import LiveModel, ModelVersion
from stores.search.live_models import LiveModels


def test_nothing_is_live_before_the_first(tmp_path: Path) -> None:
    assert LiveModels(fresh_database(tmp_path)).live("encoder") is None


def test_the_pointer_is_swapped_and_the_one_before_remembered(tmp_path: Path) -> None:
    database = fresh_database(tmp_path)
    models = LiveModels(database)
    models.make_live("encoder", "a")
    models.make_live("encoder", "b")
    assert models.live("encoder") == "b"
    with database.reading() as sql:
        pointer = sql.get_one(LiveModel, "encoder")
        before = sql.get_one(ModelVersion, pointer.previous_id)
    assert before.version == "a"


def test_making_the_live_one_live_again_forgets_nothing(tmp_path: Path) -> None:
    database = fresh_database(tmp_path)
    models = LiveModels(database)
    for version in ("a", "b", "b"):
        models.make_live("encoder", version)
    with database.reading() as sql:
        pointer = sql.get_one(LiveModel, "encoder")
    assert pointer.previous_id != pointer.model_version_id


def test_roles_have_pointers_of_their_own(tmp_path: Path) -> None:
    models = LiveModels(fresh_database(tmp_path))
    models.make_live("encoder", "a")
    models.make_live("judge", "b")
    assert (models.live("encoder"), models.live("judge")) == ("a", "b")


def test_the_first_model_has_none_before_it_and_that_is_said_without_its_role(tmp_path: Path) -> None:
    models = LiveModels(fresh_database(tmp_path))
    models.make_live("query encoder", "a")
    with pytest.raises(CannotUndo, match="there is no model before the live one"):
        models.step_back("query encoder")


# Two sides


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
