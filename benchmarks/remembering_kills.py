"""kill -9 at every step of remembering: each claim ends stored once with its receipt, or pending.

    python -m benchmarks.remembering_kills --kills 300 --seed 7
    python -m benchmarks.remembering_kills --kills 100 --store postgresql://vouch@127.0.0.1:5432/empty
    python -m benchmarks.remembering_kills --kills 20 --reader

A process (benchmarks/remembering_child.py) talks and remembers over real stores and kills itself at a named
point, or is killed from here at a random moment. What it left is looked through. Then the leases of its jobs
end, here by hand, and another process does what is due; every third time two of them at once, every fifth
time one that is killed too comes before it. Then it is looked through again, and nothing may wait any more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.durability import fresh_database
from benchmarks.durable_checks import NotDurable, require
from benchmarks.remembering_checks import Told, check, unlinked_statements
from benchmarks.remembering_child import SCENES, Life
from stores.database.database import Database

AT_RANDOM = "at a random moment"
_LONGEST_PAUSE_SECONDS = 0.7  # about as long as a life


class Death(NamedTuple):
    """Where a life ends."""

    scene: str
    point: str = ""  # at a random moment without one
    occasion: int = 1
    pause_seconds: float = 0.0

    @property
    def told(self) -> str:
        return self.point or AT_RANDOM


class Nursery:
    """A process that has imported everything and forks lives."""

    def __init__(self) -> None:
        self._early: list[dict[str, Any]] = []  # lines of a life that came before word of its birth
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.remembering_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parent.parent,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._line()

    def begin(self, life: Life) -> int:
        """Forks a life; returns its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(life.write())
        self._process.stdin.flush()
        while "born" not in (line := self._line()):
            self._early.append(line)
        return int(line["born"])

    def end(self, told: Told) -> None:
        """Waits until the life is over, and hears what it said."""
        for line in self._early:
            told.hear(line)
        self._early.clear()
        while "ended" not in (line := self._line()):
            told.hear(line)
        told.hear(line)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        written = self._process.stdout.readline()
        require(bool(written), "the process that forks has ended")
        read: dict[str, Any] = json.loads(written)
        return read


@contextmanager
def nurseries() -> Iterator[tuple[Nursery, Nursery]]:
    """Two, so that two processes can be at work at once."""
    both = Nursery(), Nursery()
    try:
        yield both
    finally:
        for each in both:
            each.close()


def points_of(nursery: Nursery, scene: str) -> list[Death]:
    """Every point that a life passes, in its order, seen in one that is let live."""
    with tempfile.TemporaryDirectory() as folder:
        told = Told()
        nursery.begin(Life(folder=folder, scene=scene, number=0, is_told=True))
        nursery.end(told)
        require(told.code == 0, f"a life of {scene} ended with {told.code}")
    return [Death(scene, point, occasion) for point, occasion in told.points]


def choose(points: Sequence[Death], count: int, seed: int) -> list[Death]:
    """So many deaths: each named point once, then others; every fourth is at a random moment."""
    chance = random.Random(seed)
    shuffled = chance.sample(list(points), len(points))
    firsts = {death.point: death for death in reversed(shuffled)}
    rest = [death for death in shuffled if death not in set(firsts.values())]
    named = iter([*firsts.values(), *rest, *chance.choices(shuffled, k=count)])
    return [
        Death(chance.choice(list(SCENES)), pause_seconds=chance.random() * _LONGEST_PAUSE_SECONDS)
        if number % 4 == 3
        else next(named)
        for number in range(count)
    ]


@dataclass
class Found:
    """What deaths have left."""

    kills: Counter[str] = field(default_factory=Counter)  # by point
    survived: int = 0  # ended before the death came
    left: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # states, by point
    at_once: int = 0  # times that two worked at once
    unlinked: int = 0  # statements of one subject that two at work at once left without a link


class Killing:
    """One store, on which life after life is ended."""

    def __init__(self, life: Life, both: tuple[Nursery, Nursery], found: Found) -> None:
        """life: where, and with which agents."""
        self._life, self._both, self._found = life, both, found
        self._told = Told()
        Path(life.folder, "data").mkdir(exist_ok=True)
        self._database = (
            Database(life.store_url) if life.store_url else Database.at(Path(life.folder, "data"))
        )
        self._by_fakes = life.agents == "fake"

    def close(self) -> None:
        self._database.close()

    def kill(self, death: Death, number: int) -> None:
        """One death, and the work that was left. Raises `NotDurable`, naming the death."""
        try:
            before = self._check(is_done=True)
            self._die(replace(self._life, scene=death.scene, number=number), death)
            after = self._check(is_done=False)
            self._found.left[death.told].update(after - before)
            if number % 5 == 0:
                self._end_leases()
                pause = random.Random(f"{number} {death}").random() * _LONGEST_PAUSE_SECONDS
                self._die(replace(self._life, scene=""), Death("", pause_seconds=pause))
                self._check(is_done=False)
            self._work_off(self._both if number % 3 == 0 else self._both[:1])
            self._check(is_done=True)
        except NotDurable as problem:
            raise NotDurable(f"life {number}, {death}: {problem}") from problem

    def _die(self, life: Life, death: Death) -> None:
        nursery = self._both[0]
        pid = nursery.begin(replace(life, point=death.point, occasion=death.occasion))
        if not death.point:
            time.sleep(death.pause_seconds)
            with suppress(ProcessLookupError):  # it was faster
                os.kill(pid, signal.SIGKILL)
        nursery.end(self._told)
        require(self._told.code in (0, -signal.SIGKILL), f"a life failed: {self._told.failed}")
        if self._told.code == 0:
            self._found.survived += 1
        else:
            self._found.kills[death.told] += 1

    def _work_off(self, nurseries: Sequence[Nursery]) -> None:
        unlinked = unlinked_statements(self._database)
        self._end_leases()
        for nursery in nurseries:
            nursery.begin(replace(self._life, scene=""))
        for nursery in nurseries:
            nursery.end(self._told)
            require(self._told.code == 0, f"who works off failed: {self._told.failed}")
        self._found.at_once += len(nurseries) > 1
        unlinked = unlinked_statements(self._database) - unlinked
        self._found.unlinked += unlinked
        require(unlinked == 0 or len(nurseries) > 1 or not self._by_fakes, "a statement has no link")

    def _end_leases(self) -> None:
        """As time does."""
        with self._database.writing() as sql:
            sql.connection().exec_driver_sql("UPDATE jobs SET not_before = NULL WHERE done_at IS NULL")

    def _check(self, *, is_done: bool) -> Counter[str]:
        return check(self._database, self._told, is_done=is_done, by_fakes=self._by_fakes)


def kill_again_and_again(life: Life, both: tuple[Nursery, Nursery], *, kills: int, seed: int) -> Found:
    """Ends so many lives on one store. Raises `NotDurable` where that is not whole."""
    found = Found()
    points = [death for scene in SCENES for death in points_of(both[0], scene)]
    with closing(Killing(life, both, found)) as killing:
        for number, death in enumerate(choose(points, kills, seed), start=1):
            killing.kill(death, number)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=300, help="lives that are to end by SIGKILL")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--store", default="", help="an empty PostgreSQL database; SQLite without it")
    parser.add_argument("--reader", action="store_true", help="the built-in reader decides, not fakes")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, {arguments.store or 'SQLite'}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, nurseries() as both:
        url = arguments.store and fresh_database(arguments.store, "remembering")
        life = Life(folder=folder, store_url=url, agents="reader" if arguments.reader else "fake")
        found = kill_again_and_again(life, both, kills=arguments.kills, seed=arguments.seed)
    print(f"{'kills':>5}  {'left pending':>12} {'decided':>8}  point")
    for point, count in sorted(found.kills.items(), key=lambda entry: (-entry[1], entry[0])):
        left = found.left[point]
        print(f"{count:>5}  {left['pending']:>12} {left.total() - left['pending']:>8}  {point}")
    print(
        f"{found.kills.total()} SIGKILLs at {len(found.kills)} points, {found.survived} ended before theirs, "
        f"{found.at_once} times two at work at once (statements left without a link: {found.unlinked}), "
        f"{time.monotonic() - began:.0f} s: every claim once, with its receipt, or pending; nothing by half"
    )


if __name__ == "__main__":
    main()
