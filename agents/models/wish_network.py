"""Judges what a message wants of a table: a small transformer, read from safetensors and run in NumPy.

    tokens with the vectors of themselves and of three in a row, a candidate -> two layers -> its label

A candidate is a value, a number, a column or the whole message. Its network was trained over other tables
(training/dialogue/train_wishes.py), so all that it knows of a column is the vector of its name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from safetensors import safe_open

from agents.base.interfaces import Encoder
from agents.models.dialogue_arrays import VECTOR, Arrays, Floats, Strings

SHIPPED = Path(__file__).parent / "weights" / "wishes" / "wishes.safetensors"
OF_DOCUMENTS = SHIPPED.with_name("of_documents.safetensors")  # which asks tables in documents
TOTALS_SHIPPED = SHIPPED.with_name("totals.safetensors")
TOTALS = ("none", "sum", "mean")  # what a message may ask over the rows of a table
VALUE = "it"  # stands in such a message for a value of the table, and for the name of a column
MOST_TOKENS = 60  # of a message, the first
WIDTH, HEADS, LAYERS, INNER = 96, 4, 2, 192
FAR = 8  # tokens from what is judged, or more
NEAR = 2 * FAR + 1  # distances; one more for what stands nowhere
MARKS = 3  # of a token: none, what is judged, beside it
_EPSILON = 1e-5
_MOST_STRINGS = 20_000

Kind = Literal[
    "value", "number inside", "number outside", "numeric column", "truth column", "text column", "message"
]
LABELS: dict[Kind, tuple[str, ...]] = {
    "value": ("none", "is", "not", "any"),
    "number inside": ("none", "is", "not", "most", "least"),
    "number outside": ("none", "is", "not", "most", "least"),
    "numeric column": ("none", "ask", "any", "highest", "lowest", "above", "below"),
    "truth column": ("none", "ask", "any", "is", "not"),
    "text column": ("none", "ask", "any"),
    "message": ("find", "count", "ask", "other"),
}
KINDS: tuple[Kind, ...] = tuple(LABELS)
NAMES = tuple(dict.fromkeys(label for labels in LABELS.values() for label in labels))


@dataclass(frozen=True)
class Candidate:
    """What is judged."""

    kind: Kind
    column: str  # its name; empty for the whole message
    at: tuple[int, ...]  # tokens that say it
    beside: tuple[int, ...] = ()  # tokens of values or numbers that are not judged now


def windows(tokens: Sequence[str]) -> list[str]:
    """Each token between those beside it."""
    return [" ".join(tokens[max(0, at - 1) : at + 2]) for at in range(len(tokens))]


def strings_of(tokens: Sequence[str], found: Sequence[Candidate]) -> list[str]:
    """All strings whose vectors `arrays_of` wants."""
    return [*tokens, *windows(tokens), *(candidate.column.lower() for candidate in found)]


def arrays_of(tokens: Sequence[str], found: Sequence[Candidate], strings: Strings) -> Arrays:
    """Words, windows (T, V), columns (B, V), marks and distances (B, T), kinds (B,) of one message."""
    marks = np.zeros((len(found), len(tokens)), np.int64)
    near = np.full((len(found), len(tokens)), NEAR, np.int64)
    for row, candidate in enumerate(found):
        marks[row, list(candidate.beside)] = 2
        marks[row, list(candidate.at)] = 1
        if candidate.at:
            near[row] = np.clip(np.arange(len(tokens)) - candidate.at[0], -FAR, FAR) + FAR
    none = np.zeros(VECTOR, np.float32)
    return {
        "words": np.array([strings[token] for token in tokens], np.float32).reshape(-1, VECTOR),
        "windows": np.array([strings[text] for text in windows(tokens)], np.float32).reshape(-1, VECTOR),
        "columns": np.array([strings[c.column.lower()] if c.column else none for c in found], np.float32),
        "marks": marks,
        "near": near,
        "kinds": np.array([KINDS.index(candidate.kind) for candidate in found], np.int64),
    }


def allowed() -> Floats:
    """(kinds, labels): 0 where a kind may have a label, else a number that no chance is left of."""
    mask = np.full((len(KINDS), len(NAMES)), -1e4, np.float32)
    for row, kind in enumerate(KINDS):
        mask[row, [NAMES.index(label) for label in LABELS[kind]]] = 0
    return mask


class WishNetwork:
    """The network of a file."""

    def __init__(self, encoder: Encoder, file: Path = SHIPPED) -> None:
        """encoder: of all-MiniLM-L6-v2, by whose vectors it was trained."""
        with safe_open(file, "numpy") as content:
            facts = json.loads(content.metadata()["facts"])
            self._weights = {name: content.get_tensor(name).astype(np.float32) for name in content.keys()}  # noqa: SIM118
        assert tuple(facts["labels"]) == NAMES, "the file was trained for other labels"
        self._strings = Strings(encoder, most=_MOST_STRINGS)

    def chances(self, tokens: Sequence[str], found: Sequence[Candidate]) -> list[dict[str, float]]:
        """Of each candidate the labels that it may have with their probabilities."""
        if not tokens:
            return [{label: float(n == 0) for n, label in enumerate(LABELS[one.kind])} for one in found]
        self._strings.add(strings_of(tokens, found))
        scores = forward(self._weights, arrays_of(tokens, found, self._strings))
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = raised / raised.sum(axis=1, keepdims=True)
        return [
            {label: float(row[NAMES.index(label)]) for label in LABELS[one.kind]}
            for one, row in zip(found, shares, strict=True)
        ]

    def likeness(self, some: Sequence[str], others: Sequence[str]) -> Floats:
        """(N, M): the cosines of texts and other texts."""
        self._strings.add([*some, *others])
        rows = [np.array([self._strings[text] for text in texts], np.float32) for texts in (some, others)]
        return np.asarray(rows[0] @ rows[1].T, np.float32)


def forward(weights: Mapping[str, Floats], given: Arrays) -> Floats:
    """(B, labels): the scores of each candidate's labels, those that its kind has not far below."""
    like = _likeness(given)  # (B, T, 2)
    words = _linear(weights, "words", given["words"]) + _linear(weights, "windows", given["windows"])
    tokens = words[None] + _linear(weights, "like", like)
    tokens = tokens + weights["marks.weight"][given["marks"]] + weights["near.weight"][given["near"]]
    first = _linear(weights, "columns", given["columns"]) + weights["kinds.weight"][given["kinds"]]
    states = np.concatenate([first[:, None], tokens], axis=1)
    for layer in range(LAYERS):
        name = f"layers.{layer}"
        states = states + _attended(weights, name, _norm(weights, f"{name}.norm1", states))
        inner = _linear(weights, f"{name}.up", _norm(weights, f"{name}.norm2", states))
        states = states + _linear(weights, f"{name}.down", np.maximum(inner, 0))
    scores = _linear(weights, "labels", _norm(weights, "norm", states[:, 0]))
    return np.asarray(scores + allowed()[given["kinds"]], np.float32)


def _likeness(given: Arrays) -> Floats:
    """The cosines of each column's name with words and windows."""
    both = [given["columns"] @ given[name].T for name in ("words", "windows")]
    return np.stack(both, axis=-1).astype(np.float32)


def _attended(weights: Mapping[str, Floats], name: str, states: Floats) -> Floats:
    size, length, _ = states.shape
    asked, offered, held = np.split(_linear(weights, f"{name}.heads", states), 3, axis=-1)
    shape = (size, length, HEADS, WIDTH // HEADS)
    q, k, v = (part.reshape(shape).transpose(0, 2, 1, 3) for part in (asked, offered, held))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS)
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (raised / raised.sum(axis=-1, keepdims=True)) @ v
    return _linear(weights, f"{name}.out", mixed.transpose(0, 2, 1, 3).reshape(size, length, WIDTH))


def _linear(weights: Mapping[str, Floats], name: str, values: Floats) -> Floats:
    result: Floats = values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return result


def _norm(weights: Mapping[str, Floats], name: str, values: Floats) -> Floats:
    centred = values - values.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
    result: Floats = centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return result


class TotalHead:
    """Tells whether a message asks for a sum or a mean: softmax(W q + b) of its vector q."""

    def __init__(self, encoder: Encoder, file: Path = TOTALS_SHIPPED) -> None:
        self._encoder = encoder
        with safe_open(file, framework="numpy") as tensors:
            self._weight, self._bias = tensors.get_tensor("weight"), tensors.get_tensor("bias")

    def chances(self, message: str) -> dict[str, float]:
        """Of each of TOTALS; they add up to 1."""
        (vector,) = self._encoder.encode_queries([message])
        logits = self._weight @ vector + self._bias
        shares = np.exp(logits - logits.max())
        return dict(zip(TOTALS, (shares / shares.sum()).tolist(), strict=True))
