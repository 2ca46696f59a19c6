"""What several tests need and what takes long to make."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_fixtures import Stores

from agents.models.encoder import prepare_encoder
from assistant.locations import find_locations


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The packaged encoder, exported: about half a minute once, then kept between sessions."""
    return prepare_encoder(None, find_locations(os.environ).cache / "encoders", tell=print, offline=True)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = Stores.fresh(tmp_path)
    yield opened
    opened.database.close()


@pytest.fixture
def ann(stores: Stores) -> int:
    return stores.journal.user_id("ann")


@pytest.fixture
def bob(stores: Stores) -> int:
    return stores.journal.user_id("bob")
