"""No model answers that learned from what was forgotten or undone since."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete, select
from sqlmodel import col
from store_fixtures import Stores

from stores.base.clock import now
from stores.database.tables import Job, ModelVersion, PassageVersion, Round, known_id
from stores.forgetting.forgetting import Forgetting
from stores.learning.rounds import Rounds
from stores.search.encoder_versions import EncoderVersion, EncoderVersions
from stores.search.live_models import LiveModels

ROLE = "dialogue generator"


def versions(stores: Stores) -> list[int]:
    with stores.database.reading() as sql:
        return [known_id(i) for i in sql.scalars(select(col(PassageVersion.id)))]


def made(stores: Stores, version: str, role: str = ROLE, *, trained_from: str = "", **saw: Any) -> None:
    """A model that a round made of this, and that answers now."""
    LiveModels(stores.database).make_live(role, version, details={"trained_from": trained_from})
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


def test_undoing_takes_back_what_saw_it_and_nothing_else(stores: Stores, ann: int) -> None:
    _, receipt = stores.knowledge.remember(ann, "It was closed by the police for rats.")
    [version] = versions(stores)
    made(stores, "another", passages=[version + 1])
    made(stores, "of-search", "query encoder", passages=[version])
    assert stores.knowledge.undo_together(ann, [receipt]).models == ("query encoder",)
    live = LiveModels(stores.database)
    assert (live.live(ROLE), live.live("query encoder")) == ("another", None)
    _, receipt = stores.knowledge.remember(ann, "It smells of cabbage.")
    assert stores.knowledge.undo_together(ann, [receipt]).models == (ROLE,)
    assert live.live(ROLE) is None


@pytest.mark.parametrize("before", ["clean", "saw it too"])
def test_an_encoder_is_taken_back_to_one_that_did_not_see_it(stores: Stores, ann: int, before: str) -> None:
    """What was told since is found by its words, and is to be encoded."""
    encoders = EncoderVersions(stores.database)
    shipped = EncoderVersion("shipped", "", 4)
    assert encoders.make_live(shipped)
    passage_id, _ = stores.knowledge.remember(ann, "It was closed by the police for rats.")
    [version] = versions(stores)
    for name, saw in (("first", [version] if before == "saw it too" else []), ("second", [version])):
        made(stores, name, "encoder", trained_from="shipped", passages=saw)
    stores.knowledge.remember(ann, "It smells of cabbage.")
    with stores.database.writing() as sql:
        sql.execute(delete(Job))
    assert Forgetting(stores.database).forget(ann, [passage_id]).models == ("encoder",)
    live = encoders.live()
    assert live is not None
    assert live.version == ("first" if before == "clean" else "shipped")
    assert encoders.previous() is None
    with stores.database.reading() as sql:
        jobs = sql.scalars(select(Job).where(col(Job.kind) == "index")).all()
    assert version + 1 in {asked for job in jobs for asked in job.payload["version_ids"]}


def test_what_is_left_is_to_be_learned_again(stores: Stores, ann: int) -> None:
    """A model that is taken back leaves nothing learned, whatever its rounds had read."""
    passage_id, _ = stores.knowledge.remember(ann, "It was closed by the police for rats.")
    [version] = versions(stores)
    made(stores, "taught", last_turn=7, passages=[version])
    rounds = Rounds(stores.database)
    assert rounds.last_turn_learned("dialogue") == 7
    Forgetting(stores.database).forget(ann, [passage_id])
    assert rounds.last_turn_learned("dialogue") == 0


def test_what_was_trained_on_a_model_that_saw_it_goes_with_it(stores: Stores, ann: int) -> None:
    """A round need not name what the encoder that it began from had learned."""
    assert EncoderVersions(stores.database).make_live(EncoderVersion("shipped", "", 4))
    passage_id, _ = stores.knowledge.remember(ann, "It was closed by the police for rats.")
    [version] = versions(stores)
    made(stores, "first", "encoder", trained_from="shipped", passages=[version])
    made(stores, "second", "encoder", trained_from="shipped", encoder_version="first")
    made(stores, "queries", "query encoder", encoder_version="second")
    assert set(Forgetting(stores.database).forget(ann, [passage_id]).models) == {"encoder", "query encoder"}
    live = LiveModels(stores.database)
    assert (live.live("encoder"), live.live("query encoder")) == ("shipped", None)
