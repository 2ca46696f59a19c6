"""No model answers that learned from what was forgotten or undone since."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlmodel import col
from store_fixtures import Stores

from stores.base.clock import now
from stores.database.tables import ModelVersion, PassageVersion, Round, known_id
from stores.forgetting.forgetting import Forgetting
from stores.search.live_models import LiveModels

ROLE = "dialogue generator"


def versions(stores: Stores) -> list[int]:
    with stores.database.reading() as sql:
        return [known_id(i) for i in sql.scalars(select(col(PassageVersion.id)))]


def made(stores: Stores, version: str, role: str = ROLE, **saw: list[int]) -> None:
    """A model that a round made of this, and that answers now."""
    LiveModels(stores.database).make_live(role, version)
    with stores.database.writing() as sql:
        model_id = sql.scalars(select(col(ModelVersion.id)).where(col(ModelVersion.version) == version)).one()
        row = Round(recipe="dialogue", state="promoted", settings=saw, created_at=now())
        row.model_version_id = model_id
        sql.add(row)


@pytest.mark.parametrize("before", ["clean", "saw it too", "shipped"])
def test_forgetting_takes_back_what_saw_it(stores: Stores, ann: int, before: str) -> None:
    passage_id, _ = stores.knowledge.remember(ann, "It was closed by the police for rats.")
    [version] = versions(stores)
    if before != "shipped":
        made(stores, "first", passages=[version] if before == "saw it too" else [])
    made(stores, "second", passages=[version])
    live = LiveModels(stores.database)
    forgotten = Forgetting(stores.database).forget(ann, [passage_id])
    assert forgotten.models == (ROLE,)
    assert live.live(ROLE) == ("first" if before == "clean" else None)
    assert live.previous(ROLE) is None  # nobody steps onto it again


def test_undoing_takes_back_what_saw_it_and_leaves_search_alone(stores: Stores, ann: int) -> None:
    _, receipt = stores.knowledge.remember(ann, "It was closed by the police for rats.")
    [version] = versions(stores)
    made(stores, "another", passages=[version + 1])
    made(stores, "of-search", "query encoder", passages=[version])
    assert stores.knowledge.undo_together(ann, [receipt]).models == ()
    live = LiveModels(stores.database)
    assert (live.live(ROLE), live.live("query encoder")) == ("another", "of-search")
    _, receipt = stores.knowledge.remember(ann, "It smells of cabbage.")
    assert stores.knowledge.undo_together(ann, [receipt]).models == (ROLE,)
    assert live.live(ROLE) is None
