"""kill -9 at every step of a round of learning: the live model answers, and the round goes on or is dropped.

    python -m benchmarks.learning_kills --kills 100 --seed 7
    python -m benchmarks.learning_kills --kills 100 --seed 7 --side both      # all is encoded anew, too
    python -m benchmarks.learning_kills --seed 7 --only 31                    # that one again

The learner, its training or both are killed at a named point or at a random moment (learning_child.py).
All the while the live model is verified again and again, each file by its hash. Then the lease of the round
ends, here by hand; every third time a second life is killed too, and every fourth time what the round began
from is changed. The next learner must end the same round, with the very weights of a round that nobody broke
off, or drop it and end another one. Every kill has a world of its own, by the seed and its number.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from benchmarks.durable_checks import NotDurable, require
from benchmarks.learning_child import CANDIDATE_FILES, WHO, Life, ask_more, make_world
from stores.base.clock import now
from stores.database.database import Database
from stores.database.tables import PassageVector, Round, Turn
from stores.learning.checkpoints import Checkpoints
from stores.learning.rounds import Rounds
from stores.search.encoder_versions import EncoderVersions
from stores.search.live_models import LiveModels

ROLES = {"query": ("query encoder", "retriever"), "both": ("encoder", "encoder")}  # and how it is kept
FIRST_SEED, SEED = 1, 2  # of the training of the live model, and of the one that is killed
AT_RANDOM = "at a random moment"
CHANGES = ("live model", "lesson")
MAKER = Path(__file__).parents[1] / "tests" / "tiny_bert.py"


@dataclass
class Told:
    """What a life has said."""

    points: list[tuple[str, int]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)
    failed: str = ""
    code: int = 0


class Nursery:
    """The process that forks lives."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.learning_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[1],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._line()

    def run(self, life: Life, *, kill_after: float | None = None) -> Told:
        """A life, to its end. kill_after: seconds after its birth at which its learner is killed."""
        assert self._process.stdin is not None
        self._process.stdin.write(life.write())
        self._process.stdin.flush()
        told, born, killer = Told(), 0, Event()
        while "ended" not in (line := self._line()):
            if "born" in line:
                born = int(line["born"])
                if kill_after is not None:
                    Thread(target=_kill, args=(born, kill_after, killer), daemon=True).start()
            elif "point" in line:
                told.points.append((line["point"], line["occasion"]))
            elif "failed" in line:
                told.failed = line["failed"]
            elif "state" in line:
                told.end = line
        killer.set()
        told.code = int(line["ended"])
        return told

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        written = self._process.stdout.readline()
        require(bool(written), "the process that forks has ended")
        read: dict[str, Any] = json.loads(written)
        return read


def _kill(pid: int, after: float, ended: Event) -> None:
    if not ended.wait(after):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True)
class World:
    """What every kill begins with, and what a round that nobody breaks off comes to."""

    folder: Path
    side: str
    first: str  # the live model
    second: str  # the one that the round makes
    seconds: float  # that the round takes
    points: Sequence[tuple[str, int]]


@contextmanager
def world(folder: Path, nursery: Nursery, side: str) -> Iterator[World]:
    """Made once, with a live model."""
    (folder / "texts.json").write_text('["the key"]')
    subprocess.run([sys.executable, MAKER, folder, folder / "texts.json"], check=True, capture_output=True)
    base, trial = folder / "base", folder / "trial"
    base.mkdir()
    make_world(base, folder / "mean")
    first = nursery.run(Life(str(base), FIRST_SEED, side=side))
    require(first.end.get("state") == "promoted", f"the first round: {first.failed or first.end}")
    ask_more(base)
    shutil.copytree(base, trial)
    begun = time.monotonic()
    second = nursery.run(Life(str(trial), SEED, side=side))
    require(second.end.get("state") == "promoted", f"the second round: {second.failed or second.end}")
    shutil.rmtree(trial)
    yield World(
        base, side, first.end["version"], second.end["version"], time.monotonic() - begun, second.points
    )


class Asking:
    """Loads the live model again and again, as a chat does when it changes."""

    def __init__(self, folder: Path, side: str) -> None:
        self._database = Database.at(folder)
        self._role, self._recipe = ROLES[side]
        self._live, self._checkpoints = LiveModels(self._database), Checkpoints(folder / "models")
        self._encoders = EncoderVersions(self._database)
        self.answers = 0
        self.failure = ""
        self._is_over = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def once(self) -> str:
        """The version that answers, whole."""
        version = self._live.live(self._role)
        require(version is not None, "no model is live")
        assert version is not None
        if self._role == "encoder":
            encoder = self._encoders.live()
            assert encoder is not None, "it is live"
            require(self._encoders.missing(encoder.version) == 0, f"{encoder.version} lacks vectors")
            if kept := encoder.kept_as:
                self._checkpoints.verified(self._recipe, kept)
        elif version != "untrained":
            self._checkpoints.verified(self._recipe, version, files=CANDIDATE_FILES)
        self.answers += 1
        return version

    def close(self) -> None:
        """Raises what went wrong."""
        self._is_over.set()
        self._thread.join()
        self._database.close()
        require(not self.failure, f"the live model did not answer: {self.failure}")

    def _run(self) -> None:
        while not self._is_over.wait(0.01):
            try:
                self.once()
            except Exception as error:  # noqa: BLE001 - told when it is closed
                self.failure = f"{type(error).__name__}: {error}"
                return


@dataclass
class Found:
    """What the kills came to."""

    points: Counter[str] = field(default_factory=Counter)
    who: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    answers: int = 0


def kill_once(number: int, seed: int, made: World, nursery: Nursery, place: Path, found: Found) -> None:
    """One kill and what follows. Raises `NotDurable`."""
    drawn = random.Random(f"{seed} {number}")
    folder = place / f"kill-{number}"
    shutil.copytree(made.folder, folder)
    asking = Asking(folder, made.side)
    life = Life(str(folder), SEED, side=made.side)
    try:
        point = _die(drawn, life, made, nursery, found)
        left = _last(folder)
        if number % 3 == 0 and left.state in ("running", "waiting"):
            _expire(folder)
            _die(drawn, life, made, nursery, found)
        _expire(folder)
        left = _last(folder)
        change = CHANGES[number // 4 % 2] if number % 4 == 0 else ""
        if change and left.state in ("running", "waiting"):
            _change(folder, change, made.side)
        final = nursery.run(life)
        found.ends[_checked(folder, left, final, change, made)] += 1
        found.points[point] += 1
        asking.once()
    finally:
        asking.close()
        found.answers += asking.answers
    shutil.rmtree(folder)


def _die(drawn: random.Random, life: Life, made: World, nursery: Nursery, found: Found) -> str:
    """A life that is killed; returns where."""
    names = sorted({name for name, _ in made.points})
    point = drawn.choice([*names, AT_RANDOM])
    who = drawn.choice(WHO)
    if point == AT_RANDOM:
        nursery.run(life, kill_after=drawn.uniform(0, made.seconds))
        found.who["learner"] += 1
        return point
    occasion = drawn.choice([occasion for name, occasion in made.points if name == point])
    told = nursery.run(replace(life, point=point, occasion=occasion, who=who))
    require(not told.failed, f"{point}: {told.failed}")
    found.who[who] += 1
    return point


def _checked(folder: Path, left: Round, final: Told, change: str, made: World) -> str:
    """How it went on, in a word. Raises `NotDurable` where it should not have gone so."""
    database = Database.at(folder)
    try:
        rounds, live = Rounds(database), LiveModels(database)
        role, recipe = ROLES[made.side]
        had_ended = left.state == "promoted" and left.figures.get("version") != made.first
        begins_none = had_ended and final.failed.startswith("TooFewLessons")  # nothing new was asked since
        require(not final.failed or begins_none, f"the next learner failed: {final.failed}")
        rows = {row.id: row for row in rounds.latest()}
        open_rows = [row.id for row in rows.values() if row.state in ("running", "waiting")]
        require(not open_rows, f"rounds {open_rows} are still open")
        checkpoints = Checkpoints(folder / "models")
        for version in checkpoints.versions(recipe):
            checkpoints.verified(recipe, version)
        with database.reading() as sql:
            encoded = set(sql.scalars(select(col(PassageVector.encoder_version)).distinct()))
        others = {v for v in encoded if v.startswith("trained-")} - {live.live(role), live.previous(role)}
        require(not others, f"vectors of {others} were left behind")
        hidden = [path.name for path in (folder / "models").rglob(".*")]
        require(not hidden or begins_none, f"left behind: {hidden}")  # the next that begins tidies up
        if left.figures.get("version") == made.first:  # of the live model: there was no other round yet
            require(final.end["version"] == made.second, "the first round of its kind came to other weights")
            return "had not begun"
        if left.state == "promoted":  # it was killed behind its end
            require(rows[left.id].state == "promoted", "a round that was over has changed")
            require(live.live(role) == made.second, "it went back")
            require(begins_none, f"a round by lessons that had judged before: {final.end}")
            return "was over"
        if left.state not in ("running", "waiting"):  # its training alone had failed
            require(final.end["version"] == made.second, "a round from the beginning came to other weights")
            return f"was {left.state}"
        if change:
            dropped = rows[left.id]
            require(
                dropped.state == "stopped" and dropped.reason.startswith("dropped"),
                f"changed was the {change}, and round {left.id} is {dropped.state}: {dropped.reason}",
            )
            require(final.end["round"] != left.id, "a dropped round went on")
            return f"dropped: another {change}"
        require(final.end["round"] == left.id, f"round {left.id} was left and {final.end['round']} ended")
        require(final.end["state"] == "promoted", f"it ended otherwise: {final.end}")
        require(final.end["version"] == made.second, "it came to other weights")
        require((live.live(role), live.previous(role)) == (made.second, made.first), "the pointer is wrong")
        return "went on"
    finally:
        database.close()


def _last(folder: Path) -> Round:
    database = Database.at(folder)
    try:
        return Rounds(database).latest(1)[0]
    finally:
        database.close()


def _expire(folder: Path) -> None:
    """The lease of what runs ends."""
    database = Database.at(folder)
    with database.writing() as sql:
        for row in sql.query(Round).filter_by(state="running"):
            row.figures = {**row.figures, "lease_until": (now() - timedelta(seconds=1)).isoformat()}
    database.close()


def _change(folder: Path, what: str, side: str) -> None:
    """Changes what the round began from."""
    database = Database.at(folder)
    if what == "live model":
        LiveModels(database).step_back(ROLES[side][0])
    else:
        with database.writing() as sql:
            for turn in sql.query(Turn).limit(6):  # one of them at least was taught from
                turn.message = ""
    database.close()


def kill_again_and_again(kills: Sequence[int], seed: int, place: Path, side: str = "query") -> Found:
    """These kills of a seed, by their numbers."""
    found, nursery = Found(), Nursery()
    try:
        with world(place, nursery, side) as made:
            for number in kills:
                try:
                    kill_once(number, seed, made, nursery, place, found)
                except NotDurable as error:
                    raise NotDurable(f"kill {number} of seed {seed}: {error}") from error
    finally:
        nursery.close()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the seed first, and what was found."""
    parser = argparse.ArgumentParser(prog="learning_kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--side", choices=tuple(ROLES), default="query", help="what is trained")
    parser.add_argument("--first", type=int, default=0, help="the number of the first kill")
    parser.add_argument("--only", type=int, help="the one kill of this number")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    kills = range(options.first, options.first + options.kills) if options.only is None else [options.only]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        found = kill_again_and_again(kills, options.seed, Path(place), options.side)
    print(
        f"{found.ends.total()} rounds killed in {time.monotonic() - begun:.0f} s, {found.who.total()} kills"
    )
    print(f"the live model was loaded and verified {found.answers} times")
    for title, counted in (("who", found.who), ("where", found.points), ("then", found.ends)):
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in sorted(counted.items())))


if __name__ == "__main__":
    main()
