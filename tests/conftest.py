"""What several tests need and what takes long to make."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.models.encoder import prepare_encoder
from assistant.locations import find_locations


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The packaged encoder, exported: about half a minute once, then kept between sessions."""
    return prepare_encoder(None, find_locations(os.environ).cache / "encoders", tell=print, offline=True)
