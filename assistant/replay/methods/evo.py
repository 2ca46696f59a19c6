"""EVO: the judge learns, round after round, while the search stays as it is.

    judged questions -> users say what helped -> a child trains the adapters, from those of the round before
      -> the next questions are judged with them

The training is that of the recipe `judge`; what it makes judges from the next question on, better or not.
Each question is judged, and measured, before anything is learned from it. Source: EVO-Reranker, section 4.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.base.interfaces import Judge
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
        self._made = training.on(place, self._rows, tell=self._tell)
        self._use(self._made / SERVED)
        facts = json.loads((self._made / SETTINGS).read_text(encoding="utf-8"))
        return {"lessons": len(self._rows), "best_epoch": facts["best_epoch"], "by": facts["by"]}

    def take_up(self, judged: Sequence[JudgedQuestion]) -> None:
        """See `Method`. Trains again only what is gone."""
        for at in range(0, len(judged), self._interval):
            some = judged[at : at + self._interval]
            made = self._place(self._shown + len(some)) / _MADE
            if (made / SERVED).is_dir():
                self._take(some)
                self._made = made
                self._use(made / SERVED)
            else:
                self.learn(some)

    @property
    def _step(self) -> int:
        """Of the questions that were shown last, from 0."""
        return -(-self._shown // self._interval) - 1

    def _place(self, shown: int) -> Path:
        return self._folder / f"after-{shown}"

    def _take(self, judged: Sequence[JudgedQuestion]) -> Path:
        """Keeps what users say of these, where something helps; the folder for a training."""
        self._shown += len(judged)
        for each in judged:
            candidates = [judgement.candidate for judgement in each.judgements]
            texts: dict[bool, list[str]] = {True: [], False: []}
            said = self._users.judge(each.asked.text, candidates).verdicts
            for candidate, verdict in zip(candidates, said, strict=True):
                texts[verdict is not None and verdict.label != "irrelevant"].append(candidate.passage.text)
            row = {"question": each.asked.text, "helped": texts[True], "useless": texts[False]}
            if all(texts.values()):
                is_measured = tells_when_to_end(each.asked.text)
                self._rows.append({"step": self._step, "measured": is_measured, **row})
        return self._place(self._shown)
