"""What replay measures of answers, as pure functions over plain values.

    texts found, answers -> recall        texts are the best first
    said, answers -> contained, exact, F1

Two ways of matching answers, each as its source has it: a passage holds an answer by its tokens, as in DPR
(arXiv:2004.04906); a reply is compared word by word, as in SQuAD (arXiv:1606.05250).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import Literal

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
