"""Judges passages by reading them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from agents.base.interfaces import Candidate, Judged, Reader, Reading, Verdict
from agents.base.sentences import asks_only
from agents.languages.signs import Languages, is_english

READER_USELESS_BELOW = 0.05  # its score; one in sixty passages with the answer is below (docs/experiments.md)
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


class ReaderJudge:
    """A judge that asks the reader what a passage says to a question."""

    def __init__(self, readings: Readings, languages: Languages | None = None) -> None:
        """languages: tells what the reader cannot read, of which it says nothing."""
        self._readings, self._languages = readings, languages

    @property
    def name(self) -> str:
        return self._readings.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. What only asks answers nothing, and is not read."""
        if not is_english(self._languages, question):
            return Judged((None,) * len(candidates), 0, 0)
        told = [c for c in candidates if not (c.passage.kind == "message" and asks_only(c.passage.text))]
        unread = {id(c): None for c in told if not is_english(self._languages, c.passage.text)}
        told = [c for c in told if id(c) not in unread]
        readings = self._readings.of(question, [c.passage.text for c in told])
        read = {id(c): reading.verdict for c, reading in zip(told, readings, strict=True)}
        verdicts: dict[int, Verdict | None] = {**read, **unread}
        tokens = sum(reading.tokens for reading in readings)
        return Judged(tuple(verdicts.get(id(c), Verdict("irrelevant", 0.0)) for c in candidates), tokens, 0)
