"""What a sequence of tasks leaves of each: FlowRAG (WWW 2026), eq. 11 and 12."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

Matrix = Sequence[Sequence[float]]  # row t: how well tasks 0 to t do after task t


def forgetting(matrix: Matrix) -> float:
    """1 / (T - 1) Σ_{i<T} (max_{i≤t≤T} m_t(i) - m_T(i)), never negative; 0 of one task."""
    falls = [max(row[i] for row in matrix[i:]) - last for i, last in enumerate(matrix[-1][:-1])]
    return fmean(falls) if falls else 0.0


def final_average(matrix: Matrix) -> float:
    """The mean over all tasks after the last."""
    return fmean(matrix[-1])
