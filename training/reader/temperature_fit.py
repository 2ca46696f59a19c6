"""Temperatures of the reader's heads, fitted on held-out examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.models.reader_inputs import ReaderTokenizer
from agents.models.reader_spans import PassageSpans, passage_spans
from training.examples.example import Example
from training.reader.batches import Labelled, by_length, label, labelled_batch
from training.reader.network import ReaderNetwork

Floats = npt.NDArray[np.float64]

_LOWEST, _HIGHEST = 0.2, 8.0


def fit_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss, to about 1 %, between 0.2 and 8.

    loss: of a temperature; has one valley.
    """
    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    golden = (np.sqrt(5) - 1) / 2
    while high - low > 0.01:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if loss(float(np.exp(left))) < loss(float(np.exp(right))):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """Probabilities over the last axis."""
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(-1, keepdims=True))
    result: Floats = powers / powers.sum(-1, keepdims=True)
    return result


def negative_log_likelihood(probabilities: Floats, labels: npt.NDArray[np.int64]) -> float:
    """Mean over N cases, in nats. probabilities: (N, C). labels: (N,)."""
    return float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean())


def expected_calibration_error(
    confidences: Floats, correct: npt.NDArray[np.bool_], *, bins: int = 10
) -> float:
    """Σ over bins of share of cases × | mean confidence - share correct |, 0 to 1; bins of equal width.

    confidences: (N,), 0 to 1, the probability of what was chosen. correct: (N,).
    Source: arXiv:1706.04599, eq. 3.
    """
    if not len(confidences):
        return 0.0
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    errors = [
        abs(float(confidences[places == b].sum()) - float(correct[places == b].sum())) for b in range(bins)
    ]
    return sum(errors) / len(confidences)


_BATCH_TOKENS = 4096
_CLASSES = ("judge", "verify", "sort", "relate")


@dataclass
class ScoredSpans:
    """The spans of one passage, and which of them are right; none of them: that there is no answer."""

    spans: PassageSpans
    right: list[int]

    def with_temperature(self, temperature: float) -> tuple[float, float, bool]:
        """Log-probability of what is right, probability of what is chosen, and whether that is right."""
        spans, none = PassageSpans(
            self.spans.starts, self.spans.ends, self.spans.log_odds, temperature
        ).log_probabilities()
        best = int(spans.argmax()) if len(spans) else -1
        chosen = best if best >= 0 and spans[best] > none else -1
        good = float(np.logaddexp.reduce(spans[self.right])) if self.right else none
        confidence = float(np.exp(spans[chosen] if chosen >= 0 else none))
        return good, confidence, chosen in self.right if self.right else chosen == -1


@dataclass
class Scored:
    """Logits and labels of held-out examples, by head."""

    logits: dict[str, list[Floats]] = field(default_factory=lambda: {head: [] for head in _CLASSES})
    labels: dict[str, list[int]] = field(default_factory=lambda: {head: [] for head in _CLASSES})
    spans: list[ScoredSpans] = field(default_factory=list)


def scored(
    network: ReaderNetwork,
    examples: Sequence[Example],
    tokenizer: ReaderTokenizer,
    *,
    window: int,
    device: str,
) -> Scored:
    """What the network says of examples, each in one window."""
    rng = Random(0)
    items = [label(example, tokenizer, window, rng) for example in examples]
    result = Scored()
    for batch in by_length(items, _BATCH_TOKENS):
        inputs = labelled_batch(batch).inputs
        with torch.inference_mode():
            arrays = (inputs.ids, inputs.types, inputs.mask)
            output = network(*(torch.from_numpy(array).to(device) for array in arrays))
        logits = {name: value.double().cpu().numpy() for name, value in output._asdict().items()}
        for row, item in enumerate(batch):
            _take(result, item, {name: value[row] for name, value in logits.items()})
    return result


def _take(result: Scored, item: Labelled, logits: dict[str, Floats]) -> None:
    for head in _CLASSES:
        found = getattr(item.example, head)
        if found is not None:
            result.logits[head].append(logits[head])
            result.labels[head].append(found)
    if item.example.spans is not None and bool(item.places) == bool(item.example.spans):
        spans = passage_spans([item.window], [logits["starts"]], [logits["ends"]])
        at = item.window.second_at
        right = {(item.window.offsets[a - at][0], item.window.offsets[b - at][1]) for a, b in item.places}
        places = [i for i, pair in enumerate(zip(spans.starts, spans.ends, strict=True)) if pair in right]
        if places or not right:
            result.spans.append(ScoredSpans(spans, places))


def fit(found: Scored) -> dict[str, dict[str, Any]]:
    """For each head its temperature, its accuracy, and its calibration before and after, on these."""
    report = {head: _fit_classes(found.logits[head], found.labels[head]) for head in _CLASSES}
    return report | {"spans": _fit_spans(found.spans)}


def _fit_classes(logits: list[Floats], labels: list[int]) -> dict[str, Any]:
    if not labels:
        return {"temperature": 1.0, "examples": 0}
    stacked, right = np.stack(logits), np.array(labels, dtype=np.int64)
    temperature = fit_temperature(lambda t: negative_log_likelihood(softmax(stacked, t), right))
    correct = stacked.argmax(1) == right
    errors = [expected_calibration_error(softmax(stacked, t).max(1), correct) for t in (1.0, temperature)]
    return _facts(temperature, correct, errors)


def _fit_spans(cases: list[ScoredSpans]) -> dict[str, Any]:
    if not cases:
        return {"temperature": 1.0, "examples": 0}
    temperature = fit_temperature(lambda t: -sum(case.with_temperature(t)[0] for case in cases))
    errors, correct = [], np.zeros(0, dtype=np.bool_)
    for t in (1.0, temperature):
        results = [case.with_temperature(t) for case in cases]
        correct = np.array([right for _, _, right in results])
        errors.append(expected_calibration_error(np.array([sure for _, sure, _ in results]), correct))
    return _facts(temperature, correct, errors)


def _facts(temperature: float, correct: Any, errors: list[float]) -> dict[str, Any]:
    return {
        "temperature": round(temperature, 4),
        "examples": len(correct),
        "accuracy": round(float(correct.mean()), 4),
        "ece_before": round(errors[0], 4),
        "ece_after": round(errors[1], 4),
    }
