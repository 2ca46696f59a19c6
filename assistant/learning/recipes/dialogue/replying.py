"""Replies of a network in training: the likeliest word after another (greedy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch

from agents.models.dialogue_inputs import DialogueInputs
from agents.models.networks.dialogue import DialogueNetwork
from assistant.learning.recipes.dialogue.batches import END, MARKS, Vocabulary, batch_of, texts_at
from assistant.learning.recipes.dialogue.lessons import Strings

_AT_ONCE = 64
_MOST_WORDS = 50


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
        told = _greedy(network, [inputs[i] for i in some], vocabulary, strings, most_rows=most_rows)
        for i, words in zip(some, told, strict=True):
            found[i] = words
    network.train(was_training)
    return found


def _greedy(
    network: DialogueNetwork,
    inputs: Sequence[DialogueInputs],
    vocabulary: Vocabulary,
    strings: Strings,
    *,
    most_rows: int,
) -> list[list[str]]:
    told: list[list[str]] = [[] for _ in inputs]
    ended = [False] * len(inputs)
    batch = batch_of(inputs, told, vocabulary, strings, most_rows=most_rows)
    memory = network.memory(batch)
    _, rows, cells, _ = batch.cell_vectors.shape
    length = batch.word_ids.shape[1]
    places = [texts_at(each, length, most_rows, rows, cells) for each in inputs]
    ids, vectors = batch.said_ids, batch.said_vectors
    for _ in range(_MOST_WORDS):
        step = replace(batch, said_ids=ids, said_vectors=vectors)
        words, positions = network.log_probabilities(step, memory)
        of_words, of_places = words[:, -1].exp().numpy(), positions[:, -1].exp().numpy()
        of_words[:, : len(MARKS)] = np.where(np.array(MARKS) == END, of_words[:, : len(MARKS)], 0)
        for b, each in enumerate(places):
            if not ended[b]:
                word = _likeliest(of_words[b], of_places[b], each, vocabulary)
                ended[b] = word == END
                told[b] += [] if ended[b] else [word]
        if all(ended):
            break
        last = [words[-1] if words else END for words in told]
        ids = torch.cat([ids, torch.tensor([[vocabulary.read_id(word)] for word in last])], 1)
        new = np.array([strings[w] if vocabulary.id(w) < 0 else np.zeros(vectors.shape[2]) for w in last])
        vectors = torch.cat([vectors, torch.from_numpy(new.astype(np.float32))[:, None]], 1)
    return told


def _likeliest(
    of_words: npt.NDArray[np.float32],
    of_places: npt.NDArray[np.float32],
    places: dict[str, list[int]],
    vocabulary: Vocabulary,
) -> str:
    best = vocabulary.words[int(of_words.argmax())]
    most = float(of_words.max())
    for text, where in places.items():
        known = vocabulary.id(text)
        chance = float(of_places[where].sum()) + (float(of_words[known]) if known >= len(MARKS) else 0.0)
        if chance > most:
            best, most = text, chance
    return best
