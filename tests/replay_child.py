"""A replay that may be killed: python tests/replay_child.py HOME OUT [ray]

HOME/cache holds the encoders, HOME/towns the data set. The training is a stand-in that takes no time:
questions are encoded with a shift that hangs on the lessons. OUT/trained.log tells of each training.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.base.interfaces import Encoder, Vectors
from assistant.learning.promotion import SERVED
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.methods.luf import Luf
from assistant.replay.report.report import report_of
from assistant.replay.runs.inputs import read_inputs
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.replay import Replay
from assistant.replay.storage.line_file import encoded
from assistant.settings.config import AnswerSettings, ScaleSettings, Settings
from assistant.settings.locations import Locations
from experiments.compared_replay import ComparedReplay, How
from stores.learning.lessons import Lesson


class Shifted:
    """Questions moved by a vector of their training's own."""

    def __init__(self, base: Encoder, folder: Path) -> None:
        self._base = base
        seed = int(json.loads((folder / "seed.json").read_text()))
        self._shift = np.random.default_rng(seed).normal(size=base.dimension).astype(np.float32)
        self.version, self.dimension = base.version, base.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        moved = self._base.encode_queries(texts) + 0.02 * self._shift
        vectors: Vectors = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        return vectors

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._base.encode_passages(texts)


def train(
    folder: Path,
    lessons: Sequence[Lesson],
    vectors: Mapping[int, bytes],
    *,
    tell: Callable[[Any], None],
    **settings: Any,
) -> Path:
    told = repr([[(d.version_id, d.label, d.score) for d in lesson.documents] for lesson in lessons])
    seed = int.from_bytes(hashlib.sha256(told.encode()).digest()[:4], "big")
    (folder / "candidate" / SERVED).mkdir(parents=True)
    (folder / "candidate" / SERVED / "seed.json").write_text(json.dumps(seed))
    with (folder.parents[3] / "trained.log").open("a") as log:
        log.write(f"{len(lessons)}\n")
    for step in (1, 2):
        tell({"kind": "step", "step": step, "steps": 2, "loss": seed % 97 / step})
    tell({"kind": "done", "best_epoch": 1})
    return folder / "candidate"


class ChildReplay(Replay):
    """Trains by the stand-in."""

    def _luf(self, *given: Any, **how: Any) -> Luf:
        stand_in = {"train": train, "load": lambda folder: Shifted(self._encoder, folder)}
        return super()._luf(*given, **stand_in, **how)


class HearingReplay(ChildReplay, ComparedReplay):
    """Users speak in it."""


def child_replay(
    home: Path, out: Path, *, hears: bool = False, scale: ScaleSettings | None = None, **plan: Any
) -> Replay:
    towns = home / "towns"
    streamed = read_inputs(
        [str(towns / "towns.jsonl")],
        data=None,
        splits=(),
        passages=towns / "passages.jsonl",
    )
    told = {"judge": "simulated", "accuracy": 0.7, "interval": 6} | plan
    made = ReplayPlan(methods=(MethodChoice.read("luf"),), **told)
    # two networks less to load
    settings = Settings(answer=AnswerSettings(reader=False), scale=scale or ScaleSettings())
    places = {"settings": settings, "live": locations(home)}
    if hears:
        how = How(answers="simulated", user_feedback=True)
        return HearingReplay(made, streamed, out, how=how, **places)
    return ChildReplay(made, streamed, out, **places)


def locations(home: Path) -> Locations:
    return Locations(
        data=home / "data", settings=home / "settings.toml", cache=home / "cache", state=home / "state"
    )


if __name__ == "__main__":
    out = Path(sys.argv[2])
    scale = ScaleSettings(engine="ray", workers=2) if "ray" in sys.argv else None
    played = child_replay(Path(sys.argv[1]), out, scale=scale)
    runs = played.play()
    (out / "report.json").write_bytes(encoded(report_of(played.identity, runs)))
