"""Replies of a network in training."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from agents.models.dialogue_arrays import Floats, Ids, Strings, Told, Vocabulary, arrays_of, decoded, texts_at
from agents.models.dialogue_inputs import DialogueInputs
from agents.models.networks.dialogue import DialogueNetwork
from assistant.learning.recipes.dialogue.batches import batch_of

_AT_ONCE = 64


@torch.no_grad()
def replies(
    network: DialogueNetwork,
    inputs: Sequence[DialogueInputs],
    vocabulary: Vocabulary,
    strings: Strings,
    *,
    most_rows: int,
) -> list[list[str]]:
    """The words of a reply to each, in their order. Dropout is off meanwhile."""
    was_training = network.training
    network.eval()
    order = sorted(range(len(inputs)), key=lambda i: len(inputs[i].words))
    found: list[list[str]] = [[] for _ in inputs]
    for start in range(0, len(order), _AT_ONCE):
        some = order[start : start + _AT_ONCE]
        told = _told(network, [inputs[i] for i in some], vocabulary, strings, most_rows=most_rows)
        for i, one in zip(some, told, strict=True):
            found[i] = one.words
    network.train(was_training)
    return found


def _told(
    network: DialogueNetwork,
    inputs: Sequence[DialogueInputs],
    vocabulary: Vocabulary,
    strings: Strings,
    *,
    most_rows: int,
) -> list[Told]:
    batch = batch_of(inputs, [[]] * len(inputs), vocabulary, strings, most_rows=most_rows)
    prepared = network.prepared(batch)
    past = network.nothing_said(len(inputs))

    def step(ids: Ids, vectors: Floats, columns: Ids) -> tuple[Floats, Floats]:
        nonlocal past
        last = torch.from_numpy(ids), torch.from_numpy(vectors), torch.from_numpy(columns)
        words, positions, past = network.told(last, past, prepared)
        return words[:, -1].numpy(), positions[:, -1].numpy()

    sizes = arrays_of(inputs, vocabulary, strings, most_rows=most_rows)
    texts = [texts_at(each, sizes) for each in inputs]
    return decoded(step, texts, sizes["position_columns"], vocabulary, strings)
