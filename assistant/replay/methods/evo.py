"""EVO: the judge learns, round after round, while the search stays as it is.

    judged questions -> users say what helped -> a child trains the adapters, from those of the round before
      -> the next questions are judged with them

The training is that of the recipe `judge`; what it makes judges from the next question on, better or not.
Each question is judged, and measured, before anything is learned from it. Where judges are given, users say
nothing after the first training (CautiousDPO): what the model is sure of, by the threshold found on what is
measured, is taken at its word, and on all else it votes with the judges. Source: EVO-Reranker, section 4.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.base.interfaces import Candidate, Judge
from assistant.learning.promotion import SERVED
from assistant.learning.training_process import SETTINGS, Further, Tell
from assistant.replay.methods.method import Frozen, JudgedQuestion
from stores.learning.lessons import tells_when_to_end

_MADE = "candidate"  # within the folder of a training


class Evo(Frozen):
    """Searches as frozen, and trains the judge on the questions since the last round and some of before."""

    def __init__(
        self,
        folder: Path,
        *,
        interval: int,
        training: Further,
        users: Judge,
        judges: Sequence[Judge] = (),
        use: Callable[[Path], None],
        tell: Tell = lambda told: None,
    ) -> None:
        """folder: of its own. interval: questions of a round. users: say what helped. use: has the adapters
        of a folder judge from here on. tell: is given what a training tells of itself.
        """
        self._folder, self._interval, self._training = folder, interval, training
        self._users, self._use, self._tell = users, use, tell
        self._rows: list[dict[str, Any]] = []
        self._shown = 0  # questions
        self._judges, self._asked, self._threshold = judges, 0, 0.0
        self._made: Path | None = None  # by the last training

    def learn(self, judged: Sequence[JudgedQuestion]) -> Mapping[str, Any]:
        """One round, where something of it helped. Raises `TrainingFailed`."""
        place = self._take(judged)
        is_new = any(row["step"] == self._step and not row["measured"] for row in self._rows)
        if not is_new or not any(row["measured"] for row in self._rows):
            return {}
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        self._tell({"kind": "phase", "phase": "starting"})
        begins_with = ("--adapters", str(self._made / SERVED)) if self._made else ()
        training = replace(self._training, options=(*self._training.options, *begins_with))
        facts = self._judge_with(training.on(place, self._rows, tell=self._tell))
        told = {name: facts[name] for name in ("best_epoch", "by", "temperature", "threshold")}
        return {"lessons": len(self._rows), "asked": self._asked, **told}

    def take_up(self, judged: Sequence[JudgedQuestion]) -> None:
        """See `Method`. Trains again only what is gone."""
        for at in range(0, len(judged), self._interval):
            some = judged[at : at + self._interval]
            made = self._place(self._shown + len(some)) / _MADE
            if (made / SERVED).is_dir():
                self._take(some)
                self._judge_with(made)
            else:
                self.learn(some)

    def _judge_with(self, made: Path) -> dict[str, Any]:
        """From here on; the facts of its training."""
        facts: dict[str, Any] = json.loads((made / SETTINGS).read_text(encoding="utf-8"))
        self._made, self._threshold = made, facts["threshold"]
        self._use(made / SERVED)
        return facts

    @property
    def _step(self) -> int:
        """Of the questions that were shown last, from 0."""
        return -(-self._shown // self._interval) - 1

    def _place(self, shown: int) -> Path:
        return self._folder / f"after-{shown}"

    def _take(self, judged: Sequence[JudgedQuestion]) -> Path:
        """Keeps what is said of these, where some help and some do not; the folder for a training."""
        self._shown += len(judged)
        is_cautious, self._asked = bool(self._judges and self._made), 0
        for each in judged:
            text, candidates = each.asked.text, [judgement.candidate for judgement in each.judgements]
            said = self._cautious(each) if is_cautious else self._helps(self._users, text, candidates)
            labelled = list(zip(candidates, said, strict=True))
            helped, useless = ([c.passage.text for c, s in labelled if s is is_so] for is_so in (True, False))
            row = {"question": text, "helped": helped, "useless": useless}
            if helped and useless:
                is_measured = tells_when_to_end(text) and not is_cautious  # only what users said
                self._rows.append({"step": self._step, "measured": is_measured, **row})
        return self._place(self._shown)

    def _cautious(self, each: JudgedQuestion) -> list[bool | None]:
        """As the model says where it is sure, else by a vote, None where that is even (Algorithm 1)."""
        from agents.losses.preference import voted

        scores = [judgement.verdict.score for judgement in each.judgements]
        doubtful = [j.candidate for j in each.judgements if not self._is_sure(j.verdict.score)]
        self._asked += len(doubtful)
        votes = zip(*(self._helps(judge, each.asked.text, doubtful) for judge in self._judges), strict=True)
        labels: list[bool | None] = []
        for score in scores:
            own = score >= 0.5
            vote = own if self._is_sure(score) else voted([*next(votes), own])
            labels.append(None if vote is None else bool(vote))
        return labels

    def _is_sure(self, score: float) -> bool:
        return max(score, 1 - score) >= self._threshold

    @staticmethod
    def _helps(judge: Judge, question: str, candidates: Sequence[Candidate]) -> list[bool | None]:
        said = judge.judge(question, candidates).verdicts
        return [None if verdict is None else verdict.label == "answer" for verdict in said]
