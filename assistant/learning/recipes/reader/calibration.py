"""How far probabilities can be trusted: a temperature, and the expected calibration error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LOWEST, _HIGHEST = 0.2, 8.0


def fit_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss, to about 1 %, between 0.2 and 8.

    loss: of a temperature; has one valley.
    """
    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    golden = (np.sqrt(5) - 1) / 2
    while high - low > 0.01:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if loss(float(np.exp(left))) < loss(float(np.exp(right))):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """Probabilities over the last axis."""
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(-1, keepdims=True))
    result: Floats = powers / powers.sum(-1, keepdims=True)
    return result


def negative_log_likelihood(probabilities: Floats, labels: npt.NDArray[np.int64]) -> float:
    """Mean over N cases, in nats. probabilities: (N, C). labels: (N,)."""
    return float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean())


def expected_calibration_error(
    confidences: Floats, correct: npt.NDArray[np.bool_], *, bins: int = 10
) -> float:
    """Σ over bins of share of cases × | mean confidence - share correct |, 0 to 1; bins of equal width.

    confidences: (N,), 0 to 1, the probability of what was chosen. correct: (N,).
    Source: arXiv:1706.04599, eq. 3.
    """
    if not len(confidences):
        return 0.0
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    errors = [
        abs(float(confidences[places == b].sum()) - float(correct[places == b].sum())) for b in range(bins)
    ]
    return sum(errors) / len(confidences)
