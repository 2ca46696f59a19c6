"""Lessons as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from agents.models.dialogue_inputs import FEATURES, DialogueInputs
from agents.models.networks.dialogue import VECTOR, DialogueBatch
from assistant.learning.recipes.dialogue.lessons import Strings

BEGIN, END, VALUE = "<begin>", "<end>", "<value>"  # VALUE stands for what is no word of the vocabulary
MARKS = ("<pad>", BEGIN, END, VALUE)


class Vocabulary:
    """The words that are told or read as such; ids begin with the marks."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = (*MARKS, *words)
        self._ids = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int:
        """-1 for what is none of it."""
        return self._ids.get(word, -1)

    def read_id(self, word: str) -> int:
        """Of `VALUE` for what is none of it."""
        return self._ids.get(word, self._ids[VALUE])


def batch_of(
    inputs: Sequence[DialogueInputs],
    replies: Sequence[Sequence[str]],
    vocabulary: Vocabulary,
    strings: Strings,
    *,
    most_rows: int,
) -> DialogueBatch:
    """Examples with what was replied so far and what comes next. most_rows: of each, the best."""
    size = len(inputs)
    length = max(1, *(len(each.words) for each in inputs))
    utterances = max(len(each.utterances) for each in inputs)
    columns = max(len(each.columns) for each in inputs)
    rows = max(1, *(min(most_rows, len(each.rows)) for each in inputs))
    cells = max([1, *(len(row) for each in inputs for row in each.rows[:most_rows])])
    steps = max(len(reply) for reply in replies) + 1
    word_ids = np.zeros((size, length), np.int64)
    word_vectors = np.zeros((size, length, VECTOR), np.float32)
    window_vectors = np.zeros((size, length, VECTOR), np.float32)
    word_marks = np.zeros((size, length, 10), np.float32)
    utterance_vectors = np.zeros((size, utterances, VECTOR), np.float32)
    memory_mask = np.zeros((size, 1 + utterances + length), bool)
    column_vectors = np.zeros((size, columns, VECTOR), np.float32)
    cell_vectors = np.zeros((size, rows, cells, VECTOR), np.float32)
    cell_features = np.zeros((size, rows, cells, FEATURES), np.float32)
    cell_columns = np.zeros((size, rows, cells), np.int64)
    cell_mask = np.zeros((size, rows, cells), bool)
    position_columns = np.full((size, length + rows * cells), -1, np.int64)
    said_ids = np.zeros((size, steps), np.int64)
    said_vectors = np.zeros((size, steps, VECTOR), np.float32)
    target_ids = np.full((size, steps), -1, np.int64)
    target_positions = np.zeros((size, steps, length + rows * cells), bool)
    target_mask = np.zeros((size, steps), bool)
    for b, (each, reply) in enumerate(zip(inputs, replies, strict=True)):
        at = length - len(each.words)  # padded in front: places are counted from the end
        texts = texts_at(each, length, most_rows, rows, cells)
        for i, word in enumerate(each.words):
            column = each.word_columns[i]
            word_ids[b, at + i] = vocabulary.read_id(word)
            word_vectors[b, at + i] = strings[word]
            window_vectors[b, at + i] = strings[each.windows[i]]
            word_marks[b, at + i, 0 if each.is_user[i] else 1] = 1
            word_marks[b, at + i, 2 + each.turns_back[i]] = 1
            if column >= 0:
                position_columns[b, at + i] = column
            elif vocabulary.id(word) < 0:
                position_columns[b, at + i] = columns  # it can be copied
        for i, utterance in enumerate(each.utterances):
            utterance_vectors[b, i] = strings[utterance]
        memory_mask[b, : 1 + len(each.utterances)] = True
        memory_mask[b, 1 + utterances + at :] = True
        for i, name in enumerate(each.columns):
            column_vectors[b, i] = strings[name]
        for r, row in enumerate(each.rows[:most_rows]):
            for c, cell in enumerate(row):
                cell_vectors[b, r, c] = strings[cell.value]
                cell_features[b, r, c] = cell.features
                cell_columns[b, r, c] = cell.column
                cell_mask[b, r, c] = True
                position_columns[b, length + r * cells + c] = cell.column
        for t, word in enumerate((*reply, END)):
            if t + 1 < steps:
                said_ids[b, t + 1] = vocabulary.read_id(word)
                if vocabulary.id(word) < 0:
                    said_vectors[b, t + 1] = strings[word]
            target_ids[b, t] = vocabulary.id(word)
            places = [i for i in texts.get(word, ()) if position_columns[b, i] >= 0]
            target_positions[b, t, places] = True
            target_mask[b, t] = bool(places) or target_ids[b, t] >= 0
        said_ids[b, 0] = vocabulary.id(BEGIN)
    return DialogueBatch(
        torch.from_numpy(word_ids),
        torch.from_numpy(word_vectors),
        torch.from_numpy(window_vectors),
        torch.from_numpy(word_marks),
        torch.from_numpy(utterance_vectors),
        torch.from_numpy(memory_mask),
        torch.from_numpy(column_vectors),
        torch.from_numpy(cell_vectors),
        torch.from_numpy(cell_features),
        torch.from_numpy(cell_columns),
        torch.from_numpy(cell_mask),
        torch.tensor([each.meeting for each in inputs]),
        torch.from_numpy(position_columns),
        torch.from_numpy(said_ids),
        torch.from_numpy(said_vectors),
        torch.from_numpy(target_ids),
        torch.from_numpy(target_positions),
        torch.from_numpy(target_mask),
    )


def texts_at(
    inputs: DialogueInputs, length: int, most_rows: int, rows: int, cells: int
) -> dict[str, list[int]]:
    """At which positions each string stands, in a batch of these sizes."""
    found: dict[str, list[int]] = {}
    at = length - len(inputs.words)
    for i, word in enumerate(inputs.words):
        found.setdefault(word, []).append(at + i)
    for r, row in enumerate(inputs.rows[: min(most_rows, rows)]):
        for c, cell in enumerate(row):
            found.setdefault(cell.value, []).append(length + r * cells + c)
    return found
