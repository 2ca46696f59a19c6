"""Low-rank corrections of a frozen body, in torch: measured beside a trained body, and not shipped.

    x W  becomes  x W + x Aₖ Bₖ    for the kind k of the input, in each layer's attention

With Bₖ = 0 at first, the body begins as it was. Source: arXiv:2106.09685, eq. 3, without its constant factor.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.models.reader_inputs import KINDS


class LowRank(nn.Module):
    """What is added to one product: a pair of thin matrices for each kind of input."""

    def __init__(self, inner: int, outer: int, rank: int) -> None:
        super().__init__()
        self.narrow = nn.Parameter(torch.randn(len(KINDS), inner, rank) * inner**-0.5)
        self.widen = nn.Parameter(torch.zeros(len(KINDS), rank, outer))

    def forward(self, states: Tensor, kinds: Tensor) -> Tensor:
        """states: (B, L, D). kinds: (B,), places in KINDS. Returns (B, L, E)."""
        added: Tensor = states @ self.narrow[kinds] @ self.widen[kinds]
        return added


class Adapter(nn.Module):
    """The corrections of one layer: of query, key and value together, and of what mixes the heads."""

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.attend = LowRank(width, 3 * width, rank)
        self.mix = LowRank(width, width, rank)
