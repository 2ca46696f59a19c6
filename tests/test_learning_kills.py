"""kill -9 at every step of a round of learning: it goes on or is dropped, and the live model answers.

A few deaths; `python -m benchmarks.learning_kills` dies a hundred times. The seed is printed and can be set
with VOUCH_TEST_SEED.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from kill_points import kills
from store_fixtures import fresh_database

from benchmarks.durable_checks import NotDurable
from benchmarks.learning_kills import ROLES, Asking, kill_again_and_again
from stores.learning.checkpoints import Checkpoints
from stores.search.live_models import LiveModels

KILLS = kills(3)


@pytest.mark.parametrize("side", ["query", "both"])
def test_killed_at_any_point_a_round_goes_on_or_is_dropped(tmp_path: Path, side: str) -> None:
    seed = int(os.environ.get("VOUCH_TEST_SEED") or random.randrange(10**6))
    print(f"VOUCH_TEST_SEED={seed}")
    found = kill_again_and_again(range(KILLS), seed, tmp_path, side)
    assert found.ends.total() == KILLS
    assert found.answers > 0


def test_a_live_model_with_another_content_is_noticed(tmp_path: Path) -> None:
    """Whoever only asks whether something answers would miss it."""
    made = tmp_path / "made"
    made.mkdir()
    for name in ("model.onnx", "tokenizer.json", "encoder.json"):
        (made / name).write_text(name)
    role, recipe = ROLES["query"]
    checkpoints = Checkpoints(tmp_path / "models")
    version = checkpoints.keep(recipe, made, {})
    database = fresh_database(tmp_path)
    LiveModels(database).make_live(role, version)
    asking = Asking(tmp_path, "query")
    assert asking.once() == version
    (checkpoints.place(recipe, version) / "model.onnx").write_text("half of it")
    while not asking.failure:
        pass
    with pytest.raises(NotDurable, match="another content"):
        asking.close()
    database.close()
