"""What the task-dialogue generator reads as numbers, in NumPy, and the words that it tells.

DialogueInputs, vectors of their strings -> arrays_of -> names and arrays of a `DialogueBatch`
chances of words and positions, step by step -> decoded -> replies
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import Encoder
from agents.models.dialogue_inputs import FEATURES, DialogueInputs

VECTOR = 384  # of MiniLM
BEGIN, END, VALUE = "<begin>", "<end>", "<value>"  # VALUE stands for what is no word of the vocabulary
MARKS = ("<pad>", BEGIN, END, VALUE)
_ENCODED_AT_ONCE = 512
_MOST_WORDS = 50  # of a reply

Floats = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any]]
Ids = npt.NDArray[np.int64]
Step = Callable[[Ids, Floats, Ids], tuple[Floats, Floats]]


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


class Strings:
    """The vectors of words, values, columns and utterances, each encoded once."""

    def __init__(self, encoder: Encoder, *, most: int | None = None) -> None:
        """most: strings that are kept; with more, all are given up before the next are encoded."""
        self._encoder = encoder
        self._most = most
        self._known: dict[str, Floats] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Encodes those that are new."""
        texts = list(dict.fromkeys(texts))
        if self._most is not None and len(self._known) > self._most:
            self._known.clear()
        new = [text for text in texts if text not in self._known]
        for start in range(0, len(new), _ENCODED_AT_ONCE):
            some = new[start : start + _ENCODED_AT_ONCE]
            vectors = self._encoder.encode_passages([text.replace("_", " ") for text in some])
            self._known.update(zip(some, vectors, strict=True))

    def __getitem__(self, text: str) -> Floats:
        if text not in self._known:
            self.add([text])
        return self._known[text]


def strings_of(inputs: DialogueInputs) -> list[str]:
    """All strings whose vectors `arrays_of` wants."""
    cells = (cell.value for row in inputs.rows for cell in row)
    return [*inputs.words, *inputs.windows, *inputs.utterances, *inputs.columns, *cells]


def arrays_of(
    inputs: Sequence[DialogueInputs], vocabulary: Vocabulary, strings: Strings, *, most_rows: int
) -> Arrays:
    """Contexts and rows, padded, by the names of `DialogueBatch`. most_rows: of each, the best."""
    size = len(inputs)
    length = max(1, *(len(each.words) for each in inputs))
    utterances = max(len(each.utterances) for each in inputs)
    columns = max(len(each.columns) for each in inputs)
    rows = max(1, *(min(most_rows, len(each.rows)) for each in inputs))
    cells = max([1, *(len(row) for each in inputs for row in each.rows[:most_rows])])
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
    for b, each in enumerate(inputs):
        at = length - len(each.words)  # padded in front: places are counted from the end
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
    return {
        "word_ids": word_ids,
        "word_vectors": word_vectors,
        "window_vectors": window_vectors,
        "word_marks": word_marks,
        "utterance_vectors": utterance_vectors,
        "memory_mask": memory_mask,
        "column_vectors": column_vectors,
        "cell_vectors": cell_vectors,
        "cell_features": cell_features,
        "cell_columns": cell_columns,
        "cell_mask": cell_mask,
        "meeting": np.array([each.meeting for each in inputs]),
        "position_columns": position_columns,
    }


def texts_at(inputs: DialogueInputs, arrays: Arrays) -> dict[str, list[int]]:
    """At which positions of an example each string stands, in a batch of these sizes."""
    found: dict[str, list[int]] = {}
    length = arrays["word_ids"].shape[1]
    _, rows, cells = arrays["cell_columns"].shape
    at = length - len(inputs.words)
    for i, word in enumerate(inputs.words):
        found.setdefault(word, []).append(at + i)
    for r, row in enumerate(inputs.rows[:rows]):
        for c, cell in enumerate(row):
            found.setdefault(cell.value, []).append(length + r * cells + c)
    return found


@dataclass
class Told:
    """A reply."""

    words: list[str]
    positions: list[int]  # of each word: the likeliest where it was copied from, -1 for one of the vocabulary
    log_likelihood: float  # of a word in the mean, with the end, in nats


def decoded(
    step: Step,
    texts: Sequence[dict[str, list[int]]],
    position_columns: Ids,
    vocabulary: Vocabulary,
    strings: Strings,
    *,
    penalty: float = 0.0,
) -> list[Told]:
    """The likeliest word after another of B replies (greedy).

    step: of the last words (B, 1) ids, (B, 1, 384) vectors and (B, 1) columns -> log chances of words (B, V)
    and of positions (B, P). texts, position_columns: of each reply's context.
    penalty: of what an earlier reply tells at the same step, in nats: with B times the same context, a beam
    of B groups of one (diverse beam search, as in Dual-Feedback, section 5.3).
    A value is told once in a reply.
    """
    size = len(texts)
    names = [[word for word in at if vocabulary.id(word) < 0] for at in texts]
    told = [Told([], [], 0.0) for _ in texts]
    ended = [False] * size
    ids = np.full((size, 1), vocabulary.id(BEGIN))
    vectors = np.zeros((size, 1, VECTOR), np.float32)
    columns = np.full((size, 1), -1)
    for _ in range(_MOST_WORDS):
        of_words, of_positions = step(ids, vectors, columns)
        chosen: dict[str, int] = {}  # at this step, by how many
        for b in range(size):
            if ended[b]:
                continue
            word, chance, place = _next(
                of_words[b], of_positions[b], texts[b], names[b], told[b].words, vocabulary, chosen, penalty
            )
            chosen[word] = chosen.get(word, 0) + 1
            told[b].log_likelihood += chance
            ended[b] = word == END
            if not ended[b]:
                told[b].words.append(word)
                told[b].positions.append(place)
            ids[b, 0] = vocabulary.read_id(word)
            columns[b, 0] = position_columns[b, place] if place >= 0 else -1
            vectors[b, 0] = strings[word] if vocabulary.id(word) < 0 else 0
        if all(ended):
            break
    for one, has_ended in zip(told, ended, strict=True):
        one.log_likelihood /= max(1, len(one.words) + has_ended)
    return told


def _next(
    of_words: Floats,
    of_positions: Floats,
    texts: dict[str, list[int]],
    names: Sequence[str],
    before: Sequence[str],
    vocabulary: Vocabulary,
    chosen: dict[str, int],
    penalty: float,
) -> tuple[str, float, int]:
    """The best word, its log chance, and where it was copied from."""
    chances = np.exp(np.concatenate([of_words, np.zeros(len(names), np.float32)]).astype(np.float64))
    chances[len(vocabulary) :] = 0
    at_position = np.exp(of_positions.astype(np.float64))
    for number, name in enumerate(names):
        if name not in before:
            chances[len(vocabulary) + number] = at_position[texts[name]].sum()
    for name, where in texts.items():
        if (known := vocabulary.id(name)) >= len(MARKS):
            chances[known] += at_position[where].sum()
    for mark in (*MARKS[:2], VALUE):
        chances[vocabulary.id(mark)] = 0
    scores = np.log(np.maximum(chances, 1e-12))
    for word, times in chosen.items():
        number = vocabulary.id(word)
        if number < 0 and word in names:
            number = len(vocabulary) + names.index(word)
        if number >= 0:
            scores[number] -= penalty * times
    best = int(scores.argmax())
    log_chance = float(np.log(max(chances[best], 1e-12)))
    if best < len(vocabulary):
        return vocabulary.words[best], log_chance, -1
    name = names[best - len(vocabulary)]
    where = texts[name]
    return name, log_chance, where[int(of_positions[where].argmax())]
