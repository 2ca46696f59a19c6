"""How far the probabilities of a policy are to be believed: one temperature, which no order hangs on."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

_TEMPERATURES = (1.0, *(10 ** (n / 40) for n in range(-40, 53)))  # 0.1 to 20


def fitted_temperature(logp: Tensor, gold: Tensor) -> float:
    """T above 0 that makes the labels likeliest: argmin NLL(softmax(logp / T)); 1 is among those tried.

    logp: (N, C) of the holdout. gold: (N,).
    """
    return min(_TEMPERATURES, key=lambda t: F.cross_entropy(logp.double() / t, gold).item())
