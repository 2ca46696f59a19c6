"""A frozen BERT encoder whose upper half an adapter changes, as functions of tensors.

    token ids -> embeddings, lower layers -> states -> upper layers with an adapter -> a unit vector

An adapter is a few named tensors, for each upper layer prompts, or LoRA of queries and values; none of them
gives the plain encoder. Prompts pass through a layer's own keys and values and ask nothing, so the text keeps
its length and its positions. Dropout is off, always.
Source of the prompts: FlowRAG (WWW 2026), eq. 3, without StateFusion; of LoRA: arXiv:2106.09685.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.networks.pooling import text_vectors

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Adapter = Mapping[str, Tensor]  # by kind and layer, such as "query.4.down"
Linear = Callable[[Tensor, Tensor, Tensor | None], Tensor]
PLAIN: Adapter = MappingProxyType({})
ADAPTED = ("query", "value")  # by LoRA
SCALE = 2.0  # of what LoRA adds: alpha / r


@dataclass(frozen=True)
class Bert:
    """A BERT encoder's weights, and what is computed with them."""

    weights: Mapping[str, Tensor]  # as Hugging Face names them
    layers: int
    heads: int
    epsilon: float  # of its norms
    pooling: str = "mean"
    linear: Linear = F.linear

    @classmethod
    def of(cls, model: PreTrainedModel, *, pooling: str = "mean", linear: Linear = F.linear) -> Bert:
        """The same weights, frozen."""
        weights = {name: weight.detach() for name, weight in model.named_parameters()}
        config = model.config
        return cls(
            weights,
            config.num_hidden_layers,
            config.num_attention_heads,
            config.layer_norm_eps,
            pooling,
            linear,
        )

    @property
    def width(self) -> int:
        """D, the length of a state."""
        return self.weights["embeddings.LayerNorm.weight"].shape[0]

    @property
    def upper_layers(self) -> tuple[int, ...]:
        """Those that can be adapted, numbered from 1: the upper half."""
        return tuple(range(self.layers // 2 + 1, self.layers + 1))

    def low_rank(self, rank: int, *, seed: int) -> dict[str, Tensor]:
        """New LoRA, which adds nothing yet: A, "down" (r, D), drawn from N(0, 1/D); B, "up" (D, r), 0."""
        draw, made = torch.Generator().manual_seed(seed), dict[str, Tensor]()
        for n in self.upper_layers:
            for kind in ADAPTED:
                made[f"{kind}.{n}.down"] = torch.randn(rank, self.width, generator=draw) / self.width**0.5
                made[f"{kind}.{n}.up"] = torch.zeros(self.width, rank)
        return made

    def embedded(self, ids: Tensor) -> Tensor:
        """What enters layer 1: (B, L, D). ids: (B, L), whole numbers."""
        words = F.embedding(ids, self.weights["embeddings.word_embeddings.weight"])
        places = self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        return self._normed("embeddings.LayerNorm", words + places + kind)

    def lower(self, ids: Tensor, mask: Tensor) -> Tensor:
        """What enters the first adapted layer: (B, L, D). mask: (B, L), 0 for padding."""
        states = self.embedded(ids)
        for n in range(1, self.upper_layers[0]):
            states = self._layer(n, states, mask, PLAIN)
        return states

    def upper(self, states: Tensor, mask: Tensor, adapter: Adapter = PLAIN) -> Tensor:
        """Vectors of unit length, (B, D), of what `lower` gave. adapter: of all rows, or with B in front."""
        for n in self.upper_layers:
            states = self._layer(n, states, mask, adapter)
        return text_vectors(states, mask, pooling=self.pooling)

    def _layer(self, n: int, states: Tensor, mask: Tensor, adapter: Adapter) -> Tensor:
        return self.finished(n, states, self._attended(n, states, mask, adapter))

    def finished(self, n: int, states: Tensor, attended: Tensor) -> Tensor:
        """What leaves layer n: (B, L, D), of what entered it and what its heads found."""
        at, states = f"encoder.layer.{n - 1}", self.added(n, states, attended)
        inner = F.gelu(self._linear(f"{at}.intermediate.dense", states))
        return self._normed(f"{at}.output.LayerNorm", states + self._linear(f"{at}.output.dense", inner))

    def added(self, n: int, states: Tensor, attended: Tensor) -> Tensor:
        """LayerNorm(W_O c + b_O + h), layer n's own."""
        at = f"encoder.layer.{n - 1}.attention.output"
        return self._normed(f"{at}.LayerNorm", states + self._linear(f"{at}.dense", attended))

    def _attended(self, n: int, states: Tensor, mask: Tensor, adapter: Adapter) -> Tensor:
        """softmax(Q [K_P; K]^T / √d) [V_P; V]: (B, L, D), where K_P, V_P are those of the prompts, if any."""
        query, key, value = (self.projected(kind, n, states, adapter) for kind in ("query", "key", "value"))
        there = mask.bool()
        if (own := adapter.get(f"prompts.{n}")) is not None:
            before = [self.projected(kind, n, own) for kind in ("key", "value")]  # (p, D) each
            key, value = (
                torch.cat([more.expand(len(states), -1, -1), part], 1)
                for more, part in zip(before, (key, value), strict=True)
            )
            there = F.pad(there, (len(own), 0), value=True)  # (B, p + L)
        return self.attention(query, key, value, there)

    def attention(self, query: Tensor, key: Tensor, value: Tensor, there: Tensor) -> Tensor:
        """softmax(Q K^T / √d) V, head by head: (B, L, D). key, value: (B, K, D). there: (B, K), true."""
        query, key, value = (
            part.view(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in (query, key, value)
        )
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=there[:, None, None, :])
        return found.transpose(1, 2).flatten(2)

    def projected(self, kind: str, n: int, states: Tensor, adapter: Adapter = PLAIN) -> Tensor:
        """W h + b, and under LoRA 2 B A h more."""
        projected = self._linear(f"encoder.layer.{n - 1}.attention.self.{kind}", states)
        down, up = (adapter.get(f"{kind}.{n}.{part}") for part in ("down", "up"))
        return projected if down is None or up is None else projected + SCALE * (states @ down.mT @ up.mT)

    def _linear(self, name: str, states: Tensor) -> Tensor:
        return self.linear(states, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _normed(self, name: str, states: Tensor) -> Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(states, weight.shape, weight, bias, self.epsilon)
