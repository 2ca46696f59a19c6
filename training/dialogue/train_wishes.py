"""Trains the network that judges what a message wants of a table.

    python -m training.dialogue.train_wishes DATA [--out FILE] [--count 18000] [--epochs 4] [--seed 0]
        [--star]

    invented messages over 22 domains, and STAR's (train) -> the network -> wishes.safetensors

Four domains are held out: their accuracy, printed after each epoch, says how well other tables are read. One
seed gives one file on one machine. --star: trains nothing, and measures FILE on STAR's test part, as people
wrote it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from agents.models.dialogue_arrays import VECTOR, Arrays, Strings
from agents.models.wish_network import (
    HEADS,
    INNER,
    KINDS,
    LAYERS,
    MARKS,
    NAMES,
    NEAR,
    SHIPPED,
    WIDTH,
    allowed,
    arrays_of,
    strings_of,
)
from assistant.learning.recipes.pacing import rate
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from training.dialogue.wish_examples import Example, from_star, invented

HELD_OUT = ("wines", "sofas", "courses", "holiday homes")
_BATCH = 48  # messages
_RATE, _DROP, _NONE_WEIGHT = 1.5e-3, 0.1, 0.35
_STAR_WEIGHT = 0.5
_REPORTED = 600


class Layer(nn.Module):
    """Attention and two linear layers, each behind a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """states: (B, T, WIDTH). mask: (B, T), False for padding."""
        size, length, _ = states.shape
        parts = self.heads(self.norm1(states)).chunk(3, dim=-1)
        q, k, v = (p.view(size, length, HEADS, WIDTH // HEADS).transpose(1, 2) for p in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
        states = states + functional.dropout(
            self.out(mixed.transpose(1, 2).reshape(size, length, WIDTH)), _DROP, self.training
        )
        inner = torch.relu(self.up(self.norm2(states)))
        return states + functional.dropout(self.down(inner), _DROP, self.training)


class Network(nn.Module):
    """As `agents.models.wish_network.forward` computes it."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.windows = nn.Linear(VECTOR, WIDTH), nn.Linear(VECTOR, WIDTH)
        self.columns, self.like = nn.Linear(VECTOR, WIDTH), nn.Linear(2, WIDTH)
        self.marks, self.near = nn.Embedding(MARKS, WIDTH), nn.Embedding(NEAR + 1, WIDTH)
        self.kinds = nn.Embedding(len(KINDS), WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.labels = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(NAMES))
        self.allowed = torch.from_numpy(allowed())

    def forward(self, given: dict[str, Tensor]) -> Tensor:
        """(B, labels)."""
        of = given["message"]
        both = [(given[name][of] @ given["columns"][:, :, None]).squeeze(-1) for name in ("words", "windows")]
        like = self.like(torch.stack(both, dim=-1))
        tokens = (self.words(given["words"]) + self.windows(given["windows"]))[of] + like
        tokens = tokens + self.marks(given["marks"]) + self.near(given["near"])
        first = self.columns(given["columns"]) + self.kinds(given["kinds"])
        states = torch.cat([first[:, None], tokens], dim=1)
        states = functional.dropout(states, _DROP, self.training)
        for layer in self.layers:
            states = layer(states, given["mask"])
        scores: Tensor = self.labels(self.norm(states[:, 0])) + self.allowed[given["kinds"]]
        return scores


def batch_of(some: Sequence[Arrays]) -> dict[str, Tensor]:
    """Candidates of several messages, padded; words and windows once a message."""
    length = max(each["words"].shape[0] for each in some)
    held: dict[str, list[npt.NDArray[Any]]] = {}
    for number, each in enumerate(some):
        size, own = each["marks"].shape
        room = length - own
        for name in ("words", "windows"):
            held.setdefault(name, []).append(np.pad(each[name], ((0, room), (0, 0)))[None])
        held.setdefault("message", []).append(np.full(size, number))
        for name in ("marks", "near"):
            held.setdefault(name, []).append(np.pad(each[name], ((0, 0), (0, room))))
        mask = np.zeros((size, length + 1), bool)
        mask[:, : own + 1] = True
        held.setdefault("mask", []).append(mask)
        for name in ("columns", "kinds"):
            held.setdefault(name, []).append(each[name])
    return {name: torch.from_numpy(np.concatenate(parts)) for name, parts in held.items()}


def thinned(example: Example, draw: random.Random, *, most_none: int = 2) -> Example:
    """With few of the candidates that mean nothing."""
    none = [at for at, label in enumerate(example.labels) if label == "none" and not example.found[at].at]
    dropped = set(draw.sample(none, k=max(0, len(none) - most_none)))
    kept = [at for at in range(len(example.found)) if at not in dropped and example.weights[at]]
    return Example(
        example.tokens,
        [example.found[at] for at in kept],
        [example.labels[at] for at in kept],
        [example.weights[at] for at in kept],
    )


def train(arguments: argparse.Namespace, strings: Strings) -> None:
    """All epochs, then the file."""
    torch.manual_seed(arguments.seed)
    draw = random.Random(arguments.seed)
    learned = list(invented(arguments.count, seed=arguments.seed, without=HELD_OUT))
    star = list(from_star(arguments.data / "star" / "train.jsonl.gz"))
    for example in star:
        example.weights = [weight * _STAR_WEIGHT for weight in example.weights]
    held = list(invented(_REPORTED, seed=1_000 + arguments.seed, only=HELD_OUT))
    learned += star
    for some in (learned, held):
        strings.add(text for each in some for text in strings_of(each.tokens, each.found))
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=0.05)
    steps, step = arguments.epochs * (len(learned) // _BATCH), 0
    size = sum(parameter.numel() for parameter in network.parameters())
    print(f"{len(learned)} messages, {len(star)} of STAR, {size} weights", flush=True)
    for epoch in range(arguments.epochs):
        draw.shuffle(learned)
        network.train()
        total = 0.0
        for start in range(0, len(learned) - _BATCH + 1, _BATCH):
            some = [thinned(each, draw) for each in learned[start : start + _BATCH]]
            for group in optimizer.param_groups:
                group["lr"] = _RATE * rate(step, steps)
            loss = _loss(network, some, strings)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            total, step = total + float(loss.detach()), step + 1
        loss_of_epoch = total / max(1, len(learned) // _BATCH)
        print(f"epoch {epoch + 1}: loss {loss_of_epoch:.3f}; {report(network, held, strings)}", flush=True)
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
        save_file(weights, arguments.out, metadata={"facts": json.dumps({"labels": NAMES})})


def _loss(network: Network, some: Sequence[Example], strings: Strings) -> Tensor:
    some = [each for each in some if each.found]
    scores = network(batch_of([arrays_of(each.tokens, each.found, strings) for each in some]))
    labels = torch.tensor([NAMES.index(label) for each in some for label in each.labels])
    weights = torch.tensor([w for each in some for w in each.weights])
    weights = torch.where(labels == NAMES.index("none"), weights * _NONE_WEIGHT, weights)
    losses = functional.cross_entropy(scores, labels, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1e-6)


@torch.no_grad()
def report(network: Network, held: Sequence[Example], strings: Strings) -> str:
    """The share of right labels by kind, and of messages whose labels are all right."""
    network.eval()
    right: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for each in held:
        known = [at for at, weight in enumerate(each.weights) if weight]
        scores = network(batch_of([arrays_of(each.tokens, each.found, strings)]))
        all_right = True
        for at in known:
            found, label, row = each.found[at], each.labels[at], scores[at]
            is_right = NAMES[int(row.argmax())] == label
            all_right &= is_right
            count[found.kind] += 1
            right[found.kind] += is_right
            if found.at:
                count[f"{found.kind} {label}"] += 1
                right[f"{found.kind} {label}"] += is_right
        count["whole"] += 1
        right["whole"] += all_right
    return ", ".join(f"{kind} {right[kind] / count[kind]:.3f} of {count[kind]}" for kind in count)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--count", type=int, default=18_000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--star", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            strings = Strings(assistant.models.packaged_encoder)
            if arguments.star:
                network = Network()
                network.load_state_dict(load_file(arguments.out))
                found = list(from_star(arguments.data / "star" / "test.jsonl.gz"))
                print(report(network, found, strings))
            else:
                train(arguments, strings)


if __name__ == "__main__":
    main()
