"""What a replay writes in its folder, by name: whatever else is there is neither written over nor deleted.

lock                    while it is played
plan.json               what is played; a folder that holds another replay is refused
runs/LABEL-seed-N/      steps.jsonl and lock, and while it runs: store/, trained/
model/                  folders without a file, for parts that are not of one run
report.json             once all is played
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from stores.base.errors import StoreUnavailable, WrongUsage

ENDS_WITHIN_SECONDS = 60  # a worker whose replay was killed
LOCK, PLAN, RUNS, STEPS = "lock", "plan.json", "runs", "steps.jsonl"
STORE, STORE_IN_MAKING, TRAINED = "store", "store.making", "trained"
MODEL = "model"
REPORT = "report.json"
PLAN_IN_WRITING = "plan.new"


def check_folder(folder: Path) -> None:
    """Sees that a replay may be played there: it is empty, or holds one, or what one left before its plan.

    Writes nothing. Raises `WrongUsage` for one with other things, `StoreUnavailable` where it cannot be read.
    """
    if read_plan(folder) is not None:
        return
    try:
        others = sorted(entry.name for entry in folder.iterdir() if not _comes_before_a_plan(entry))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StoreUnavailable(
            f"{folder} cannot be read: {error.strerror}", hint="Name another folder with --out."
        ) from error
    if others:
        raise WrongUsage(
            f"{folder} holds other things than a replay, such as {others[0]}",
            hint="Name an empty folder with --out, or one that holds a replay.",
        )


def read_plan(folder: Path) -> dict[str, Any] | None:
    """What is played in a folder; None where no replay wrote it."""
    try:
        plan = json.loads((folder / PLAN).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(plan, dict) or "format" not in plan:
        return None
    is_whole = _is_list_of(str, plan.get("methods")) and _is_list_of(int, plan.get("seeds"))
    return plan if is_whole else None


def run_name(label: str, seed: int) -> str:
    """The name of a run's folder."""
    return f"{''.join(letter if letter.isalnum() else '-' for letter in label)}-seed-{seed}"


def forget_replay(folder: Path) -> None:
    """Deletes what the replay whose plan is there has played; the plan stays, and what is another's.

    Raises OSError for what cannot be deleted: its figures must not be taken for those of the next replay.
    """
    if (plan := read_plan(folder)) is None:
        return
    for label in plan["methods"]:
        for seed in plan["seeds"]:
            _forget_run(folder / RUNS / run_name(label, seed))
    with suppress(OSError):  # something else is in it, or it is not there
        (folder / RUNS).rmdir()
    (folder / REPORT).unlink(missing_ok=True)


def _forget_run(run: Path) -> None:
    """A run that is left with its steps alone can go on, as it can without any.

    Waits for a worker of a replay that was killed. Raises `Timeout`.
    """
    if not run.is_dir():
        return
    with FileLock(run / LOCK, timeout=ENDS_WITHIN_SECONDS):
        for name in (STORE, STORE_IN_MAKING, TRAINED):
            with suppress(FileNotFoundError):
                shutil.rmtree(run / name)
        (run / STEPS).unlink(missing_ok=True)
    (run / LOCK).unlink(missing_ok=True)
    with suppress(OSError):
        run.rmdir()


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def _comes_before_a_plan(entry: Path) -> bool:
    """Whether a replay that was cut short, or is about to write its plan, may have left this."""
    if entry.name == MODEL:
        return entry.is_dir() and all(each.is_dir() for each in entry.rglob("*"))
    if entry.name == LOCK:
        return entry.is_file() and entry.stat().st_size == 0  # to lock it empties it
    return entry.name == PLAN_IN_WRITING and entry.is_file() and _is_begun_plan(entry.read_bytes())


def _is_begun_plan(written: bytes) -> bool:
    begins = b'{"answer'  # as keys are sorted
    return written.startswith(begins) or begins.startswith(written)
