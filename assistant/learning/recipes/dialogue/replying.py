"""The built-in generator's network in training: the loss of lessons, and its replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agents.models.dialogue_arrays import (
    MARKS,
    Floats,
    Ids,
    Strings,
    Told,
    Vocabulary,
    arrays_of,
    decoded,
    texts_at,
)
from agents.models.dialogue_inputs import MOST_ROWS, DialogueInputs
from agents.models.networks.dialogue import DialogueNetwork, Shape
from assistant.learning.recipes.dialogue.batches import batch_of
from assistant.learning.recipes.dialogue.lessons import Lesson
from assistant.learning.recipes.training_state import read_checkpoint

_AT_ONCE = 64
_WORD_DROPOUT = 0.1


@dataclass
class PointerModel:
    """The network with the words and vectors that it reads."""

    network: DialogueNetwork
    vocabulary: Vocabulary
    strings: Strings
    learning_rate: float = 5e-4

    @classmethod
    def read(cls, file: Path, strings: Strings) -> PointerModel:
        """What `train_dialogue` wrote. Raises OSError or ValueError."""
        tensors, facts = read_checkpoint(file)
        vocabulary = Vocabulary(facts["words"][len(MARKS) :])
        network = DialogueNetwork(Shape(len(vocabulary)))
        network.load_state_dict(tensors)
        return cls(network, vocabulary, strings)

    def loss(self, some: Sequence[Lesson], *, most_rows: int) -> Tensor:
        """The mean negative log-likelihood of the replies' words, some words of the context left out."""
        inputs, said = [each.inputs for each in some], [each.reply for each in some]
        batch = batch_of(inputs, said, self.vocabulary, self.strings, most_rows=most_rows)
        dropped = torch.rand(batch.word_ids.shape) < _WORD_DROPOUT
        batch.word_ids[dropped] = self.vocabulary.read_id("")
        batch.word_vectors[dropped] = 0
        batch.window_vectors[dropped] = 0
        return -self.network.likelihood(batch).mean()

    def replies(self, inputs: Sequence[DialogueInputs]) -> list[list[str]]:
        """The words of a reply to each."""
        return replies(self.network, inputs, self.vocabulary, self.strings, most_rows=MOST_ROWS)

    @torch.no_grad()
    def different(self, inputs: DialogueInputs, *, groups: int = 4, penalty: float = 1.0) -> list[list[str]]:
        """The words of different replies to one context: a diverse beam with groups of one."""
        self.network.eval()
        same = [inputs] * groups
        found = _told(self.network, same, self.vocabulary, self.strings, most_rows=MOST_ROWS, penalty=penalty)
        return list({tuple(told.words): told.words for told in found}.values())

    def facts(self) -> dict[str, Any]:
        """What is written beside the weights."""
        return {"words": self.vocabulary.words}


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
    penalty: float = 0.0,
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
    return decoded(step, texts, sizes["position_columns"], vocabulary, strings, penalty=penalty)
