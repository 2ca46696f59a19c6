"""How soon the screen is there: `vouch --help`, first paint, a prompt that takes keys, the first answer.

    python -m benchmarks.terminal_start DATA_DIR "QUESTION" [--runs 10] [--beside COMMAND]

Each run is a process of its own at a pseudo-terminal of 80 x 24, offline, over a copy of the data directory;
seconds are from its start. Prints medians, and the smallest and largest. With `--beside COMMAND`, once or
more, the first words that another program paints are timed in the same runs.
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

_CONTROLS = re.compile(r"\x1b(\[[0-9;?<>=$]*[a-zA-Z]|\][^\x07]*\x07|[P_][^\x1b]*\x1b\\\\|.)")
_WORD = re.compile(r"[A-Za-z]{4,}")
VOUCH = [sys.executable, "-m", "assistant.cli"]


def one_start(data: Path, question: str) -> dict[str, float]:
    environment = os.environ | {"TERM": "xterm-256color", "VOUCH_USER": "benchmark"}
    chat = AtTerminal([*VOUCH, "chat", "--offline", "--data", str(data)], environment, columns=80, rows=24)
    times = {"first paint": chat.waits_for("Ask anything") - chat.began}
    chat.types("ж")
    times["prompt takes keys"] = chat.waits_for("ж") - chat.began
    chat.types("\x7f" + question)
    time.sleep(0.05)
    chat.types("\r")
    times["first answer"] = chat.waits_for("[1]") - chat.began
    assert chat.ends("\x11") == 0
    return times


def start_beside(command: str, home: str) -> float:
    """Seconds until another program has painted a word on its screen."""
    environment = os.environ | {"TERM": "xterm-256color", "HOME": home}
    program = AtTerminal(shlex.split(command), environment, columns=80, rows=24)
    ends = program.began + 60
    while not _WORD.search(_CONTROLS.sub(" ", program.painted.partition("\x1b[?1049h")[2])):
        program.read(ends - time.perf_counter())
        assert time.perf_counter() < ends, f"{command} painted nothing"
        assert program.process.poll() is None, f"{command} ended"
    seconds = time.perf_counter() - program.began
    program.process.kill()
    program.ends("")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("question")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--beside", action="append", default=[], metavar="COMMAND")
    arguments = parser.parse_args()
    found: dict[str, list[float]] = {"--help": []}
    with tempfile.TemporaryDirectory() as folder:
        for run in range(arguments.runs + 1):
            began = time.perf_counter()
            subprocess.run([*VOUCH, "--help"], check=True, capture_output=True)
            found["--help"].append(time.perf_counter() - began)
            data = Path(folder) / str(run)
            shutil.copytree(arguments.data, data)
            for name, seconds in one_start(data, arguments.question).items():
                found.setdefault(name, []).append(seconds)
            shutil.rmtree(data)
            for command in arguments.beside:
                found.setdefault(Path(command.split()[0]).name, []).append(start_beside(command, folder))
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {arguments.runs} runs")
    for name, all_runs in found.items():
        kept = all_runs[1:]  # the first one reads files from the disk
        print(f"{name:<18} {statistics.median(kept):.2f} s ({min(kept):.2f} to {max(kept):.2f})")


if __name__ == "__main__":
    main()
