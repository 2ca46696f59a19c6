"""How much a candidate helps to answer, by what search and judge have found out already: w · φ + b.

    candidates + verdicts -> φ, a row a candidate -> w · φ + b, messages and documents by their own -> order

It reads nothing anew. The fixed mix of the judge's and the search score is one setting of the weights
(`fixed_mix`). Source of the form: pointwise linear ranking; of what learns it: training/relevance.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agents.base.fusion import normalised
from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.feature_names import FEATURES, NAMES
from agents.retrieval.retriever import asks_when, is_named, replies, speaker, tells_time
from stores.base.errors import VouchError
from stores.words.lexical import tokens

FILE = "relevance.json"  # in a folder of trained weights
_FOLDER = Path(__file__).parents[1] / "models" / "weights" / "relevance"
SHIPPED = _FOLDER / FILE
KNOWN = _FOLDER / "known.npz"  # questions with known answers; training/relevance.py writes it
UNJUDGED = 0.2  # the judge's score that a passage is taken to have: about that of those found behind
_MOST_LOG_ODDS = 5.0  # of a verdict, either way
_TOLD = 3  # of what moved a candidate, at most
_KINDS = "messages", "documents"
_LONG = 200  # words, from which on a passage counts as long

Row = tuple[float, ...]  # φ of one candidate, in the order of NAMES


class UnknownWeights(VouchError):
    """A file of weights that this release cannot order by."""

    def __init__(self, file: Path, problem: object) -> None:
        super().__init__(
            f"The weights in {file} cannot be used: {problem}",
            hint="`vouch train --recipe relevance --back` goes back to those before.",
        )


class Moved(NamedTuple):
    """What a feature did to a candidate's place."""

    feature: str
    by: float  # w (φ - its mean over the candidates): above 0 it raised the candidate


@dataclass(frozen=True)
class Weights:
    """Of one kind of passage; what is not named weighs 0."""

    named: Mapping[str, float]
    bias: float = 0.0
    row: Row = field(init=False, repr=False, compare=False)  # in the order of NAMES

    def __post_init__(self) -> None:
        if unknown := self.named.keys() - FEATURES.keys():
            raise ValueError(f"there is no feature {', '.join(sorted(unknown))}")
        if not all(map(math.isfinite, (*self.named.values(), self.bias))):
            raise ValueError("a weight is not a finite number")
        object.__setattr__(self, "row", tuple(self.named.get(name, 0.0) for name in NAMES))

    def score(self, row: Row) -> float:
        """w · φ + b."""
        return sum((w * x for w, x in zip(self.row, row, strict=True)), self.bias)

    def moved(self, row: Row, mean: Row) -> tuple[Moved, ...]:
        """What moved a candidate away from the mean, the strongest first; three at most."""
        each = zip(NAMES, self.row, row, mean, strict=True)
        found = [Moved(name, w * (x - m)) for name, w, x, m in each if w * (x - m)]
        return tuple(sorted(found, key=lambda moved: -abs(moved.by))[:_TOLD])


class Placed(NamedTuple):
    """A candidate at its place."""

    candidate: Candidate
    moved: tuple[Moved, ...]


@dataclass(frozen=True)
class Relevance:
    """Orders candidates; messages and documents have weights of their own, on one scale."""

    messages: Weights
    documents: Weights

    @staticmethod
    def read(file: Path) -> Relevance:
        """What `as_record` gave, from a JSON file. Raises `UnknownWeights`."""
        try:
            return Relevance.of_record(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise UnknownWeights(file, error) from error

    @staticmethod
    def of_record(record: Any) -> Relevance:
        """What `as_record` gave. Raises ValueError."""
        try:
            return Relevance(*(Weights(record[kind]["weights"], record[kind]["bias"]) for kind in _KINDS))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"they are not weights of messages and documents ({error})") from error

    def as_record(self) -> dict[str, dict[str, object]]:
        """As it is kept."""
        each = zip(_KINDS, (self.messages, self.documents), strict=True)
        return {kind: {"weights": dict(weights.named), "bias": weights.bias} for kind, weights in each}

    def of(self, *, told: bool) -> Weights:
        """Those of messages, or of documents."""
        return self.messages if told else self.documents

    def placed(
        self, question: str, candidates: Sequence[Candidate], verdicts: Mapping[int, Verdict]
    ) -> list[Placed]:
        """Best first, equals in the order found; what only asks, by the judge's 0, last.

        verdicts: by the candidate's `id()`.
        """
        rows = features(question, candidates, verdicts)
        mean = tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))
        found = []
        for candidate, row in zip(candidates, rows, strict=True):
            weights = self.of(told=is_told(candidate))
            asks = _judged(candidate, verdicts) <= 0
            placed = Placed(candidate, weights.moved(row, mean))
            found.append((asks, -weights.score(row), candidate.found_rank, placed))
        return [placed for *_, placed in sorted(found, key=lambda each: each[:3])]


def fixed_mix(judge_share: float) -> Relevance:
    """s · judged + (1 - s) · found, for all passages. judge_share: s, 0 to 1."""
    weights = Weights({"judged": judge_share, "found": 1 - judge_share})
    return Relevance(weights, weights)


def is_told(candidate: Candidate) -> bool:
    """Whether it was said in a conversation, or is kept of one."""
    return candidate.passage.kind == "message" or not candidate.passage.is_shared


def features(question: str, candidates: Sequence[Candidate], verdicts: Mapping[int, Verdict]) -> list[Row]:
    """φ of each candidate, (N, D) in the order of NAMES. verdicts: by the candidate's `id()`."""
    found = normalised({id(c): c.score - c.given for c in candidates})
    meaning = normalised({id(c): c.dense for c in candidates})
    words = normalised({id(c): c.lexical for c in candidates})
    first_judged = _places({id(c): verdicts[id(c)].score for c in candidates if id(c) in verdicts})
    first_meant, first_worded = _places(meaning), _places(words)
    wanted = tokens(question)
    asked, wants_time = frozenset(wanted), asks_when(question)
    at = {(c.passage.document_id or 0, c.passage.position): c for c in candidates if c.passage.document_id}
    of_session: dict[int | None, float] = {}
    for c in candidates:
        of_session[c.passage.document_id] = of_session.get(c.passage.document_id, 0.0) + found[id(c)]
    total = sum(found.values()) or 1.0
    rows: list[Row] = []
    for c in candidates:
        passage, key = c.passage, id(c)
        is_message = passage.kind == "message"
        judged = _judged(c, verdicts)
        before, after = (at.get((passage.document_id or 0, passage.position + step)) for step in (-1, 1))
        beside = [_judged(each, verdicts) for each in (before, after) if each is not None]
        texted = tokens(f"{passage.title} {passage.text}")
        rows.append(
            (
                judged,
                found[key],
                _log_odds(judged),
                float(key not in verdicts),
                first_judged.get(key, 0.0),
                1 / c.found_rank,
                meaning[key],
                first_meant[key],
                words[key],
                first_worded[key],
                len(asked.intersection(texted)) / len(asked) if asked else 0.0,
                min(1.0, c.lift),
                min(1.0, math.log1p(len(texted)) / math.log1p(_LONG)),
                float(not is_message and is_told(c)),
                float(is_message and is_named(speaker(passage.text), asked)),
                float(is_message and before is not None and replies(passage.text, to=before.passage.text)),
                float(is_message and wants_time and tells_time(passage.text)),
                (of_session[passage.document_id] - found[key]) / total if passage.document_id else 0.0,
                max(beside, default=0.0),
            )
        )
    return rows


def _judged(candidate: Candidate, verdicts: Mapping[int, Verdict]) -> float:
    verdict = verdicts.get(id(candidate))
    return UNJUDGED if verdict is None else verdict.score


def _log_odds(probability: float) -> float:
    """Cut off, and brought to -1 to 1."""
    if not 0 < probability < 1:
        return 1.0 if probability >= 1 else -1.0
    log_odds = math.log(probability / (1 - probability))
    return max(-1.0, min(1.0, log_odds / _MOST_LOG_ODDS))


def _places(scores: Mapping[int, float]) -> dict[int, float]:
    """1 / rank of each, best first; equals share the better place."""
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        ranks.setdefault(score, rank)
    return {key: 1 / ranks[score] for key, score in scores.items()}
