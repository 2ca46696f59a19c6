"""The steps of one run, a line each: what a killed replay goes on from, and all that its report is made of.

    {"step": "asked", ...} for each question, {"step": "learned", ...} after each training

What judges were shown is kept with it, each passage once, so that a method can learn again what it had
learned when the process was killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.reranker import Judgement
from assistant.replay.methods.method import Asked, JudgedQuestion
from assistant.replay.storage.line_file import LineFile
from stores.base.errors import WrongUsage
from stores.base.passages import Passage

_ASKED, _LEARNED = "asked", "learned"


@dataclass(frozen=True)
class AskedStep:
    """One question as it was answered."""

    question: str  # its id
    text: str
    domain: str
    figures: Mapping[str, float]  # see `measures`
    reply: str
    judgements: tuple[Judgement, ...] = ()
    seconds: float = 0.0  # wall time; no part of a report

    @property
    def judged(self) -> JudgedQuestion:
        """As a method learns from it."""
        return JudgedQuestion(Asked(self.question, self.text), self.judgements)


@dataclass(frozen=True)
class LearnedStep:
    """One training of a method."""

    after: int  # questions
    facts: Mapping[str, Any]  # of the training, as the method tells them
    seconds: float
    held_out: Sequence[float] = ()  # of each set so far, fused R@5 of what is held out, found by it now


class Steps:
    """The steps of a run, in a file."""

    def __init__(self, file: Path) -> None:
        self._file = LineFile(file)
        self._passages: dict[int, Passage] = {}
        self._asked: list[AskedStep] = []
        self._learned: list[LearnedStep] = []
        for number, row in enumerate(self._file.lines, start=1):
            try:
                self._take(row)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise WrongUsage(
                    f"{file}, line {number} is no step of a replay", hint="Begin anew with --fresh."
                ) from error

    @property
    def asked(self) -> Sequence[AskedStep]:
        """The questions, in the order of the stream."""
        return self._asked

    @property
    def learned(self) -> Sequence[LearnedStep]:
        """The trainings, in order."""
        return self._learned

    def note_asked(self, step: AskedStep) -> None:
        """Keeps a question, durable when this returns."""
        found = [judgement.candidate.passage for judgement in step.judgements]
        new = {passage.version_id: passage for passage in found if passage.version_id not in self._passages}
        row = {
            "step": _ASKED,
            "question": step.question,
            "text": step.text,
            "domain": step.domain,
            "figures": dict(step.figures),
            "reply": step.reply,
            "judged": [_judgement_row(judgement) for judgement in step.judgements],
            "passages": [_passage_row(passage) for passage in new.values()],
            "seconds": step.seconds,
        }
        self._file.append(row)
        self._take(row)

    def note_learned(self, step: LearnedStep) -> None:
        """Keeps a training, durable when this returns."""
        row = {"step": _LEARNED, **asdict(step)}
        self._file.append(row)
        self._take(row)

    def _take(self, row: Mapping[str, Any]) -> None:
        if row["step"] == _LEARNED:
            self._learned.append(
                LearnedStep(row["after"], row["facts"], row["seconds"], row.get("held_out", ()))
            )
            return
        for told in row["passages"]:
            passage = Passage(**{**told, "created_at": datetime.fromisoformat(told["created_at"])})
            self._passages[passage.version_id] = passage
        self._asked.append(
            AskedStep(
                question=row["question"],
                text=row["text"],
                domain=row["domain"],
                figures=row["figures"],
                reply=row["reply"],
                judgements=tuple(self._judgement(told) for told in row["judged"]),
                seconds=row["seconds"],
            )
        )

    def _judgement(self, told: Sequence[Any]) -> Judgement:
        version, dense, lexical, lift, score, rank, label, useful, judge, tokens_in, tokens_out = told
        candidate = Candidate(self._passages[version], dense, lexical, lift, score, rank)
        return Judgement(candidate, Verdict(label, useful), judge, tokens_in, tokens_out)


def _judgement_row(judgement: Judgement) -> list[Any]:
    found, said = judgement.candidate, judgement.verdict
    return [
        found.passage.version_id,
        *(float(found.dense), float(found.lexical), float(found.lift), float(found.score), found.found_rank),
        *(said.label, float(said.score), judgement.judge, judgement.tokens_in, judgement.tokens_out),
    ]


def _passage_row(passage: Passage) -> dict[str, Any]:
    return {**asdict(passage), "created_at": passage.created_at.isoformat()}
