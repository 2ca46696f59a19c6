"""One training step of the reader, on the threads of a processor or on a graphics card.

    batches, a thread each -> gradients of each -> their sum, clipped -> AdamW

On a processor every thread computes its own batches with single-threaded operators: two threads are twice as
fast so, and 1.3 times with torch's own threads, which wait for each other in every operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from assistant.learning.recipes.training_state import optimizer_tensors, restore_optimizer
from training.reader.batches import LabelledBatch
from training.reader.loss import ReaderLoss, reader_loss
from training.reader.network import HEADS, ReaderNetwork

LONGEST_GRADIENT = 1.0  # its norm; a longer one is shortened


class ReaderTrainer:
    """Teaches one network, step by step."""

    def __init__(
        self,
        network: ReaderNetwork,
        *,
        device: str,
        threads: int,
        freeze_layers: int,
        head_rate: float = 1.0,
    ) -> None:
        self.device = torch.device(device)
        self.network = network.to(self.device).train()
        for layer in list(network.layers)[:freeze_layers]:
            layer.requires_grad_(False)
        if freeze_layers and network.places is not None:
            network.places.requires_grad_(False)  # its gradient would come through the layers that stay
        workers = threads if self.device.type == "cpu" else 1
        self._pool = ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,))
        named = [(n, p) for n, p in network.named_parameters() if p.requires_grad]
        self._names = {parameter: name for name, parameter in named}
        self._parameters = [parameter for _, parameter in named]
        self._rates = (1.0, 1.0, head_rate)
        heads = [p for n, p in named if n.split(".")[0] in HEADS]
        body = [p for n, p in named if n.split(".")[0] not in HEADS]
        # Biases and norms have one dimension; drawing them to zero serves nothing.
        groups = [
            {"params": [p for p in body if p.ndim > 1], "weight_decay": 0.01},
            {"params": [p for p in body if p.ndim == 1], "weight_decay": 0.0},
            {"params": heads, "weight_decay": 0.01},
        ]
        self._optimizer = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=True)

    def step(self, batches: Sequence[LabelledBatch], *, learning_rate: float) -> ReaderLoss:
        """Learns from these batches at once. The loss of each head, summed over its labelled windows."""
        count = sum(map(len, batches))
        largest_first = sorted(batches, key=lambda batch: -batch.inputs.ids.size)  # the threads end together
        results = list(self._pool.map(lambda batch: self._gradients(batch, count), largest_first))
        for parameter, *gradients in zip(self._parameters, *(g for g, _ in results), strict=True):
            parameter.grad = sum(gradients[1:], start=gradients[0])
        torch.nn.utils.clip_grad_norm_(self._parameters, LONGEST_GRADIENT)
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = learning_rate * rate
        self._optimizer.step()
        return ReaderLoss(*torch.stack([losses for _, losses in results]).sum(0).unbind())

    def _gradients(self, batch: LabelledBatch, count: int) -> tuple[tuple[Tensor, ...], Tensor]:
        tensors = {name: torch.from_numpy(array).to(self.device) for name, array in batch.arrays().items()}
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            output = self.network(tensors["ids"], tensors["types"], tensors["mask"])
        loss = reader_loss(output, tensors)
        gradients = torch.autograd.grad(loss.total() / count, self._parameters)
        return gradients, torch.stack([head.detach() for head in loss]).cpu()

    def state(self) -> dict[str, Tensor]:
        """Weights and optimizer, for a checkpoint."""
        weights = {f"weights.{name}": value for name, value in self.network.own_weights().items()}
        return weights | optimizer_tensors(self._optimizer, self._names)

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Goes back to what `state` gave."""
        kept = {n.removeprefix("weights."): t for n, t in tensors.items() if n.startswith("weights.")}
        self.network.load_own_weights(kept)
        restore_optimizer(self._optimizer, self._names, tensors)

    def close(self) -> None:
        self._pool.shutdown()


def learning_rate_at(done: float, *, peak: float, warm_up: float = 0.05) -> float:
    """Rises to the peak over the first part of the run and falls to 0 at its end. done: 0 to 1."""
    rising = done / warm_up if warm_up else 1.0
    return peak * max(0.0, min(1.0, rising, (1.0 - done) / (1.0 - warm_up)))
