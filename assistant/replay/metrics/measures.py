"""What one answered question is worth, by every measure of a replay; higher is better, tokens apart.

dense, fused, reranked: the passages in three orders -> R@5, nDCG@10, MRR
the reply -> contained, EM, F1;  the judging -> tokens
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assistant.learning.held_out.ranking import evidence_recall_at, ndcg_at, reciprocal_rank, success_at
from assistant.replay.metrics.metrics import (
    answer_f1,
    answer_recall_at,
    exact_match,
    has_answer,
    holds_answer,
)
from assistant.replay.streams.datasets import ReplayQuestion

MEASURES = (
    "dense R@5",  # by vectors alone
    "fused R@5",  # as the product orders, before anything is judged
    "reranked R@5",  # after reranking
    "fused nDCG@10",
    "reranked nDCG@10",
    "fused MRR",
    "reranked MRR",
    "answer R@5",  # after reranking: an answer stands in one of the first five, gold or not
    "contained",  # an answer stands in the reply
    "EM",
    "F1",
    "tokens",  # of judging, read and written
)
OF_DIALOGUES = ("Entity-F1", "BLEU")  # of replies over a knowledge base; see `held_out_replies.Side`
OF_FOLLOW_UPS = ("follow-up R@5", "follow-up MRR")  # as a chat searches with what stands alone
EVERY = (*OF_DIALOGUES, *OF_FOLLOW_UPS, *MEASURES)
FEWER_IS_BETTER = frozenset({"tokens"})
_DEPTH, _NDCG_DEPTH = 5, 10
_CITATION = re.compile(r"\[\d+\]")
_QUOTE_MARKS = str.maketrans("", "", "“”")

Named = Sequence[tuple[str, str]]  # passages, best first: the name in the data set, and the text


def measured(
    question: ReplayQuestion,
    *,
    dense: Named,
    fused: Named,
    reranked: Named,
    reply: str,
    tokens: int,
) -> dict[str, float]:
    """Each measure that can be told of this question.

    Where no gold is known, a passage is right in which an answer stands, and nDCG cannot be told. Of a
    question that nothing answers there is nothing to find, and nothing right to say.
    """
    found: dict[str, float] = {"tokens": float(tokens)}
    if not question.answers:
        return found
    for name, order in (("dense", dense), ("fused", fused), ("reranked", reranked)):
        found |= {f"{name} {measure}": score for measure, score in _found(question, order).items()}
    said = _CITATION.sub("", reply.translate(_QUOTE_MARKS))
    found["answer R@5"] = answer_recall_at([text for _, text in reranked], question.answers, _DEPTH)
    found["contained"] = float(holds_answer(said, question.answers))
    found["EM"] = exact_match(said, question.answers)
    found["F1"] = answer_f1(said, question.answers)
    return {name: found[name] for name in MEASURES if name in found}


def _found(question: ReplayQuestion, order: Named) -> Mapping[str, float]:
    names, gold = [name for name, _ in order], question.gold
    if gold is None:
        right = [str(place) for place, (_, text) in enumerate(order) if has_answer(text, question.answers)]
        places = [str(place) for place in range(len(order))]
        recall = answer_recall_at([text for _, text in order], question.answers, _DEPTH)
        return {"R@5": recall, "MRR": reciprocal_rank(places, right)}
    if not gold:
        return {}
    return {
        "R@5": evidence_recall_at(names, [[name] for name in sorted(gold)], _DEPTH, needs_all=True)
        if question.needs_all
        else success_at(names, gold, _DEPTH),
        "nDCG@10": ndcg_at(names, dict.fromkeys(sorted(gold), 1.0), _NDCG_DEPTH),
        "MRR": reciprocal_rank(names, gold),
    }
