"""The process that trains, as the learner sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assistant.learning import training_process


def test_questions_lie_on_no_disk_longer_than_the_process_that_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Path] = []

    @contextmanager
    def broken(command: Sequence[str], *given: Any) -> Iterator[None]:
        shown.extend(path for path in tmp_path.iterdir() if path.stat().st_size)
        raise RuntimeError("the machine is out of processes")
        yield

    monkeypatch.setattr(training_process, "_child", broken)
    vector = np.zeros(4, dtype=np.float32).tobytes()
    with pytest.raises(RuntimeError):
        training_process.train_apart(tmp_path, [], {1: vector}, dimension=4, settings={}, threads=1)
    assert shown
    assert not any(path.exists() for path in shown)
