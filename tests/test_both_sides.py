"""Training both sides: everything is encoded anew beside what answers, swapped at the end, or taken away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store_fixtures import ENCODER, Stores
from test_poisoned_rounds import World, tiny, torch_encodes, train_here
from test_rounds import expire

from assistant.learning.dual_encoder_swap import RECIPE
from assistant.learning.recipes.retriever.recipe import over
from stores.base.errors import CannotUndo
from stores.database.tables import PassageVector, PassageVersion, Turn
from stores.learning.rounds import Rounds

__all__ = ["tiny", "torch_encodes"]  # fixtures


@pytest.fixture
def world(tmp_path: Path, tiny: Path, torch_encodes: None) -> Iterator[World]:
    made = World(tmp_path, tiny, side="both")
    yield made
    made.assistant.close()


def vectors(world: World) -> Counter[str]:
    with world.assistant.stores.database.reading() as sql:
        every = Counter(row.encoder_version for row in sql.query(PassageVector))
    del every[ENCODER]  # of the fixtures
    return every


def texts(world: World) -> int:
    with world.assistant.stores.database.reading() as sql:
        return sql.query(PassageVersion).filter_by(removed_at=None).count()


def test_a_winner_is_encoded_beside_the_old_swapped_in_and_stepped_back_from(world: World) -> None:
    before, base = world.found(), world.assistant.search.encoder.version
    with pytest.raises(CannotUndo):
        world.assistant.learning.step_back()
    ended = world.round()
    assert ended.state == "promoted", ended.reason
    good = world.found()
    assert good > before + 0.15
    assert world.assistant.search.encoder.version == ended.version
    assert ended.version.startswith("trained-")
    assert vectors(world) == {base: texts(world), ended.version: texts(world)}
    assert ended.figures["encoding"]["encoded"] == texts(world)
    assert world.assistant.encoder_change() is None  # it was made from what the settings name

    assert world.assistant.learning.step_back() == base
    assert world.found() == before
    assert world.assistant.learning.step_back() == ended.version
    assert world.found() == good


def test_the_next_round_starts_from_the_encoder_that_is_live(world: World) -> None:
    first = world.round()
    started: list[Path] = []

    def trains(*given: Any, **more: Any) -> Path:
        started.append(more["encoder"])
        return train_here(*given, **more)

    assert over(world.assistant).encoder_version == first.version
    world.ask_more(range(400, 440))
    second = world.round(train=trains)
    [start] = started
    assert start == world.assistant.stores.checkpoints.place(RECIPE, start.name)
    live = second.version if second.state == "promoted" else first.version
    assert world.assistant.search.encoder.version == live


def test_what_a_refused_one_encoded_is_taken_away(world: World) -> None:
    base = world.assistant.search.encoder.version
    world.falsify(1.0)
    ended = world.round()
    assert ended.state == "refused"
    assert vectors(world) == {base: texts(world)}
    assert world.assistant.search.encoder.version == base


def test_what_is_added_meanwhile_is_encoded_before_the_swap(world: World) -> None:
    stores = Stores.over(world.assistant.stores.database)
    decide = over(world.assistant).compare

    def added_meanwhile(*given: Any) -> Any:
        found = decide(*given)
        stores.knowledge.remember(stores.journal.user_id("ann"), "the shed is new")
        world.assistant.search.indexer.catch_up()
        return found

    ended = world.round(compare=added_meanwhile)
    assert ended.state == "promoted"
    assert vectors(world)[ended.version] == texts(world)


def test_one_that_beat_an_encoder_that_is_live_no_more_does_not_go_live(world: World) -> None:
    """Somebody steps back while the second candidate is compared: it ends, and does not try for ever."""
    base, first = world.assistant.search.encoder.version, world.round().version
    decide = over(world.assistant).compare

    def stepped_back_meanwhile(*given: Any) -> Any:
        found = decide(*given)
        world.assistant.learning.step_back()
        return replace(found, decision=replace(found.decision, is_promoted=True))

    world.ask_more(range(400, 440))
    ended = world.round(compare=stepped_back_meanwhile, seed=2)
    assert (ended.state, "changed meanwhile" in ended.reason) == ("refused", True)
    assert (world.assistant.search.encoder.version, world.assistant.stores.encoder_versions.declined()) == (
        base,
        first,
    )


def test_one_that_saw_what_was_forgotten_meanwhile_does_not_go_live(world: World) -> None:
    base, decide = world.assistant.search.encoder.version, over(world.assistant).compare

    def forgotten_meanwhile(*given: Any) -> Any:
        found = decide(*given)
        with world.assistant.stores.database.writing() as sql:
            taught = next(t for t in sql.query(Turn) if t.message)
            taught.message = taught.standalone = ""
        return found

    ended = world.round(compare=forgotten_meanwhile)
    assert ended.reason == "Refused: a message that it learns from was forgotten meanwhile."
    assert world.assistant.search.encoder.version == base
    assert world.assistant.stores.checkpoints.versions(RECIPE) == []


def test_a_round_left_while_it_encodes_goes_on_with_what_was_encoded(world: World) -> None:
    steering = world.assistant.learning.steering
    told: list[int] = []

    def leave(progress: Any) -> None:
        if progress.phase == "encoding":
            told.append(progress.facts["passages"])
            if len(told) == 3:
                steering.leave()

    left = world.round(tell=leave)
    assert left.state == "waiting"
    reached = sum(count for version, count in vectors(world).items() if version.startswith("trained"))
    assert reached == told[-1]
    steering.is_left = False
    ended = world.round()
    assert (ended.state, ended.round_id) == ("promoted", left.round_id)
    assert ended.figures["encoding"]["encoded"] == texts(world) - reached


def test_a_learner_that_lost_its_round_takes_nothing_from_who_goes_on_with_it(world: World) -> None:
    other = Rounds(world.assistant.stores.database)

    def taken_over_meanwhile(progress: Any) -> None:
        if progress.phase == "encoding" and progress.facts["passages"] == progress.facts["passages_in_all"]:
            expire(Stores.over(world.assistant.stores.database), progress.round_id)
            assert other.take_over(progress.round_id) == 1

    lost = world.round(tell=taken_over_meanwhile)
    assert (lost.state, lost.reason) == ("stopped", "another learner took its place")
    candidates = [version for version in vectors(world) if version.startswith("trained-")]
    assert [vectors(world)[version] for version in candidates] == [texts(world)]
    [row] = other.latest()
    assert row.state == "running"
    other.end(row.id or 0, "failed", "its training failed")
    assert world.round().state == "promoted"


def test_the_side_is_chosen_by_the_size_of_the_corpus(world: World) -> None:
    def chosen(**settings: Any) -> str:
        now = world.assistant.given.settings
        world.assistant.given.settings = replace(now, learning=replace(now.learning, **settings))
        return str(over(world.assistant).settings["update_side"])

    assert chosen(update_side="auto", both_up_to=texts(world)) == "both"
    assert chosen(both_up_to=texts(world) - 1) == "query"
    assert chosen(update_side="query", both_up_to=10**6) == "query"
