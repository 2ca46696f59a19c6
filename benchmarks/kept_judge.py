"""A judge whose verdicts are kept in a file: benchmarks over the same questions judge each passage once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.base.interfaces import Candidate, Judge, Judged, Verdict


class KeptJudge:
    """A judge whose verdicts are kept between runs: judging costs more than all else of a stream."""

    def __init__(self, judge: Judge, file: Path) -> None:
        """file: a verdict a line, added to by every run; a judge of another name has verdicts of its own."""
        self._judge, self._file = judge, file
        self._known: dict[tuple[str, str, str], Verdict] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                *key, label, score = json.loads(line)
                self._known[key[0], key[1], key[2]] = Verdict(label, score)

    @property
    def name(self) -> str:
        """The judge's."""
        return self._judge.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. Tokens are those of what was not known."""
        keys = [(self.name, question, c.passage.text) for c in candidates]
        new = [c for c, key in zip(candidates, keys, strict=True) if key not in self._known]
        found = self._judge.judge(question, new) if new else Judged((), 0, 0)
        with self._file.open("a", encoding="utf-8") as kept:
            for candidate, verdict in zip(new, found.verdicts, strict=True):
                if verdict is not None:
                    key = (self.name, question, candidate.passage.text)
                    self._known[key] = verdict
                    kept.write(json.dumps([*key, verdict.label, verdict.score]) + "\n")
        return replace(found, verdicts=tuple(self._known.get(key) for key in keys))
