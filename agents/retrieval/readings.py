"""What the reader said of a question and a passage, kept for the turn: judging and answering pay once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from agents.base.interfaces import Reader, Reading

_KEPT = 256  # readings; a turn reads 40 passages at most


class Readings:
    """A reader that remembers its last readings. Safe to use from several threads."""

    def __init__(self, reader: Reader, *, best: int = 5) -> None:
        """best: how many answers are looked for in each passage."""
        self._reader = reader
        self._best = best
        self._kept: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        self._lock = Lock()

    @property
    def name(self) -> str:
        return self._reader.name

    def of(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading for each passage, in their order; only what was not read before is computed."""
        with self._lock:
            new = list(dict.fromkeys(p for p in passages if (question, p) not in self._kept))
            known = {p: self._kept[question, p] for p in passages if (question, p) in self._kept}
        known |= dict(zip(new, self._reader.read(question, new, best=self._best), strict=True)) if new else {}
        with self._lock:
            for passage, reading in known.items():
                self._kept[question, passage] = reading
                self._kept.move_to_end((question, passage))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return [known[passage] for passage in passages]
