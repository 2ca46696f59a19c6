"""Which of what was found is likely enough to help that a chat model is sent it.

    candidates + verdicts -> features -> probability that it says what is asked for -> one threshold

One logistic model for what a user told and for documents, and one threshold: what does not help makes a reply
slower and worse. `python -m training.helping` fits both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agents.base.interfaces import Candidate, Verdict
from agents.retrieval.relevance import is_told

NAMES = (
    "bias",
    "meaning",
    "behind the best",
    "words",
    "judged",
    "is unjudged",
    "document",
    "document: meaning",
    "document: judged",
    "document: is unjudged",
    "asks nothing",
    "asks nothing: meaning",
)
WEIGHTS = (-3.326, 2.981, 2.424, 0.623, 0.349, -0.31, -1.619, 0.777, 0.395, -2.052, -1.709, -0.532)
LIKELY = 0.03
MOST_TOLD, MOST_DOCUMENTS = 12, 5  # of what users told, and of documents
_MOST_LOG_ODDS = 5.0  # of a verdict, either way


def features(
    asks: bool, candidates: Sequence[Candidate], verdicts: Mapping[int, Verdict]
) -> list[tuple[float, ...]]:
    """(N, D) in the order of NAMES. asks: whether the message asks something. verdicts: by `id()`."""
    best = max((candidate.dense for candidate in candidates), default=0.0)
    rows: list[tuple[float, ...]] = []
    for candidate in candidates:
        verdict, is_document = verdicts.get(id(candidate)), float(not is_told(candidate))
        judged = 0.0 if verdict is None else _log_odds(verdict.score)
        is_unjudged, tells = float(verdict is None), float(not asks)
        rows.append(
            (
                1.0,
                candidate.dense,
                candidate.dense - best,
                math.log1p(max(0.0, candidate.lexical)),
                judged,
                is_unjudged,
                is_document,
                is_document * candidate.dense,
                is_document * judged,
                is_document * is_unjudged,
                tells,
                tells * candidate.dense,
            )
        )
    return rows


def chosen(
    scores: Sequence[float], is_document: Sequence[bool], *, threshold: float, most: tuple[int, int]
) -> list[int]:
    """Places of the likeliest, best first. most: of what users told, and of documents."""
    left, found = list(most), []
    for place in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if scores[place] < threshold:
            break
        if left[is_document[place]]:
            left[is_document[place]] -= 1
            found.append(place)
    return found


def most_helping(
    asks: bool,
    candidates: Sequence[Candidate],
    verdicts: Mapping[int, Verdict],
    *,
    documents: int = MOST_DOCUMENTS,
) -> list[Candidate]:
    """Those that are likely to say what is asked for, the likeliest first. documents: of these, at most."""
    scores = [
        1 / (1 + math.exp(-sum(w * x for w, x in zip(WEIGHTS, row, strict=True))))
        for row in features(asks, candidates, verdicts)
    ]
    is_document = [not is_told(candidate) for candidate in candidates]
    places = chosen(scores, is_document, threshold=LIKELY, most=(MOST_TOLD, documents))
    return [candidates[place] for place in places]


def _log_odds(probability: float) -> float:
    clipped = min(max(probability, 1e-4), 1 - 1e-4)
    return max(-_MOST_LOG_ODDS, min(_MOST_LOG_ODDS, math.log(clipped / (1 - clipped))))
