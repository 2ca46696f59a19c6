"""What the word of a judge is worth: asked of it once on questions with known answers, and kept in a file.

    judge -> `known_questions.py` -> precision, recall, and the score from which on its answers teach

The file can be made again, so what cannot be read or written there is asked anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from agents.base.interfaces import Candidate, Judge, Judged
from stores.learning.lessons import DOCUMENTS, TOLD, AllTrusted, Trust, counts

if TYPE_CHECKING:
    from assistant.learning.held_out.known_questions import Probe

_MOST_BYTES = 100_000


class JudgeProbes:
    """By the name of the judge, which holds its version."""

    # by file and questions, where the file cannot be written
    _here: ClassVar[dict[tuple[Path, str], dict[str, Mapping[str, Probe]]]] = {}

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, judge: Judge) -> Mapping[str, Probe]:
        """By kind of passage; asks the judge, for half a minute, where it was not asked yet."""
        from assistant.learning.held_out.known_questions import as_record, probes_of

        if found := self.all().get(judge.name):
            return found
        probes = probes_of(judge)
        self._here.setdefault((self._file, _asked()), {})[judge.name] = probes
        kept = {name: as_record(each) for name, each in self.all().items()} | {judge.name: as_record(probes)}
        new = self._file.with_suffix(".new")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps({"asked": _asked(), "judges": kept}, indent=1), encoding="utf-8")
            new.replace(self._file)
        return probes

    def all(self) -> dict[str, Mapping[str, Probe]]:
        """Those that were asked, by name and kind."""
        return {**self._kept(), **self._here.get((self._file, _asked()), {})}

    def _kept(self) -> dict[str, Mapping[str, Probe]]:
        from assistant.learning.held_out.known_questions import from_record

        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            if self._file.stat().st_size <= _MOST_BYTES:
                read = json.loads(self._file.read_text(encoding="utf-8"))
                if read["asked"] == _asked():
                    return {name: from_record(each) for name, each in read["judges"].items()}
        return {}

    def all_trusted(self) -> AllTrusted:
        """What counts of the words of each."""
        return {name: _trust(probes) for name, probes in self.all().items()}

    def trusted(self, judge: Judge) -> Judge:
        """The same judge, of whose words only those are heard that count."""
        return _Trusted(judge, _trust(self.of(judge)))

    def told(self, judge: Judge) -> list[str]:
        """What was found of a judge, in words; it is asked where it was not yet."""
        self.of(judge)
        return self.lines(judge.name)

    def lines(self, name: str) -> list[str]:
        """What was found of a judge, in words; none where it was not asked."""
        return [_line(kind, each) for kind, each in self.all().get(name, {}).items()]


@dataclass(frozen=True)
class _Trusted:
    asked: Judge
    trust: Trust

    @property
    def name(self) -> str:
        return self.asked.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        """See `Judge`. Of what does not count nothing is said."""
        judged = self.asked.judge(question, candidates)
        heard = tuple(
            verdict
            if verdict is not None and counts(self.trust, _kind(each), verdict.label, verdict.score)
            else None
            for each, verdict in zip(candidates, judged.verdicts, strict=True)
        )
        return Judged(heard, judged.tokens_in, judged.tokens_out)


def _kind(candidate: Candidate) -> str:
    return DOCUMENTS if candidate.passage.kind == "document" else TOLD


def _trust(probes: Mapping[str, Probe]) -> Trust:
    return {kind: each.from_score for kind, each in probes.items()}


def _line(kind: str, probe: Probe) -> str:
    told = "nothing is called an answer"
    if probe.precision is not None:
        told = f"{_percent(*probe.precision)} of what it calls answers are"
    found = f"it finds {_percent(*probe.recall)}"
    teaches = "not learned from" if probe.from_score is None else f"learned from {probe.from_score:.1f} on"
    return f"{kind}: {told}, {found}; {teaches}"


def _percent(value: float, low: float, high: float) -> str:
    return f"{100 * value:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def _asked() -> str:
    """Names the known questions: by others a judge is asked anew."""
    from hashlib import sha256

    from assistant.learning.held_out.known_questions import FILE

    return sha256(FILE.read_bytes()).hexdigest()[:12]
