"""Passages read in and encoded again by one process and by two workers of Ray, and what kills leave.

    python -m benchmarks.spread [--passages 4000] [--words 20]   # seconds, and how far vectors differ
    python -m benchmarks.spread --kills 10          # driver or worker killed at random moments, gone on with

A run that was killed is begun again until it ends; then every passage must be there once, with one vector.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.settings.config import ScaleSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import own_space
from stores.database.database import Database

_OF_A_DOCUMENT = 500  # passages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--passages", type=int, default=4000)
    parser.add_argument("--words", type=int, default=20, help="of each passage that say something")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--child", nargs=2, metavar=("FOLDER", "ENGINE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        ingest(Path(given.child[0]), given.child[1], given.passages, given.words, again=not given.kills)
        return
    with tempfile.TemporaryDirectory(prefix="vouch-spread-") as place:
        if given.kills:
            print(killed(Path(place), given.passages, given.words, given.kills))
        else:
            print(compared(Path(place), given.passages, given.words))


def ingest(folder: Path, engine: str, passages: int, words: int, *, again: bool) -> None:
    """Reads documents in; prints the seconds that it took, without what loads before.

    again: then loses all vectors, encodes the passages anew and prints those seconds.
    """
    scale = ScaleSettings(engine="ray" if engine == "ray" else "here", workers=2)
    assistant = Assistant(Settings(scale=scale), find_locations(os.environ, data=str(folder)), offline=True)
    try:
        assistant.catch_up()
        user = assistant.stores.journal.user_id("ann")
        began = time.perf_counter()
        for _ in assistant.turns.ingest.run(
            user, own_space(user), documents(passages, words), summary="lockers"
        ):
            pass
        print(time.perf_counter() - began)
        if again:
            with assistant.stores.database.writing() as sql:
                sql.connection().exec_driver_sql("DELETE FROM passage_vectors")
            began = time.perf_counter()
            for _ in assistant.search.indexer.encode_everything():
                pass
            print(time.perf_counter() - began)
    finally:
        assistant.close()


def documents(passages: int, length: int) -> Iterator[PreparedDocument]:
    """Of invented sentences with so many words each."""
    dice = random.Random(0)
    words = [
        f"{start}{end}"
        for start in "bar del fon gur hix kol mar ".split()
        for end in "an eth ing os um".split()
    ]
    for start in range(0, passages, _OF_A_DOCUMENT):
        parts = tuple(
            PreparedPassage("", f"Passage {n} is about {' '.join(dice.choices(words, k=length))}.")
            for n in range(start, min(passages, start + _OF_A_DOCUMENT))
        )
        yield PreparedDocument(f"invented:{start}", f"Invented {start}", f"invented:{start}", parts)


def begun(folder: Path, engine: str, passages: int, words: int, *, kills: int = 0) -> subprocess.Popen[str]:
    """A run in a process of its own, which is the first of a group."""
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "benchmarks.spread",
            "--child",
            str(folder),
            engine,
            *("--passages", str(passages), "--words", str(words), "--kills", str(kills)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def compared(place: Path, passages: int, words: int) -> str:
    """A row an engine."""
    rows, kept = ["| engine | ingest, seconds | encoded anew, seconds |", "| --- | ---: | ---: |"], []
    for engine in ("here", "ray"):
        with begun(place / engine, engine, passages, words) as run:
            read, encoded = map(float, run.communicate()[0].split()[-2:])
        rows.append(f"| {engine} | {read:.1f} | {encoded:.1f} |")
        print(rows[-1], file=sys.stderr, flush=True)
        kept.append(vectors(place / engine))
    here, there = (np.array([np.frombuffer(each[text], "<f4") for text in sorted(each)]) for each in kept)
    apart = np.abs(here - there).max() if kept[0].keys() == kept[1].keys() else np.inf
    return "\n".join([*rows, f"{len(here)} passages; numbers of their vectors differ by {apart:.0e} at most"])


def killed(place: Path, passages: int, words: int, kills: int) -> str:
    """How many runs lost or doubled something."""
    wrong, dice = 0, random.Random(0)
    for number in range(kills):
        folder, has_ended = place / str(number), False
        with begun(folder, "ray", passages, words, kills=1) as run:
            deadline = time.monotonic() + dice.uniform(4, 40)
            while time.monotonic() < deadline and run.poll() is None:
                time.sleep(0.1)
            has_ended = run.poll() is not None
            if number % 2 and (workers := children(run.pid, "ray::")):
                os.kill(dice.choice(workers), signal.SIGKILL)
                run.wait()
            elif not has_ended:
                run.kill()
        for left in children(None, str(folder)):
            os.kill(left, signal.SIGKILL)
        with begun(folder, "ray", passages, words, kills=1) as again:
            again.wait()
        found = vectors(folder)
        wrong += len(found) != passages or again.returncode != 0
        print(f"{number}: {'had ended' if has_ended else 'killed'}, {len(found)} passages", flush=True)
    return f"| kills | wrong |\n| ---: | ---: |\n| {kills} | {wrong} |"


def children(of: int | None, holding: str) -> list[int]:
    """Processes whose command holds these words. of: of the session of this process alone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
        except (OSError, IndexError, ValueError):
            continue
        if holding in command and (of is None or session == of) and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def vectors(folder: Path) -> dict[str, bytes]:
    """By text; a text that is there twice, or has two vectors, is an error."""
    database = Database.at(folder)
    try:
        with database.reading() as sql:
            rows = (
                sql.connection()
                .exec_driver_sql(
                    "SELECT v.text, x.vector FROM passage_versions AS v"
                    " LEFT JOIN passage_vectors AS x ON x.version_id = v.id WHERE v.removed_at IS NULL"
                )
                .fetchall()
            )
    finally:
        database.close()
    found = {text: bytes(vector) for text, vector in rows if vector is not None}
    assert len(found) == len(rows), f"{len(rows)} rows for {len(found)} texts with a vector"
    return found


if __name__ == "__main__":
    main()
