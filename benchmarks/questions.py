"""Reads questions and measures answers; shared by the benchmarks."""

from __future__ import annotations

import gzip
import json
import random
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


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


def normalised_answer(text: str) -> str:
    """Lower case, without punctuation and articles, spaces collapsed."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def holds_answer(text: str, answers: list[str]) -> bool:
    """Whether any of the answers stands in a text, whole words."""
    padded = f" {normalised_answer(text)} "
    return any(f" {normalised_answer(answer)} " in padded for answer in answers if normalised_answer(answer))


def token_f1(found: str, right: str) -> float:
    """Harmonic mean of precision and recall of the words that two answers share, as in SQuAD."""
    one, other = normalised_answer(found).split(), normalised_answer(right).split()
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other)) if shared else float(one == other)


def interval(
    differences: npt.NDArray[np.float64], *, seed: int, resamples: int = 10_000
) -> tuple[float, float]:
    """The 95 % interval of a mean, by bootstrap over questions."""
    random = np.random.default_rng(seed)
    means = np.array(
        [differences[random.integers(0, len(differences), len(differences))].mean() for _ in range(resamples)]
    )
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))
