"""What replay measures, as pure functions over plain values: of one question first, of many below.

    found, right -> recall, success, nDCG, reciprocal rank        found are ids or texts, best first
    said, answers -> contained, exact, F1

Two ways of matching answers, each as its source has it: a passage holds an answer by its tokens, as in DPR
(arXiv:2004.04906); a reply is compared word by word, as in SQuAD (arXiv:1606.05250).
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from statistics import fmean
from typing import Literal

# What was found: by relevant ids


def success_at(found: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """1 where any relevant id is among the first `depth` found, else 0; often called R@k where one suffices.

    Raises ValueError where nothing is relevant.
    """
    return float(bool(_first(found, depth) & _some(relevant)))


def evidence_recall_at(
    found: Sequence[str], evidence: Sequence[Collection[str]], depth: int, *, needs_all: bool = False
) -> float:
    """The share of the pieces of evidence among the first `depth` found, each by any of its names.

    needs_all: nothing is won by a part. Raises ValueError where there is no evidence.
    """
    if not evidence:
        raise ValueError("there is no evidence to find")
    first = _first(found, depth)
    share = sum(not first.isdisjoint(names) for names in evidence) / len(evidence)
    return float(share == 1.0) if needs_all else share


def ndcg_at(found: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    """nDCG@k: how much of what there is to gain comes early.

        DCG = Σᵢ gainᵢ / log₂(i + 1), over ranks i = 1 ... k;  nDCG = DCG / DCG of the best order

    gains: of each id, not below 0; of all others 0. An id found twice gains once.
    Source: Järvelin and Kekäläinen 2002, with the discount of trec_eval. Raises ValueError where there is
    nothing to gain.
    """
    if min(gains.values(), default=0.0) < 0 or not any(gains.values()):
        raise ValueError("gains must not be below 0, and some must be above")
    once: set[str] = set()
    gained = []
    for name in found[:depth]:
        gained.append(0.0 if name in once else gains.get(name, 0.0))
        once.add(name)
    return _discounted(gained) / _discounted(sorted(gains.values(), reverse=True)[:depth])


def reciprocal_rank(found: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant id, 0 where none is found; its mean over questions is MRR."""
    ranks = (1 / rank for rank, name in enumerate(found, start=1) if name in relevant)
    return next(ranks, 0.0)


def _first(found: Sequence[str], depth: int) -> set[str]:
    return set(found[:depth])


def _some(relevant: Collection[str]) -> set[str]:
    if not relevant:
        raise ValueError("nothing is relevant, so nothing can be found")
    return set(relevant)


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


# What was found: by the answers that stand in it


def answer_recall_at(texts: Sequence[str], answers: Collection[str], depth: int) -> float:
    """1 where any of the first `depth` texts has any of the answers, else 0."""
    return float(any(has_answer(text, answers) for text in texts[:depth]))


def has_answer(text: str, answers: Collection[str]) -> bool:
    """Whether the tokens of any answer stand in a text, next to each other and in order.

    An answer without tokens stands nowhere.
    """
    held = _spaced(matching_tokens(text))
    wanted = (matching_tokens(answer) for answer in answers)
    return any(_spaced(tokens) in held for tokens in wanted if tokens)


def matching_tokens(text: str) -> list[str]:
    """Runs of letters, digits and marks, and every other visible character by itself, in lower case.

    Of the text in NFD. Spaces and control characters set tokens apart.
    """
    tokens: list[str] = []
    for kind, characters in groupby(unicodedata.normalize("NFD", text), _kind):
        if kind == "word":
            tokens.append("".join(characters).lower())
        elif kind == "sign":
            tokens.extend(character.lower() for character in characters)
    return tokens


@cache
def _kind(character: str) -> Literal["word", "sign", "nothing"]:
    category = unicodedata.category(character)[0]
    if category in "LNM":
        return "word"
    return "nothing" if category in "ZC" else "sign"


def _spaced(tokens: Iterable[str]) -> str:
    return f" {' '.join(tokens)} "  # no token has a space in it


# What was said


def normalised_answer(text: str) -> str:
    """Lower case, without punctuation and articles, spaces collapsed."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def holds_answer(text: str, answers: Iterable[str]) -> bool:
    """Whether any of the answers stands in what was said, whole words, both normalised."""
    padded = f" {normalised_answer(text)} "
    return any(f" {words} " in padded for words in map(normalised_answer, answers) if words)


def exact_match(said: str, answers: Iterable[str]) -> float:
    """1 where what was said is one of the answers, both normalised, else 0."""
    return float(normalised_answer(said) in map(normalised_answer, answers))


def answer_f1(said: str, answers: Iterable[str]) -> float:
    """The best `token_f1` over the answers; 0 where there is none."""
    return max((token_f1(said, answer) for answer in answers), default=0.0)


def token_f1(found: str, right: str) -> float:
    """Harmonic mean of precision and recall of the words that two answers share, as in SQuAD."""
    one, other = normalised_answer(found).split(), normalised_answer(right).split()
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other)) if shared else float(one == other)


# Over many questions, and over time


def forgetting(scores: Sequence[Mapping[str, float]]) -> float:
    """The average over slices of the best score so far minus the score now; 0 where nothing was lost.

    scores: after each round, of each slice known by then, higher is better. The best so far may be the
    present one, so a slice that gained does not hide another that lost.
    Source: arXiv:1801.10112, section 3.2, with the present round among the earlier ones. Raises ValueError
    where the last round lacks a slice or there is none.
    """
    known = {name for each in scores for name in each}
    if not known:
        raise ValueError("there is no slice to measure")
    if missing := known - scores[-1].keys():
        raise ValueError(f"the last round has no score of {sorted(missing)}")
    return fmean(max(each[name] for each in scores if name in each) - scores[-1][name] for name in known)
