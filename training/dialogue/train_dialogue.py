"""Trains the task-dialogue generator on dialogues over knowledge bases.

    python -m training.dialogue.train_dialogue DATA --out DIR [--sets camrest]
        [--level session] [--for-chat] [--hold-out DOMAIN ...] [--epochs 14] [--minutes 30] [--seed 0]
        [--base FOLDER] [--encoder FOLDER] [--test]

Written into DIR after each epoch: the state, from which the same command goes on, and the network that did
best on the dev parts by Entity-F1 and BLEU together, which no figure of a test chooses. --test: measures
that one on the test parts. --for-chat: without the turns that promise a booking, which a chat cannot keep.
--hold-out: dialogues with one of these domains train and choose nothing; --test measures those with no other
domain apart. --base: instead of the built-in network, an encoder-decoder of a Hugging Face folder.
--encoder: of `entity_retriever` or `dual_feedback`, by which entities are found instead of the packaged one.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import torch
from torch import Tensor, nn

from agents.models.dialogue_arrays import MARKS, Strings, Vocabulary
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.networks.dialogue import DialogueNetwork, Shape
from assistant.learning.held_out.replies import entity_f1
from assistant.learning.recipes.dialogue.lessons import Lesson, lessons, values_of, vocabulary_of
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.learning.recipes.dialogue.steps import BATCH, ROWS, TaskModel, optimizer_of, train_step
from assistant.learning.recipes.examples.dialogues import SETS
from assistant.learning.recipes.pacing import rate
from assistant.learning.recipes.retriever.network import SERVED
from assistant.learning.recipes.training_state import (
    optimizer_tensors,
    read_checkpoint,
    restore_optimizer,
    write_checkpoint,
)
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from training.dialogue.fusion_in_decoder import FusionInDecoder
from training.dialogue.measures import bleu, values_in

STATE, BEST = "state.safetensors", "dialogue.safetensors"


def measured(model: TaskModel, found: Sequence[Lesson], values: set[str]) -> dict[str, float]:
    """BLEU on `_` words and on spaces, and Entity-F1, as extracted, strict and as annotated."""
    told = [" ".join(said) for said in model.replies([each.inputs for each in found])]
    right = [" ".join(each.reply) for each in found]
    removes = any(each.set_name == "mwoz_e2e" for each in found)
    of_told = [values_in(text, values, removes=removes) for text in told]
    of_right = [values_in(text, values, removes=removes) for text in right]
    spaced = [[text.replace("_", " ") for text in texts] for texts in (right, told)]
    exact = [values.intersection(text.split()) for text in told]
    return {
        "bleu": bleu(right, told),
        "bleu_spaces": bleu(*spaced),
        "f1": entity_f1(of_right, of_told),
        "f1_strict": entity_f1(of_right, of_told, strict=True),
        "f1_annotated": entity_f1([set(each.entities) for each in found], exact),
    }


def train(arguments: argparse.Namespace, strings: Strings) -> None:
    """The whole training, or what is left of it."""
    finder = Strings(OnnxEncoder(arguments.encoder / SERVED)) if arguments.encoder else None
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    values = {name: values_of(arguments.data, [name]) for name in arguments.sets}
    every = {value for of_set in values.values() for value in of_set}
    parts = {
        split: [
            lesson
            for name in arguments.sets
            for lesson in lessons(arguments.data, name, split, arguments.level, finder or strings)
            if lesson.tells or not (arguments.for_chat or name == "star")
            if split == "test" or not set(lesson.domain.split()).intersection(arguments.hold_out)
        ]
        for split in ("train", "dev", *(["test"] if arguments.test else []))
    }
    torch.manual_seed(arguments.seed)
    model: TaskModel
    if arguments.base:
        model = FusionInDecoder.load(arguments.base)
    else:
        every_lesson = [lesson for part in parts.values() for lesson in part]
        strings.add(lesson.inputs.utterances[-1] for lesson in every_lesson)
        strings.add(window for lesson in every_lesson for window in lesson.inputs.windows)
        if (out / BEST).exists():
            vocabulary = Vocabulary(read_checkpoint(out / BEST)[1]["words"][len(MARKS) :])
        else:
            vocabulary = Vocabulary(vocabulary_of(parts["train"], every.__contains__))
        model = PointerModel(DialogueNetwork(Shape(len(vocabulary))), vocabulary, strings)
    network = model.network
    millions = sum(parameter.numel() for parameter in network.parameters()) / 1e6
    print(f"{len(parts['train'])} turns, {millions:.2f} M parameters", flush=True)
    optimizer = optimizer_of(model)
    names = {parameter: name for name, parameter in network.named_parameters()}
    steps_an_epoch = math.ceil(len(parts["train"]) / BATCH)
    first, best = 0, -1.0
    if (out / STATE).exists():
        tensors, facts = read_checkpoint(out / STATE)
        _load(network, tensors)
        restore_optimizer(optimizer, names, tensors)
        first, best = facts["epoch"], facts["best"]
    began = time.monotonic()
    for epoch in range(first, arguments.epochs):
        if time.monotonic() - began > arguments.minutes * 60:
            print("out of time; the same command goes on", flush=True)
            break
        torch.manual_seed(arguments.seed * 1_000 + epoch)  # what dropout draws, also where it goes on
        spent, loss = time.process_time(), 0.0
        for number, some in enumerate(batches(parts["train"], seed=f"{arguments.seed} {epoch}")):
            step = epoch * steps_an_epoch + number
            for group in optimizer.param_groups:
                group["lr"] = model.learning_rate * rate(step, arguments.epochs * steps_an_epoch)
            most_rows = random.Random(f"{arguments.seed} {step}").choice(ROWS)
            loss += train_step(model, optimizer, some, most_rows=most_rows) / steps_an_epoch
        line = f"epoch {epoch + 1}: loss {loss:.3f}, {time.process_time() - spent:.0f} CPU s"
        score = 0.0
        for name in arguments.sets:
            dev = [each for each in parts["dev"] if each.set_name == name]
            figures = measured(model, dev, values[name])
            score += figures["f1"] + figures["bleu"]
            line += f"; {name} dev BLEU {figures['bleu']:.2f} F1 {figures['f1']:.2f}"
        print(line, flush=True)
        if score > best:
            best = score
            facts = {"sets": arguments.sets, "level": arguments.level, "epoch": epoch + 1}
            write_checkpoint(out / BEST, dict(network.named_parameters()), model.facts() | facts)
        write_checkpoint(
            out / STATE,
            {**dict(network.named_parameters()), **optimizer_tensors(optimizer, names)},
            {"epoch": epoch + 1, "best": best},
        )
    if arguments.test:
        tensors, facts = read_checkpoint(out / BEST)
        _load(network, tensors)
        for name in arguments.sets:
            of_set = [each for each in parts["test"] if each.set_name == name]
            for told_of, part in _apart(of_set, set(arguments.hold_out)):
                figures = measured(model, part, values[name])
                told = "  ".join(f"{way} {figure:.2f}" for way, figure in figures.items())
                print(
                    f"{name} test{told_of}, {len(part)} turns, {arguments.level} level, of epoch"
                    f" {facts['epoch']}: {told}",
                    flush=True,
                )


@torch.no_grad()
def _load(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """By parameters, since those that are tied are written once."""
    for name, parameter in network.named_parameters():
        parameter.copy_(tensors[name])


def _apart(found: Sequence[Lesson], held_out: set[str]) -> Iterator[tuple[str, list[Lesson]]]:
    """Those with no domain held out, and those with no other; neither where there are none."""
    domains = [set(each.domain.split()) for each in found]
    pairs = list(zip(found, domains, strict=True))
    parts = {
        "": [each for each, of_each in pairs if not of_each & held_out],
        ", held out": [each for each, of_each in pairs if of_each <= held_out],
    }
    yield from ((name, part) for name, part in parts.items() if part)


def batches(found: Sequence[Lesson], *, seed: str) -> Iterator[list[Lesson]]:
    """All of them once, those of like length together, in an order of this seed."""
    draw = random.Random(seed)
    order = sorted(found, key=lambda each: len(each.inputs.words) + draw.uniform(0, 10))
    starts = list(range(0, len(order), BATCH))
    draw.shuffle(starts)
    for start in starts:
        yield order[start : start + BATCH]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["camrest"], choices=SETS)
    parser.add_argument("--level", default="session", choices=("session", "dataset"))
    parser.add_argument("--for-chat", action="store_true")
    parser.add_argument("--base", type=Path, metavar="FOLDER")
    parser.add_argument("--encoder", type=Path, metavar="FOLDER")
    parser.add_argument("--hold-out", nargs="+", default=[], metavar="DOMAIN")
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--test", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            train(arguments, Strings(assistant.models.packaged_encoder))


if __name__ == "__main__":
    main()
