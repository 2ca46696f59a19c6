"""Readers and the settings file, fed with what nobody would write: no crash, no hang, clear errors.

    python -m benchmarks.fuzz readers --minutes 10 --seed 1 [--corpus DIR] [--save DIR]
    python -m benchmarks.fuzz settings --minutes 10 --seed 1
    python -m benchmarks.fuzz readers --replay FILE

Cases are made from whole small files by changing bytes, tokens of the format, and what lies below its
packing (the XML of a .docx, the streams of a PDF, the lines of a .jsonl.gz). Every reader's case goes
through `ReadingProcess`, as in `vouch ingest`; every settings case is read in a process of its own.

Allowed are documents (or settings) and errors of Vouch's own: one line that names the file, without
control characters or a traceback. Everything else is a defect, and so are more than 10 s of processor
time for a case or the end of the process that read it. A defect's input is saved, for --replay.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz_readers import ReaderFuzzer
from benchmarks.fuzz_settings import SettingsFuzzer


@dataclass
class Outcomes:
    """What became of the cases."""

    cases: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # "pdf document", "pdf error"
    slowest_seconds: float = 0.0  # of processor time
    slowest: str = ""
    peak_megabytes: float = 0.0
    largest: str = ""
    defects: list[str] = field(default_factory=list)

    def note(self, case: str, kind: str, outcome: str, seconds: float, megabytes: float) -> None:
        """Counts a case."""
        self.cases += 1
        self.counts[f"{kind}: {outcome}"] += 1
        if seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest = seconds, case
        if megabytes > self.peak_megabytes:
            self.peak_megabytes, self.largest = megabytes, case


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=["readers", "settings"])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="files to begin with, beside those made here")
    parser.add_argument("--save", type=Path, default=Path("fuzz-defects"), help="where defects' inputs go")
    parser.add_argument("--replay", type=Path, help="one saved input, instead of new ones")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vouch-fuzz-") as made:
        folder = Path(made)
        fuzzer = (
            ReaderFuzzer(folder, arguments.corpus)
            if arguments.target == "readers"
            else SettingsFuzzer(folder, arguments.corpus)
        )
        with contextlib.closing(fuzzer):
            if arguments.replay:
                name = arguments.replay.name
                outcome, problem, seconds, megabytes = fuzzer.run(name, arguments.replay.read_bytes())
                print(f"{name}: {outcome}, {seconds:.2f} s, {megabytes:.0f} MB; {problem or 'no defect'}")
                sys.exit(bool(problem))
            outcomes = _fuzz(fuzzer, arguments)
    print(f"{arguments.target}: seed {arguments.seed}, {outcomes.cases} cases")
    for name, count in sorted(outcomes.counts.items()):
        print(f"  {name} {count}")
    print(f"slowest case: {outcomes.slowest_seconds:.2f} s of processor time ({outcomes.slowest})")
    print(f"peak memory of the process that reads: {outcomes.peak_megabytes:.0f} MB ({outcomes.largest})")
    print(f"defects: {len(outcomes.defects)}")
    sys.exit(bool(outcomes.defects))


def _fuzz(fuzzer: ReaderFuzzer | SettingsFuzzer, arguments: argparse.Namespace) -> Outcomes:
    outcomes = Outcomes()
    ends = time.monotonic() + 60 * arguments.minutes
    while time.monotonic() < ends:
        case = f"{arguments.seed}-{outcomes.cases}"
        name, data = fuzzer.case(random.Random(case), case)
        outcome, problem, seconds, megabytes = fuzzer.run(name, data)
        outcomes.note(case, fuzzer.kind(name), outcome, seconds, megabytes)
        if problem:
            arguments.save.mkdir(parents=True, exist_ok=True)
            saved = arguments.save / f"{case}{fuzzer.kind(name)}"
            saved.write_bytes(data)
            outcomes.defects.append(str(saved))
            print(f"DEFECT {saved}: {problem}", flush=True)
    return outcomes


if __name__ == "__main__":
    main()
