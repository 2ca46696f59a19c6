"""What one of several users reaches of the others through commands, and what kills and crowds leave behind.

    PYTHONPATH=tests python -m benchmarks.doors [--kills 60] [--processes 100] [--seed 1] [--store postgresql]

others   every command, called by somebody else with what names the others' things, as
         tests/test_among_others.py does: calls; changes of what is not theirs, and words shown that are not
forget   a user's words in data, cache and temporary folders, after they were told, taught, corrected, read,
         compared, in a comparison that was killed too, and forgotten: files there are; files that hold them
kills    commands that share, undo, forget and copy, each killed with SIGKILL at a random moment; the next one
         reads, and `vouch doctor` looks through everything at the end: kills; what was out of order or left
crowd    processes of three users, 24 at once, each of which tells one thing: processes; things missing,
         or with another user

With --store postgresql, kills and crowd run on a server of their own.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cli_helpers import COMMAND, Vouch
from script_rows import commands

from assistant.settings.locations import find_locations
from tests.postgres_server import find_programs, running_server

USERS = ("ann", "ben", "cem")
CANARY = "Zquorlibex"
_ENDS_WITHIN_SECONDS = 300.0
_AT_ONCE = 24  # processes of a crowd, each of 340 MB
_LATEST_KILL_SECONDS = 2.5  # a command of those below takes less


def main() -> None:
    """Prints a table: what was tried, how often, and how often something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--processes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    given = parser.parse_args()
    encoders = find_locations(os.environ).cache / "encoders"
    print("| tried | times | wrong |\n| --- | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="vouch-doors-") as place:
        if given.store == "sqlite":
            tell("others: calls", *others(Path(place, "others"), encoders))
            tell("forget: files", *forget(Path(place, "forget"), encoders))
        with store(given.store) as settings:
            tell("kills", *kills(Path(place, "kills"), encoders, settings(), given.kills, given.seed))
            tell("crowd: processes", *crowd(Path(place, "crowd"), encoders, settings(), given.processes))


def tell(what: str, times: int, wrong: Sequence[str]) -> None:
    """A row of the table, and what went wrong beside it."""
    print(f"| {what} | {times} | {len(wrong)} |", flush=True)
    for each in wrong:
        print(f"  {each}", file=sys.stderr, flush=True)


@contextmanager
def store(kind: str) -> Iterator[Callable[[], str]]:
    """Settings of an empty store of this kind, made anew with each call."""
    if kind == "sqlite":
        yield lambda: ""
        return
    programs = find_programs()
    assert programs, "no PostgreSQL programs here"
    with running_server(programs) as server:
        yield lambda: f'[store]\nurl = "{server.new_database()}"\n'


def home(place: Path, encoders: Path, settings: str = "") -> Vouch:
    """With a document and a table that ann has shared."""
    made = Vouch(place, encoders)
    made.set(settings)
    made.run("ingest", "--shared", made.write("rules.md", "The reading room opens at ten.\n"), apart=True)
    made.run("kb", "add", "menus", "--shared", made.write("menus.csv", "name,price\nsoup,4\n"), apart=True)
    return made


def others(place: Path, encoders: Path) -> tuple[int, list[str]]:
    """Calls by somebody else, and those that changed or showed what is not theirs."""
    import test_among_others as others

    library = others.made_library(place, encoders)
    before, wrong, count = others.kept(library.data), [], 0
    for name, command in commands():
        if name in others.OF_THE_MACHINE:
            continue
        vouch = library.copy_to(place / "of" / name)
        for words in others.calls(library.folder, name, command):
            told = others.as_mallory(vouch, words)
            count += 1
            shown = [word for word in others.SECRETS if word in told and word not in " ".join(words)]
            if shown or others.kept(vouch.data) != before:
                wrong.append(f"{words} {shown}")
    return count, wrong


def forget(place: Path, encoders: Path) -> tuple[int, list[str]]:
    """Files there are, and those that hold a user's words after these were forgotten."""
    vouch = home(place, encoders)
    temporary = place / "temporary"
    temporary.mkdir()
    vouch.environment["TMPDIR"] = str(temporary)
    told = [
        f"My boat is called {CANARY}.",
        "What is my boat called?",
        f"/teach It is called {CANARY}, of course.",
        f"No, my boat is not called {CANARY} any more.",
        f"/remember The key is under {CANARY}.",
        f"/rename {CANARY}",
    ]
    vouch.run("chat", stdin="".join(f"{line}\n" for line in told), apart=True)
    vouch.run("ingest", vouch.write(f"{CANARY}.md", f"The harbour of {CANARY}.\n"), apart=True)
    killed = vouch.start("replay", "1", "--against", "untrained")
    time.sleep(2.0)
    killed.kill()
    killed.communicate()
    vouch.run("replay", "1", "--against", "untrained", apart=True)
    (place / f"{CANARY}.md").unlink()
    vouch.run("memory", "forget", "--all-mine", "--yes", apart=True)
    files = [file for file in place.rglob("*") if file.is_file() and not file.is_symlink()]
    word = CANARY.lower().encode()
    return len(files), [str(file) for file in files if word in file.read_bytes().lower()]


# What a kill interrupts; {n} is the number of the call.
_KILLED = (
    ("chat", "My cabin is number {n}.\nNo, my cabin is number 9{n}.\n"),
    ("ingest --shared {place}/rules.md", ""),
    ("docs remove --shared {place}/rules.md", ""),
    ("kb add menus --shared {place}/menus.csv", ""),
    ("kb remove menus --shared", ""),
    ("memory undo", ""),
    ("memory forget 5 --yes", ""),
    ("memory forget --all-mine --yes --user ben", ""),
    ("memory instead 3 My_cabin_is_number_7{n}.", ""),
    ("replay 1 --against untrained --newest 2", ""),
    ("backup {place}/killed-{n}.backup", ""),
)


def kills(place: Path, encoders: Path, settings: str, count: int, seed: int) -> tuple[int, list[str]]:
    """Commands killed, and what was out of order afterwards."""
    vouch, dice, wrong = home(place, encoders, settings), random.Random(seed), []
    for number in range(count):
        typed, stdin = dice.choice(_KILLED)
        words = [w.replace("_", " ").format(n=number, place=place) for w in typed.split()]
        (place / "rules.md").write_text(f"The reading room opens at {number}.\n")
        (place / "menus.csv").write_text(f"name,price\nsoup,{number}\n")
        process = started(vouch, words)
        assert process.stdin is not None
        process.stdin.write(stdin.format(n=number).encode())
        process.stdin.close()
        time.sleep(dice.random() * _LATEST_KILL_SECONDS)
        process.send_signal(signal.SIGKILL)
        process.wait()
        after = vouch.start("memory", "list", "--scope", "shared")
        _, complaint = after.communicate(timeout=_ENDS_WITHIN_SECONDS)
        if after.returncode:
            wrong.append(f"after {words}: {complaint.decode()}")
    left = [str(each) for each in (vouch.data / "copies").glob("*")] + [
        str(each) for each in place.glob("*.partial*")
    ]
    looked = vouch.start("doctor", "--offline", "--no-repair")
    told, _ = looked.communicate(timeout=_ENDS_WITHIN_SECONDS)
    if looked.returncode:
        wrong.append(f"doctor: {told.decode()}")
    return count, [*wrong, *left]


def crowd(place: Path, encoders: Path, settings: str, count: int) -> tuple[int, list[str]]:
    """Processes at once, and what they were told that is not there, or is with another user."""
    vouch = home(place, encoders, settings)
    running: list[subprocess.Popen[bytes]] = []
    for number in range(count):
        while sum(process.poll() is None for process in running) >= _AT_ONCE:
            time.sleep(0.05)
        user = USERS[number % len(USERS)]
        process = started(vouch, ["chat", "--user", user])
        assert process.stdin is not None
        process.stdin.write(f"/remember Locker {1000 + number} is of {user}.\n".encode())
        process.stdin.close()
        running.append(process)
    wrong = [f"ended with {p.returncode}" for p in running if p.wait(_ENDS_WITHIN_SECONDS)]
    for place_of, user in enumerate(USERS):
        shown = vouch.run("memory", "export", "--user", user, apart=True).out
        for number in range(count):
            is_there = f"Locker {1000 + number} is of {user}." in shown
            if is_there != (number % len(USERS) == place_of):
                wrong.append(f"locker {1000 + number} of {user}")
    return count, wrong


def started(vouch: Vouch, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """A process of its own."""
    return subprocess.Popen(
        [COMMAND, *words],
        cwd=vouch.folder,
        env=vouch.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    main()
