"""The task-dialogue generator, served by ONNX Runtime.

    a context with its rows -> memory.onnx, once -> step.onnx, a word after another -> replies

It serves an exported folder, which `exporters.export_dialogue` makes; no torch is loaded here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from agents.base.interfaces import Encoder
from agents.models.dialogue_arrays import (
    Arrays,
    Floats,
    Ids,
    Step,
    Strings,
    Told,
    Vocabulary,
    arrays_of,
    decoded,
    strings_of,
    texts_at,
)
from agents.models.dialogue_inputs import MOST_ROWS, DialogueInputs
from agents.models.exported_folders import loading, open_session
from stores.base.errors import VouchError

SHIPPED = Path(__file__).parent / "weights" / "dialogue"
WEIGHTS = "dialogue.safetensors"  # beside the served files: what a training goes on from
MEMORY_FILE, STEP_FILE, DESCRIPTION_FILE = "memory.onnx", "step.onnx", "dialogue.json"
MEMORY_INPUTS = (
    "word_ids",
    "word_vectors",
    "window_vectors",
    "word_marks",
    "utterance_vectors",
    "memory_mask",
    "column_vectors",
    "cell_vectors",
    "cell_features",
    "cell_columns",
    "cell_mask",
    "meeting",
    "position_columns",
)
PREPARED = ("crossed", "mask", "pointed", "named")
STEP_INPUTS = ("said_ids", "said_vectors", "said_columns", "past", *PREPARED, "position_columns", "meeting")
STEP_OUTPUTS = ("words", "positions", "kept")
GROUPS, PENALTY = 4, 1.0  # of the diverse beam; the first group is greedy
_MOST_STRINGS = 20_000  # vectors kept, 30 MB
_FORMAT = 1


class DialogueUnavailable(VouchError):
    """A dialogue generator could not be exported, or its folder is not whole."""

    exit_code = 3


class OfNetwork(Protocol):
    """The sizes of a network that its keys and values have."""

    @property
    def width(self) -> int:
        """Of a state."""

    @property
    def heads(self) -> int:
        """Of an attention."""


@dataclass(frozen=True)
class DialogueDescription:
    """What `dialogue.json` says of the exported folder that it lies in."""

    words: tuple[str, ...]  # of the vocabulary, marks included
    width: int
    heads: int
    sha256: dict[str, str]  # of each file
    largest_difference: float = 0.0  # of a log-probability, between torch and what is served
    learned_columns: tuple[str, ...] = ()  # from corrections, beside those of what is shipped
    learned_words: tuple[str, ...] = ()  # of the replies that were corrections
    format: int = _FORMAT

    @classmethod
    def of_files(cls, folder: Path, words: Sequence[str], shape: OfNetwork) -> Self:
        """Of files that were just written."""
        digests = {name: _digest((folder / name).read_bytes()) for name in (MEMORY_FILE, STEP_FILE)}
        return cls(tuple(words), shape.width, shape.heads, digests)

    @classmethod
    def read(cls, folder: Path) -> tuple[Self, dict[str, bytes]]:
        """The description and the files, as they were when they were exported."""
        try:
            facts = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
            if facts["format"] != _FORMAT:
                raise ValueError(f"its format is {facts['format']}, not {_FORMAT}")
            lists = ("words", "learned_columns", "learned_words")
            found = cls(**facts | {name: tuple(facts.get(name, ())) for name in lists})
            files = {name: (folder / name).read_bytes() for name in (MEMORY_FILE, STEP_FILE)}
            if odd := next((n for n, content in files.items() if _digest(content) != found.sha256[n]), ""):
                raise ValueError(f"{odd} has changed since it was exported")
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DialogueUnavailable(
                f"The dialogue generator in {folder} is not whole: {error}",
                hint="Install Vouch again: it comes with it.",
            ) from error
        return found, files

    def write(self, folder: Path) -> None:
        """Makes this the folder's description."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"
        (folder / DESCRIPTION_FILE).write_text(text, encoding="utf-8")


class DialogueGenerator:
    """The generator of an exported folder, on the CPU."""

    def __init__(self, folder: Path, encoder: Encoder, *, threads: int = 0) -> None:
        """encoder: of all-MiniLM-L6-v2, by whose vectors it was trained."""
        self._facts, files = DialogueDescription.read(folder)
        with loading(folder, "dialogue generator", DialogueUnavailable):
            self._memory = open_session(files[MEMORY_FILE], threads=threads)
            self._step = open_session(files[STEP_FILE], threads=threads)
        self._vocabulary = Vocabulary(self._facts.words[len(Vocabulary([])) :])
        self._strings = Strings(encoder, most=_MOST_STRINGS)

    @property
    def learned(self) -> tuple[frozenset[str], frozenset[str]]:
        """The columns and the words of replies that corrections taught it."""
        return frozenset(self._facts.learned_columns), frozenset(self._facts.learned_words)

    def replies(self, inputs: DialogueInputs, *, most: int = GROUPS) -> list[Told]:
        """Different replies, the likeliest first. most: 1 for the greedy one alone."""
        self._strings.add(strings_of(inputs))
        arrays = arrays_of([inputs], self._vocabulary, self._strings, most_rows=MOST_ROWS)
        step = open_step(self._memory, self._step, arrays, self._facts, size=most)
        texts = [texts_at(inputs, arrays)] * most
        columns = np.repeat(arrays["position_columns"], most, 0)
        found = decoded(step, texts, columns, self._vocabulary, self._strings, penalty=PENALTY)
        different = {tuple(told.words): told for told in reversed(found)}
        return sorted(different.values(), key=lambda told: -told.log_likelihood)


def open_step(memory: Any, step: Any, arrays: Arrays, shape: OfNetwork, *, size: int) -> Step:
    """What says the chances of the next words of so many replies to one context."""
    prepared = memory.run(list(PREPARED), {name: arrays[name] for name in MEMORY_INPUTS})
    fixed = dict(zip(PREPARED, prepared, strict=True))
    fixed = {name: np.repeat(value, size, 2 if name == "crossed" else 0) for name, value in fixed.items()}
    fixed |= {name: np.repeat(arrays[name], size, 0) for name in ("position_columns", "meeting")}
    layers = fixed["crossed"].shape[0]
    past = np.zeros((layers, 2, size, shape.heads, 0, shape.width // shape.heads), np.float32)

    def next_chances(ids: Ids, vectors: Floats, columns: Ids) -> tuple[Floats, Floats]:
        nonlocal past
        given = fixed | {"said_ids": ids, "said_vectors": vectors, "said_columns": columns, "past": past}
        words, positions, past = step.run(list(STEP_OUTPUTS), given)
        return words, positions

    return next_chances


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
