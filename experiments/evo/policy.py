"""A policy over labels, and the small one: a cross-encoder whose lower layers are frozen and computed once.

    question and text -> frozen layers, kept -> the last layer at [CLS] -> C logits

The body is the shipped reader's, its 8-bit weights as 32-bit numbers. The last layer is needed at the first
token alone: a sixth of its cost. pi(y|x) = softmax of the head is a policy over C answers of one token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.reader_files import SMALL
from agents.models.reader_inputs import ReaderTokenizer, batch_of
from experiments.evo.sets import Item
from training.reader.network import Layer, ReaderNetwork, base_folder, base_network
from training.reader.served_weights import served_weights

_BATCH = 64


class Policy(Protocol):
    """What a round trains. No dropout, so that a score does not depend on when or beside what it is made."""

    def logp(self, items: Sequence[Item]) -> Tensor:
        """log pi(y|x) of every label: (N, C), with gradients."""

    def parameters(self) -> Iterable[nn.Parameter]:
        """What is trained."""

    def snapshot(self) -> dict[str, Tensor]:
        """A copy of what is trained, which no later step changes."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Back to a snapshot."""


@torch.no_grad()
def table(policy: Policy, items: Sequence[Item]) -> Tensor:
    """log pi of many items without gradients, in batches: (N, C)."""
    batches = [policy.logp(items[at : at + _BATCH]) for at in range(0, len(items), _BATCH)]
    return torch.cat(batches) if batches else torch.zeros(0, 2)


def reader_body() -> ReaderNetwork:
    """The shipped small reader in torch."""
    body = base_network()
    body.load_own_weights({**body.own_weights(), **served_weights(SMALL)})
    return body.eval()


class FrozenStates:
    """What the frozen layers make of a text, kept by item: a set is computed once for all runs."""

    def __init__(self, body: ReaderNetwork, *, limit: int = 256) -> None:
        self.body, self._limit = body.requires_grad_(False), limit
        self._tokenizer = ReaderTokenizer(base_folder() / "tokenizer.json")
        self._kept: dict[str, Tensor] = {}

    def of(self, items: Sequence[Item]) -> tuple[Tensor, Tensor]:
        """States (B, L, D), padded with 0, and their mask (B, L)."""
        for item in items:
            if item.id not in self._kept:
                self._kept[item.id] = self._made(item).half()
        states = [self._kept[item.id].float() for item in items]
        lengths = torch.tensor([len(each) for each in states])
        padded = nn.utils.rnn.pad_sequence(states, batch_first=True)
        return padded, (torch.arange(padded.shape[1]) < lengths[:, None]).float()

    @torch.no_grad()
    def _made(self, item: Item) -> Tensor:
        first, second = self._tokenizer.tokens(item.asked), self._tokenizer.tokens(item.text)
        batch = batch_of([self._tokenizer.pair(first, second, 0, limit=self._limit)])
        states: Tensor = self.body.embeddings(torch.from_numpy(batch.ids), torch.from_numpy(batch.types))
        for layer in list(self.body.layers)[:-1]:
            states = layer(states, torch.zeros(1))
        return states[0]


class SmallPolicy(nn.Module):
    """The last layer and a head, over frozen states."""

    def __init__(self, states: FrozenStates, labels: int, *, seed: int = 0) -> None:
        super().__init__()
        own = states.body.layers[-1]
        assert isinstance(own, Layer)
        width = own.mix.in_features
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.layer = Layer(width, own.heads, own.widen.out_features, own.output_norm.eps)
            self.head = nn.Linear(2 * width, labels)
            nn.init.normal_(self.head.weight, std=0.02)
            nn.init.zeros_(self.head.bias)
        self.layer.load_state_dict(own.state_dict())
        self._states = states

    def logp(self, items: Sequence[Item]) -> Tensor:
        states, mask = self._states.of(items)
        last = self._at_first(states, mask)
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        logits: Tensor = self.head(torch.cat([last, mean], dim=1))
        return logits.log_softmax(1)

    def _at_first(self, states: Tensor, mask: Tensor) -> Tensor:
        """The layer's output at the first token alone: (B, D)."""
        layer, (batch, length, width) = self.layer, states.shape
        first = states[:, 0]
        weight, bias = layer.attend.weight, layer.attend.bias
        query = F.linear(first, weight[:width], bias[:width]).view(batch, layer.heads, 1, -1)
        both = F.linear(states, weight[width:], bias[width:]).view(batch, length, 2, layer.heads, -1)
        key, value = both.permute(2, 0, 3, 1, 4)  # each (B, H, L, D / H)
        hidden = (1 - mask[:, None, None, :]) * -1e4
        scores = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5 + hidden
        mixed = (scores.softmax(-1) @ value).reshape(batch, width)
        normed = layer.attention_norm(first + layer.mix(mixed))
        found: Tensor = layer.output_norm(normed + layer.narrow(F.gelu(layer.widen(normed))))
        return found

    def snapshot(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.state_dict().items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.load_state_dict(state)
