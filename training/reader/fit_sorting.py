"""Fits the served reader's sort head to phrases that people type to be looked up ("price of the plan").

    python -m training.reader.fit_sorting DATA --out FOLDER [--reader FOLDER]

The network stays as it is, and so does every other head, to the bit. Questions of data/documents are taken
for what asks, but those that the head surely finds personal ("I'm away for two weeks"). Of other sentences it
is to say what it said before: statements are not to become questions. It needs torch and onnx.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from agents.models.exported_folders import open_session
from agents.models.reader_files import SMALL, ReaderDescription
from agents.models.reader_inputs import ReaderTokenizer, batch_of
from training.examples import documents, everyday
from training.examples.mixture import SORT_LABELS
from training.examples.sentences import user_sentences

MODEL = "model.onnx"
KEPT = 1e-4  # how dear it is to change the head
OTHERS = 3.0  # how much another sentence weighs against a phrase; both chosen on the development part
_OF_SETS = 6_000  # sentences
_SURE = 0.5
_FEATURES, _HEAD = "cat", "sort"  # names in the served graph: what the heads read, and the head
_WEIGHT, _BIAS = f"{_HEAD}.weight_Transposed", f"{_HEAD}.bias"
_ASKS, _PERSONAL = SORT_LABELS.index("asks"), SORT_LABELS.index("personal")

Floats = npt.NDArray[np.float32]


class Served:
    """The reader's served graph, whose sort head can be read and put in place."""

    def __init__(self, folder: Path) -> None:
        self.facts = ReaderDescription.read(folder)
        model, tokenizer = self.facts.read_files(folder)
        self._model = onnx.load_from_string(model)
        self._tokenizer = ReaderTokenizer(tokenizer)
        self._parts = {part.name: part for part in self._model.graph.initializer}
        told = onnx.load_from_string(model)
        told.graph.output.append(onnx.helper.make_tensor_value_info(_FEATURES, onnx.TensorProto.FLOAT, None))
        self._session = open_session(told.SerializeToString(), threads=1)

    def features(self, sentences: Sequence[str]) -> Floats:
        """(N, 2D) what the heads read of each."""
        return np.concatenate([self._features(sentence) for sentence in sentences])

    def _features(self, sentence: str) -> Floats:
        batch = batch_of([self._tokenizer.single(sentence, limit=self.facts.window)])
        inputs = {"ids": batch.ids, "types": batch.types, "mask": batch.mask}
        found: Floats = self._session.run([_FEATURES], inputs)[0]
        return found

    @property
    def head(self) -> tuple[Floats, Floats]:
        """(2D, 4) weights and (4,) bias."""
        quantized = self._array(f"{_WEIGHT}_quantized").astype(np.float32)
        zero = self._array(f"{_WEIGHT}_zero_point").astype(np.float32)
        weight: Floats = (quantized - zero) * self._array(f"{_WEIGHT}_scale")
        return weight, self._array(_BIAS)

    def put(self, weight: Floats, bias: Floats) -> None:
        """In the head's place, in 8 bits for each class apart."""
        scale = np.abs(weight).max(0) / 127
        for name, value in (
            (f"{_WEIGHT}_quantized", np.rint(weight / scale).astype(np.int8)),
            (f"{_WEIGHT}_scale", scale),
            (f"{_WEIGHT}_zero_point", np.zeros(len(scale), np.int8)),
            (_BIAS, bias),
        ):
            like = self._array(name)
            if like.shape != value.shape or like.dtype.kind != value.dtype.kind:
                raise ValueError(f"{name} is {like.dtype} {like.shape}, not {value.dtype} {value.shape}")
            self._parts[name].CopyFrom(numpy_helper.from_array(value.astype(like.dtype), name))

    def write(self, folder: Path, source: Path) -> None:
        """All files of a reader; what is not the model as in the source."""
        shutil.copytree(source, folder)
        content = self._model.SerializeToString()
        digest = hashlib.sha256(content).hexdigest()
        (folder / MODEL).write_bytes(content)
        version = f"reader-{digest[:12]}-{self.facts.precision}"
        facts = replace(self.facts, version=version, model_bytes=len(content), model_sha256=digest)
        facts.write(folder)

    def _array(self, name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(self._parts[name])


def fitted(
    weight: Floats, bias: Floats, features: Floats, wanted: Floats, counts: Floats, *, kept: float = KEPT
) -> tuple[Floats, Floats]:
    """The head with the least mean cross entropy to what is wanted, and `kept` times its squared change.

    weight: (2D, 4). features: (N, 2D). wanted: (N, 4) shares. counts: (N,) how much each weighs. The same
    inputs give the same head.
    """
    start, read, shares = torch.tensor(weight), torch.tensor(features), torch.tensor(wanted)
    weighs = torch.tensor(counts / counts.mean())
    changed = start.clone().requires_grad_()
    moved = torch.tensor(bias).requires_grad_()
    optimizer = torch.optim.LBFGS([changed, moved], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        surprise = -(shares * torch.log_softmax(read @ changed + moved, 1)).sum(1)
        found = (surprise * weighs).mean() + kept * ((changed - start) ** 2).sum()
        found.backward()  # type: ignore[no-untyped-call]
        return found

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return changed.detach().numpy(), moved.detach().numpy()


def shares_of(logits: Floats) -> Floats:
    """Softmax by row."""
    powers = np.exp(logits - logits.max(1, keepdims=True))
    found: Floats = powers / powers.sum(1, keepdims=True)
    return found


def learn(served: Served, phrases: Sequence[str], others: Sequence[str]) -> int:
    """Puts the fitted head in place; how many phrases it learned from."""
    weight, bias = served.head
    typed, kept = served.features(phrases), served.features(others)
    typed = typed[shares_of(typed @ weight + bias)[:, _PERSONAL] < _SURE]
    asking = np.zeros((len(typed), len(bias)), np.float32)
    asking[:, _ASKS] = 1
    features = np.concatenate([typed, kept])
    wanted = np.concatenate([asking, shares_of(kept @ weight + bias)])
    counts = np.array([1.0] * len(typed) + [OTHERS] * len(kept), np.float32)
    served.put(*fitted(weight, bias, features, wanted, counts))
    return len(typed)


def other_sentences(data: Path) -> Iterator[str]:
    """Of everyday conversations and of data sets, training parts."""
    yield from (example.first for example in everyday.sentences("train", seed=1))
    yield from (example.first for example in islice(user_sentences(data, "train", seed=1), _OF_SETS))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reader", type=Path, default=SMALL)
    told = parser.parse_args()
    served = Served(told.reader)
    before = served.head
    count = learn(served, [q["q"] for q in documents.questions("train")], list(other_sentences(told.data)))
    features = served.features([q["q"] for q in documents.questions("calibration")])
    for name, (weight, bias) in (("before", before), (f"of {count} phrases", served.head)):
        asks = (features @ weight + bias).argmax(1) == _ASKS
        print(f"{name}: {asks.mean():.1%} of the development part's questions are taken to ask")
    served.write(told.out, told.reader)


if __name__ == "__main__":
    main()
