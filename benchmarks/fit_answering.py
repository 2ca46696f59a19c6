"""Fits the weights of the extractive model, and of the judge by scores, on questions kept from the reader.

    python -m benchmarks.fit_answering DATA [--questions 300] [--seed 1] [--without-reader | --again]

Questions of squad and nq and follow-ups of doc2dial, on the articles that were kept from the reader's
training to calibrate it, and of the dev part of data/documents are asked of one store of all passages of
those articles and as many others. Half of the questions of squad and nq come behind another question. Two
thirds fit, one third measures. For "nothing found", every passage that holds the answer is taken away from
the same questions. Sentences are fitted with those passages and without them, first all, then each time the
best one alone: it is the one that decides whether anything is quoted.

With --again the weights after the second reading are fitted; those of the first stay.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.answering.quoting import (
    FEATURES,
    READ_FEATURES,
    REREAD_FEATURES,
    Placed,
    Quoter,
    features,
    read,
    reread,
    reread_features,
)
from agents.base.chat_interfaces import Source
from agents.base.interfaces import Candidate
from agents.base.memory_page import asked_after, said_before
from agents.base.sentences import is_question, sentences
from agents.retrieval.reader_judge import ReaderJudge, Readings
from agents.retrieval.retriever import best_of
from agents.retrieval.score_judge import ScoreJudge, shared_words
from assistant.learning.recipes.examples.records import read_records
from assistant.library.documents import PreparedDocument, PreparedPassage, read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.documents import lines_of, written
from benchmarks.offline_answers import default_reranker
from benchmarks.questions import holds_answer
from stores.base.passages import SHARED
from stores.words.lexical import tokens
from training.examples.example import normalised, part_of

Floats = npt.NDArray[np.float64]

# Questions, passages, and the share of the questions.
SETS = {
    "squad": ("squad/train.jsonl.gz", "squad/passages_train.jsonl.gz"),
    "nq": ("nq/train.jsonl.gz", "nq/passages.jsonl.gz"),
    "doc2dial": ("doc2dial/train.jsonl.gz", "doc2dial/passages.jsonl.gz"),
}
DOCUMENTS = "documents"
OTHERS = 1_500  # passages of each set on other articles


@dataclass(frozen=True)
class Question:
    """A question as it is asked: the message, and what was asked before it."""

    message: str
    before: str
    answers: list[str]
    passage_ids: frozenset[str]

    @property
    def text(self) -> str:
        """As the reader reads it."""
        return asked_after(self.message, self.before)


@dataclass(frozen=True)
class Asked:
    """One question's sentences and passages, with what speaks for each and whether it holds the answer."""

    is_test: bool
    sentences: Floats  # (N, F)
    holds: Floats  # (N,), 0 or 1
    without_answer: Floats  # (M, F): of what is found when no passage holds the answer
    passages: Floats  # (P, 3)
    passage_holds: Floats  # (P,)


def is_kept(article: str) -> bool:
    """Whether the reader was not trained on an article."""
    return part_of(article, has_test_file=True) == "calibration"


def questions_of(data: Path, name: str, count: int, rng: random.Random) -> list[Question]:
    """A sample of the answered questions on articles that were kept."""
    if name == DOCUMENTS:
        asked = list(_asked_of_documents())
        return rng.sample(asked, min(count, len(asked)))
    path = data / SETS[name][0]
    key = (lambda r: r["doc"]) if name == "doc2dial" else (lambda r: normalised(r["doc"]))
    kept = [r for r in read_records(path) if r["passage_ids"] and is_kept(key(r))]
    if name == "doc2dial":
        kept = [r for r in kept if len(r["question"].split()) > 2]  # no "yes"
    chosen = rng.sample(kept, min(count, len(kept)))
    return [
        Question(r["question"], _before(r, kept, rng), r["answers"], frozenset(r["passage_ids"]))
        for r in chosen
    ]


def _before(record: dict[str, Any], kept: Sequence[dict[str, Any]], rng: random.Random) -> str:
    if "history" in record:
        return said_before([turn["question"] for turn in record["history"]])
    return rng.choice(kept)["question"] if rng.random() < 0.5 else ""


def documents(data: Path, name: str, rng: random.Random) -> Iterator[PreparedDocument]:
    """The passages of the articles that were kept, and others."""
    kept, others = [], []
    for r in read_records(data / SETS[name][1]):
        article = r["doc"] if name == "doc2dial" else normalised(r["doc"])
        (kept if is_kept(article) else others).append(r)
    for r in [*kept, *rng.sample(others, min(OTHERS, len(others)))]:
        text_hash = hashlib.sha256(f"{r['id']} {r['text']}".encode()).hexdigest()
        title = r.get("title") or r["doc"]
        passage = PreparedPassage(title, r["text"])
        yield PreparedDocument(f"{name}#{r['id']}", title, text_hash, (passage,), str(r["id"]))


def _asked_of_documents() -> Iterator[Question]:
    asked = {q["id"]: q for q in lines_of("questions.jsonl", "dev")}
    for q in asked.values():
        if q["answer"]:
            before = asked[q["prev"]]["q"] if q.get("prev") else ""
            yield Question(q["q"], before, [q["answer"]], frozenset())


def sentence_rows(
    assistant: Assistant,
    readings: Readings | None,
    question: Question,
    candidates: Sequence[Candidate],
    *,
    again: bool = False,
) -> tuple[Floats, Floats]:
    """Features and labels of every sentence of some passages, best passage first.

    again: those after the second reading, of what it reads.
    """
    if again:
        sources = [Source(number, c.passage) for number, c in enumerate(candidates, start=1)]
        quoter = Quoter(assistant.search.encoder, threshold=0.0, quotes=1, readings=readings)
        quotes, read_again = reread(
            assistant.models.large_readings, question.text, quoter.quotes(question.text, sources)
        )
        said = [(f"{quote.term} {quote.text}", quote.source.passage.text) for quote in quotes]
        holds = np.array([float(_answers(text, passage, question)) for text, passage in said])
        return reread_features(quotes, read_again), holds
    placed = [
        Placed(c.passage.title, c.passage.text, number, s)
        for number, c in enumerate(candidates, start=1)
        for s in sentences(c.passage.text)
        if not is_question(s.text)
    ]
    labels = np.array([float(_answers(p.sentence.text, p.passage, question)) for p in placed])
    if not placed:
        return np.zeros((0, len(READ_FEATURES if readings else FEATURES))), labels
    read_of = read(readings, question.text, placed)
    return features(assistant.search.encoder, question.text, placed, read_of), labels


def _answers(sentence: str, passage: str, question: Question) -> bool:
    """Whether a sentence holds an answer, or begins one that goes on behind it."""
    opens = [answer[: len(sentence)] for answer in question.answers if len(answer) > len(sentence) / 2]
    return holds_answer(sentence, question.answers) or any(
        len(one) > 30 and one[:30] in sentence for one in opens
    )


def asked_of(
    assistant: Assistant,
    readings: Readings | None,
    questions: Sequence[Question],
    passages: int,
    *,
    again: bool = False,
) -> list[Asked]:
    """Asks questions of the store."""
    reranker = default_reranker(ScoreJudge() if readings is None else ReaderJudge(readings))
    space = assistant.search.spaces.of(assistant.stores.journal.user_id("benchmark"))
    retriever = assistant.search.searching.retriever
    asked: list[Asked] = []
    for number, one in enumerate(questions):
        texts = dict.fromkeys((one.message, one.text))
        candidates = best_of([retriever.retrieve(text, space) for text in texts]).candidates
        wanted = set(tokens(one.message))
        about = [
            (c.dense, shared_words(wanted, f"{c.passage.title} {c.passage.text}"), 1.0)
            for c in candidates[:20]
        ]
        gold = [
            c.passage.external_id in one.passage_ids or holds_answer(c.passage.text, one.answers)
            for c in candidates
        ]
        chosen = reranker.rerank(one.text, candidates).order[:passages]
        rows, labels = sentence_rows(assistant, readings, one, chosen, again=again)
        without = [c for c, is_gold in zip(candidates, gold, strict=True) if not is_gold]
        instead = reranker.rerank(one.text, without).order[:passages]
        bare, _ = sentence_rows(assistant, readings, one, instead, again=again)
        asked.append(
            Asked(number % 3 == 0, rows, labels, bare, np.array(about), np.array(gold[:20], dtype=float))
        )
        if number % 50 == 0:
            print(f"{number} of {len(questions)} questions", file=sys.stderr)
    return asked


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
    for least in np.arange(0.1, 0.75, 0.05):
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
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", dest="count", type=int, default=300, help="of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passages", type=int, default=5)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--without-reader", action="store_true")
    way.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        assistant = Assistant(Settings(), find_locations(os.environ, data=folder), offline=True)
        user = assistant.stores.journal.user_id("benchmark")
        for name in SETS:
            stored = documents(arguments.data, name, rng)
            for _ in assistant.turns.ingest.run(user, SHARED, stored, summary=name):
                pass
        files = (one for file in written("dev", Path(folder) / DOCUMENTS) for one in read_documents(file))
        stored = (one for one in files if isinstance(one, PreparedDocument))
        for _ in assistant.turns.ingest.run(user, SHARED, stored, summary=DOCUMENTS):
            pass
        readings = None if arguments.without_reader else assistant.models.readings
        sets = {
            name: asked_of(
                assistant,
                readings,
                questions_of(arguments.data, name, arguments.count, rng),
                arguments.passages,
                again=arguments.again,
            )
            for name in (*SETS, DOCUMENTS)
        }
        assistant.close()
    fitting = [a for asked in sets.values() for a in asked if not a.is_test]
    judge = fitted(
        np.concatenate([a.passages for a in fitting]), np.concatenate([a.passage_holds for a in fitting])
    )
    print(f"judge weights (cosine, words, bias): {np.round(judge, 3).tolist()}")
    weights = fitted_sentences(fitting)
    names = REREAD_FEATURES if arguments.again else READ_FEATURES if readings else FEATURES
    print(f"sentence weights {names}: {np.round(weights, 3).tolist()}")
    for name, asked in sets.items():
        print(name)
        report_sentences(asked, weights)


if __name__ == "__main__":
    main()
