"""Rounds of collections over a small network: going live, back, and what is left of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_adapted_search import stores_vectors
from test_poisoned_rounds import WHOLE, World
from test_poisoned_rounds import tiny as tiny  # fixtures
from test_poisoned_rounds import torch_encodes as torch_encodes

from assistant.learning.outcome import Ended
from assistant.learning.recipes.collections import recipe
from assistant.learning.training_process import Further
from assistant.settings.config import LearningSettings
from assistant.terminal.facts.training import training_facts
from assistant.terminal.training.round_page import round_page
from stores.base.errors import BackendMissing
from stores.base.passages import SHARED
from stores.forgetting.forgetting import Forgetting
from stores.search.adapted_vectors import key_of


class Collected(World):
    """All that is shared stands in one collection, which learns."""

    def __init__(self, folder: Path, tiny: Path) -> None:
        super().__init__(folder, tiny)
        learning = LearningSettings(fewest_lessons=10, collections=True)
        self.assistant.given.settings = replace(self.assistant.given.settings, learning=learning)
        stored, ann = self.assistant.stores.stored_documents, self.assistant.stores.journal.user_id("ann")
        stored.place(ann, SHARED, dict.fromkeys(WHOLE.values(), "tables"), even_placed=True)

    def learn(self) -> Ended:
        return self.assistant.learning.learner_of("collections").run()


@pytest.fixture
def world(
    tmp_path: Path, tiny: Path, torch_encodes: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Collected]:
    quickly = {"epochs": 12, "learning_rate": 3e-2, "rank": 4}

    def further(program: str, settings: dict[str, object], threads: int) -> Further:
        return Further(program, {**settings, **quickly}, threads)

    monkeypatch.setattr(recipe, "Further", further)
    made = Collected(tmp_path, tiny)
    yield made
    made.assistant.close()


def test_a_round_goes_live_is_stepped_back_from_and_forgotten(world: Collected) -> None:
    search, database = world.assistant.search, world.assistant.stores.database
    before, plain = world.found(), stores_vectors(database)
    ended = world.learn()
    assert ended.state == "promoted", ended.reason
    good = world.found()
    assert good > before + 0.15
    vectors = stores_vectors(database)
    assert {key: vectors[key] for key in plain} == plain  # of no passage a plain vector has changed
    assert search.live_adapters is not None
    assert set(search.live_adapters.adapters) == {key_of(SHARED, "tables")}

    title, page = told_of(world, ended)
    assert "live" in title
    assert "tables: " in page
    assert "a collection of somebody else's" not in page

    world.assistant.learning.step_back("collections")
    assert search.live_adapters is None
    assert world.found() == before
    world.assistant.learning.step_back("collections")
    assert world.found() == good

    lesson = world.assistant.learning.learner_of("collections").trainable.read(0)[0]
    sessions = world.assistant.stores.journal.turn(lesson.user_id, lesson.turn_id).session_id
    Forgetting(database).forget_sessions(lesson.user_id, [sessions])
    assert search.live_adapters is None
    assert world.found() == before
    again = world.learn()
    assert again.state in ("promoted", "refused"), again.reason
    adapters = {version for _, version in stores_vectors(database)} - {version for _, version in plain}
    assert len(adapters) <= 2  # what answers, and what did before


def told_of(world: Collected, ended: Ended) -> tuple[str, str]:
    """The page of a round."""
    facts = training_facts(world.assistant)
    row = next(row for row in facts.rounds if row.id == ended.round_id)
    return round_page(world.assistant, world.assistant.stores.journal.user_id("ann"), facts, row)


def test_it_is_off_unless_the_settings_have_it(world: Collected) -> None:
    world.assistant.given.settings = replace(world.assistant.given.settings, learning=LearningSettings())
    with pytest.raises(BackendMissing):
        world.learn()
    assert world.assistant.search.live_adapters is None
