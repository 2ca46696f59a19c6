"""Trains the retriever: python -m assistant.learning.recipes.retriever.train LESSONS.jsonl --out FOLDER

    lessons -> batches -> steps, with a checkpoint now and then -> weights -> ONNX, compared -> FOLDER

Progress is lines of JSON on stdout, each with its `kind`; errors are sentences on stderr. FOLDER is written
whole or not at all; until then the checkpoint lies beside it, in FOLDER.training. A run that is stopped (exit
code 130) or killed goes on with --resume from its last checkpoint, and on a processor ends with the same
weights as one that was not.

FOLDER is an encoder's folder (config, tokenizer, model.safetensors) with settings.json, which says how it
came about, figures.json, the figures on the held-out share, and served/, which OnnxEncoder loads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.models.encoders.encoder import EncoderDescription
from agents.models.exporter_process import ExportFailed
from agents.models.exporters.onnx_export import put_in_place, said_by
from assistant.learning.recipes.pacing import Checkpoints, Pace
from assistant.learning.recipes.retriever.batches import LessonBatch, Lessons, read_lessons
from assistant.learning.recipes.retriever.network import FrozenVectors, RetrieverNetwork, export, load_network
from assistant.learning.recipes.retriever.training import (
    RetrieverTraining,
    TrainingState,
    answer_ranks,
    figures,
    train,
)
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, Tell, run, workplace
from assistant.learning.recipes.training_state import read_checkpoint, write_checkpoint
from stores.base.errors import VouchError

CHECKPOINT = "checkpoint.safetensors"

FIGURES = "figures.json"

FORMAT = 1  # of the folder

GPU_BATCH_TOKENS = 65_536


class Run:
    """One training, from its options to its folder."""

    def __init__(self, options: argparse.Namespace, stop: StopSignal, tell: Tell) -> None:
        self._options, self._stop, self._tell = options, stop, tell
        self._settings: RetrieverTraining = options.settings
        self._work = workplace(options.out)
        tell("phase", phase="reading", device=options.device)
        self._lessons = _read(options.lessons, self._settings)
        self._network = _network(options)
        self._start_version = self._network.source.version()
        self._documents, self._vectors_sha256 = self._frozen_vectors()
        self._state = TrainingState(self._network, self._settings)
        self._measured: list[dict[str, float]] = []
        if options.resume and (self._work / CHECKPOINT).exists():
            self._restore()
        self._work.mkdir(parents=True, exist_ok=True)

    def _frozen_vectors(self) -> tuple[FrozenVectors | None, str]:
        """On the query side the vectors that were given, or else those of the network as it is now."""
        if self._settings.update_side == "both":
            return None, ""
        texts = {i: t for b in self._all_batches() for i, t in zip(b.documents, b.texts, strict=True)}
        if self._options.vectors is None:
            if _is_of_the_query_side(self._network.folder):
                raise CannotTrain("This encoder encodes questions only; give the documents' --vectors")
            self._tell("phase", phase="encoding", documents=len(texts))
            with torch.no_grad():
                (vectors,) = self._network.encode(self._network.passages(list(texts.values())))
            return FrozenVectors(list(texts), vectors), ""
        try:
            documents = FrozenVectors.read(self._options.vectors, self._network.device)
        except ValueError as error:
            raise CannotTrain(f"{self._options.vectors} holds no ids and vectors: {error}") from error
        missing = texts.keys() - documents.ids
        if missing:
            raise CannotTrain(
                f"{self._options.vectors} lacks document {min(missing)}, of {len(missing)} in all"
            )
        if documents.width != self._network.width:
            raise CannotTrain(
                f"{self._options.vectors} has vectors of {documents.width} components, "
                f"and the encoder gives {self._network.width}"
            )
        return documents, hashlib.sha256(self._options.vectors.read_bytes()).hexdigest()

    def _all_batches(self) -> list[LessonBatch]:
        return [*self._lessons.batches, *([self._lessons.held_out] if self._lessons.held_out else [])]

    def _of_the_run(self) -> dict[str, Any]:
        """What must be the same when a run goes on."""
        return {
            "settings": asdict(self._settings),
            "data_sha256": self._lessons.sha256,
            "vectors_sha256": self._vectors_sha256,
            "start_version": self._start_version,
        }

    def _restore(self) -> None:
        try:
            tensors, facts = read_checkpoint(self._work / CHECKPOINT)
        except (OSError, ValueError) as error:
            raise CannotTrain(f"There is nothing to go on from: {error}") from error
        for name, now in self._of_the_run().items():
            if facts.get(name) != now:
                raise CannotTrain(f"This run began with other {name}; it cannot go on with these")
        self._state.restore(tensors, facts)
        self._measured = facts["measured"]
        self._tell("resumed", step=self._state.step)

    def _save(self) -> None:
        facts = self._of_the_run() | self._state.facts() | {"measured": self._measured}
        write_checkpoint(self._work / CHECKPOINT, self._state.tensors(), facts)

    def _measure(self) -> float:
        """nDCG of the held-out questions; it is smoother than recall over few.

        On the query side among all documents that have a vector, else among those of held-out lessons.
        """
        batch = self._lessons.held_out
        assert batch is not None
        asked, frozen = self._network.questions(batch.questions), self._documents
        with self._stop.at_once(), torch.no_grad():
            if frozen:
                (questions,) = self._network.encode(asked)
                documents, rows = frozen.every, [frozen.row(document) for document in batch.documents]
            else:
                questions, documents = self._network.encode(asked, self._network.passages(batch.texts))
                rows = list(range(len(batch.documents)))
            answers = [[rows[column] for column in own.nonzero()[0]] for own in batch.answers]
            found = figures(answer_ranks(questions, documents, answers)) | {"among": len(documents)}
        self._measured = [*self._measured[: len(self._state.scores)], found]
        self._tell("held_out", epoch=len(self._measured) - 1, **found)
        return found["ndcg_at_10"]

    def train(self) -> None:
        """All steps that are left. Raises Stopped when told to stop."""
        held_out = self._measure if self._lessons.held_out else None
        pace, checkpoints = Pace(), Checkpoints(self._save, self._options.checkpoint_seconds)
        self._tell("phase", phase="training")
        try:
            for report in train(
                self._network,
                self._lessons.batches,
                self._settings,
                documents=self._documents,
                held_out=held_out,
                state=self._state,
            ):
                if not np.isfinite(report.loss):
                    raise CannotTrain(f"The loss is {report.loss} at step {report.step}; nothing was kept")
                paced = pace.after(report.questions, steps_left=report.steps - report.step)
                self._tell("step", **asdict(report), **paced)
                checkpoints.after_step()
                if self._stop.came:
                    raise Stopped
        except (Stopped, BrokenPipeError):  # a pipe breaks when the process that started this one is gone
            checkpoints.before_stop(is_urgent=self._stop.is_urgent)
            raise Stopped from None
        self._save()

    def finish(self) -> None:
        """Exports the weights, compares, and puts the folder in its place."""
        whole = self._work / "whole"
        shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed while it wrote
        whole.mkdir()
        with self._stop.at_once():
            self._tell("phase", phase="exporting")
            described, difference = _exported(self._network, whole, self._tell)
        state = self._state
        best = state.best_epoch if state.scores else None
        _write_json(
            whole / SETTINGS,
            {"format": FORMAT, "version": described.version, "update_side": self._settings.update_side}
            | self._of_the_run()
            | {"seed": self._settings.seed, "counts": self._lessons.counts, "steps": state.step}
            | {"best_epoch": best, "largest_difference": difference}
            | {"device": str(self._network.device), "threads": torch.get_num_threads()},
        )
        chosen = self._measured[best] if best is not None else None
        start = self._measured[0] if self._measured else None
        _write_json(whole / FIGURES, {"start": start, "chosen": chosen, "epochs": self._measured})
        put_in_place(whole, self._options.out)
        shutil.rmtree(self._work, ignore_errors=True)
        self._tell("done", folder=str(self._options.out), version=described.version, best_epoch=best)


def _network(options: argparse.Namespace) -> RetrieverNetwork:
    network = load_network(options.encoder, name=options.name)
    if options.device == "cuda":
        network.batch_tokens, network.kept_tokens = GPU_BATCH_TOKENS, 4 * GPU_BATCH_TOKENS
    return network.to(options.device)


def _read(file: Path, settings: RetrieverTraining) -> Lessons:
    try:
        return read_lessons(file, capacity=settings.batch_questions)
    except ValueError as error:
        raise CannotTrain(str(error)) from error


def _exported(network: RetrieverNetwork, folder: Path, tell: Tell) -> tuple[EncoderDescription, float]:
    try:
        return export(network, folder, lambda sentence: tell("phase", phase="exporting", doing=sentence))
    except (ExportFailed, ValueError) as reason:
        raise CannotTrain(f"The trained encoder could not be exported: {reason}") from reason


def _is_of_the_query_side(folder: Path) -> bool:
    try:
        found = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("update_side") == "query"


def _write_json(file: Path, content: dict[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="train_retriever", description=__doc__.partition("\n")[0])
    parser.add_argument("lessons", type=Path, help="a lesson a line")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")
    parser.add_argument("--settings", type=_settings, default=RetrieverTraining(), help="as a JSON object")
    parser.add_argument("--encoder", type=Path, help="the folder to start from; else the packaged encoder")
    parser.add_argument("--name", default="", help="how the new version begins; else the folder's name")
    parser.add_argument("--vectors", type=Path, help="npz with ids (N,) and vectors (N, D) of the documents")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--threads", type=int, default=1, help="of the processor")
    parser.add_argument("--checkpoint-seconds", type=float, default=60.0, help="between two, at most")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint, if there is one")
    parser.add_argument("--parent", type=int, help="the process with which this one ends")
    options = parser.parse_args(arguments)
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    return options


def _settings(text: str) -> RetrieverTraining:
    try:
        return RetrieverTraining(**json.loads(text))
    except VouchError as error:
        raise argparse.ArgumentTypeError(error.message) from error
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"no settings: {said_by(error)}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    return run(lambda: _options(arguments), Run)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
