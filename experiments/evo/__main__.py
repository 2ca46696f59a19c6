"""Runs methods on sets, a line of JSON a finished run, and prints the tables of all that is there.

    python -m experiments.evo --sets hotpotqa multirc --data DATA --work DIR [--methods sft "multi dpo"]

Killed, it goes on with the run that it was in. DIR/runs.jsonl holds the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import torch

from experiments.evo.judges import SimulatedJudges
from experiments.evo.measures import measured
from experiments.evo.policy import FrozenStates, SmallPolicy, reader_body, table
from experiments.evo.rounds import METHODS, Method, as_record, play, started
from experiments.evo.sets import SETS, Stream, read_stream
from experiments.evo.tables import tables

RHO = 0.3  # how far two judges err together


def main() -> None:
    read = argparse.ArgumentParser(prog="python -m experiments.evo")
    read.add_argument("--sets", nargs="*", choices=SETS, default=[])
    read.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    read.add_argument("--seeds", type=int, default=3)
    read.add_argument("--data", type=Path, required=True)
    read.add_argument("--work", type=Path, required=True)
    given = read.parse_args()
    torch.set_num_threads(1)
    given.work.mkdir(parents=True, exist_ok=True)
    file = given.work / "runs.jsonl"
    for name in given.sets:
        run_set(name, given.methods, given.seeds, given.data, file)
    print(tables(runs_of(file)))


def runs_of(file: Path) -> list[dict[str, Any]]:
    """Finished runs; a line that a kill cut off is none."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}\n")]


def run_set(name: str, methods: list[str], seeds: int, data: Path, file: Path) -> None:
    """Every method and seed of a set that is not in the file yet."""
    done = {(each["set"], each["method"], each["seed"]) for each in runs_of(file)}
    states = FrozenStates(reader_body())
    for seed in range(seeds):
        stream = read_stream(name, data, seed=seed)
        wanted = [m for m in methods if stream.has_lists or METHODS[m].mode == "label"]
        wanted = [method for method in wanted if (name, method, seed) not in done]
        if not wanted:
            continue
        policy = SmallPolicy(states, len(stream.labels), seed=seed)
        started(policy, stream, seed=seed)
        first = policy.snapshot()
        for method in wanted:
            begun = time.process_time()
            policy.restore(first)
            kept = [measured(table(policy, each), each) for each in stream.kept]
            judges = judges_of(stream, METHODS[method], seed=seed)
            rounds = as_record(list(play(policy, stream, METHODS[method], judges, seed=seed)))
            record = {"set": name, "method": method, "seed": seed, "kept": kept, "rounds": rounds}
            _append(file, {**record, "seconds": time.process_time() - begun})


def judges_of(stream: Stream, method: Method, *, seed: int) -> SimulatedJudges:
    """Two of equal accuracy, as in the paper."""
    truth = {item.id: item.label for items in stream.rounds for item in items}
    accuracy = method.judge if method.judge is not None else 0.5
    return SimulatedJudges([accuracy] * 2, truth, len(stream.labels), rho=RHO, seed=seed)


def _append(file: Path, record: dict[str, Any]) -> None:
    with file.open("ab") as out:
        if out.tell() and not file.read_bytes().endswith(b"\n"):  # of a run that was killed while it wrote
            out.write(b"\n")
        out.write(json.dumps(record).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    last = record["rounds"][-1]["figures"]
    print(record["set"], record["method"], record["seed"], f"{last['accuracy']:.3f}", flush=True)


if __name__ == "__main__":
    main()
