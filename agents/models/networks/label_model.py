"""A policy over label strings: a causal language model, of which adapters are trained.

    text, question -> prompt -> log-probability of each label string behind it

log pi(y|x) is the sum over the tokens of the label, its space included, without an end token. The adapters
are never switched off: the reference is the table that they gave when the round began, not the base model's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from agents.base.control_tokens import ControlTokens
from agents.models.networks.causal_lm import Batch, CausalLm, load, logits_of, with_adapters


class Asked(Protocol):
    """What a label is asked for."""

    @property
    def asked(self) -> str:
        """The question."""

    @property
    def text(self) -> str:
        """What it is asked of."""


class Question(NamedTuple):
    """See `Asked`."""

    asked: str
    text: str


class Policy(ABC):
    """Gives every label of a question and a text a log-probability."""

    model: CausalLm  # or another network and what cuts text for it

    @abstractmethod
    def logp(self, items: Sequence[Asked]) -> Tensor:
        """log pi(y|x) of every label: (N, C), with gradients where something is trained."""

    @abstractmethod
    def count_tokens(self, items: Sequence[Asked]) -> int:
        """How many tokens are read for these."""

    def parameters(self) -> Iterable[nn.Parameter]:
        """What is trained."""
        return self.model.trained.values()

    def snapshot(self) -> dict[str, Tensor]:
        """A copy of what is trained, which no later step changes."""
        return {name: value.detach().clone() for name, value in self.model.trained.items()}

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Back to a snapshot. Raises KeyError or RuntimeError for one of another model."""
        for name, value in self.model.trained.items():
            value.copy_(state[name])


class LabelModel(Policy):
    """By what a causal language model writes.

    labels: as they are written. rank: of the adapters; 0: there are none, and nothing is trained.
    first_token: only the first token of each label is read, one pass for all, as it is of labels of one
    token; they have to differ in it. form: what is asked, with the question where {} stands. A prompt that
    is too long loses its beginning.
    """

    def __init__(
        self,
        path: Path,
        labels: Sequence[str],
        *,
        rank: int = 16,
        first_layer: int = 0,
        first_token: bool = False,
        form: str = "{}",
        most_tokens: int = 256,
        seed: int = 0,
    ) -> None:
        self.model = load(path)
        if rank:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                self.model = with_adapters(self.model, rank=rank, alpha=2 * rank, first_layer=first_layer)
        else:
            self.model.network.requires_grad_(False)
        self.model.network.eval()  # gradients flow, and nothing is dropped
        if torch.cuda.is_available():
            self.model.network.to("cuda")
        self._control = ControlTokens(self.model.tokenizer)
        self._names, self._form, self._most = labels, form, most_tokens
        self._labels: list[list[int]] = [self._cut(f" {label}") for label in labels]
        if first_token:
            self._labels = [ids[:1] for ids in self._labels]
            if len({ids[0] for ids in self._labels}) < len(labels):
                raise ValueError(f"{', '.join(labels)} do not differ in their first tokens")
        self._is_one_pass = all(len(ids) == 1 for ids in self._labels)

    def logp(self, items: Sequence[Asked]) -> Tensor:
        """See `Policy`."""
        prompts = [self._prompt(item) for item in items]
        if self._is_one_pass:
            batch = self._batch([(ids, self._labels[0]) for ids in prompts])
            said = logits_of(self.model, batch).log_softmax(1)  # (N, v): each behind its prompt
            return said[:, [ids[0] for ids in self._labels]].cpu()
        batch = self._batch([(ids, label) for ids in prompts for label in self._labels])
        said = logits_of(self.model, batch).log_softmax(1)
        of_tokens = said.gather(1, batch.ids[batch.written][:, None])[:, 0].cpu()
        rows = batch.written.nonzero()[:, 0].cpu()
        summed = torch.zeros(len(batch.ids)).index_add(0, rows, of_tokens)
        return summed.view(len(items), len(self._labels))

    def count_tokens(self, items: Sequence[Asked]) -> int:
        """See `Policy`."""
        return sum(min(self._most, len(self._prompt(item)) + 1) for item in items)

    def _prompt(self, item: Asked) -> list[int]:
        return self._cut(self._control.broken_up(prompt(item, self._names, self._form)))

    def _cut(self, text: str) -> list[int]:
        ids: list[int] = self.model.tokenizer(text, add_special_tokens=False).input_ids
        return ids

    def _batch(self, rows: Sequence[tuple[list[int], list[int]]]) -> Batch:
        """Padded on the right; the label's tokens are those that are looked at."""
        texts = [[*read[len(label) - self._most :], *label] for read, label in rows]
        length = max(map(len, texts))
        ids = torch.tensor([text + [0] * (length - len(text)) for text in texts])
        places, ends = torch.arange(length), torch.tensor([len(text) for text in texts])[:, None]
        begins = ends - torch.tensor([len(label) for _, label in rows])[:, None]
        made = ids, (places < ends).long(), (places >= begins) & (places < ends)
        return Batch(*(each.to(self.model.network.device) for each in made))


def prompt(item: Asked, labels: Sequence[str], form: str = "{}") -> str:
    """What the label is written behind."""
    return (
        f"{item.text}\n\n{form.format(item.asked)}\nAnswer by the text above, {' or '.join(labels)}.\nAnswer:"
    )
