"""How far the probabilities of a policy are to be believed.

logits of a holdout -> temperature, which no order hangs on -> threshold, from where on it is surely right
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

WANTED = 0.95  # of the accepted predictions are right on the holdout
FALLBACK = 0.9  # the threshold where none reaches that
_TEMPERATURES = (1.0, *(10 ** (n / 40) for n in range(-40, 53)))  # 0.1 to 20


def fitted_temperature(logp: Tensor, gold: Tensor) -> float:
    """T above 0 that makes the labels likeliest: argmin NLL(softmax(logp / T)); 1 is among those tried.

    logp: (N, C) of the holdout. gold: (N,).
    """
    return min(_TEMPERATURES, key=lambda t: F.cross_entropy(logp.double() / t, gold).item())


def fitted_threshold(logp: Tensor, gold: Tensor, *, wanted: float = WANTED) -> float:
    """The smallest τ from where on so many of the predictions are right; FALLBACK where there is none.

    logp: (N, C) of the holdout, by the temperature. gold: (N,).
    """
    confidence, predicted = logp.softmax(1).max(1)
    thresholds: list[float] = sorted(set(confidence.tolist()))
    for threshold in thresholds:
        accepted = confidence >= threshold
        if (predicted == gold)[accepted].double().mean() >= wanted:
            return threshold
    return FALLBACK
