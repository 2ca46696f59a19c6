"""How soon the screen is there: `vouch --help`, first paint, a prompt that takes keys, the first answer.

    python -m benchmarks.terminal_start DATA_DIR "QUESTION" [--runs 10] [--beside COMMAND]

Each run is a process of its own at a pseudo-terminal of 80 x 24, offline, over a copy of the data directory;
seconds are from its start. The question has to be one that is answered with a source. One run more than asked
for is made and not counted, as it reads files from the disk. A run takes as long as the first answer and
leaving take, 5 to 10 seconds on a busy machine; standard error tells how far it is. Prints medians, and the
smallest and largest. With `--beside COMMAND`, once or more, the first words that another program paints are
timed in the same runs.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.at_terminal import AtTerminal

_CONTROLS = re.compile(r"\x1b(\[[0-9;?<>=$]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|[P_][^\x1b]*\x1b\\|.)")
_WORD = re.compile(r"[A-Za-z]{4,}")
_LONGEST_WAIT = 60.0  # seconds for one thing to be painted, on a machine with other work
VOUCH = [sys.executable, "-m", "assistant.cli"]


def one_start(data: Path, question: str) -> dict[str, float]:
    environment = os.environ | {"TERM": "xterm-256color", "VOUCH_USER": "benchmark"}
    chat = AtTerminal([*VOUCH, "chat", "--offline", "--data", str(data)], environment, columns=80, rows=24)
    try:
        times = {"first paint": chat.waits_for("Ask anything", within=_LONGEST_WAIT) - chat.began}
        chat.types("ж")
        times["prompt takes keys"] = chat.waits_for("ж", within=_LONGEST_WAIT) - chat.began
        chat.types("\x7f" + question)
        time.sleep(0.05)
        chat.types("\r")
        times["first answer"] = chat.waits_for("[1]", within=_LONGEST_WAIT) - chat.began
    except TimeoutError as error:
        raise SystemExit(f"{error}\nIs the question one that is answered with a source?") from None
    finally:
        code = chat.ends("\x11")
    assert code == 0, f"the chat ended with {code}"
    return times


def start_beside(command: str, home: str) -> float:
    """Seconds until another program has painted a word on its screen."""
    environment = os.environ | {"TERM": "xterm-256color", "HOME": home}
    program = AtTerminal(shlex.split(command), environment, columns=80, rows=24)
    ends = program.began + _LONGEST_WAIT
    try:
        while not _WORD.search(_CONTROLS.sub(" ", program.painted.partition("\x1b[?1049h")[2])):
            program.read(ends - time.perf_counter())
            assert time.perf_counter() < ends, f"{command} painted nothing: {program.painted[-500:]!r}"
            assert program.process.poll() is None, f"{command} ended: {program.painted[-500:]!r}"
        return time.perf_counter() - program.began
    finally:
        program.process.kill()
        program.ends("")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("question")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--beside", action="append", default=[], metavar="COMMAND")
    arguments = parser.parse_args()
    for command in arguments.beside:
        if shutil.which(shlex.split(command)[0]) is None:
            parser.error(f"there is no program {shlex.split(command)[0]}")
    found: dict[str, list[float]] = {"--help": []}
    with tempfile.TemporaryDirectory() as folder:
        for run in range(arguments.runs + 1):
            began = run_began = time.perf_counter()
            subprocess.run([*VOUCH, "--help"], check=True, capture_output=True)
            found["--help"].append(time.perf_counter() - began)
            data = Path(folder) / str(run)
            shutil.copytree(arguments.data, data)
            for name, seconds in one_start(data, arguments.question).items():
                found.setdefault(name, []).append(seconds)
            shutil.rmtree(data)
            for command in arguments.beside:
                found.setdefault(Path(shlex.split(command)[0]).name, []).append(start_beside(command, folder))
            told = f"run {run} of {arguments.runs}" if run else "the run that is not counted"
            print(f"{told}: {time.perf_counter() - run_began:.1f} s", file=sys.stderr, flush=True)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {arguments.runs} runs")
    for name, all_runs in found.items():
        kept = all_runs[1:]  # the first one reads files from the disk
        print(f"{name:<18} {statistics.median(kept):.2f} s ({min(kept):.2f} to {max(kept):.2f})")


if __name__ == "__main__":
    main()
