"""What several tests need and what takes long to make."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from agents.models.encoder import prepare_encoder


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The packaged encoder, exported: about half a minute once, then kept between sessions."""
    kept = os.environ.get("VOUCH_TEST_CACHE")
    cache = Path(kept) if kept else platformdirs.user_cache_path("vouch") / "encoders"
    return prepare_encoder(None, cache, tell=print, offline=True)
