"""A text's one vector out of its tokens' vectors, in torch."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere


def mean_of_tokens(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of each row's tokens, padding left out.

    states: (B, L, D). mask: (B, L), 1 for a token and 0 for padding. Returns (B, D); without tokens, 0.
    """
    kept = mask.unsqueeze(-1).to(states.dtype)  # (B, L, 1)
    mean: Tensor = (states * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
    return mean


def text_vectors(states: Tensor, mask: Tensor, *, pooling: str) -> Tensor:
    """The vectors of texts by those of their tokens: (B, D), unit length.

    states, mask: see `mean_of_tokens`. pooling: cls takes the first token, mean the mean of all.
    """
    pooled = states[:, 0] if pooling == "cls" else mean_of_tokens(states, mask)
    return F.normalize(pooled, dim=1)
