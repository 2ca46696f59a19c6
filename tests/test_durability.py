"""kill -9 at any point: what was acknowledged is there, and nothing is there by half.

A few deaths of each kind of work; `python -m benchmarks.durability` dies some hundred times. The seed is
printed and can be set with VOUCH_TEST_SEED.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kill_points import kills
from sqlalchemy import text

from benchmarks import durable_worker
from benchmarks.durability import WORKS, Death, Worker, kill_again_and_again
from benchmarks.durable_checks import NotDurable, check_whole, opened
from benchmarks.durable_work import Answers, Papers
from benchmarks.durable_worker import Specification

KILLS = kills(3)


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
    assert kill_again_and_again(specification, kills=KILLS, seed=seed) > 0


def test_the_same_seed_names_the_same_deaths_and_another_names_others() -> None:
    deaths = [Death.of(7, "chat", number) for number in range(20)]
    assert deaths == [Death.of(7, "chat", number) for number in range(20)]
    assert deaths != [Death.of(8, "chat", number) for number in range(20)]
    assert len(set(deaths)) > 10


class Killed(BaseException):
    """In place of a death."""


@pytest.mark.parametrize("fills", [True, False], ids=["fill", "bring"])
@pytest.mark.parametrize(
    ("dies_at", "written"), [(1, []), (2, ["first"]), (3, ["first", "second"])], ids=["before", "in", "after"]
)
def test_a_process_dies_before_in_and_after_a_write_to_an_index(
    monkeypatch: pytest.MonkeyPatch, dies_at: int, written: list[str], fills: bool
) -> None:
    found: list[str] = []
    death = durable_worker.Death(dies_at, after=False)

    def bring() -> None:
        found.append("first")
        death.before()  # a statement
        death.after()
        found.append("second")

    def fill() -> Iterator[int]:
        bring()
        yield 1

    def kill(*_: int) -> None:
        raise Killed

    monkeypatch.setattr("os.kill", kill)
    write = death.stepped(fill if fills else bring)
    with pytest.raises(Killed):
        list(write() or ())
    assert found == written


def test_an_index_that_is_wanted_and_not_filled_is_caught(tmp_path: Path) -> None:
    specification = Specification(work="ingest", folder=str(tmp_path), index_kind="faiss")
    with opened(specification) as assistant:
        assistant.catch_up()
        user_id = assistant.stores.journal.user_id("ann")
        papers = [durable_worker.document(number, 1) for number in range(20)]
        for _ in assistant.turns.ingest.run(user_id, "shared", papers, summary="papers"):
            pass
        check_whole(assistant, is_caught_up=True)
        with assistant.stores.database.writing() as sql:
            sql.execute(text("DELETE FROM filled_indexes"))
        with pytest.raises(NotDurable, match="the index is not filled"):
            check_whole(assistant, is_caught_up=True)


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


@pytest.mark.parametrize("kind", ["sqlite and faiss", "postgresql and a chroma server"])
def test_of_writers_that_interleave_one_is_killed_and_nothing_acknowledged_is_lost(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    url = index_url = ""
    if kind.startswith("postgresql"):
        url = request.getfixturevalue("postgres").new_database()
        index_url = request.getfixturevalue("chroma_server").url

    def at_work(work: str, user: str, first: int) -> tuple[Worker, Specification]:
        specification = Specification(
            work=work,
            folder=str(tmp_path / (work if url else "")),  # of one machine each, or one for both
            store_url=url,
            index_kind="chroma" if url else "faiss",
            index_url=index_url,
            user=user,
            first=first,
        )
        return Worker(specification, Death(acknowledged=12)), specification

    papers, answers = Papers(), Answers("cid")
    reader, of_reader = at_work("ingest", "ann", 0)
    with ThreadPoolExecutor() as threads:
        for first in (0, 1_000):  # the chat goes on while the reader is killed and another one starts
            chat, of_chat = at_work("chat", "cid", first)
            read, said = threads.submit(reader.live), threads.submit(chat.live)
            papers.hear(read.result())
            answers.hear(said.result())
            reader, of_reader = at_work("ingest", "ann", 1_000 + first)
        reader.end()
    assert papers.acknowledged > 12
    assert answers.acknowledged > 0
    with opened(of_reader) as assistant:
        check_whole(assistant, is_caught_up=False)
        papers.check(assistant, assistant.stores.journal.user_id("ann"))
        answers.check(assistant, assistant.stores.journal.user_id("cid"))
        assistant.catch_up()
        check_whole(assistant, is_caught_up=True)
    with opened(of_chat) as assistant:  # and from the other machine
        check_whole(assistant, is_caught_up=True)
