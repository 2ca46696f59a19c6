"""How far a training of the reader has come, and how it goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.models.networks.reader_network import HEADS
from assistant.learning.recipes.reader.batches import LabelledBatch, Position
from assistant.learning.recipes.reader.loss import ReaderLoss

REPORT_SECONDS = 30.0


@dataclass
class Progress:
    """How far a run has come."""

    step: int = 0
    windows: int = 0
    seconds: float = 0.0
    position: Position = field(default_factory=Position)

    def done(self, *, steps: int | None, minutes: float | None) -> float:
        """From 0 to 1, of whichever end comes first. One of them is given."""
        shares = [self.step / steps] if steps else []
        if minutes:
            shares.append(self.seconds / 60 / minutes)
        return min(1.0, max(shares))


class Report:
    """Says every half minute how the run goes: rate, time left, and the mean loss of each head."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._clear()

    def _clear(self) -> None:
        self._since = time.monotonic()
        self._windows = 0
        self._loss = dict.fromkeys(HEADS, 0.0)
        self._counts = dict.fromkeys(HEADS, 0)

    def add(self, loss: ReaderLoss, step: Sequence[LabelledBatch], progress: Progress, done: float) -> None:
        """Counts one step. done: 0 to 1, of the run."""
        self._windows += sum(map(len, step))
        for head in HEADS:
            self._loss[head] += float(getattr(loss, head))
            self._counts[head] += sum(labelled(batch, head) for batch in step)
        passed = time.monotonic() - self._since
        if passed < REPORT_SECONDS and done < 1:
            return
        losses = ", ".join(f"{h} {self._loss[h] / max(1, self._counts[h]):.3f}" for h in HEADS)
        left = progress.seconds * (1 - done) / done / 60
        self._say(
            f"step {progress.step}, {progress.windows} windows, {done:.1%}, "
            f"{self._windows / passed:.1f} windows/s, {left:.0f} min left; loss {losses}"
        )
        self._clear()


def labelled(batch: LabelledBatch, head: str) -> int:
    """How many windows of a batch have a label of this head."""
    known = batch.has_spans if head == "spans" else getattr(batch, head) >= 0
    return int(known.sum())
