"""Reads questions and measures answers; shared by the benchmarks."""

from __future__ import annotations

import gzip
import json
import random
import re
import string
from pathlib import Path
from typing import Any


def read_questions(path: Path, *, count: int | None, seed: int) -> list[dict[str, Any]]:
    """Questions with `question`, `answers` and `passage_ids`; a seeded sample of `count`, or all."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    return questions if count is None else random.Random(seed).sample(questions, min(count, len(questions)))


def normalised_answer(text: str) -> str:
    """Lower case, without punctuation and articles, spaces collapsed."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def holds_answer(text: str, answers: list[str]) -> bool:
    """Whether any of the answers stands in a text, whole words."""
    padded = f" {normalised_answer(text)} "
    return any(f" {normalised_answer(answer)} " in padded for answer in answers if normalised_answer(answer))
