"""FlowRAG's forward pass as printed: prompts, StateFusion and cross-layer fusion in a frozen BERT encoder.

    H, P -> L = StateFusion(H, P) -> A = StateFusion(mean of all L so far, L) -> attention of H to [A; P; H]

All projections are the layer's own and frozen: prompts are the only parameters. Where the paper is silent:
statistics stand beside the projections as two more positions and are not projected; heads are the layer's;
the first layer with prompts has no A; the mean holds the layer's own L; a text's state is the mean of A at
the last layer with prompts. Source: FlowRAG (WWW 2026), eq. 3 and 4, algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.networks.adapted_bert import PLAIN, Adapter, Bert
from agents.models.networks.pooling import mean_of_tokens

LOWER, UPPER = (1, 2, 3), (4, 5, 6)  # layers of MiniLM, from 1
_LEAST_VARIANCE = 1e-6  # the gradient of a deviation is infinite at 0


@dataclass(frozen=True)
class Positions:
    """States with a mask; a batch of one stands for any."""

    states: Tensor  # (B, T, D)
    there: Tensor  # (B, T), false for padding

    @property
    def mean(self) -> Tensor:
        """(B, D), without padding."""
        return mean_of_tokens(self.states, self.there)


@dataclass(frozen=True)
class Encoded:
    """What the encoder makes of texts."""

    vectors: Tensor  # (B, D): the mean of the last layer, not of unit length
    states: Tensor | None  # (B, D): the mean of A; None without fusion


def prompts(layers: Sequence[int], count: int, width: int, *, seed: int) -> dict[str, Tensor]:
    """New prompts: `count` (p) vectors of `width` (D) a layer, drawn from N(0, 0.02²)."""
    draw = torch.Generator().manual_seed(seed)
    return {f"prompts.{n}": 0.02 * torch.randn(count, width, generator=draw) for n in layers}


def encode(bert: Bert, ids: Tensor, mask: Tensor, prompts: Adapter, *, is_fused: bool) -> Encoded:
    """Texts under prompts (p, D) of some layers, or under LoRA; none gives the plain encoder.

    ids, mask: (B, T). is_fused: with StateFusion and cross-layer fusion, else the prompts of eq. 3 alone.
    """
    text, fused = Positions(bert.embedded(ids), mask.bool()), list[Positions]()
    across = None
    for n in range(1, bert.layers + 1):
        before = list[Positions]()
        if (own := prompts.get(f"prompts.{n}")) is not None:
            before = [Positions(own[None], torch.ones(1, len(own), dtype=torch.bool))]
            if is_fused:
                fused.append(state_fusion(bert, n, text, before[0]))
                across = cross_layer(bert, n, fused)
                before = [across, *before] if across else before
        text = layer(bert, n, text, before, prompts)
    return Encoded(text.mean, across.mean if across else None)


def layer(
    bert: Bert, n: int, text: Positions, before: Sequence[Positions], adapter: Adapter = PLAIN
) -> Positions:
    """Layer n, where the text also attends to what stands before it, which asks nothing itself (eq. 4).

    Q = W_Q H; K = W_K [A; P; H]; V = W_V [A; P; H]: (T + 4) + p + T keys with all of them.
    """
    query, *own = (bert.projected(kind, n, text.states, adapter) for kind in ("query", "key", "value"))
    key, value = (
        torch.cat(
            [*(bert.projected(kind, n, each.states).expand(len(query), -1, -1) for each in before), of_text],
            1,
        )
        for kind, of_text in zip(("key", "value"), own, strict=True)
    )
    there = torch.cat([each.there.expand(len(query), -1) for each in (*before, text)], 1)
    attended = bert.attention(query, key, value, there)
    return Positions(bert.finished(n, text.states, attended), text.there)


def state_fusion(bert: Bert, n: int, asking: Positions, asked: Positions) -> Positions:
    """Algorithm 1: (B, T + 2, D) of `asking`, X of T positions, and `asked`, Y.

    C = softmax([W_Q X; μ_X; σ_X] [W_K Y; μ_Y; σ_Y]^T / √d) [W_V Y; μ_Y; σ_Y]
    O = LayerNorm(W_O C + b_O + [X; μ_X; σ_X])
    """
    of_asking, of_asked = statistics(asking), statistics(asked)
    query = torch.cat([bert.projected("query", n, asking.states), of_asking], 1)
    key, value = (
        torch.cat([bert.projected(kind, n, asked.states), of_asked], 1).expand(len(query), -1, -1)
        for kind in ("key", "value")
    )
    found = bert.attention(query, key, value, _two_more(asked.there).expand(len(query), -1))
    return Positions(bert.added(n, torch.cat([asking.states, of_asking], 1), found), _two_more(asking.there))


def cross_layer(bert: Bert, n: int, fused: Sequence[Positions]) -> Positions | None:
    """Algorithm 2: A of layer n, (B, T + 4, D), of every L up to layer n's; none of the first alone."""
    if len(fused) < 2:
        return None
    mean = torch.stack([each.states for each in fused]).mean(0)
    return state_fusion(bert, n, Positions(mean, fused[-1].there), fused[-1])


def statistics(positions: Positions) -> Tensor:
    """μ and σ over the sequence, padding left out: (B, 2, D). σ = √(variance + 1e-6), of the population."""
    mean = positions.mean
    variance = mean_of_tokens((positions.states - mean[:, None]).square(), positions.there)
    return torch.stack([mean, (variance + _LEAST_VARIANCE).sqrt()], 1)


def _two_more(there: Tensor) -> Tensor:
    return F.pad(there, (0, 2), value=True)
