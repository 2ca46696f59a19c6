"""An encoder that adapts while it is used: its searches are made surer of themselves, without any label.

    questions, vectors of what each found -> softmax -> mean entropy -> a step of the norms' parameters

Only the affine parameters of the LayerNorm layers are ever changed, so it cannot stray far. Source: TENT,
arXiv:2006.10726, in its online form; LUF, Table 6, has it as a baseline; which outputs is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from agents.base.interfaces import Vectors
from assistant.learning.recipes.retriever.network import RetrieverNetwork


def mean_entropy(questions: Tensor, documents: Tensor, *, temperature: float) -> Tensor:
    """How unsure each search is which of the documents it found is right.

        L = 1/B Σᵢ H(pᵢ),  pᵢ = softmaxⱼ(qᵢ · dᵢⱼ / τ),  H(p) = - Σⱼ pⱼ log pⱼ

    questions: (B, D), unit length. documents: (B, k, D), unit length: of each question the k it found.
    temperature: τ > 0. Returns a scalar, in nats, 0 to log k.
    """
    logits = torch.einsum("bd,bkd->bk", questions, documents) / temperature  # (B, k)
    logs = logits.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1).mean()


class EntropyMinimisation:
    """Adapts a network's query side to the questions that it is asked."""

    def __init__(
        self, network: RetrieverNetwork, *, learning_rate: float = 1e-4, temperature: float = 0.05
    ) -> None:
        """learning_rate: of Adam. temperature: τ of the softmax over similarities.

        The source's rate of 1e-3 makes every search sure of itself, right or wrong: after 300
        questions of friendsqa dense R@5 had fallen from 0.37 to 0.23, and with 1e-4 it had not. Raises
        ValueError where nothing can be adapted.
        """
        self._network = network
        self._temperature = temperature
        network.requires_grad_(False)
        self.parameters = norm_parameters(network.transformer)
        if not self.parameters:
            raise ValueError(f"{network.source.name} has no LayerNorm to adapt")
        for parameter in self.parameters.values():
            parameter.requires_grad_(True)
        self._optimizer = torch.optim.Adam(self.parameters.values(), lr=learning_rate)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(N, D), unit length: questions, by the weights as they are."""
        with torch.no_grad():
            (vectors,) = self._network.encode(self._network.questions(texts))
        return np.asarray(vectors.cpu().numpy(), dtype=np.float32)

    def entropy(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        """`mean_entropy` by the weights as they are. documents: for each question (k, D), what it found."""
        with torch.no_grad():
            return self._loss(texts, documents).item()

    def step(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        """One step on a batch; the entropy before it. documents: for each question (k, D), what it found."""
        loss = self._loss(texts, documents)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return loss.item()

    def _loss(self, texts: Sequence[str], documents: Sequence[Vectors]) -> Tensor:
        (questions,) = self._network.encode(self._network.questions(texts))
        found = torch.from_numpy(np.stack(list(documents))).to(questions.device, questions.dtype)
        return mean_entropy(questions, found, temperature=self._temperature)


def norm_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """Weight and bias of every LayerNorm within a module, by name."""
    return {
        f"{name}.{kind}": parameter
        for name, layer in module.named_modules()
        if isinstance(layer, nn.LayerNorm)
        for kind, parameter in (("weight", layer.weight), ("bias", layer.bias))
        if parameter is not None
    }
