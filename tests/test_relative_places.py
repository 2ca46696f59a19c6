"""Settings that name places as seen from where the chat was begun: its learner finds the same ones."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_fixtures import Stores, document
from test_lessons import ask
from test_train_command import tiny

from assistant.settings.locations import find_locations
from assistant.settings.settings_file import load_settings
from assistant.wiring.assistant import Assistant

PROGRAM = Path(__file__).parents[1]  # in which the processes of a round begin
SETTINGS = """
[store]
url = "sqlite:///of_the_chat.db"
[encoder]
source = "mean"
"""


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assistant]:
    """A chat begun in a folder that holds its database and its encoder."""
    monkeypatch.chdir(tmp_path)
    for name in ("STATE", "CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    (tmp_path / "settings.toml").write_text(SETTINGS)
    locations = find_locations(os.environ, data="data", settings="settings.toml")
    settings = load_settings(locations.settings, environ=os.environ, explicit=True)
    made = Assistant(settings, locations, offline=True)
    yield made
    made.close()
    for misplaced in PROGRAM.glob("of_the_chat.db*"):
        misplaced.unlink()


def told_by_a_round(chat: Assistant) -> str:
    told: list[str] = []
    chat.learning.background_learner.start(told.append, by_itself=False)
    chat.learning.background_learner.begin()
    deadline = time.monotonic() + 300
    while not told:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return told[0]


def test_a_round_of_a_chat_reads_the_database_and_the_encoder_of_the_chat(
    chat: Assistant, tmp_path: Path
) -> None:
    tiny(tmp_path)
    stores = Stores.over(chat.stores.database)
    ann = stores.journal.user_id("ann")
    stores.add(ann, document("key", "the key is on the table"))
    chat.catch_up()
    version = next(iter(stores.texts()))
    for number in range(3):
        ask(stores, ann, [(version, "answer")], question=f"where is the key? {number}")

    said = told_by_a_round(chat)

    assert not list(PROGRAM.glob("of_the_chat.db*"))
    assert said.startswith("No round was begun: there are 3 lessons"), said


def test_an_encoder_is_kept_by_a_place_that_holds_from_everywhere(chat: Assistant, tmp_path: Path) -> None:
    tiny(tmp_path)
    chat.catch_up()
    live = chat.stores.encoder_versions.live()
    assert live is not None
    assert live.source == str(tmp_path / "mean")
