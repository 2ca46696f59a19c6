"""What a command costs that needs no model: its processor time, beside that of what every start is made of.

    python -m benchmarks.command_start [--runs 10] [--only "memory list" ...]

Each run is a process of its own with pipes, over a store that is made for it: one user, a note, a turn that
was answered and two models that were live. The commands take turns, so that other work on the machine falls
upon all of them alike, and `python -c pass` and `import sqlmodel` take part: how many times those a command
costs tells more than seconds do. One run more than asked for is made and not counted, as it reads files from
the disk. Prints medians of processor time (which other work changes less) and of the time that passed, and
the least processor time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.learning.recipes.retriever.recipe import UNTRAINED
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.search import QUERY_ENCODER
from stores.conversation.journal import Outcome

VOUCH = [sys.executable, "-m", "assistant.cli"]
PASS, SQLMODEL = "python -c pass", "import sqlmodel"
OTHERS = {PASS: [sys.executable, "-c", "pass"], SQLMODEL: [sys.executable, "-c", "import sqlmodel"]}
COMMANDS = (
    "--help",
    "memory list",
    "memory show 1",
    "memory pending",
    "sessions",
    "why",
    "train --status",
    "train --back",  # each run takes back what the one before did
)


def fill(folder: Path) -> dict[str, str]:
    """Makes a store with a note, a turn and two models; returns the environment in which commands find it."""
    environment = os.environ | {"HOME": str(folder), "VOUCH_USER": "benchmark"}
    environment |= {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "STATE", "CONFIG", "CACHE")}
    assistant = Assistant(Settings(), find_locations(environment))
    try:
        user = assistant.stores.journal.user_id("benchmark")
        assistant.stores.knowledge.remember(user, "The door is blue.")
        session, question = assistant.stores.journal.open_session(user), "What colour is the door?"
        turn = assistant.stores.journal.accept(user, session, question, parts=[question])
        assistant.stores.journal.finish(turn.turn_id, Outcome(state="done", answer="It is blue."))
        for version in (UNTRAINED, "trained"):
            assistant.stores.live_models.make_live(QUERY_ENCODER, version)
    finally:
        assistant.close()
    return environment


def cost(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of processor time, and seconds that passed. A command may end with 0 or 1: done, or nothing."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None, "it was asked for"
    told = process.stdout.read()  # little; and its end is the end of the command, or nearly
    _, status, used = os.wait4(process.pid, 0)
    passed = time.perf_counter() - began
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), f"{command} ended with {process.returncode}: {told.decode()}"
    return used.ru_utime + used.ru_stime, passed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", nargs="+", default=list(COMMANDS), metavar="COMMAND")
    arguments = parser.parse_args()
    commands = OTHERS | {name: [*VOUCH, *name.split()] for name in arguments.only}
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        environment = fill(Path(folder))
        for _ in range(arguments.runs + 1):
            for name, command in commands.items():
                costs[name].append(cost(command, environment))
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {arguments.runs} runs")
    used = {name: [each for each, _ in runs[1:]] for name, runs in costs.items()}
    passed = {name: statistics.median(each for _, each in runs[1:]) for name, runs in costs.items()}
    medians = {name: statistics.median(runs) for name, runs in used.items()}
    print(f"{'':<16} processor  least  passed  of {PASS}  of {SQLMODEL}")
    for name, seconds in medians.items():
        print(
            f"{name:<16} {seconds:>7.2f} s {min(used[name]):>4.2f} s {passed[name]:>5.2f} s "
            f"{seconds / medians[PASS]:>15.1f} {seconds / medians[SQLMODEL]:>18.2f}"
        )


if __name__ == "__main__":
    main()
