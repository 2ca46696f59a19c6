"""Which model of each role answers now."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_fixtures import fresh_database

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
