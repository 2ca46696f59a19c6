"""What a run has found out so far, in files that a kill leaves whole."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agents.base.interfaces import Vectors


class Results:
    """Lines of JSON; a line that a kill cut off is none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        self.every: list[dict[str, Any]] = [json.loads(line) for line in lines if line.endswith(b"}\n")]
        if file.exists() and lines and not lines[-1].endswith(b"}\n"):
            file.write_bytes(b"".join(lines[:-1]))

    def first(self, **facts: object) -> dict[str, Any] | None:
        """The record that says all of this."""
        return next((r for r in self.every if facts.items() <= r.items()), None)

    def add(self, record: dict[str, Any]) -> None:
        """On the disk when this returns."""
        self.every.append(record)
        with self._file.open("ab") as out:
            out.write(json.dumps(record).encode() + b"\n")
            out.flush()
            os.fsync(out.fileno())
        shown = {k: v for k, v in record.items() if k not in ("scores", "found")}
        means = {k: round(fmean(v), 3) for k, v in record.get("scores", {}).items() if v}
        print(time.strftime("%H:%M:%S"), *shown.values(), *means.values(), flush=True)


def kept(file: Path, make: Callable[[], Vectors]) -> Vectors:
    """What lies in a file; made and put there first, if need be."""
    if not file.exists():
        part = file.with_suffix(".part.npy")
        np.save(part, make())
        part.rename(file)
    found: Vectors = np.load(file)
    return found


def saved(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Whole or not at all."""
    torch.save(dict(tensors), file.with_suffix(".part"))
    file.with_suffix(".part").rename(file)
