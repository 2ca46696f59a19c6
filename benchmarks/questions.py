"""Reads questions, and passes on what the benchmarks measure answers with."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

from assistant.learning.held_out.bootstrap import interval
from assistant.replay.metrics.metrics import holds_answer, normalised_answer, token_f1

__all__ = ["holds_answer", "interval", "normalised_answer", "read_questions", "token_f1"]


def read_questions(
    path: Path, *, count: int | None, seed: int, answered: bool = False
) -> list[dict[str, Any]]:
    """Questions with `question`, `answers` and `passage_ids`; a seeded sample of `count`, or all.

    answered: only those that some passage answers.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    if answered:
        questions = [question for question in questions if question["passage_ids"]]
    return questions if count is None else random.Random(seed).sample(questions, min(count, len(questions)))
