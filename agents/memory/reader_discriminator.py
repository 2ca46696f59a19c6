"""The built-in reader weighs a claim beside shared passages.

    claim, passages -> what each says of it (claim_evidence.py) -> it supports, refutes, or does neither
    -> the strongest word of either side -> correct or incorrect where that is sure enough, else unknown

Whatever the numbers say, a passage that lacks one of the claim's numbers or names, or that denies where the
claim does not, never makes it correct.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from agents.base.claim_interfaces import Claim, Evidence, Status, Weighed
from agents.base.interfaces import Candidate, Reader
from agents.memory.claim_evidence import Filled, Seen, log_odds, seen

Floats = npt.NDArray[np.float64]

PASSAGES = 5  # looked at, of those given
_MOST_MISSING = 6  # words; more are as bad
_SOFT = 0.01  # keeps a probability of 0 or 1 from deciding alone

# Fitted and chosen by `python -m benchmarks.fit_discriminator`, on questions of articles that the reader
# was not trained on; to be done again with other weights of the reader.
FEATURES = (
    "whole passage supports",
    "whole passage refutes",
    "best sentence supports",
    "best sentence refutes",
    "words in two sentences",
    "words in the passage",
    "words missing",
    "a number missing in two sentences",
    "a name missing in two sentences",
    "a number missing in the passage",
    "a name missing in the passage",
    "denied otherwise",
    "asked",
    "worst gap: same against other",
    "worst gap: same",
    "worst gap: other",
    "worst gap: none",
    "words are missing, and asked for",
    "in their place: same",
    "in their place: other",
    "in their place: none",
    "bias",
)
_WEIGHTS = np.array(
    [
        [0.783, 0.264],  # whole passage supports
        [0.273, 0.682],  # whole passage refutes
        [0.448, 0.055],  # best sentence supports
        [0.126, 0.346],  # best sentence refutes
        [4.33, 2.289],  # words in two sentences
        [-2.254, -2.395],  # words in the passage
        [-0.13, -0.102],  # words missing
        [0.11, 0.518],  # a number missing in two sentences
        [1.697, 0.912],  # a name missing in two sentences
        [-0.354, -0.565],  # a number missing in the passage
        [-1.587, -0.409],  # a name missing in the passage
        [-0.004, 0.014],  # denied otherwise
        [3.466, 4.134],  # asked
        [0.317, 0.361],  # worst gap: same against other
        [0.09, -0.016],  # worst gap: same
        [0.478, 0.557],  # worst gap: other
        [-0.066, -0.047],  # worst gap: none
        [2.004, -3.205],  # words are missing, and asked for
        [0.269, -0.569],  # in their place: same
        [-0.017, -0.01],  # in their place: other
        [-0.021, -0.124],  # in their place: none
        [-3.613, -2.955],  # bias
    ]
)
CORRECT_FROM = 0.88  # probability from which a claim is correct
INCORRECT_FROM = 0.66
LEAST_SHARED = 0.5  # of a claim's words, the share that a passage has which bears it out
DISPUTED_FROM = 0.5  # a claim that one passage refutes so much is not correct, whatever another says


class ReaderDiscriminator:
    """A discriminator over the reader."""

    def __init__(
        self,
        reader: Reader,
        *,
        mode: Literal["knowledge", "direct"] = "knowledge",
        correct_from: float = CORRECT_FROM,
        incorrect_from: float = INCORRECT_FROM,
    ) -> None:
        """mode: direct judges the claim alone, as a baseline."""
        self._reader = reader
        self._mode = mode
        self._correct_from = correct_from
        self._incorrect_from = incorrect_from

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        """See `Discriminator`. Only shared passages are evidence."""
        return await asyncio.to_thread(self._weigh, claim, candidates)

    def _weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        if self._mode == "direct":
            (alone,) = self._reader.verify([(claim.text, "")])
            status, confidence = self._decided(alone.supports, alone.refutes)
            return Weighed(status, confidence, by=self._reader.name, mode="direct")
        shared = [candidate for candidate in candidates if candidate.passage.is_shared][:PASSAGES]
        found = seen(self._reader, claim.text, shared) if claim.text.strip() else []
        evidence = [
            Evidence(one.candidate.passage, one.candidate.dense, float(supports), float(refutes))
            for one, (supports, refutes, _) in zip(found, probabilities(found), strict=True)
        ]
        correct = max(
            (e.supports for e, one in zip(evidence, found, strict=True) if may_support(one)), default=0.0
        )
        incorrect = max((e.refutes for e in evidence), default=0.0)
        status, confidence = self._decided(correct, incorrect)
        first = {
            "correct": lambda pair: (not may_support(pair[1]), -pair[0].supports),
            "incorrect": lambda pair: -pair[0].refutes,
            "unknown": lambda pair: -max(pair[0].supports, pair[0].refutes),
        }[status]
        ordered = sorted(zip(evidence, found, strict=True), key=first)
        return Weighed(status, confidence, tuple(e for e, _ in ordered), by=self._reader.name)

    def _decided(self, correct: float, incorrect: float) -> tuple[Status, float]:
        """The status, and its probability."""
        is_disputed = incorrect >= DISPUTED_FROM and self._correct_from > 0
        if correct > incorrect and correct >= self._correct_from and not is_disputed:
            return "correct", correct
        if incorrect > correct and incorrect >= self._incorrect_from:
            return "incorrect", incorrect
        return "unknown", 1 - max(correct, incorrect)


def may_support(one: Seen) -> bool:
    """Whether a passage can bear a claim out at all.

    It holds half of its words and all its numbers and names, bound alike, and denies where it does.
    """
    lacks = one.passage_numbers_missing or one.passage_names_missing or one.passage_share < LEAST_SHARED
    return not (lacks or one.is_negated_otherwise or one.is_bound_otherwise)


def features(one: Seen) -> list[float]:
    """What speaks for and against, in the order of `FEATURES`."""
    return [
        log_odds(one.whole.supports),
        log_odds(one.whole.refutes),
        log_odds(one.sentence.supports),
        log_odds(one.sentence.refutes),
        one.pair_share,
        one.passage_share,
        float(min(one.words_missing, _MOST_MISSING)),
        float(one.numbers_missing > 0),
        float(one.names_missing > 0),
        float(one.passage_numbers_missing > 0),
        float(one.passage_names_missing > 0),
        float(one.is_negated_otherwise),
        *_asked(one.filled),
        *_put_instead(one.instead),
        1.0,
    ]


def _asked(filled: Sequence[Filled]) -> tuple[float, float, float, float, float]:
    if not filled:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    return (
        1.0,
        min(_balance(gap) for gap in filled),
        min(log_odds(gap.same) for gap in filled),
        max(log_odds(gap.other) for gap in filled),
        max(log_odds(gap.none) for gap in filled),
    )


def _put_instead(gap: Filled | None) -> tuple[float, float, float, float]:
    if gap is None:
        return 0.0, 0.0, 0.0, 0.0
    return 1.0, log_odds(gap.same), log_odds(gap.other), log_odds(gap.none)


def _balance(gap: Filled) -> float:
    return math.log((gap.same + _SOFT) / (gap.other + _SOFT))


def probabilities(found: Sequence[Seen]) -> Floats:
    """(N, 3): that each passage supports the claim, refutes it, or does neither."""
    if not found:
        return np.zeros((0, 3))
    rows = np.array([features(one) for one in found])
    logits = np.concatenate([rows @ _WEIGHTS, np.zeros((len(found), 1))], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
