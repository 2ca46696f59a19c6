"""The parts of one running Vouch, chosen by settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_fakes import FixedEncoder
from screen_fixtures import place_in

from agents.backends.openai.chat import OpenAIChat
from agents.backends.transformers_chat import TransformersChat
from agents.backends.vllm_chat import VllmChat
from agents.models.encoders.two_halves import TwoHalves
from assistant.settings.config import ModelSettings, Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from stores.base.errors import ModelUnreachable


class OtherEncoder(FixedEncoder):
    version = "fixed-2"


class TrainedEncoder(FixedEncoder):
    version = "trained-1"


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    return place_in(tmp_path)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def assistant(locations: Locations, told: list[str]) -> Iterator[Assistant]:
    made = with_encoder(Assistant(Settings(), locations, tell=told.append), FixedEncoder({}))
    yield made
    made.close()


def with_encoder(assistant: Assistant, encoder: FixedEncoder) -> Assistant:
    assistant.search.__dict__["wanted_encoder"] = encoder  # in place of the one that would be exported
    return assistant


def test_the_first_start_makes_the_encoder_live_without_a_word(assistant: Assistant, told: list[str]) -> None:
    assistant.catch_up()
    assert assistant.stores.live_models.live("encoder") == "fixed-1"
    assert told == []


def test_another_encoder_encodes_what_is_stored_and_then_becomes_live(
    assistant: Assistant, locations: Locations, told: list[str]
) -> None:
    ann = assistant.stores.journal.user_id("ann")
    assistant.stores.knowledge.remember(ann, "The cat is called Ada.")
    assistant.catch_up()
    assistant.close()

    other = with_encoder(Assistant(Settings(), locations, tell=told.append), OtherEncoder({}))
    other.catch_up()
    assert told == ["The encoder changed from fixed-1 to fixed-2."]
    assert other.stores.live_models.live("encoder") == "fixed-2"
    nearest = other.search.spaces.of(ann).nearest(np.array([0, 0, 0, 1], dtype=np.float32), 5)
    assert [score for _, score in nearest] == [1.0]
    other.close()


def with_a_long_change(
    assistant: Assistant, locations: Locations, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[Assistant, int]:
    """A second start with another encoder, over more passages than are encoded at once."""
    monkeypatch.setattr("assistant.wiring.assistant._ENCODED_AT_ONCE", 3)
    ann = assistant.stores.journal.user_id("ann")
    for number in range(40):
        assistant.stores.knowledge.remember(ann, f"Note {number}.")
    assistant.catch_up()
    other = with_encoder(Assistant(Settings(), locations, tell=told.append), OtherEncoder({}))
    # the encoder used before cannot be exported in a test
    other.search._searchings["fixed-1"] = assistant.search.searching
    return other, ann


def test_a_change_that_takes_long_is_told_with_its_cost_and_search_goes_on(
    assistant: Assistant, locations: Locations, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other, _ = with_a_long_change(assistant, locations, told, monkeypatch)
    other.catch_up()
    assert "24 passages to encode, about" in told[0]  # sixteen of the forty told how long it takes
    assert "search goes on with fixed-1" in told[0]
    assert "vouch encoder --build" in told[1]
    assert other.search.encoder.version == "fixed-1"
    other.close()


def test_a_change_is_made_in_the_background_of_a_chat(
    assistant: Assistant, locations: Locations, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other, ann = with_a_long_change(assistant, locations, told, monkeypatch)
    other.catch_up(in_background=True)
    assert other._background_change is not None
    other._background_change._thread.join()
    assert told[-1] == "From the next message on, search uses the encoder fixed-2."
    assert other.search.encoder.version == "fixed-2"
    assert len(other.search.spaces.of(ann).nearest(np.array([0, 0, 0, 1], dtype=np.float32), 99)) == 40
    other.close()


def test_an_encoder_that_was_stepped_back_from_is_not_taken_up_by_itself(
    assistant: Assistant, locations: Locations, told: list[str]
) -> None:
    assistant.stores.knowledge.remember(assistant.stores.journal.user_id("ann"), "The cat is called Ada.")
    assistant.catch_up()
    other = with_encoder(Assistant(Settings(), locations, tell=told.append), OtherEncoder({}))
    other.search._searchings["fixed-1"] = assistant.search.searching
    other.catch_up()
    assert other.search.encoder.version == "fixed-2"
    other.stores.encoder_versions.step_back()
    other.catch_up()
    assert other.search.encoder.version == "fixed-1"
    assert other.encoder_change() is None
    assert other.encoder_change(even_declined=True) is not None
    other.close()


def test_a_query_never_meets_another_encoders_vectors(assistant: Assistant, locations: Locations) -> None:
    ann = assistant.stores.journal.user_id("ann")
    assistant.stores.knowledge.remember(ann, "The cat is called Ada.")
    assistant.catch_up()
    other = with_encoder(Assistant(Settings(), locations), OtherEncoder({}))
    by_other = other.search.searching_of(other.search.wanted_encoder)
    assert by_other.spaces.of(ann).nearest(np.array([0, 0, 0, 1], dtype=np.float32), 5) == []
    other.close()


def test_offline_refuses_a_server_elsewhere_before_anything_is_kept(locations: Locations) -> None:
    settings = replace(
        Settings(), model=ModelSettings(backend="openai", base_url="https://example.org/v1?key=k", name="m")
    )
    with pytest.raises(ModelUnreachable, match=r"--offline keeps .*v1\?key=\.\.\.$"):
        _ = Assistant(settings, locations, offline=True).models.chat_model


def test_offline_allows_a_server_on_this_machine(locations: Locations) -> None:
    settings = replace(
        Settings(), model=ModelSettings(backend="openai", base_url="http://127.0.0.1:9/v1", name="m")
    )
    assert isinstance(Assistant(settings, locations, offline=True).models.chat_model, OpenAIChat)


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("transformers", TransformersChat), ("vllm", VllmChat)],
    ids=["transformers", "vllm"],
)
def test_a_model_in_this_process_is_loaded_by_its_first_request(
    backend: Any, kind: type, locations: Locations
) -> None:
    settings = replace(Settings(), model=ModelSettings(backend=backend, name="/models/llama"))
    model = Assistant(settings, locations, offline=True).models.chat_model
    assert isinstance(model, kind)


def test_directories_are_for_their_owner_alone(assistant: Assistant, locations: Locations) -> None:
    _ = assistant.stores.database
    assert locations.data.stat().st_mode & 0o777 == 0o700
    assert (locations.data / "vouch.db").stat().st_mode & 0o077 == 0


def test_a_trained_first_half_is_searched_beside_the_second_as_it_was(
    assistant: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = TwoHalves(FixedEncoder({"cat": (1, 0, 0, 0)}), OtherEncoder({"cat": (1, 0, 0, 0)}), 0.25)
    assistant.search.__dict__["wanted_encoder"] = halves
    ann = assistant.stores.journal.user_id("ann")
    assistant.stores.knowledge.remember(ann, "cat")
    assistant.catch_up()
    trained = TrainedEncoder({"cat": (0, 1, 0, 0)})
    monkeypatch.setattr(assistant.search, "_opened", lambda folder: trained)

    queries = assistant.search.with_queries_by(
        assistant.search.searching, tmp_path
    )  # a round of the query side
    (asked,) = queries.encoder.encode_queries(["cat"])
    ((_, cosine),) = queries.spaces.of(ann).nearest(asked, 1)
    assert cosine == pytest.approx(0.25)  # the first halves differ, the second are the same
    both = assistant.search.searching_in(tmp_path)  # a round of both sides
    assert both.encoder.dimension == halves.dimension
    (searched,) = both.encoder.encode_passages(["cat"])
    assert float(searched @ asked) == pytest.approx(1)


def test_across_languages_the_second_half_alone_is_asked(assistant: Assistant) -> None:
    assistant.search.__dict__["wanted_encoder"] = TwoHalves(
        FixedEncoder({}), OtherEncoder({"q": (1, 0, 0, 0)}), 0.25
    )
    assistant.catch_up()
    alone = assistant.search.searching.across_languages("q")
    assert alone is not None
    assert alone.tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
