"""Lessons as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from agents.models.dialogue_arrays import BEGIN, END, VECTOR, Strings, Vocabulary, arrays_of, texts_at
from agents.models.dialogue_inputs import DialogueInputs
from agents.models.networks.dialogue import DialogueBatch


def batch_of(
    inputs: Sequence[DialogueInputs],
    replies: Sequence[Sequence[str]],
    vocabulary: Vocabulary,
    strings: Strings,
    *,
    most_rows: int,
) -> DialogueBatch:
    """Examples with what was replied so far and what comes next. most_rows: of each, the best."""
    arrays = arrays_of(inputs, vocabulary, strings, most_rows=most_rows)
    size, steps = len(inputs), max(len(reply) for reply in replies) + 1
    position_columns = arrays["position_columns"]
    said_ids = np.zeros((size, steps), np.int64)
    said_vectors = np.zeros((size, steps, VECTOR), np.float32)
    said_columns = np.full((size, steps), -1, np.int64)
    target_ids = np.full((size, steps), -1, np.int64)
    target_positions = np.zeros((size, steps, position_columns.shape[1]), bool)
    target_mask = np.zeros((size, steps), bool)
    said_ids[:, 0] = vocabulary.id(BEGIN)
    for b, (each, reply) in enumerate(zip(inputs, replies, strict=True)):
        texts = texts_at(each, arrays)
        for t, word in enumerate((*reply, END)):
            places = [i for i in texts.get(word, ()) if position_columns[b, i] >= 0]
            if t + 1 < steps:
                said_ids[b, t + 1] = vocabulary.read_id(word)
                if vocabulary.id(word) < 0:
                    said_vectors[b, t + 1] = strings[word]
                    said_columns[b, t + 1] = position_columns[b, places[-1]] if places else -1
            target_ids[b, t] = vocabulary.id(word)
            target_positions[b, t, places] = True
            target_mask[b, t] = bool(places) or target_ids[b, t] >= 0
    arrays |= {
        "said_ids": said_ids,
        "said_vectors": said_vectors,
        "said_columns": said_columns,
        "target_ids": target_ids,
        "target_positions": target_positions,
        "target_mask": target_mask,
    }
    return DialogueBatch(**{name: torch.from_numpy(array) for name, array in arrays.items()})
