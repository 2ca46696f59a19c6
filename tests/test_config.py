"""Settings: what each section refuses, what is shown, and that none of it is heavy to import."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.settings import config
from assistant.settings.config import (
    SECTIONS,
    AnswerSettings,
    IndexSettings,
    InvalidSection,
    Json,
    MemorySettings,
    ModelSettings,
    RetrievalSettings,
    Settings,
    StoreSettings,
)
from assistant.settings.themes import THEMES
from stores.base.errors import InvalidSetting

REPOSITORY = Path(config.__file__).parents[2]


def test_a_section_refuses_a_value_it_cannot_run_with() -> None:
    with pytest.raises(InvalidSetting, match=r"dense_weight is 1\.5, but must be between 0 and 1"):
        RetrievalSettings(dense_weight=1.5)


def test_the_themes_that_are_known_are_those_of_the_screen_library() -> None:
    from textual.theme import BUILTIN_THEMES

    assert sorted(THEMES) == sorted(BUILTIN_THEMES)


def test_a_section_holds_all_its_mistakes() -> None:
    with pytest.raises(InvalidSection) as caught:
        AnswerSettings(passages=0, sentences=0)
    assert [problem.key for problem in caught.value.problems] == ["answer.passages", "answer.sentences"]


def test_a_number_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        RetrievalSettings(document_lift=float("nan"))


def test_asking_a_server_takes_an_address_and_a_name() -> None:
    with pytest.raises(InvalidSection) as caught:
        ModelSettings(backend="openai")
    assert [problem.key for problem in caught.value.problems] == ["model.base_url", "model.name"]


@pytest.mark.parametrize("backend", ["transformers", "vllm"])
def test_a_model_in_this_process_takes_a_name_and_no_address(backend: Any) -> None:
    assert ModelSettings(backend=backend, name="~/models/llama").base_url == ""
    with pytest.raises(InvalidSection) as caught:
        ModelSettings(backend=backend)
    assert [problem.key for problem in caught.value.problems] == ["model.name"]


@pytest.mark.parametrize("context", [-1, 1, 1024])
def test_a_context_leaves_room_beside_the_reply(context: int) -> None:
    with pytest.raises(InvalidSetting, match=r"above model\.max_tokens, which is 1024"):
        ModelSettings(max_tokens=1024, context_tokens=context)
    assert ModelSettings(max_tokens=1024, context_tokens=1025).context_tokens == 1025


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host",
        "http://",
        "http://[half",
        "http://host:port",
        "https://user:hidden@host",
        "https://other.example\\@api.openai.com",
        "https://host/ v1",
    ],
)
def test_a_server_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        ModelSettings(base_url=url)
    assert "hidden" not in caught.value.message


def test_the_server_that_is_asked_is_its_host() -> None:
    asked = ModelSettings(backend="openai", base_url="https://api.example.com:8443/v1", name="m")
    assert asked.server == "api.example.com:8443"
    assert ModelSettings(base_url="https://api.example.com/v1").server == ""  # nobody is asked
    assert ModelSettings().server == ""


def test_a_model_that_weighs_has_to_be_set() -> None:
    weighs = MemorySettings(agents="model")
    with pytest.raises(InvalidSetting, match=r"memory\.agents is 'model', but must be auto or reader while"):
        Settings(memory=weighs)
    Settings(memory=weighs, model=ModelSettings(backend="transformers", name="m"))
    with pytest.raises(InvalidSetting, match=r"memory\.agents is 'modle', but must be auto, reader or model"):
        MemorySettings(agents="modle")  # type: ignore[arg-type]


def test_every_section_of_settings_can_be_named_in_the_file() -> None:
    assert {*SECTIONS, "models", "personas", "origins"} == set(Settings.__dataclass_fields__)


def test_of_what_may_hold_a_secret_the_names_are_shown_and_no_value() -> None:
    model = ModelSettings(
        backend="openai",
        name="m",
        base_url="https://host?hidden",
        extra_headers=Json('{"api-key": "hidden"}'),
        extra_body=Json('{"top_k": 7777, "user": {"key": ["hidden", {"of": "hidden"}]}}'),
    )
    store = StoreSettings(url="sqlite:///me:hidden@host/vouch?password=hidden&x=hidden")
    settings = Settings(model=model, store=store, index=IndexSettings(url="http://me:hidden@h/?key=hidden"))
    shown = {key: value for key, value, _ in settings.in_force()}
    assert shown["store.url"] == "sqlite://...@host/vouch?password=...&x=..."
    assert shown["index.url"] == "http://...@h/?key=..."
    assert (shown["model.base_url"], model.server) == ("https://host?...", "host")
    assert shown["model.extra_headers"] == '{"api-key": "..."}'
    assert shown["model.extra_body"] == '{"top_k": "...", "user": {"key": ["...", {"of": "..."}]}}'
    assert "hidden" not in repr(replace(settings, model=replace(model, base_url="http://h")))


def test_a_key_that_does_not_exist_has_no_origin() -> None:
    with pytest.raises(KeyError):
        Settings().origin("retrieval.denseweight")


def test_importing_the_settings_imports_nothing_heavy() -> None:
    files = (
        "settings.config",
        "settings.settings_file",
        "settings.locations",
        "settings.identity",
        "terminal.plain.plainness",
    )
    program = f"import sys, {', '.join(f'assistant.{file}' for file in files)}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    heavy = {"tomllib", "difflib", "getpass", "logging", "numpy", "sqlalchemy", "pydantic", "torch"}
    assert not heavy & set(done.stdout.split())
