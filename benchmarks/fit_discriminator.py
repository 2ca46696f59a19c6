"""Fits what each passage says of a claim, and chooses from which probability a claim is correct.

    python -m benchmarks.fit_discriminator DATA --work DIR [--keep FILE]

DATA and DIR are those of benchmarks.recall. Simulated feedback (experiments/feedback.py) on
training questions of articles that the reader was not trained on: SQuAD's, with wrong answers from anywhere
and from the same article, NQ's and CovidQA's, of these two also their dev questions. Each claim is read
beside what its search finds, and beside what is left without every passage that holds the answer. And claims
that people wrote: FEVER's that were held out from the reader's training to calibrate it, beside their
evidence. The thresholds are the least at which the shares below are not exceeded, each fifth of the articles
judged by weights of the other four. --keep holds what was read, so that another fit need not read again: a
pickle, for this machine and program.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pickle
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Reader
from agents.memory.claim_evidence import Seen, seen
from agents.memory.reader_discriminator import FEATURES, PASSAGES, features, may_support
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.questions import holds_answer, read_questions
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, ingest_collection
from benchmarks.written_claims import candidate
from experiments.feedback import Feedback, FeedbackKind, answerable, simulated
from training.examples.claims import fever_claims
from training.examples.example import normalised, part_of

Floats = npt.NDArray[np.float64]
Source = Literal["any", "near", "written"]  # where a wrong answer is from, or who wrote the claim

FALSE_CORRECT = 0.015  # share of false claims that may be judged correct at the chosen threshold
TRUE_INCORRECT = 0.01  # share of true claims that may be judged incorrect
SUPPORTS, REFUTES, NEITHER = 0, 1, 2
_RIDGE = 1.0
WRITTEN = 900
FOLDS = 5
QUESTIONS = 900  # of each set at most


# Questions of which part, from which seed on, with wrong answers of the same article or of any.
SETS: tuple[tuple[str, str, int, Source], ...] = (
    ("squad", "train", 1, "any"),
    ("squad", "train", 5, "any"),
    ("squad", "train", 2, "near"),
    ("nq", "train", 1, "any"),
    ("nq", "dev", 1, "any"),
    ("covidqa", "train", 1, "any"),
    ("covidqa", "dev", 1, "any"),
)


@dataclass(frozen=True)
class Case:
    """A claim, the names of the passages that answer, and what was read."""

    feedback: Feedback
    source: Source
    gold: frozenset[str]
    known: list[Seen]
    bare: list[Seen]  # without the passages that hold the answer

    @property
    def fold(self) -> int:
        """Which part of all cases it belongs to: those of one article to one."""
        article = min(self.feedback.passage_ids).rsplit("-", 1)[0]
        return hashlib.sha256(article.encode()).digest()[0] % FOLDS


def read_cases(data: Path, work: Path, name: str, part: str, seed: int, source: Source) -> list[Case]:
    """Claims of one set, read beside the passages of its collection."""
    collection = next(c for c in COLLECTIONS if c.name == name)
    assistant = BenchmarkAssistant(work / collection.store, work / "vectors")
    try:
        same_as = ingest_collection(assistant, data, collection)
        space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
        questions = read_questions(data / name / f"{part}.jsonl.gz", count=None, seed=1, answered=True)
        kept = [
            question
            for question in answerable(questions)
            if part == "dev" or part_of(normalised(question["doc"]), has_test_file=True) == "calibration"
        ]
        asked = random.Random(seed).sample(kept, min(QUESTIONS, len(kept)))
        found: list[Case] = []
        for number, one in enumerate(simulated(asked, kept, seed=seed, is_near=source == "near")):
            candidates = assistant.search.searching.retriever.retrieve(one.claim, space).candidates
            gold = frozenset(same_as.get(i, i) for i in one.passage_ids)
            without = [
                c
                for c in candidates
                if c.passage.external_id not in gold and not holds_answer(c.passage.text, list(one.answers))
            ]
            known = seen(assistant.models.reader, one.claim, candidates[:PASSAGES])
            bare = seen(assistant.models.reader, one.claim, without[:PASSAGES])
            found.append(Case(one, source, gold, known, bare))
            if number % 100 == 0:
                print(f"{name}: {number} of {len(asked)}", file=sys.stderr)
        return found
    finally:
        assistant.close()


def read_written(data: Path, reader: Reader) -> list[Case]:
    """Claims of FEVER, each read beside its own evidence; they know no passages without the answer."""
    written = random.Random(1).sample(fever_claims(data, "calibration"), WRITTEN)
    found: list[Case] = []
    for number, one in enumerate(written):
        kind: FeedbackKind = "right" if one.label == SUPPORTS else "wrong"
        feedback = Feedback(kind, one.text, one.text, "", (), frozenset({one.key}))
        known = seen(reader, one.text, [candidate(one.evidence, name=one.key)])
        found.append(Case(feedback, "written", frozenset({one.key}), known, []))
        if number % 100 == 0:
            print(f"fever: {number} of {len(written)}", file=sys.stderr)
    return found


def labelled(cases: Sequence[Case]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """(N, F) and (N,): what each passage says of its claim. One that may answer as well says nothing."""
    rows, labels = [], []
    for case in cases:
        for one in case.known:
            label = _label(case, one)
            if label is not None:
                rows.append(features(one))
                labels.append(label)
        rows += [features(one) for one in case.bare]
        labels += [NEITHER] * len(case.bare)
    return np.array(rows), np.array(labels, dtype=np.int64)


def _label(case: Case, one: Seen) -> int | None:
    kind = case.feedback.kind
    if kind != "unrelated" and one.candidate.passage.external_id in case.gold:
        return SUPPORTS if kind == "right" else REFUTES
    holds = holds_answer(one.candidate.passage.text, list(case.feedback.answers))
    return None if holds and kind != "unrelated" else NEITHER


def fitted(rows: Floats, labels: npt.NDArray[np.int64]) -> Floats:
    """(F, 2): weights of a softmax regression against the last class, by Newton's method.

    rows: (N, F), the last column 1. Features are scaled while fitting, so that the ridge weighs all alike.
    """
    scale = rows.std(axis=0)
    scale[scale == 0] = 1.0
    scaled, count = rows / scale, rows.shape[1]
    weights = np.zeros((count, 2))
    truth = np.eye(3)[labels][:, :2]
    ridge = np.full(count, _RIDGE)
    ridge[-1] = 1e-6
    for _ in range(50):
        p = softmax(scaled @ weights)[:, :2]
        gradient = scaled.T @ (p - truth) + ridge[:, None] * weights
        curvature = np.zeros((2 * count, 2 * count))
        for i in range(2):
            for j in range(2):
                share = p[:, i] * ((i == j) - p[:, j])
                block = (scaled * share[:, None]).T @ scaled
                place = slice(i * count, (i + 1) * count), slice(j * count, (j + 1) * count)
                curvature[place] = block + (np.diag(ridge) if i == j else 0)
        step = np.linalg.solve(curvature, gradient.T.ravel()).reshape(2, count).T
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(weights / scale[:, None])


def softmax(logits: Floats) -> Floats:
    """(N, 3) out of (N, 2): the last class has the logit 0."""
    full = np.concatenate([logits, np.zeros((len(logits), 1))], axis=1)
    powers = np.exp(full - full.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def judged(found: Sequence[Seen], weights: Floats) -> tuple[float, float]:
    """The probabilities that a claim is correct and incorrect, as `ReaderDiscriminator` has them."""
    if not found:
        return 0.0, 0.0
    p = softmax(np.array([features(one) for one in found]) @ weights)
    supported = [float(row[0]) for row, one in zip(p, found, strict=True) if may_support(one)]
    return max(supported, default=0.0), float(p[:, 1].max())


def reached(side: Floats, other: Floats, least: float) -> float:
    """The share of claims that are given this side's status."""
    return float(np.mean((side >= least) & (side > other))) if len(side) else 0.0


def chosen(side: Floats, other: Floats, *, most: float) -> float:
    """The least threshold, in steps of 0.01, at which at most this share is given the wrong status."""
    steps = (step / 100 for step in range(50, 100))
    return next((least for least in steps if reached(side, other, least) <= most), 1.0)


def report(judgements: Sequence[tuple[Case, tuple[float, float], tuple[float, float]]]) -> None:
    """Every threshold, and the two chosen ones. judgements: with all passages, and without the answer."""
    groups: dict[str, list[tuple[float, float]]] = {
        f"{name}, {source}": [] for source in get_args(Source) for name in ("true", "false", "unrelated")
    }
    groups["unknowable"] = []
    names: dict[FeedbackKind, str] = {"right": "true", "wrong": "false", "unrelated": "unrelated"}
    for case, known, bare in judgements:
        groups[f"{names[case.feedback.kind]}, {case.source}"].append(known)
        if case.bare and case.feedback.kind != "unrelated":
            groups["unknowable"].append(bare)
    sides = {name: np.array(found).reshape(-1, 2) for name, found in groups.items() if found}
    print("threshold: % correct | % incorrect, of " + ", ".join(f"{n} ({len(g)})" for n, g in sides.items()))
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
        correct = " ".join(f"{100 * reached(g[:, 0], g[:, 1], least):.1f}" for g in sides.values())
        incorrect = " ".join(f"{100 * reached(g[:, 1], g[:, 0], least):.1f}" for g in sides.values())
        print(f"  {least:.2f}: {correct} | {incorrect}")
    false, true = (
        np.concatenate([sides[f"{n}, {s}"] for s in ("any", "written")]) for n in ("false", "true")
    )
    print(f"CORRECT_FROM {chosen(false[:, 0], false[:, 1], most=FALSE_CORRECT)}")
    print(f"INCORRECT_FROM {chosen(true[:, 1], true[:, 0], most=TRUE_INCORRECT)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if arguments.keep and arguments.keep.exists():
        cases: list[Case] = pickle.loads(arguments.keep.read_bytes())
    else:
        cases = [case for one in SETS for case in read_cases(arguments.data, arguments.work, *one)]
        assistant = Assistant(Settings(), find_locations(os.environ), offline=True)
        cases += read_written(arguments.data, assistant.models.reader)
        if arguments.keep:
            arguments.keep.write_bytes(pickle.dumps(cases))
    judgements = []
    for fold in range(FOLDS):
        weights = fitted(*labelled([case for case in cases if case.fold != fold]))
        own = [case for case in cases if case.fold == fold]
        judgements += [(case, judged(case.known, weights), judged(case.bare, weights)) for case in own]
    report(judgements)
    rows, labels = labelled(cases)
    print(f"weights of all {len(cases)} claims, {np.bincount(labels, minlength=3).tolist()} passages")
    for name, row in zip(FEATURES, fitted(rows, labels), strict=True):
        print(f"        {np.round(row, 3).tolist()},  # {name}")


if __name__ == "__main__":
    main()
