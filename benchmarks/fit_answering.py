"""Fits the judge's and the extractive model's weights, and chooses the threshold, on training questions.

    python -m benchmarks.fit_answering DATA_DIR=QUESTIONS.jsonl.gz ... [--questions 500] [--seed 1] [--reader]

Each DATA_DIR is a data directory into which the passages of its questions were ingested as shared; each pair
weighs the same. Two thirds of the questions fit, one third measures. For "nothing found", every passage
that holds the answer is taken away from the same questions. Sentences are fitted with those passages and
without them, first all, then each time the best one alone: it is the one that decides whether anything is
quoted. --reader fits the weights of what was read too, on the articles that were kept from the reader's
training to calibrate it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.interfaces import Candidate
from agents.quoting import FEATURES, READ_FEATURES, Placed, features, read
from agents.reader_judge import ReaderJudge
from agents.readings import Readings
from agents.score_judge import ScoreJudge, shared_words
from agents.sentences import is_question, sentences
from assistant.config import Settings
from assistant.learning.example import normalised, part_of
from assistant.locations import find_locations
from assistant.wiring import Assistant
from benchmarks.offline_answers import default_reranker
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


@dataclass(frozen=True)
class Asked:
    """One question's sentences and passages, with what speaks for each and whether it holds the answer."""

    is_test: bool
    sentences: Floats  # (N, F)
    holds: Floats  # (N,), 0 or 1
    without_answer: Floats  # (M, F): of what is found when no passage holds the answer
    passages: Floats  # (P, 3)
    passage_holds: Floats  # (P,)


def sentence_rows(
    assistant: Assistant,
    readings: Readings | None,
    question: str,
    answers: list[str],
    candidates: Sequence[Candidate],
) -> tuple[Floats, Floats]:
    """Features and labels of every sentence of some passages, best passage first."""
    placed = [
        Placed(c.passage.title, c.passage.text, number, s)
        for number, c in enumerate(candidates, start=1)
        for s in sentences(c.passage.text)
        if not is_question(s.text)
    ]
    labels = np.array([float(holds_answer(p.sentence.text, answers)) for p in placed])
    if not placed:
        return np.zeros((0, len(READ_FEATURES if readings else FEATURES))), labels
    return features(assistant.encoder, question, placed, read(readings, question, placed)), labels


def kept_from_training(entry: dict[str, Any]) -> bool:
    """Whether the reader was not trained on this question's article."""
    return part_of(normalised(entry["doc"]), has_test_file=True) == "calibration"


def sampled(questions: Path, *, count: int, seed: int, reads: bool) -> list[dict[str, Any]]:
    """The questions that fit and measure. reads: none that the reader was trained on."""
    if not reads:
        return read_questions(questions, count=count, seed=seed)
    kept = list(filter(kept_from_training, read_questions(questions, count=None, seed=seed, answered=True)))
    return random.Random(seed).sample(kept, min(count, len(kept)))


def asked_of(data: str, questions: Path, *, count: int, seed: int, passages: int, reads: bool) -> list[Asked]:
    """Asks a sample of questions of one data directory."""
    assistant = Assistant(Settings(), find_locations(os.environ, data=data))
    readings = assistant.readings if reads else None
    reranker = default_reranker(ScoreJudge() if readings is None else ReaderJudge(readings))
    space = assistant.spaces.of(assistant.journal.user_id("benchmark"))
    asked: list[Asked] = []
    for number, entry in enumerate(sampled(questions, count=count, seed=seed, reads=reads)):
        question, answers, gold = entry["question"], entry["answers"], set(entry["passage_ids"])
        candidates = assistant.searching.retriever.retrieve(question, space).candidates
        wanted = set(tokens(question))
        about = [
            (c.dense, shared_words(wanted, f"{c.passage.title} {c.passage.text}"), 1.0)
            for c in candidates[:20]
        ]
        holds = [
            float(c.passage.external_id in gold and holds_answer(c.passage.text, answers))
            for c in candidates[:20]
        ]
        chosen = reranker.rerank(question, candidates).order
        rows, labels = sentence_rows(assistant, readings, question, answers, chosen[:passages])
        without = [
            c
            for c in candidates
            if c.passage.external_id not in gold and not holds_answer(c.passage.text, answers)
        ]
        instead = reranker.rerank(question, without).order
        bare, _ = sentence_rows(assistant, readings, question, answers, instead[:passages])
        asked.append(Asked(number % 3 == 0, rows, labels, bare, np.array(about), np.array(holds)))
        if number % 50 == 0:
            print(f"{data}: {number} of {count} questions", file=sys.stderr)
    assistant.close()
    return asked


def chance(rows: Floats, weights: Floats) -> Floats:
    """Probability of each row."""
    return np.asarray(1 / (1 + np.exp(-(rows @ weights))))


def fitted_sentences(asked: Sequence[Asked], *, rounds: int = 2) -> Floats:
    """Weights (F,) by which the best sentence of a question is probable where it holds the answer only."""
    shown = [
        (rows, labels)
        for a in asked
        for rows, labels in ((a.sentences, a.holds), (a.without_answer, np.zeros(len(a.without_answer))))
        if len(rows)
    ]
    weights = fitted(np.concatenate([rows for rows, _ in shown]), np.concatenate([y for _, y in shown]))
    for _ in range(rounds):
        best = [int((rows @ weights).argmax()) for rows, _ in shown]
        weights = fitted(
            np.array([rows[i] for (rows, _), i in zip(shown, best, strict=True)]),
            np.array([y[i] for (_, y), i in zip(shown, best, strict=True)]),
            ridge=0.1,  # two rows a question are few
        )
    return weights


def report_judge(asked: Sequence[Asked], weights: Floats) -> None:
    """Precision and recall of the judge on the questions that measure."""
    p = np.concatenate([chance(a.passages, weights) for a in asked if a.is_test])
    y = np.concatenate([a.passage_holds for a in asked if a.is_test])
    for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        said = p >= least
        precision = y[said].mean() if said.any() else 0.0
        print(f"  p >= {least:.2f}: precision {precision:.3f}, recall {said[y == 1].mean():.3f}")


def report_sentences(asked: Sequence[Asked], weights: Floats) -> None:
    """What the best sentence is worth at each threshold, on the questions that measure."""
    tested = [a for a in asked if a.is_test]
    right = np.array(
        [bool(a.holds[chance(a.sentences, weights).argmax()]) if len(a.holds) else False for a in tested]
    )
    best = np.array([chance(a.sentences, weights).max() if len(a.holds) else 0.0 for a in tested])
    bare = np.array(
        [chance(a.without_answer, weights).max() if len(a.without_answer) else 0.0 for a in tested]
    )
    print(f"  the best sentence holds the answer: {right.mean():.3f} of {len(tested)} questions")
    print("  threshold: answered, right of the answered, right answers kept | answered without the answer")
    for least in (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
        said = best >= least
        of_answered = right[said].mean() if said.any() else 0.0
        print(
            f"  {least:.2f}: {said.mean():.3f}, {of_answered:.3f}, {said[right].mean():.3f} "
            f"| {(bare >= least).mean():.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="+", metavar="DATA_DIR=QUESTIONS")
    parser.add_argument("--questions", dest="count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passages", type=int, default=5)
    parser.add_argument("--reader", action="store_true")
    arguments = parser.parse_args()
    sets: dict[str, list[Asked]] = {}
    for pair in arguments.pairs:
        data, _, questions = pair.partition("=")
        sets[questions] = asked_of(
            data,
            Path(questions),
            count=arguments.count,
            seed=arguments.seed,
            passages=arguments.passages,
            reads=arguments.reader,
        )
    fitting = [a for asked in sets.values() for a in asked if not a.is_test]

    judge = fitted(
        np.concatenate([a.passages for a in fitting]), np.concatenate([a.passage_holds for a in fitting])
    )
    print(f"judge weights (cosine, words, bias): {np.round(judge, 3).tolist()}")
    weights = fitted_sentences(fitting)
    print(
        f"sentence weights {READ_FEATURES if arguments.reader else FEATURES}: {np.round(weights, 3).tolist()}"
    )
    for name, asked in sets.items():
        print(name)
        report_judge(asked, judge)
        report_sentences(asked, weights)


if __name__ == "__main__":
    main()
