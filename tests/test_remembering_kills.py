"""kill -9 at every step of remembering: each claim ends stored once with its receipt, or pending.

A few deaths on each database; `python -m benchmarks.remembering_kills` dies some hundred times. The seed is
printed and can be set with VOUCH_TEST_SEED.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from kill_points import kills
from store_fixtures import fresh_database

from benchmarks.durable_checks import NotDurable
from benchmarks.remembering_checks import Told, check
from benchmarks.remembering_child import SCENES, Life, stated
from benchmarks.remembering_kills import (
    Death,
    Found,
    Killing,
    Nursery,
    choose,
    kill_again_and_again,
    nurseries,
    points_of,
)
from stores.database.database import Database

KILLS = kills(5)


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Nursery, Nursery]]:
    with nurseries() as made:
        yield made


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_any_point_each_claim_is_kept_once_or_waits(
    request: pytest.FixtureRequest, tmp_path: Path, both: tuple[Nursery, Nursery], kind: str
) -> None:
    seed = int(os.environ.get("VOUCH_TEST_SEED") or random.randrange(10**6))
    print(f"VOUCH_TEST_SEED={seed}")
    url = "" if kind == "sqlite" else request.getfixturevalue("postgres").new_database(template="vouch_empty")
    life = Life(folder=str(tmp_path), store_url=url)
    found = kill_again_and_again(life, both, kills=KILLS, seed=seed)
    assert found.kills.total() > 0
    assert found.at_once > 0


@pytest.mark.parametrize(
    ("point", "left"),
    [
        ("before the commit of Claims.put", {}),
        ("after the commit of Claims.put", {"pending": 2}),
        ("before the commit of Claims.decide", {"pending": 2}),
        ("after the commit of Claims.decide", {"stored": 1, "pending": 1}),
    ],
)
def test_a_claim_is_there_and_decided_as_of_a_commit(
    tmp_path: Path, both: tuple[Nursery, Nursery], point: str, left: dict[str, int]
) -> None:
    found = Found()
    killing = Killing(Life(folder=str(tmp_path)), both, found)
    killing.kill(Death("new value", point), 1)
    killing.close()
    assert found.left[point] == left


def test_a_life_that_is_let_live_passes_every_kind_of_point(both: tuple[Nursery, Nursery]) -> None:
    passed = {death.point for scene in SCENES for death in points_of(both[0], scene)}
    for call in ("take", "release", "postpone"):
        assert f"before the commit of ClaimJobs.{call}" in passed
    for call in ("put", "decide"):
        assert {f"before the commit of Claims.{call}", f"after the commit of Claims.{call}"} <= passed
    for agent in ("summarize", "weigh", "curate"):
        assert f"in the agent's {agent}" in passed
    assert {"before find_evidence", "before nearest", "before Indexer.catch_up"} <= passed


def test_the_same_seed_names_the_same_deaths_and_each_point_comes_once_before_any_again() -> None:
    points = [Death("new value", point, n) for n in (1, 2) for point in "abc"]
    assert choose(points, 8, 7) == choose(points, 8, 7)
    assert choose(points, 8, 7) != choose(points, 8, 8)
    named = [death.point for death in choose(points, 8, 7) if death.point]
    assert sorted(named[:3]) == ["a", "b", "c"]


def test_what_the_fakes_take_for_statements() -> None:
    assert stated("I am off. The desk is red. My hat is blue.") == ["The desk is red.", "My hat is blue."]


# The harness itself: what is there by half does not pass


@pytest.fixture
def remembered(tmp_path: Path, both: tuple[Nursery, Nursery]) -> Iterator[tuple[Database, Told]]:
    """What a life has left that was let live."""
    (tmp_path / "data").mkdir()
    database = fresh_database(tmp_path / "data")
    told = Told()
    both[0].begin(Life(folder=str(tmp_path), scene="new value", number=1))
    both[0].end(told)
    assert told.code == 0
    assert check(database, told, is_done=True) == {"stored": 3}
    yield database, told
    database.close()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE claims SET receipt_id = NULL WHERE id = 2", "a receipt has no claim"),
        ("UPDATE claims SET receipt_id = 1 WHERE id = 2", "a receipt has no claim"),
        ("UPDATE claims SET state = 'pending' WHERE id = 2", "claim 2 is weighed by half"),
        ("UPDATE claims SET passage_id = NULL WHERE id = 2", "claim 2, stored: its passage|one live version"),
        ("UPDATE jobs SET done_at = NULL WHERE kind = 'weigh'", "waits"),
        ("UPDATE jobs SET done_at = NULL WHERE kind = 'index'", "waits"),
        ("UPDATE jobs SET subject_id = 1 WHERE kind = 'summarize'", "two jobs to summarize 1"),
        ("UPDATE passage_versions SET added_by = NULL WHERE added_by = 2", "has no receipt"),
        ("DELETE FROM passage_vectors WHERE id = 1", "a passage has no vector"),
        ("DELETE FROM word_counts", "the words are not those"),
        ("UPDATE claims SET state = 'confirmed', receipt_id = NULL WHERE id = 2", "a receipt has no claim"),
        ("UPDATE claims SET text = 'x' WHERE id = 1", "of turn 1 a claim is lost"),
        ("UPDATE turns SET state = 'accepted'", "an answer that was given is lost"),
    ],
)
def test_what_is_there_by_half_is_caught(
    remembered: tuple[Database, Told], damage: str, problem: str
) -> None:
    database, told = remembered
    with database.writing() as sql:
        sql.connection().exec_driver_sql(damage)
    with pytest.raises(NotDurable, match=problem):
        check(database, told, is_done=True)


def test_who_was_told_of_what_is_not_there_is_caught(remembered: tuple[Database, Told]) -> None:
    database, told = remembered
    told.learned[1] = ("rejected", 1)
    with pytest.raises(NotDurable, match="what a person was told is not so"):
        check(database, told, is_done=True)
