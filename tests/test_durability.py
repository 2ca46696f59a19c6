"""kill -9 at any point: what was acknowledged is there, and nothing is there by half.

A few deaths of each kind of work; `python -m benchmarks.durability` dies some hundred times. The seed is
printed and can be set with VOUCH_TEST_SEED.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from benchmarks.durability import WORKS, Death, NotDurable, kill_again_and_again
from benchmarks.durable_worker import Specification

KILLS = {"sqlite": 8, "postgresql": 4}


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_any_point_nothing_acknowledged_is_lost(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, work: str
) -> None:
    seed = int(os.environ.get("VOUCH_TEST_SEED") or random.randrange(10**6))
    print(f"VOUCH_TEST_SEED={seed}")
    url = "" if kind == "sqlite" else request.getfixturevalue("postgres").new_database()
    specification = Specification(
        work=work, folder=str(tmp_path), store_url=url, index_kind="exact" if url else "faiss"
    )
    assert kill_again_and_again(specification, kills=KILLS[kind], seed=seed) > 0


def test_the_same_seed_names_the_same_deaths_and_another_names_others() -> None:
    deaths = [Death.of(7, "chat", number) for number in range(20)]
    assert deaths == [Death.of(7, "chat", number) for number in range(20)]
    assert deaths != [Death.of(8, "chat", number) for number in range(20)]
    assert len(set(deaths)) > 10


def test_an_acknowledgement_that_comes_too_early_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness itself: a worker that says more than it has stored does not pass."""
    from benchmarks import durability

    whole = durability.Papers.hear

    def hear_more(self: durability.Papers, said: str) -> None:
        whole(self, said + '{"space": "shared", "source": "paper-1", "revision": 999999}\n')

    monkeypatch.setattr(durability.Papers, "hear", hear_more)
    specification = Specification(work="ingest", folder=str(tmp_path), index_kind="exact")
    with pytest.raises(NotDurable, match=r"seed 7, ingest:0.*acknowledged, is lost"):
        kill_again_and_again(specification, kills=1, seed=7)
