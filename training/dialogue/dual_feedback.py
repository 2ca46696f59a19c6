"""Teaches the entity retriever by a trained generator of replies (Dual-Feedback, Eq. 3 to 8).

    python -m training.dialogue.dual_feedback DATA --generator FILE --retriever FOLDER
        --out DIR [--sets camrest] [--level dataset] [--method full] [--negative rank_overlap] [--epochs 2]
        [--turns N] [--seed 0] [--minutes 30]

FILE is of `train_dialogue`, FOLDER of `entity_retriever`. The generator stays as it is: how likely it finds a
reply given one entity is computed once for each turn and entity that is retrieved. Entities are retrieved
anew before each epoch. Written into DIR after each epoch: the state, from which the same command goes on; at
the end the encoder of the epoch with the best Re@1 on the dev parts, for `benchmarks.dialogue --encoder`.

Methods: full, positive (no negative feedback), marginal (the likelihood of the reply over all entities),
attention (how much the reply's words attend to each entity in place of the likelihood, without a negative),
and distant, the control: the same entities, and the label of `entity_retriever` instead of any feedback.
--turns: of how many turns it learns, drawn from all; the generator's likelihoods take most of the time.
--negative: how the negative reply is chosen, by rank or as the worst, by pairs of words or Entity-F1.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.losses.dual_feedback import Reading, marginal, negative, poor_reply, positive, total
from agents.models.dialogue_arrays import Strings
from agents.models.dialogue_inputs import MOST_ROWS, DialogueInputs
from agents.models.networks.dialogue import ReplyLayer
from assistant.learning.held_out.replies import entity_f1
from assistant.learning.recipes.dialogue.batches import batch_of
from assistant.learning.recipes.dialogue.lessons import Moment, encoded_text, moments, values_of
from assistant.learning.recipes.dialogue.replying import PointerModel
from assistant.learning.recipes.examples.dialogues import SETS
from assistant.learning.recipes.retriever.network import RetrieverNetwork, export, load_network
from assistant.learning.recipes.training_state import (
    optimizer_tensors,
    read_checkpoint,
    restore_optimizer,
    write_checkpoint,
)
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.entities import Entity
from training.dialogue.entity_retriever import supervised
from training.dialogue.measures import bigram_overlap, values_covered, values_in

METHODS = ("full", "positive", "marginal", "attention", "distant")
NEGATIVES = ("rank_overlap", "rank_f1", "worst_overlap", "worst_f1")
LEARNING_RATE, BATCH, SCORE_TEMPERATURE = 2e-5, 32, 0.05
FEEDBACK_TEMPERATURE = 0.3  # of a generator that copies, whose likelihoods lie further apart than T5's
ENTITIES = {"session": 6, "dataset": 8}  # retrieved for a turn
STATE, BEST = "state.safetensors", "retriever.safetensors"
_FLOOR = math.log(1e-4)  # of a word's likelihood: what cannot be told at all does not decide alone
_SCORED_AT_ONCE = 64
_SURE = 100.0  # a distant label as feedback


class Feedback:
    """What a generator says of turns and entities, each computed once."""

    def __init__(self, model: PointerModel) -> None:
        self._model = model
        self._model.network.eval()
        self._known: dict[tuple[int, str, tuple[str, ...]], npt.NDArray[np.float32]] = {}

    def of_words(
        self, asked: Sequence[tuple[int, Moment, Entity, tuple[str, ...]]]
    ) -> list[npt.NDArray[np.float32]]:
        """Of each turn (with its number), entity and reply: the log-likelihood of its words and its end."""
        keys = [(number, encoded_text(entity), reply) for number, _, entity, reply in asked]
        new = {key: one for key, one in zip(keys, asked, strict=True) if key not in self._known}
        order = sorted(new, key=lambda key: len(key[2]))
        for start in range(0, len(order), _SCORED_AT_ONCE):
            some = order[start : start + _SCORED_AT_ONCE]
            inputs = [new[key][1].inputs([new[key][2]]) for key in some]
            for key, found in zip(some, self._scored(inputs, [key[2] for key in some]), strict=True):
                self._known[key] = found
        return [self._known[key] for key in keys]

    @torch.no_grad()
    def _scored(
        self, inputs: Sequence[DialogueInputs], replies: Sequence[tuple[str, ...]]
    ) -> Iterator[npt.NDArray[np.float32]]:
        model = self._model
        model.strings.add(window for each in inputs for window in each.windows)
        batch = batch_of(inputs, replies, model.vocabulary, model.strings, most_rows=1)
        found = model.network.token_likelihoods(batch).clamp(min=_FLOOR)
        for row, reply in zip(found.numpy(), replies, strict=True):
            yield row[: len(reply) + 1].copy()

    @torch.no_grad()
    def by_attention(self, moment: Moment, rows: Sequence[Entity]) -> Tensor:
        """(k,) how much the reply's words ask for each entity's cells, all entities before the generator.

        Attention logits before the softmax, the mean over layers, heads, words and cells. Source: the paper's
        ablation, after Izacard and Grave, 2021.
        """
        model, inputs = self._model, moment.inputs(rows)
        model.strings.add(inputs.windows)
        batch = batch_of([inputs], [moment.reply], model.vocabulary, model.strings, most_rows=len(rows))
        network, asked = model.network, list[Tensor]()
        hooks = [
            cast("ReplyLayer", layer).asks.register_forward_hook(lambda _, __, made: asked.append(made[0]))
            for layer in network.decoder
        ]
        try:
            prepared = network.prepared(batch)
            said = batch.said_ids, batch.said_vectors, batch.said_columns
            network.told(said, network.nothing_said(1), prepared)
        finally:
            for hook in hooks:
                hook.remove()
        cells, kept = batch.cell_mask[0], batch.target_mask[0]
        found = torch.zeros(len(rows))
        for queries, keys in zip(asked, prepared.crossed[:, 0, 0], strict=True):
            of_heads = queries.reshape(len(queries), len(keys), -1).transpose(0, 1)
            logits = (of_heads @ keys.transpose(1, 2) / keys.shape[2] ** 0.5)[:, kept].mean((0, 1))
            of_cells = logits[-cells.numel() :].reshape(cells.shape) * cells
            found += (of_cells.sum(1) / cells.sum(1).clamp(min=1))[: len(rows)] / len(asked)
        return found

    def poor_reply(self, moment: Moment, rows: Sequence[Entity], values: set[str], way: str) -> str | None:
        """A reply over these entities that is likely and poor (Eq. 5); None where none is poor enough."""
        model, inputs = self._model, moment.inputs(rows)
        model.strings.add(inputs.windows)
        told = model.different(inputs)
        batch = batch_of([inputs] * len(told), told, model.vocabulary, model.strings, most_rows=len(rows))
        with torch.no_grad():
            likely = model.network.likelihood(batch)
        choice, _, measure = way.partition("_")
        right, texts = moment.told.system, [" ".join(words) for words in told]
        if measure == "overlap":
            overlaps = [bigram_overlap(right, text) for text in texts]
        else:
            of_right = values_in(right, values, removes=False)
            overlaps = [
                entity_f1([of_right], [values_in(t, values, removes=False)], strict=True) for t in texts
            ]
            overlaps = [overlap / 100 for overlap in overlaps]
        reading = Reading(choice="worst" if choice == "worst" else "rank")
        chosen, poor = poor_reply(likely[None], torch.tensor([overlaps]), reading)
        return texts[int(chosen)] if bool(poor) else None


def train(arguments: argparse.Namespace, strings: Strings) -> None:
    """The whole training, or what is left of it, then the folder."""
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    parts = {
        split: [m for name in arguments.sets for m in moments(arguments.data, name, split, arguments.level)]
        for split in ("train", "dev")
    }
    if arguments.turns < len(parts["train"]):
        parts["train"] = random.Random(0).sample(parts["train"], arguments.turns)
    values = values_of(arguments.data, arguments.sets)
    feedback = Feedback(PointerModel.read(arguments.generator, strings))
    reading = Reading(
        FEEDBACK_TEMPERATURE, SCORE_TEMPERATURE, negative_weight=float(arguments.method == "full")
    )
    torch.manual_seed(arguments.seed)
    network = load_network(arguments.retriever)
    names = {parameter: name for name, parameter in network.named_parameters()}
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    first, best = 0, -1.0
    if (out / STATE).exists():
        tensors, facts = read_checkpoint(out / STATE)
        _load(network, tensors)
        restore_optimizer(optimizer, names, tensors)
        first, best = facts["epoch"], facts["best"]
    else:
        print(f"before: {_told(recall(network, parts['dev']))}", flush=True)
    began, poor = time.monotonic(), dict[int, str | None]()
    for epoch in range(first, arguments.epochs):
        if time.monotonic() - began > arguments.minutes * 60:
            print("out of time; the same command goes on", flush=True)
            return
        spent, losses = time.process_time(), list[float]()
        most = ENTITIES[arguments.level]  # which the generator attends to together for one method alone
        most = min(most, MOST_ROWS) if arguments.method == "attention" else most
        found = retrieved(network, parts["train"], most)
        order = [number for number, rows in enumerate(found) if len(rows) > 1]
        random.Random(f"{arguments.seed} {epoch}").shuffle(order)
        for start in range(0, len(order), BATCH):
            some = [(n, parts["train"][n], found[n]) for n in order[start : start + BATCH]]
            if arguments.method == "full":
                for n, moment, rows in some:
                    if n not in poor:
                        poor[n] = feedback.poor_reply(moment, rows, values, arguments.negative)
            loss = _loss(network, feedback, some, poor, arguments.method, reading)
            if loss is None:
                continue
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses.append(float(loss.detach()))
        figures = recall(network, parts["dev"])
        spent = time.process_time() - spent
        print(
            f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {spent:.0f} CPU s; {_told(figures)}", flush=True
        )
        own = dict(network.named_parameters())
        if figures["Re@1"] > best:
            best = figures["Re@1"]
            write_checkpoint(out / BEST, own, {"epoch": epoch + 1})
        facts = {"epoch": epoch + 1, "best": best}
        write_checkpoint(out / STATE, own | optimizer_tensors(optimizer, names), facts)
    tensors, facts = read_checkpoint(out / BEST)
    _load(network, tensors)
    print(f"of epoch {facts['epoch']}", flush=True)
    export(network, out / "encoder", lambda sentence: print(sentence, flush=True))


def _loss(
    network: RetrieverNetwork,
    feedback: Feedback,
    some: Sequence[tuple[int, Moment, Sequence[Entity]]],
    poor: dict[int, str | None],
    method: str,
    reading: Reading,
) -> Tensor | None:
    """Of some turns with the entities that were retrieved; None where none of them teaches anything."""
    size = max(len(rows) for _, _, rows in some)
    real = torch.tensor([[k < len(rows) for k in range(size)] for _, _, rows in some])
    if method == "distant":
        labels = [_label(moment, rows) for _, moment, rows in some]
        real &= torch.tensor([label is not None for label in labels])[:, None]
        wanted = torch.zeros(real.shape)
        for b, label in enumerate(labels):
            if label is not None:
                wanted[b, label] = _SURE
        return positive(wanted, _scores(network, some, size), real, reading) if real.any() else None
    if method == "attention":
        wanted = torch.zeros(real.shape)
        for b, (_, moment, rows) in enumerate(some):
            wanted[b, : len(rows)] = feedback.by_attention(moment, rows)
        return positive(wanted, _scores(network, some, size), real, reading)
    of_words = _of_words(feedback, [(n, m, rows, m.reply) for n, m, rows in some], size)
    if method == "marginal":
        scores = _scores(network, some, size) / reading.score_temperature
        return marginal(of_words.nan_to_num(0.0), ~of_words[:, 0].isnan(), scores, real)
    scores, wanted = _scores(network, some, size), of_words.nanmean(2).nan_to_num(0.0)
    near = positive(wanted, scores, real, reading)
    if not reading.negative_weight:
        return near
    told = [tuple((poor[n] or moment.told.system).split()) for n, moment, _ in some]
    worse = _of_words(feedback, [(n, m, r, reply) for (n, m, r), reply in zip(some, told, strict=True)], size)
    counts = torch.tensor([poor[n] is not None for n, _, _ in some])
    far = negative(wanted, worse.nanmean(2).nan_to_num(0.0), scores, real, counts, reading)
    return total(near, far, reading)


def _label(moment: Moment, rows: Sequence[Entity]) -> int | None:
    return supervised(rows, " ".join([*moment.said, *moment.shown]), moment.told.system)


def _scores(
    network: RetrieverNetwork, some: Sequence[tuple[int, Moment, Sequence[Entity]]], size: int
) -> Tensor:
    """(b, k) cosines with gradient on both sides; 0 where there is no entity."""
    texts = list(dict.fromkeys(encoded_text(entity) for _, _, rows in some for entity in rows))
    place = {text: number for number, text in enumerate(texts)}
    queries, entities = network.encode(
        network.questions([moment.query for _, moment, _ in some]), network.passages(texts)
    )
    at = [[place[encoded_text(e)] for e in rows] + [0] * (size - len(rows)) for _, _, rows in some]
    return (queries @ entities.T).gather(1, torch.tensor(at))


def _of_words(
    feedback: Feedback, asked: Sequence[tuple[int, Moment, Sequence[Entity], tuple[str, ...]]], size: int
) -> Tensor:
    """(b, k, t) log-likelihoods of the words; NaN behind the end and where there is no entity."""
    every = [(n, moment, entity, reply) for n, moment, rows, reply in asked for entity in rows]
    found = iter(feedback.of_words(every))
    longest = max(len(reply) for *_, reply in asked) + 1
    made = torch.full((len(asked), size, longest), torch.nan)
    for b, (_, _, rows, _) in enumerate(asked):
        for k in range(len(rows)):
            words = next(found)
            made[b, k, : len(words)] = torch.from_numpy(words)
    return made


def retrieved(network: RetrieverNetwork, turns: Sequence[Moment], most: int) -> list[list[Entity]]:
    """The nearest entities of each turn by cosine, the nearest first."""
    found = []
    for moment, order in zip(turns, _orders(network, turns), strict=True):
        found.append([moment.entities[i] for i in order[:most]])
    return found


def recall(network: RetrieverNetwork, turns: Sequence[Moment]) -> dict[str, float]:
    """Re@1, 3 and 7 by value in percent, by cosine alone, of turns that tell a value of an entity."""
    rows = []
    for moment, order in zip(turns, _orders(network, turns), strict=True):
        held = [{e.name, *e.values.values()} for e in moment.entities]
        wanted = set[str]().union(*held).intersection(moment.told.entities)
        if wanted:
            ranked = [held[i] for i in order[:7]]
            rows.append([values_covered(wanted, ranked, k) for k in (1, 3, 7)])
    means = 100 * np.mean(rows, axis=0) if rows else np.zeros(3)
    return dict(zip(("Re@1", "Re@3", "Re@7"), map(float, means), strict=True))


@torch.no_grad()
def _orders(network: RetrieverNetwork, turns: Sequence[Moment]) -> Iterator[npt.NDArray[np.int64]]:
    """Of each turn the places of its entities, the nearest first."""
    texts = list(dict.fromkeys(encoded_text(entity) for moment in turns for entity in moment.entities))
    asked = list(dict.fromkeys(moment.query for moment in turns))
    queries, entities = network.encode(network.questions(asked), network.passages(texts))
    place = {text: number for number, text in enumerate(texts)}
    of_query = {text: number for number, text in enumerate(asked)}
    for moment in turns:
        own = entities[[place[encoded_text(entity)] for entity in moment.entities]]
        yield (own @ queries[of_query[moment.query]]).argsort(descending=True, stable=True).numpy()


@torch.no_grad()
def _load(network: RetrieverNetwork, tensors: dict[str, Tensor]) -> None:
    for name, parameter in network.named_parameters():
        parameter.copy_(tensors[name])


def _told(figures: dict[str, float]) -> str:
    return "dev " + "  ".join(f"{name} {value:.1f}" for name, value in figures.items())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--generator", type=Path, required=True)
    parser.add_argument("--retriever", type=Path, help="instead of the packaged encoder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["camrest"], choices=SETS)
    parser.add_argument("--level", default="dataset", choices=tuple(ENTITIES))
    parser.add_argument("--method", default="full", choices=METHODS)
    parser.add_argument("--negative", default=NEGATIVES[0], choices=NEGATIVES)
    parser.add_argument("--turns", type=int, default=sys.maxsize)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            train(arguments, Strings(assistant.models.packaged_encoder))


if __name__ == "__main__":
    main()
