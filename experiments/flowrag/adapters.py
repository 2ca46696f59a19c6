"""New adapters of layers 4 to 6 of MiniLM, and the encoder that they change, as the product has it.

Source of the prompts: FlowRAG (WWW 2026), eq. 3, without StateFusion; of LoRA: arXiv:2106.09685.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agents.models.networks.adapted_bert import ADAPTED, PLAIN, Adapter, Bert
from agents.models.networks.fast_linear import linear

if TYPE_CHECKING:
    from transformers import PreTrainedModel

__all__ = ["PLAIN", "UPPER", "Adapter", "Bert", "frozen", "low_rank", "prompts"]
UPPER = (4, 5, 6)  # layers, from 1


def frozen(model: PreTrainedModel) -> Bert:
    """The weights of a model, with linear layers that are fast on the CPU."""
    return Bert.of(model, linear=linear)


def prompts(layers: Sequence[int], count: int, width: int, *, seed: int) -> dict[str, Tensor]:
    """New prompts: `count` (p) vectors of `width` (D) a layer, drawn from N(0, 0.02²)."""
    draw = torch.Generator().manual_seed(seed)
    return {f"prompts.{n}": 0.02 * torch.randn(count, width, generator=draw) for n in layers}


def low_rank(layers: Sequence[int], rank: int, width: int, *, seed: int) -> dict[str, Tensor]:
    """New LoRA of queries and values, which adds nothing yet: A is drawn from N(0, 1/D), B is 0."""
    draw, made = torch.Generator().manual_seed(seed), dict[str, Tensor]()
    for n in layers:
        for kind in ADAPTED:
            made[f"{kind}.{n}.down"] = torch.randn(rank, width, generator=draw) / width**0.5
            made[f"{kind}.{n}.up"] = torch.zeros(width, rank)
    return made
