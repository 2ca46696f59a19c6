"""The reader, served by ONNX Runtime: judges passages, finds answers, verifies claims, sorts sentences.

    question, passages -> windows -> one pass over each -> verdicts and answers

It serves an exported folder (`reader_files.py`), which was made from the weights in a process of its own,
so that no torch is loaded here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base.interfaces import AnswerSpan, ReadAnswer, Reading, Relation, Sorting, Verdict, Verification
from agents.models.concurrent_runs import run_concurrently
from agents.models.exported_folders import loading, open_session
from agents.models.reader_files import ReaderDescription, ReaderUnavailable
from agents.models.reader_inputs import ReaderTokenizer, Window, batch_of
from agents.models.reader_spans import PassageSpans, passage_spans

Floats = npt.NDArray[np.float64]

FLOOR = math.log(1e-6)  # of `answer_log_probability`: below, the reader's numbers mean nothing
OUTPUTS = ("judge", "starts", "ends", "verify", "sort", "relate")
_LOOKED_AT = 200  # likeliest spans among which those that do not overlap are chosen


class OnnxReader:
    """The reader of an exported folder, on the CPU. threads: 0 for one a core.

    Each window is computed by itself, some at the same time: faster than in batches, and what a passage is
    found to say does not depend on what else is read, which 8-bit scales of a whole batch would make it do.
    """

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        self._facts, self._threads = ReaderDescription.read(folder), threads
        model, tokenizer = self._facts.read_files(folder)
        with loading(folder, "reader", ReaderUnavailable):
            self._session = open_session(model, threads=threads)
            self._tokenizer = ReaderTokenizer(tokenizer)

    @property
    def name(self) -> str:
        return self._facts.version

    def read(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[Reading]:
        """See `Reader`. Long passages are read in overlapping windows; their best one is judged."""
        windows = self._windows([(question, passage) for passage in passages])
        logits = self.logits([w for one in windows for w in one], ("judge", "starts", "ends"))
        readings, at = [], 0
        for passage, own in zip(passages, windows, strict=True):
            mine = logits[at : at + len(own)]
            at += len(own)
            answer = _answer(passage, self._spans(own, mine), best)
            readings.append(Reading(self._verdict(mine), answer, sum(window.length for window in own)))
        return readings

    def judge(self, question: str, passages: Sequence[str]) -> list[Verdict]:
        """See `Reader`. The score is p(answer) + p(relevant) / 2."""
        return [reading.verdict for reading in self.read(question, passages, best=0)]

    def judge_probabilities(self, question: str, passages: Sequence[str]) -> list[tuple[float, float, float]]:
        """Of each passage: that it answers, that it is relevant, that it is neither."""
        windows = self._windows([(question, passage) for passage in passages])
        logits, found = self.logits([w for one in windows for w in one], ("judge",)), []
        for own in windows:
            found.append(self._judged(logits[: len(own)]))
            logits = logits[len(own) :]
        return found

    def answer(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[ReadAnswer]:
        """See `Reader`. A span's probability and `no_answer` are of the distribution in `reader_spans`."""
        return [reading.answer for reading in self.read(question, passages, best=best)]

    def answer_in(self, question: str, passage: str, places: Sequence[tuple[int, int]]) -> list[AnswerSpan]:
        """See `Reader`. A probability is the sum over all spans that lie within the place."""
        (windows,) = self._windows([(question, passage)])
        spans = self._spans(windows, self.logits(windows, ("starts", "ends")))
        chances = np.exp(spans.log_probabilities()[0])
        found = []
        for start, end in places:
            inside = np.where((spans.starts >= start) & (spans.ends <= end), chances, 0.0)
            best = int(inside.argmax()) if inside.any() else None
            first, last = (start, start) if best is None else (int(spans.starts[best]), int(spans.ends[best]))
            found.append(AnswerSpan(first, last, passage[first:last], min(1.0, float(inside.sum()))))
        return found

    def answer_log_probability(self, question: str, passage: str, answer: str) -> float:
        """See `Reader`. Case and kind of space do not matter; at least FLOOR, one in a million."""
        (windows,) = self._windows([(question, passage)])
        spans = self._spans(windows, self.logits(windows, ("starts", "ends")))
        places = _places_of(answer, passage)
        good = np.zeros(len(spans.starts), dtype=np.bool_)
        for start, end in places:
            # Tokens may be wider than the answer: "1990s" holds "1990". The narrowest span around it counts.
            around = (spans.starts <= start) & (spans.ends >= end)
            if around.any():
                widths = np.where(around, spans.ends - spans.starts, np.iinfo(np.int64).max)
                good[int(widths.argmin())] = True
        if not good.any():
            return FLOOR
        return max(FLOOR, float(np.logaddexp.reduce(spans.log_probabilities()[0][good])))

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        """See `Reader`. Of long evidence, the part that says most of the claim counts."""
        windows = self._windows(pairs)
        logits = self.logits([w for one in windows for w in one], ("verify",))
        found, at = [], 0
        for own in windows:
            rows = [self._probabilities("verify", row["verify"]) for row in logits[at : at + len(own)]]
            at += len(own)
            found.append(Verification(*min(rows, key=lambda row: row[2])))
        return found

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        """See `Reader`. Of a long sentence the beginning is read."""
        windows = [self._tokenizer.single(sentence, limit=self._facts.window) for sentence in sentences]
        return [Sorting(*self._probabilities("sort", row["sort"])) for row in self.logits(windows, ("sort",))]

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """See `Reader`. Of long statements the beginning is read."""
        limit = self._facts.window
        tokens = self._tokenizer.tokens
        windows = [self._tokenizer.pair(tokens(a), tokens(b), 0, limit=limit) for a, b in pairs]
        return [
            Relation(*self._probabilities("relate", row["relate"]))
            for row in self.logits(windows, ("relate",))
        ]

    def _windows(self, pairs: Sequence[tuple[str, str]]) -> list[list[Window]]:
        limit = self._facts.window
        overlap = limit // 4  # longer than any answer, so that none is cut in two
        firsts = {first: self._tokenizer.tokens(first) for first in {first for first, _ in pairs}}
        return [
            self._tokenizer.pairs(firsts[first], self._tokenizer.tokens(second), limit=limit, overlap=overlap)
            for first, second in pairs
        ]

    def logits(self, windows: Sequence[Window], outputs: Sequence[str] = OUTPUTS) -> list[dict[str, Any]]:
        """The asked outputs' logits for each window, in the order of the windows."""

        def read(window: Window) -> dict[str, Any]:
            batch = batch_of([window])
            inputs = {"ids": batch.ids, "types": batch.types, "mask": batch.mask}
            results = self._session.run(list(outputs), inputs)
            return {name: found[0] for name, found in zip(outputs, results, strict=True)}

        return run_concurrently(read, windows, threads=self._threads)

    def _spans(self, windows: Sequence[Window], logits: Sequence[dict[str, Any]]) -> PassageSpans:
        starts, ends = [row["starts"] for row in logits], [row["ends"] for row in logits]
        return passage_spans(windows, starts, ends, temperature=self._facts.temperatures["spans"])

    def _verdict(self, logits: Sequence[dict[str, Any]]) -> Verdict:
        probabilities = self._judged(logits)
        labels = ("answer", "relevant", "irrelevant")
        label = labels[probabilities.index(max(probabilities))]
        return Verdict(label, _usefulness(probabilities))  # type: ignore[arg-type]

    def _judged(self, logits: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
        """Of the most useful window."""
        rows = [self._probabilities("judge", row["judge"]) for row in logits]
        answer, relevant, irrelevant = max(rows, key=_usefulness)
        return answer, relevant, irrelevant

    def _probabilities(self, head: str, logits: Any) -> list[float]:
        scaled = np.asarray(logits, dtype=np.float64) / self._facts.temperatures[head]
        powers = np.exp(scaled - scaled.max())
        return [float(p) for p in powers / powers.sum()]


def _usefulness(probabilities: Sequence[float]) -> float:
    """p(answer) + p(relevant) / 2, 0 to 1."""
    return probabilities[0] + probabilities[1] / 2


def _answer(passage: str, spans: PassageSpans, best: int) -> ReadAnswer:
    log_probabilities, none = spans.log_probabilities()
    chosen: list[AnswerSpan] = []
    if best:
        for place in np.argsort(-log_probabilities, kind="stable")[:_LOOKED_AT]:
            start, end = int(spans.starts[place]), int(spans.ends[place])
            if all(end <= other.start or start >= other.end for other in chosen):
                probability = math.exp(log_probabilities[place])
                chosen.append(AnswerSpan(start, end, passage[start:end], probability))
            if len(chosen) == best:
                break
    return ReadAnswer(tuple(chosen), math.exp(none))


def _places_of(answer: str, passage: str) -> list[tuple[int, int]]:
    """Character ranges of an answer in a passage: as whole words, or else within words."""
    written = r"\s+".join(map(re.escape, answer.split()))
    if not written:
        return []
    for pattern in (rf"(?<!\w){written}(?!\w)", written):
        found = [match.span() for match in re.finditer(pattern, passage, re.IGNORECASE)]
        if found:
            return found
    return []
