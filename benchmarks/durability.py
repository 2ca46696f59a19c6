"""kill -9 at any point: what was acknowledged is there, nothing is there by half, the indexes agree.

    python -m benchmarks.durability --kills 300 --seed 7
    python -m benchmarks.durability --kills 300 --seed 7 --store postgresql://vouch@127.0.0.1:5432/empty
    python -m benchmarks.durability --seed 7 --replay swap:41

A process (durable_worker.py) works on one store and is killed, again and again; the next one goes on with the
same store. Every second death is at a step that the seed names (a statement, a commit, a write to an
index) and comes again with the same seed; the others come at a random moment after a random number of
acknowledgements. After each one the store is opened here and looked through. --replay repeats the deaths of
one kind of work up to the named one, and says what is found after each.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.durable_checks import NotDurable, check_whole, opened, require
from benchmarks.durable_work import Answers, Notes, Papers, whole_lines
from benchmarks.durable_worker import Specification

WORKS = ("ingest", "chat", "memory", "swap")

_LONGEST_PAUSE_SECONDS = 0.08

_LINES_ACKNOWLEDGED = (5, 12)  # a whole exchange at least; what dies earlier dies at a step

_LONGEST_LIFE_SECONDS = 120.0  # of a process whose step does not come: it is killed all the same

_MOST_STEPS = 1_200


@dataclass(frozen=True)
class Death:
    """When a process dies: at a step of its own, or so long after so many acknowledgements."""

    step: int = 0
    after_its_effect: bool = False
    acknowledged: int = 0
    pause_seconds: float = 0.0

    @classmethod
    def of(cls, seed: int, work: str, number: int) -> Death:
        """The death of one process: the same for the same seed, work and number."""
        chance = random.Random(f"{seed} {work} {number}")
        if number % 2 == 0:  # as often early in its life as late
            return cls(step=int(_MOST_STEPS ** chance.random()), after_its_effect=chance.random() < 0.5)
        return cls(
            acknowledged=chance.randint(*_LINES_ACKNOWLEDGED),
            pause_seconds=chance.random() * _LONGEST_PAUSE_SECONDS,
        )


class Worker:
    """A process that has imported everything and waits for the word to begin."""

    def __init__(self, specification: Specification, death: Death) -> None:
        self._death = death
        specification = replace(specification, dies_at=death.step, dies_after=death.after_its_effect)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.durable_worker", specification.write()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )

    def live(self) -> str:
        """Lets it work until it dies, and returns what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            raise NotDurable(f"the worker did not start: {self._complaints()}")
        self._process.stdin.write("begin\n")
        self._process.stdin.flush()
        said: list[str] = []
        if self._death.step:
            late = threading.Timer(_LONGEST_LIFE_SECONDS, self._process.kill)
            late.start()
            said.append(self._process.stdout.read())
            late.cancel()
        else:
            for _ in range(self._death.acknowledged):
                said.append(self._process.stdout.readline())
            time.sleep(self._death.pause_seconds)
            self._process.kill()
            said.append(self._process.stdout.read())
        complaints = self._complaints()
        require(self._process.returncode == -9, f"the worker ended by itself: {complaints}")
        return "".join(said)

    def end(self) -> None:
        """Kills it before it began."""
        self._process.kill()
        self._complaints()

    def _complaints(self) -> str:
        _, complaints = self._process.communicate(timeout=600)
        return complaints.strip()[-2_000:]


_ACCOUNTS: dict[str, Callable[[], Papers | Answers | Notes]] = {
    "ingest": Papers,
    "swap": Papers,
    "chat": Answers,
    "memory": Notes,
}


def kill_again_and_again(
    specification: Specification, *, kills: int, seed: int, tell: Callable[[str], None] = lambda line: None
) -> int:
    """Kills so many processes of one kind of work on one store; returns how much they had acknowledged.

    Raises `NotDurable`, naming the death by which it can be replayed.
    """
    work = specification.work
    account = _ACCOUNTS[work]()

    def started(number: int) -> Worker:
        return Worker(replace(specification, first=1_000 * number), Death.of(seed, work, number))

    waiting = started(0)
    try:
        for number in range(kills):
            working, waiting = waiting, started(number + 1)
            death = Death.of(seed, work, number)
            try:
                said = working.live()
                account.hear(said)
                with opened(specification) as assistant:
                    user_id = assistant.stores.journal.user_id(specification.user)
                    check_whole(assistant, is_caught_up=False)
                    account.check(assistant, user_id)
                    assistant.catch_up()
                    check_whole(assistant, is_caught_up=True)
                    account.go_on(assistant, user_id)
                    check_whole(assistant, is_caught_up=True)
            except NotDurable as problem:
                raise NotDurable(f"seed {seed}, {work}:{number}, {death}: {problem}") from problem
            tell(f"{work}:{number} {death} {len(whole_lines(said))} lines acknowledged, whole")
    finally:
        waiting.end()
    return account.acknowledged


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=300, help="in all; shared by the kinds of work")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--store", default="", help="an empty PostgreSQL database; SQLite without it")
    parser.add_argument("--index", default="", help="exact, chroma or faiss")
    parser.add_argument("--index-url", default="", help="of a Chroma server")
    parser.add_argument("--replay", default="", metavar="WORK:NUMBER")
    arguments = parser.parse_args()
    kind = arguments.index or ("exact" if arguments.store and not arguments.index_url else "faiss")
    kind = "chroma" if arguments.index_url else kind
    works = [arguments.replay.partition(":")[0]] if arguments.replay else list(WORKS)
    each = int(arguments.replay.partition(":")[2]) + 1 if arguments.replay else arguments.kills // len(works)
    print(f"seed {arguments.seed}, {arguments.store or 'SQLite'}, index {kind}", flush=True)
    total = 0
    for work in works:
        with tempfile.TemporaryDirectory() as folder:
            specification = Specification(
                work=work,
                folder=folder,
                store_url=arguments.store and fresh_database(arguments.store, work),
                index_kind=kind,
                index_url=arguments.index_url,
            )
            tell = print if arguments.replay else lambda line: None
            began = time.monotonic()
            acknowledged = kill_again_and_again(specification, kills=each, seed=arguments.seed, tell=tell)
            total += each
            print(
                f"{work:<8} {each} kills, {acknowledged} acknowledged, none lost, "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
    print(f"{total} SIGKILLs, nothing acknowledged lost, nothing half-written, indexes agree")


def fresh_database(url: str, work: str) -> str:
    """A database of its own for each kind of work, beside the one that is named."""
    from sqlalchemy import create_engine, make_url

    address = make_url(url).set(drivername="postgresql+psycopg")
    name = f"{address.database}_{work}_{random.randrange(10**9)}"
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f'CREATE DATABASE "{name}"')
    engine.dispose()
    return address.set(database=name).render_as_string(hide_password=False)


if __name__ == "__main__":
    main()
