"""Where the time of `vouch ask` goes, as a whole process.

    python -m benchmarks.ask_time DATA_DIR "QUESTION" [--runs 7]

Runs the installed command, and `vouch --help` beside it, and prints medians; then one run's imports that
cost most, and the steps of its turn.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

VOUCH = str(Path(sys.executable).with_name("vouch"))


def timed(command: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("question")
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    ask = [VOUCH, "ask", "--data", arguments.data, "--json", "--no-learn", arguments.question]
    for name, command in (("vouch --help", [VOUCH, "--help"]), ("vouch ask", ask)):
        timed(command)
        runs = [timed(command) for _ in range(arguments.runs)]
        walls, cpus = zip(*runs, strict=True)
        print(
            f"{name}: median {statistics.median(walls):.2f} s wall ({min(walls):.2f} to {max(walls):.2f}), "
            f"{statistics.median(cpus):.2f} s CPU, {arguments.runs} runs"
        )
    answer = json.loads(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)
    print(f"the turn itself: {answer['seconds']:.3f} s")

    traced = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "assistant.cli", *ask[1:]], capture_output=True, text=True
    )
    rows = re.findall(r"import time:\s+\d+ \|\s+(\d+) \| ( *)(\S+)", traced.stderr)
    costly = sorted(((int(us) / 1000, name) for us, indent, name in rows if len(indent) <= 4), reverse=True)
    for milliseconds, name in costly[:12]:
        print(f"  {milliseconds:7.0f} ms  import {name}")


if __name__ == "__main__":
    main()
