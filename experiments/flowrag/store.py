"""One store of all collections, searched and judged as the product does, by vectors that are given.

    question, cosines -> the best 100 of either signal -> mix -> 40 candidates -> reader -> order of answers

BM25 is computed over the whole store at once; `python -m experiments.flowrag --check` compares what is found
with the product's own search.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Candidate, Vectors
from agents.models.reader import OnnxReader
from agents.models.reader_files import SMALL
from agents.retrieval.reader_judge import ReaderJudge, Readings
from agents.retrieval.reranker import Reranker
from agents.retrieval.retriever import Fusion, Signals
from assistant.learning.held_out.ranking import ndcg_at, success_at
from assistant.settings.config import RerankingSettings, RetrievalSettings
from benchmarks.kept_judge import KeptJudge
from experiments.flowrag.domains import Domain
from stores.base.passages import SHARED, Passage
from stores.words.lexical import (
    ASKED_PASSAGES,
    LENGTH_SHARE,
    SATURATION,
    WordStatistics,
    tokens,
    worth_asking,
)

Scores = npt.NDArray[np.float64]  # of each passage of the store

DENSE, FUSED, NDCG, RERANKED = MEASURES = ("dense R@5", "fused R@5", "fused nDCG@10", "reranked R@5")
_RETRIEVAL, _RERANKING = RetrievalSettings(), RerankingSettings()
_FUSION = Fusion(_RETRIEVAL.dense_weight, _RETRIEVAL.document_lift, _RETRIEVAL.conversation_lift)
_THEN = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Part:
    """The passages of one encoder, and the questions as this encoder has them; parts follow each other."""

    passages: Vectors  # (n, D)
    questions: Vectors  # (Q, D): of all that is asked
    offset: float = 0.0  # added to its cosines, where parts are merged

    def cosines(self, asked: int) -> Scores:
        """(n,): of one question, by its row."""
        found: Scores = (self.passages @ self.questions[asked] + self.offset).astype(float)
        return found


def cosines(parts: Sequence[Part], asked: int, searched: slice) -> Scores:
    """Of one question and every passage, each by its part's encoder; -inf for what is not searched.

    asked: the question's row. searched: the rows of a collection, or of the store.
    """
    found = np.concatenate([part.cosines(asked) for part in parts])
    found[: searched.start] = found[searched.stop :] = -np.inf
    return found


class Words:
    """BM25 of a question for every passage, as `stores.words.lexical` defines it."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = [tokens(text) for text in texts]
        lengths = np.array([len(each) for each in words], float)
        holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, each in enumerate(words):
            for token, count in Counter(each).items():
                holding[token].append((row, count))
        self._holding = {token: np.array(found).T for token, found in holding.items()}
        passages_with = {token: len(found) for token, found in holding.items()}
        self._statistics = WordStatistics(len(words), int(lengths.sum()), passages_with)
        share = LENGTH_SHARE * lengths / max(1.0, lengths.mean())
        self._damping = SATURATION * (1 - LENGTH_SHARE + share)
        self._known: dict[str, tuple[Scores, npt.NDArray[np.bool_]]] = {}

    def of(self, question: str) -> tuple[Scores, npt.NDArray[np.bool_]]:
        """The scores, and which passages hold a token that is worth asking for."""
        if question not in self._known:
            scores, is_found = np.zeros(len(self._damping)), np.zeros(len(self._damping), bool)
            held = {t: self._holding[t] for t in sorted(set(tokens(question))) if t in self._holding}
            for token, (rows, counts) in held.items():
                weight = self._statistics.rarity(token) * (SATURATION + 1)
                scores[rows] += weight * counts / (counts + self._damping[rows])
            for token in worth_asking({t: len(each[0]) for t, each in held.items()}, budget=ASKED_PASSAGES):
                is_found[held[token][0]] = True
            self._known[question] = scores, is_found
        return self._known[question]


class Store:
    """The passages of all collections, one after another."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self.texts = [text for domain in domains for text in domain.searchable]
        ends = np.cumsum([0, *(len(domain.texts) for domain in domains)]).tolist()
        self.rows = {domain.name: slice(ends[i], ends[i + 1]) for i, domain in enumerate(domains)}
        self.all_rows = slice(0, ends[-1])
        every = ((t, x) for domain in domains for t, x in zip(domain.titles, domain.texts, strict=True))
        self._passages = [
            Passage(row, row, SHARED, "document", title, text, row, 0, "", str(row), _THEN)
            for row, (title, text) in enumerate(every)
        ]
        self._words = Words(self.texts)

    def found(self, question: str, dense: Scores) -> list[Candidate]:
        """The candidates, best first. dense: see `cosines`."""
        lexical, is_found = self._words.of(question)
        rows = np.flatnonzero(dense > -np.inf)
        near = rows[np.argsort(-dense[rows], kind="stable")[: _RETRIEVAL.pool]]
        worded = rows[is_found[rows]]
        matching = worded[np.argsort(-lexical[worded], kind="stable")[: _RETRIEVAL.pool]]
        ids = sorted({*near.tolist(), *matching.tolist()})
        signals = Signals(
            question,
            {i: self._passages[i] for i in ids},
            {i: float(dense[i]) for i in ids},
            {i: float(lexical[i]) for i in ids},
            {},
        )
        return signals.ranked(_FUSION, keep=_RETRIEVAL.candidates)


def reranker(kept: Path) -> Reranker:
    """The product's, with its reader's verdicts in a file: variants share most of their candidates."""
    judge = KeptJudge(ReaderJudge(Readings(OnnxReader(SMALL, threads=1), best=0)), kept)
    return Reranker(
        judge,
        schedule=_RERANKING.schedule,
        budget=_RERANKING.budget,
        min_judged=_RERANKING.min_judged,
        judge_share=_RERANKING.judge_share,
    )


def measured(found: Sequence[Candidate], dense: Scores, gold: frozenset[int]) -> dict[str, float]:
    """How well one question was answered by what was found. gold: rows of the store."""
    wanted, nearest = {*map(str, gold)}, np.argsort(-dense, kind="stable")[:5]
    ids = [each.passage.external_id for each in found]
    return {
        DENSE: success_at([*map(str, nearest)], wanted, 5),
        FUSED: success_at(ids, wanted, 5),
        NDCG: ndcg_at(ids, dict.fromkeys(wanted, 1.0), 10),
    }
