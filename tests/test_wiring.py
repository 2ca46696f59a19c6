"""The parts of one running Vouch, chosen by settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from agent_fakes import FixedEncoder

from agents.backends.openai_chat import OpenAIChat
from assistant.config import ModelSettings, Settings
from assistant.locations import Locations
from assistant.wiring import Assistant
from stores.errors import ModelUnreachable


class OtherEncoder(FixedEncoder):
    version = "fixed-2"


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    return Locations(
        data=tmp_path / "data",
        settings=tmp_path / "settings.toml",
        cache=tmp_path / "cache",
        state=tmp_path / "state",
    )


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def assistant(locations: Locations, told: list[str]) -> Iterator[Assistant]:
    made = with_encoder(Assistant(Settings(), locations, tell=told.append), FixedEncoder({}))
    yield made
    made.close()


def with_encoder(assistant: Assistant, encoder: FixedEncoder) -> Assistant:
    assistant.__dict__["encoder"] = encoder  # in place of the one that would be exported
    return assistant


def test_the_first_start_makes_the_encoder_live_without_a_word(assistant: Assistant, told: list[str]) -> None:
    assistant.catch_up()
    assert assistant.live_models.live("encoder") == "fixed-1"
    assert told == []


def test_another_encoder_encodes_what_is_stored_and_then_becomes_live(
    assistant: Assistant, locations: Locations, told: list[str]
) -> None:
    ann = assistant.journal.user_id("ann")
    assistant.knowledge.remember(ann, "The cat is called Ada.")
    assistant.catch_up()
    assistant.close()

    other = with_encoder(Assistant(Settings(), locations, tell=told.append), OtherEncoder({}))
    other.catch_up()
    assert "The encoder changed" in told[0]
    assert other.live_models.live("encoder") == "fixed-2"
    nearest = other.spaces.of(ann).nearest(np.array([0, 0, 0, 1], dtype=np.float32), 5)
    assert [score for _, score in nearest] == [1.0]
    other.close()


def test_a_query_never_meets_another_encoders_vectors(assistant: Assistant, locations: Locations) -> None:
    ann = assistant.journal.user_id("ann")
    assistant.knowledge.remember(ann, "The cat is called Ada.")
    assistant.catch_up()
    assistant.close()

    other = with_encoder(Assistant(Settings(), locations), OtherEncoder({}))
    assert other.spaces.of(ann).nearest(np.array([0, 0, 0, 1], dtype=np.float32), 5) == []
    other.close()


def test_offline_refuses_a_server_elsewhere_before_anything_is_kept(locations: Locations) -> None:
    settings = replace(
        Settings(), model=ModelSettings(backend="openai", base_url="https://example.org/v1", name="m")
    )
    with pytest.raises(ModelUnreachable, match="--offline"):
        _ = Assistant(settings, locations, offline=True).chat_model


def test_offline_allows_a_server_on_this_machine(locations: Locations) -> None:
    settings = replace(
        Settings(), model=ModelSettings(backend="openai", base_url="http://127.0.0.1:9/v1", name="m")
    )
    assert isinstance(Assistant(settings, locations, offline=True).chat_model, OpenAIChat)


def test_directories_are_for_their_owner_alone(assistant: Assistant, locations: Locations) -> None:
    _ = assistant.database
    assert locations.data.stat().st_mode & 0o777 == 0o700
    assert (locations.data / "vouch.db").stat().st_mode & 0o077 == 0
