"""Fits the judge's and the extractive model's weights, and chooses the threshold, on training questions.

    python -m benchmarks.fit_answering DATA_DIR QUESTIONS.jsonl.gz [--questions 2000] [--seed 1]

DATA_DIR is a data directory into which the passages of the questions were ingested as shared. Two thirds
of the questions fit, one third measures. For "nothing found", every passage that holds the answer is taken
away from the same questions.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.backends.extractive import FEATURES, features
from agents.interfaces import Candidate
from agents.score_judge import shared_words
from agents.sentences import is_question, sentences
from assistant.config import Settings
from assistant.locations import find_locations
from assistant.wiring import Assistant
from benchmarks.questions import holds_answer, read_questions
from stores.lexical import tokens

Floats = npt.NDArray[np.float64]


def fitted(rows: Floats, labels: Floats, *, ridge: float = 1e-3) -> Floats:
    """Weights of a logistic regression by Newton's method. rows: (N, F); labels: (N,), 0 or 1."""
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(rows @ weights)))
        gradient = rows.T @ (p - labels) + ridge * weights
        curvature = (rows * (p * (1 - p))[:, None]).T @ rows + ridge * np.eye(rows.shape[1])
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def sentence_rows(
    assistant: Assistant, question: str, answers: list[str], candidates: list[Candidate]
) -> tuple[Floats, Floats]:
    """Features and labels of every sentence of some passages."""
    placed = [
        (c.passage.title, c.passage.text, s.text)
        for c in candidates
        for s in sentences(c.passage.text)
        if not is_question(s.text)
    ]
    labels = np.array([float(holds_answer(text, answers)) for _, _, text in placed])
    if not placed:
        return np.zeros((0, len(FEATURES))), labels
    return features(assistant.encoder, question, placed), labels


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--questions", dest="count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passages", type=int, default=5)
    arguments = parser.parse_args()

    assistant = Assistant(Settings(), find_locations(os.environ, data=str(arguments.data)))
    space = assistant.spaces.of(assistant.journal.user_id("benchmark"))
    asked = read_questions(arguments.questions, count=arguments.count, seed=arguments.seed)
    judge_rows, judge_labels, judge_is_test = [], [], []
    per_question = []  # (is_test, rows, labels, rows without the answer)
    for number, entry in enumerate(asked):
        question, answers, gold = entry["question"], entry["answers"], set(entry["passage_ids"])
        candidates = list(assistant.retriever.retrieve(question, space).candidates)
        is_test = number % 3 == 0
        wanted = set(tokens(question))
        for candidate in candidates[:20]:
            passage = candidate.passage
            judge_rows.append((candidate.dense, shared_words(wanted, f"{passage.title} {passage.text}"), 1.0))
            holds = passage.external_id in gold and holds_answer(passage.text, answers)
            judge_labels.append(float(holds))
            judge_is_test.append(is_test)
        rows, labels = sentence_rows(assistant, question, answers, candidates[: arguments.passages])
        without = [
            c
            for c in candidates
            if c.passage.external_id not in gold and not holds_answer(c.passage.text, answers)
        ]
        bare, _ = sentence_rows(assistant, question, answers, without[: arguments.passages])
        per_question.append((is_test, rows, labels, bare))
        if number % 100 == 0:
            print(f"{number} of {len(asked)} questions", file=sys.stderr)

    x, y, test = np.array(judge_rows), np.array(judge_labels), np.array(judge_is_test)
    judge = fitted(x[~test], y[~test])
    p = 1 / (1 + np.exp(-(x[test] @ judge)))
    print(f"judge weights (cosine, words, bias): {np.round(judge, 3).tolist()}")
    for least in (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7):
        said = p >= least
        print(
            f"  p >= {least:.2f}: precision {y[test][said].mean() if said.any() else 0:.3f}, "
            f"recall {said[y[test] == 1].mean():.3f}"
        )

    fit_rows = np.concatenate([rows for is_test, rows, _, _ in per_question if not is_test])
    fit_labels = np.concatenate([labels for is_test, _, labels, _ in per_question if not is_test])
    weights = fitted(fit_rows, fit_labels)
    print(f"sentence weights {FEATURES}: {np.round(weights, 3).tolist()}")
    tested = [(rows, labels, bare) for is_test, rows, labels, bare in per_question if is_test]
    chances = [1 / (1 + np.exp(-(rows @ weights))) for rows, _, _ in tested]
    best_right = np.array(
        [
            bool(labels[chance.argmax()]) if len(chance) else False
            for chance, (_, labels, _) in zip(chances, tested, strict=True)
        ]
    )
    best = np.array([chance.max() if len(chance) else 0.0 for chance in chances])
    best_bare = np.array(
        [(1 / (1 + np.exp(-(bare @ weights)))).max() if len(bare) else 0.0 for _, _, bare in tested]
    )
    print(f"best sentence holds the answer: {best_right.mean():.3f} of {len(tested)} questions")
    print("threshold: answered, right of the answered, right answers kept | answered without the answer")
    for least in (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
        said = best >= least
        print(
            f"  {least:.2f}: {said.mean():.3f}, {best_right[said].mean() if said.any() else 0:.3f}, "
            f"{said[best_right].mean():.3f} | {(best_bare >= least).mean():.3f}"
        )
    assistant.close()


if __name__ == "__main__":
    main()
