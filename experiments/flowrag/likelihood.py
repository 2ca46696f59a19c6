"""What stands in for the generator: how probable an answer is, given a question and a document, and answers.

simulated: log p = 2 [the answer stands in the document] + 0.5 overlap of words + noise of deviation 0.3
the reader: log p of the answer among all spans of the document; its likeliest span of all documents
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agents.models.reader import OnnxReader
from agents.models.reader_files import SMALL
from assistant.replay.metrics.metrics import has_answer
from experiments.flowrag.domains import Question
from stores.words.lexical import tokens

_ANSWER, _OVERLAP, _NOISE = 2.0, 0.5, 0.3


def simulated(question: Question, document: str, *, seed: int) -> float:
    """The same for the same seed, question and document."""
    asked = set(tokens(question.text))
    overlap = len(asked & set(tokens(document))) / max(1, len(asked))
    noise = random.Random(f"{seed} {question.text} {document}").gauss(0, _NOISE)
    return _ANSWER * has_answer(document, question.answers) + _OVERLAP * overlap + noise


class KeptReader:
    """The product's small reader; what it read is kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file, self._reader = file, OnnxReader(SMALL, threads=1)
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self._known: dict[str, Any] = dict(json.loads(line) for line in lines if line.endswith("]"))

    def answer(self, question: str, documents: Sequence[str]) -> str:
        """The likeliest span of all of them; it answers always."""
        return max((self._best(question, each) for each in documents), key=lambda found: found[1])[0]

    def log_probability(self, question: Question, document: str) -> float:
        """Of the likeliest of the right answers, at least log 1e-6."""
        return max(self._log_probability(question.text, answer, document) for answer in question.answers)

    def _log_probability(self, question: str, answer: str, document: str) -> float:
        def read() -> float:
            return self._reader.answer_log_probability(question, document, answer)

        return float(self._kept(f"{question}\n{answer}\n{document}", read))

    def _best(self, question: str, document: str) -> tuple[str, float]:
        def read() -> tuple[str, float]:
            (found,) = self._reader.answer(question, [document], best=1)
            return (found.spans[0].text, found.spans[0].probability) if found.spans else ("", 0.0)

        text, probability = self._kept(f"{question}\n\n{document}", read)
        return text, probability

    def _kept(self, what: str, read: Callable[[], Any]) -> Any:
        key = hashlib.sha256(what.encode()).hexdigest()[:24]
        if key not in self._known:
            self._known[key] = read()
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps([key, self._known[key]]) + "\n")
        return self._known[key]
