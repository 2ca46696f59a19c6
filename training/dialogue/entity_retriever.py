"""Pre-trains the entity retriever by distant supervision (Dual-Feedback, Eq. 1 and Appendix D).

    python -m training.dialogue.entity_retriever DATA --out DIR [--sets camrest]
        [--turns N] [--epochs 4] [--seed 0]

What is wanted so far and an entity are encoded by the same encoder; an entity is the nearer, the more of its
values the message and the reply name. Others of the batch are what it is told apart from. DIR is an encoder's
folder with its served form, which `benchmarks.dialogue --encoder DIR` measures. --turns: of how many turns it
learns, drawn from all.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from agents.dialogue.columns import TRUTHS
from agents.losses.contrastive import strict
from assistant.learning.recipes.dialogue.lessons import encoded_text, moments
from assistant.learning.recipes.examples.dialogues import SETS
from assistant.learning.recipes.retriever.network import export, load_network
from stores.base.entities import Entity

LEARNING_RATE, BATCH, TEMPERATURE = 5e-5, 32, 0.05


def supervised(entities: Sequence[Entity], context: str, reply: str) -> int | None:
    """Which entity a turn is about: most of its values stand in context and reply, as whole words.

    Equals are told apart by the values in the reply, then by their order. Truths and single digits are no
    values here. None where no value of any entity stands there.
    """
    said, told = set(context.split()), set(reply.split())
    best, best_counts = None, (0, 0)
    for number, entity in enumerate(entities):
        values = [v for v in (entity.name, *entity.values.values()) if len(v) > 1 and v not in TRUTHS]
        counts = (sum(v in said or v in told for v in values), sum(v in told for v in values))
        if counts[0] and counts > best_counts:
            best, best_counts = number, counts
    return best


def pairs(data: Path, set_name: str, split: str) -> Iterator[tuple[str, str]]:
    """A query and the text of the entity that it should find, of each turn that has one."""
    for moment in moments(data, set_name, split, "session"):
        context = " ".join([*moment.said, *moment.shown])
        number = supervised(moment.entities, context, moment.told.system)
        if number is not None:
            yield moment.query, encoded_text(moment.entities[number])


def train(arguments: argparse.Namespace) -> None:
    """All epochs, then the folder."""
    found = [pair for name in arguments.sets for pair in pairs(arguments.data, name, "train")]
    if arguments.turns < len(found):
        found = random.Random(0).sample(found, arguments.turns)
    torch.manual_seed(arguments.seed)
    network = load_network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    steps = arguments.epochs * (len(found) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, max(1, steps))
    draw = random.Random(arguments.seed)
    for epoch in range(arguments.epochs):
        draw.shuffle(found)
        total, batches = 0.0, len(found) // BATCH
        for start in range(0, batches * BATCH, BATCH):
            some = found[start : start + BATCH]
            entities = list(dict.fromkeys(entity for _, entity in some))  # the same one twice is no negative
            queries, documents = network.encode(
                network.questions([query for query, _ in some]), network.passages(entities)
            )
            answers = torch.tensor([[entity == other for other in entities] for _, entity in some])
            none = torch.zeros_like(answers)
            loss = strict(queries @ documents.T, answers, none, temperature=TEMPERATURE)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) / batches
        print(f"epoch {epoch + 1}: {len(found)} pairs, loss {total:.3f}", flush=True)
    arguments.out.mkdir(parents=True)
    export(network, arguments.out, lambda sentence: print(sentence, flush=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["camrest"], choices=SETS)
    parser.add_argument("--turns", type=int, default=sys.maxsize)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
