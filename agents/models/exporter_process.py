"""Runs an exporter in a process of its own, one at a time for each cache folder.

lock -> what a killed export left is deleted -> the exporter, whose sentences are handed on -> its answer
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from stores.base.shortages import ended_by

PARTIAL_PREFIX = ".partial-"  # folders that an export is still writing


class ExportFailed(Exception):
    """The exporter ended without a folder; the message is its last word."""


@contextmanager
def alone_in(cache_dir: Path, tell: Callable[[str], None], *, what: str) -> Iterator[None]:
    """Keeps other processes from exporting to the same cache meanwhile. what: as in "an encoder"."""
    lock = FileLock(cache_dir / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        tell(f"Waiting for another process that prepares {what}.")
        lock.acquire()
    try:
        for left_over in cache_dir.glob(PARTIAL_PREFIX + "*"):  # by an export that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        yield
    finally:
        lock.release()


def run_exporter(
    module: str, arguments: Sequence[str], *, tell: Callable[[str], None], offline: bool
) -> Path:
    """The folder that an exporter names when it is done. Raises `ExportFailed`.

    tell: is given its sentences for the person who waits.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        # Python searches this folder first: never the person's, where anything could be named torch.
        cwd=Path(__file__).parents[2],
        env=os.environ | ({"HF_HUB_OFFLINE": "1"} if offline else {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as exporter:
        assert exporter.stdout is not None
        assert exporter.stderr is not None
        last = ""
        try:
            for line in exporter.stderr:
                last = line.strip() or last
                if not last.startswith("Error: "):
                    tell(last)
            answer = exporter.stdout.read().strip()
        except BaseException:
            exporter.kill()
            raise
    if exporter.returncode < 0:
        last = f"it was stopped by {ended_by(-exporter.returncode)}, after: {last or 'nothing'}"
    if exporter.returncode:
        raise ExportFailed(last.removeprefix("Error: "))
    return Path(answer)
