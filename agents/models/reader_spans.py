"""Answers out of the reader's start and end logits.

    z(i, j) = start_i + end_j   for the tokens i ≤ j < i + LONGEST_ANSWER of the passage
    z(none) = start_0 + end_0   at [CLS]

    p(span) = exp(z(span) / τ) / Σ exp(z / τ) over all spans and none

Over the windows of a long passage every span is weighed against its own window's z(none), and one "none"
stands for all: a passage that fits into one window gets exactly the formula above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.models.reader_inputs import Window

Floats = npt.NDArray[np.float64]

LONGEST_ANSWER = 30  # tokens; of SQuAD's answers 1 in 100 is longer


@dataclass(frozen=True)
class PassageSpans:
    """All spans of one passage and their log-odds against "no answer". No span stands twice."""

    starts: npt.NDArray[np.int64]  # (S,), characters
    ends: npt.NDArray[np.int64]  # (S,)
    log_odds: Floats  # (S,), with τ = 1
    temperature: float

    def log_probabilities(self) -> tuple[Floats, float]:
        """Natural logarithms: of each span, and of there being no answer."""
        scaled = self.log_odds / self.temperature
        top = max(0.0, float(scaled.max(initial=0.0)))
        total = top + float(np.log(np.exp(-top) + np.exp(scaled - top).sum()))
        return scaled - total, -total


def passage_spans(
    windows: Sequence[Window], starts: Sequence[Floats], ends: Sequence[Floats], *, temperature: float = 1.0
) -> PassageSpans:
    """The spans of a passage. starts, ends: for each window its (L,) logits, padding or not."""
    found = [_window_spans(*parts) for parts in zip(windows, starts, ends, strict=True)]
    first, last, log_odds = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if len(windows) > 1:  # where windows overlap, the one that saw more around the span is surer of it
        order = np.lexsort((-log_odds, last, first))
        first, last, log_odds = first[order], last[order], log_odds[order]
        is_new = np.ones(len(first), dtype=np.bool_)
        is_new[1:] = (first[1:] != first[:-1]) | (last[1:] != last[:-1])
        first, last, log_odds = first[is_new], last[is_new], log_odds[is_new]
    return PassageSpans(first, last, log_odds, temperature)


def _window_spans(
    window: Window, starts: Floats, ends: Floats
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    count = len(window.offsets)
    begin, end = window.second_at, window.second_at + count
    none = float(starts[0]) + float(ends[0])
    scores = starts[begin:end, None].astype(np.float64) + ends[None, begin:end]
    places = np.arange(count)
    ahead = places[None, :] - places[:, None]
    first, last = np.nonzero((ahead >= 0) & (ahead < LONGEST_ANSWER))
    offsets = np.array(window.offsets, dtype=np.int64).reshape(count, 2)
    return offsets[first, 0], offsets[last, 1], scores[first, last] - none
