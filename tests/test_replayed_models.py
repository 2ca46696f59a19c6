"""Conversations played under models that were trained here: each brings the vectors that it searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col
from test_poisoned_rounds import World, tiny, torch_encodes
from test_train_command import locations

from assistant.learning.outcome import Ended
from assistant.learning.recipes.retriever.recipe import ROLE, UNTRAINED
from assistant.replay.runs.conversations import Conversations, Message
from assistant.replay.runs.named_models import find_trained
from assistant.replay.runs.replay_assistant import ReplayAssistant
from assistant.settings.config import (
    AnswerSettings,
    MemorySettings,
    ModelSettings,
    RerankingSettings,
    Settings,
)
from stores.base.errors import CannotUndo, NotFound
from stores.database.tables import PassageIdentity, Round, Turn, known_id
from stores.forgetting.forgetting import Forgetting

__all__ = ["tiny", "torch_encodes"]  # fixtures


class Played:
    """A store after one round, and what its conversations are played with."""

    def __init__(self, folder: Path, tiny: Path, *, side: str) -> None:
        self.folder = folder
        self.world = World(folder, tiny, side=side)
        self.base = self.world.assistant.search.encoder.version
        self.round: Ended | None = None
        self.queries: list[str | None] = []  # the query encoders that were played last
        self.are_the_same = False  # the two models that were played last

    def learn(self) -> str:
        self.round = self.world.round()
        assert self.round.state == "promoted", self.round.reason
        return self.round.version

    def found_with(self, one: str, other: str = "live", *, backend: Any = "extractive") -> list[str]:
        """The encoder versions that two models search with."""
        settings = replace(
            self.world.assistant.given.settings,
            answer=AnswerSettings(reader=False),
            memory=MemorySettings(learn=False),
            model=ModelSettings(backend=backend, name="chat", base_url="http://127.0.0.1:9"),
            reranking=RerankingSettings(judge="scores"),
        )
        place = self.folder / f"played {len(list(self.folder.iterdir()))}"
        live = locations(self.folder)
        conversations = Conversations(place, settings=settings, live=live, user="ann", offline=True)
        made: list[ReplayAssistant] = []
        open_over = conversations._over

        def noted(folder: Path, settings: Settings) -> ReplayAssistant:
            made.append(open_over(folder, settings))
            return made[-1]

        conversations._over = noted  # type: ignore[method-assign]
        (row,) = conversations.compare([Message("where is the cat 1001?")], one, other)
        self.are_the_same = conversations.are_the_same
        assert row.message.text.startswith("where")
        found = []
        self.queries = [assistant.stores.live_models.live(ROLE) for assistant in made]
        for assistant in made:
            found.append(assistant.search.encoder.version)
            assert assistant.stores.encoder_versions.missing(found[-1]) == 0
            assistant.stores.database.close()
        return found


@pytest.fixture
def both_sides(
    tmp_path: Path, tiny: Path, torch_encodes: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Played]:
    monkeypatch.setattr("agents.models.encoders.prepared.prepare_encoder", lambda *given, **more: tiny)
    made = Played(tmp_path, tiny, side="both")
    yield made
    made.world.assistant.close()


def is_found_by_its_round(played: Played, version: str) -> None:
    """As the terminal names it."""
    checkpoints, ended = played.world.assistant.stores.checkpoints, played.round
    assert ended is not None
    for named in ("{}", "round {}", "candidate {}"):
        found = find_trained(named.format(ended.round_id), checkpoints)
        assert found is not None
        assert found.version == version
    with pytest.raises(NotFound, match="no model of round 77 is kept here") as raised:
        find_trained("candidate 77", checkpoints)
    assert version in raised.value.hint


def test_a_round_of_both_sides_is_stepped_back_from_with_its_encoder(both_sides: Played) -> None:
    with pytest.raises(CannotUndo):
        both_sides.found_with("previous")
    version = both_sides.learn()
    is_found_by_its_round(both_sides, version)
    base = both_sides.base
    assert both_sides.found_with("previous") == [base, version]
    assert both_sides.found_with("untrained") == [base, version]
    assert not both_sides.are_the_same
    assert both_sides.world.assistant.search.encoder.version == version  # the live store was only read

    assert both_sides.world.assistant.learning.step_back() == base
    assert both_sides.found_with(version) == [version, base]
    assert both_sides.found_with(version[:14], "previous") == [version, version]
    assert both_sides.are_the_same
    with pytest.raises(NotFound, match="there is no model 'foo'") as raised:
        both_sides.found_with("live", "foo")
    assert f"Name live, previous, untrained, or a version that is kept: {version}." in raised.value.hint
    begun, played = (len(list(both_sides.folder.glob(f"played */{name}"))) for name in ("start", "model-1"))
    assert played == begun - 1  # of the last one nothing was played


def test_an_encoder_that_saw_what_is_forgotten_is_taken_back(
    both_sides: Played,
) -> None:
    assistant, version = both_sides.world.assistant, both_sides.learn()
    with assistant.stores.database.reading() as sql:
        seen = sql.scalars(select(Round)).one().settings["turns"][0]
        asked = sql.scalars(select(PassageIdentity).where(col(PassageIdentity.turn_id) == seen)).one()
        user = sql.get_one(Turn, seen).user_id
    assistant.stores.knowledge.remember(user, "the dog 7 is in the barn")
    assistant.catch_up()
    assert assistant.search.encoder.version == version
    assert Forgetting(assistant.stores.database).forget(user, [known_id(asked.id)]).models == ("encoder",)
    assert assistant.search.encoder.version == both_sides.base
    assistant.catch_up()  # what was told while the other one answered
    assert assistant.stores.encoder_versions.missing(both_sides.base) == 0
    with pytest.raises(CannotUndo):
        assistant.learning.step_back()  # nobody steps onto it again


def test_a_trained_model_that_is_not_here_is_no_chat_model(both_sides: Played) -> None:
    for gone in ("trained-0123456789ab", "trained-", "0123456789ab"):
        with pytest.raises(NotFound, match=f"no trained model '{gone}' here any more"):
            both_sides.found_with(gone, backend="openai")


def test_a_round_of_the_query_side_is_played_with_the_vectors_that_it_was_made_for(
    tmp_path: Path, tiny: Path, torch_encodes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.models.encoders.prepared.prepare_encoder", lambda *given, **more: tiny)
    played = Played(tmp_path, tiny, side="query")
    version, base = played.learn(), played.base
    is_found_by_its_round(played, version)
    assert played.found_with("previous") == [base, base]
    assert played.queries == [UNTRAINED, version]
    assert not played.are_the_same
    played.world.assistant.learning.step_back()
    assert played.found_with(version[:6], "untrained") == [base, base]
    assert played.queries == [version, UNTRAINED]
    assert not played.are_the_same
    played.found_with("live", "untrained")
    assert played.are_the_same
    played.world.assistant.close()
