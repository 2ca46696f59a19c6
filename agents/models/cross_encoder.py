"""Questions and passages scored in pairs by a foreign cross-encoder, served by ONNX Runtime.

    source: folder or hub name -> prepare_cross_encoder -> exported folder -> OnnxCrossEncoder -> scores

An exported folder holds `model.onnx` (ids, types and mask in, logits out), `tokenizer.json` and
`cross_encoder.json`, which describes both. It is made once, by `export_cross_encoder` in a process of its
own, so that no torch is loaded here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from agents.models.concurrent_runs import concurrent_batches, run_concurrently
from agents.models.exported_folders import Description, exporting_into, loading, open_session
from agents.models.exporter_process import ExportFailed, run_exporter
from agents.models.reader_inputs import LONGEST_FIRST, Window, batch_of, valid_unicode
from stores.base.errors import VouchError
from stores.base.shortages import shortage

DESCRIPTION_FILE = "cross_encoder.json"
USEFUL_LABELS = ("answer", "relevant", "entailment")
OVERLAP = 64  # tokens that neighbouring windows of a long passage share, where there is room for it


class CrossEncoderUnavailable(VouchError):
    """The cross-encoder could not be prepared or does not do what its original does."""

    exit_code = 3


class DamagedCrossEncoder(CrossEncoderUnavailable):
    """An exported cross-encoder that is not as it was written."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The exported cross-encoder in {folder} is not whole: {reason}",
            hint="Delete that folder; it is made again at the next start.",
        )
        self.folder = folder


@dataclass(frozen=True, kw_only=True)
class CrossEncoderDescription(Description):
    """What `cross_encoder.json` says of the folder that it lies in."""

    FILE = DESCRIPTION_FILE
    damaged = DamagedCrossEncoder

    window: int  # tokens read at once
    pad_id: int
    useful_class: int  # whose probability is the score, see `useful_class` below


class PairTokenizer:
    """Makes windows of a question and a passage, framed as the model's own tokenizer frames a pair."""

    def __init__(self, content: bytes, *, window: int, pad_id: int) -> None:
        self._tokenizer = Tokenizer.from_buffer(content)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        pair = self._tokenizer.encode("a", "a")
        owners = pair.sequence_ids  # None for a token of the frame, else which of the two texts
        if 0 not in owners or 1 not in owners:
            raise ValueError("the tokenizer does not make pairs of texts")
        first, second = owners.index(0), owners.index(1)
        first_end = first + owners.count(0)
        self._begin, self._between = pair.ids[:first], pair.ids[first_end:second]
        self._end = pair.ids[second + owners.count(1) :]
        self._frame = len(self._begin) + len(self._between) + len(self._end)
        self._control = {*self._begin, *self._between, *self._end, pad_id}
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is not the end of it
        self._window = window

    def windows(self, question: str, passages: Sequence[str]) -> list[list[Window]]:
        """Each passage's windows, which together hold all of it. Of a long question the beginning is read."""
        head = [*self._begin, *self.ids(question)[: self.longest_question], *self._between]
        room = self._window - len(head) - len(self._end)
        step = room - overlap(room)
        return [
            [
                Window([*head, *ids[begin : begin + room], *self._end], len(head), [])
                for begin in range(0, max(1, len(ids) - room + step), step)
            ]
            for ids in map(self.ids, passages)
        ]

    @property
    def longest_question(self) -> int:
        """Tokens of a question that are read: at most half of what a window holds."""
        return min(LONGEST_FIRST, (self._window - self._frame) // 2)

    def ids(self, text: str) -> list[int]:
        """The text's tokens. What would be a token of the frame is left out.

        Without that a Unigram tokenizer ends a passage wherever "</s>" is written in it.
        """
        found = self._tokenizer.encode(valid_unicode(text), add_special_tokens=False).ids
        return [token for token in found if token not in self._control]


def overlap(room: int) -> int:
    """How many tokens neighbouring windows share that have room for so many of a passage."""
    return min(OVERLAP, room // 2)


class OnnxCrossEncoder:
    """The cross-encoder of an exported folder, on the CPU.

    threads: 0 for one a core. batch_tokens: how many tokens, padding included, are a batch at most.
    """

    def __init__(self, folder: Path, *, threads: int = 0, batch_tokens: int = 1024) -> None:
        self._facts = CrossEncoderDescription.read(folder)
        self._batch_tokens, self._threads = batch_tokens, threads
        model, tokenizer = self._facts.read_files(folder)
        with loading(folder, "cross-encoder", CrossEncoderUnavailable):
            self._session = open_session(model, threads=threads)
            self._inputs = {taken.name for taken in self._session.get_inputs()}
            self._tokenizer = PairTokenizer(tokenizer, window=self._facts.window, pad_id=self._facts.pad_id)

    @property
    def name(self) -> str:
        """Names weights, configuration and tokenizer by content: equal names score equally."""
        return self._facts.version

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How useful each passage is, 0 to 1, in their order. A long one has the score of its best window."""
        windows = self._tokenizer.windows(question, passages)
        found = iter(self._window_scores([window for own in windows for window in own]))
        return [max(next(found) for _ in own) for own in windows]

    def count_tokens(self, question: str, passages: Sequence[str]) -> int:
        """How many tokens are read to score these passages, the question's in each window included."""
        return sum(w.length for own in self._tokenizer.windows(question, passages) for w in own)

    def _window_scores(self, windows: Sequence[Window]) -> list[float]:
        scores = [0.0] * len(windows)

        def score(places: list[int]) -> None:
            batch = batch_of([windows[place] for place in places], pad_id=self._facts.pad_id)
            arrays = {"ids": batch.ids, "types": batch.types, "mask": batch.mask}
            taken = {name: array for name, array in arrays.items() if name in self._inputs}
            (logits,) = self._session.run(["logits"], taken)
            for place, found in zip(places, probabilities(logits, self._facts.useful_class), strict=True):
                scores[place] = float(found)

        lengths = [window.length for window in windows]
        batches = concurrent_batches(lengths, self._batch_tokens, threads=self._threads)
        run_concurrently(score, batches, threads=self._threads)
        return scores


def probabilities(logits: npt.NDArray[np.float32], useful_class: int) -> npt.NDArray[np.float64]:
    """Of the useful class. logits: (N, C), C classes. Returns (N,): softmax, or sigmoid where C is 1."""
    wide = logits.astype(np.float64)
    if wide.shape[1] == 1:  # the other class has logit 0: the softmax of the two is the sigmoid
        wide, useful_class = np.hstack([np.zeros_like(wide), wide]), 1
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    result: npt.NDArray[np.float64] = powers[:, useful_class] / powers.sum(axis=1)
    return result


def useful_class(names: Mapping[int, str]) -> int:
    """Which class's probability is the score of a passage. names: every class's, from 0.

    One class: that one. Its logit goes through a sigmoid, whatever activation the configuration names:
    scores are 0 to 1 here, and the order of passages is the same. More: the one that is called answer,
    relevant or entailment, the first of these words that is there; else the last, as grades rise and
    yes comes after no.
    """
    lowered = {name.lower(): place for place, name in names.items()}
    return next((lowered[word] for word in USEFUL_LABELS if word in lowered), len(names) - 1)


def prepare_cross_encoder(
    source: str, cache_dir: Path, *, tell: Callable[[str], None], offline: bool
) -> Path:
    """The exported folder of a source, which is exported first unless that was done before.

    source: a model's folder, an exported folder, or a hub name, which keeps the revision it first had.
    tell: is given sentences for the person who waits.
    """
    local = Path(source).expanduser()
    if (local / DESCRIPTION_FILE).is_file():
        return local
    target = cache_dir / _folder_name(source, local)
    if CrossEncoderDescription.is_there(target):
        return target
    with exporting_into(cache_dir, "cross-encoder", CrossEncoderUnavailable, tell=tell):
        if not CrossEncoderDescription.is_there(target):  # another process may have made it meanwhile
            _run_exporter(source, target, tell=tell, offline=offline or local.is_dir())
    CrossEncoderDescription.read(target)
    return target


def _folder_name(source: str, local: Path) -> str:
    """Another one when the files of a local source change; a few file attributes, nothing is read."""
    if local.is_dir():
        local = local.resolve()
        files = [f for kind in ("*.json", "*.safetensors", "*/config.json") for f in local.glob(kind)]
        stamp = sorted(
            (str(f.relative_to(local)), s.st_size, s.st_mtime_ns) for f in files if (s := f.stat())
        )
        name, identity = local.name, json.dumps([str(local), stamp])
    elif re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", source):
        name, identity = source.rpartition("/")[2], source
    else:
        raise CrossEncoderUnavailable(
            f"There is no cross-encoder {source}: no such folder, and no hub name either",
            hint="Name a model's folder, or a hub name such as cross-encoder/ms-marco-MiniLM-L6-v2.",
        )
    return f"{name[:40]}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def _run_exporter(source: str, target: Path, *, tell: Callable[[str], None], offline: bool) -> None:
    place = str(Path(source).expanduser().resolve()) if Path(source).expanduser().is_dir() else source
    arguments = [place, str(target.resolve())]
    try:
        run_exporter("agents.models.exporters.export_cross_encoder", arguments, tell=tell, offline=offline)
    except ExportFailed as reason:
        lacking = shortage(reason, {target.parent: ""})
        raise CrossEncoderUnavailable(
            f"The cross-encoder {source} could not be prepared: {lacking.message if lacking else reason}",
            hint="The export needs about 1 GB of memory and four times the size of the weights, once. "
            "Another judge can be named in settings.toml.",
        ) from None
