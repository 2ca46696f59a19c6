"""The retriever's training in a process of its own: lessons, vectors -> files -> the candidate's folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from assistant.learning.steering import Steering
from assistant.learning.training_process import SETTINGS, Tell, train_in_child
from stores.learning.lessons import Lesson
from stores.vectors.exact import read_vectors

PROGRAM = "assistant.learning.recipes.retriever.train"


def train_apart(
    folder: Path,
    lessons: Sequence[Lesson],
    vectors: Mapping[int, bytes],
    *,
    dimension: int,
    settings: Mapping[str, Any],
    threads: int,
    encoder: Path | None = None,
    name: str = "",
    measured_on: Callable[[Lesson], bool] = lambda lesson: lesson.is_held_out,
    budget_seconds: float | None = None,
    checkpoint_seconds: float = 60.0,
    steering: Steering | None = None,
    tell: Tell = lambda told: None,
) -> Path:
    """The candidate's folder, within `folder`; see `train_in_child`.

    vectors: of every document of the lessons, each (dimension,) as stored. encoder: what to start from; else
    the packaged one. name: how the candidate's version begins. measured_on: lessons that the child decides by
    when to end, and never learns from. checkpoint_seconds: between two of them, at most.
    """
    folder = folder.resolve()
    shown = [folder / "lessons.jsonl", folder / "vectors.npz"]
    _write_lessons(shown[0], lessons, measured_on)
    ids = sorted(vectors)
    stored = read_vectors([vectors[i] for i in ids], dimension)
    np.savez(shown[1], ids=np.array(ids, dtype=np.int64), vectors=stored)
    options = [
        "--settings", json.dumps(dict(settings)), "--threads", str(threads), "--name", name,
        "--checkpoint-seconds", str(checkpoint_seconds),
        *(("--vectors", str(shown[1])) if settings.get("update_side") != "both" else ()),
        *(("--encoder", str(encoder.resolve())) if encoder else ()),
    ]  # fmt: skip
    return train_in_child(
        folder, PROGRAM, shown, options, budget_seconds=budget_seconds, steering=steering, tell=tell
    )


def started_from(made: Path) -> str:
    """The version of the encoder that a candidate was trained from."""
    return str(json.loads((made / SETTINGS).read_text(encoding="utf-8"))["start_version"])


def _write_lessons(file: Path, lessons: Sequence[Lesson], measured_on: Callable[[Lesson], bool]) -> None:
    with file.open("w", encoding="utf-8") as out:
        for lesson in lessons:
            documents = [
                {**{k: v for k, v in asdict(d).items() if k != "version_id"}, "id": d.version_id}
                for d in lesson.documents
            ]
            row = {
                "id": str(lesson.turn_id),
                "question": lesson.question,
                "documents": documents,
                "held_out": measured_on(lesson),
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
