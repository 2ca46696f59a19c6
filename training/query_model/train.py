"""Trains adapters of a causal language model to make a follow-up question stand alone.

    python -m training.query_model.train DATA --base MODEL.gguf --out DIR [--epochs 2]
        [--minutes 90] [--limit 2300] [--rank 16] [--first-layer 10] [--learning-rate 5e-4] [--seed 0]
        [--threads 1]

MODEL is a GGUF file or a Hugging Face folder. DIR gets state.safetensors every ten minutes, from which the
same command goes on, and adapters.safetensors, those of the lowest loss on the dev parts.
--limit: examples of canard with answers, as many without them, and of each other set a quarter of it at most.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from agents.models.networks.causal_lm import CausalLm, batch_of, form_of, load, nats_per_token, with_adapters
from agents.prompts.standalone import prompt, written
from assistant.learning.recipes.query.from_use import MOST_TOKENS
from assistant.learning.recipes.training_state import (
    optimizer_tensors,
    read_checkpoint,
    restore_optimizer,
    write_checkpoint,
)
from training.query_model.rewrites import SETS, Rewrite, rewrites

STATE, BEST = "state.safetensors", "adapters.safetensors"
BATCH, WARM_UP = 16, 20
CHECKPOINT_SECONDS = 600.0
SAME_MOST = 0.4  # of a set's examples, share that leaves the question as it is
_DEV_MOST = 48  # examples of a set


def mixture(data: Path, limit: int, seed: int) -> list[Rewrite]:
    """What is trained on, in an order of this seed."""
    draw = random.Random(f"mixture {seed}")
    chosen: list[Rewrite] = []
    for name in SETS:
        found = rewrites(data, name, "train")
        parts = [found]
        if name == "canard":
            parts = [[each for each in found if each.has_answers is way] for way in (True, False)]
        for part in parts:
            changed = [each for each in part if each.alone]
            same = [each for each in part if not each.alone]
            most = limit if name == "canard" else limit // 4
            rewritten = draw.sample(changed, min(len(changed), most))
            chosen += rewritten
            chosen += draw.sample(same, min(len(same), round(len(rewritten) * SAME_MOST / (1 - SAME_MOST))))
    draw.shuffle(chosen)
    return chosen


def batches(examples: Sequence[Rewrite], seed: str) -> list[list[Rewrite]]:
    """All of them once, those of like length together."""
    draw = random.Random(seed)
    lengths = [len(prompt(each.question, each.earlier)) + draw.uniform(0, 60) for each in examples]
    order = sorted(range(len(examples)), key=lengths.__getitem__)
    found = [[examples[place] for place in order[at : at + BATCH]] for at in range(0, len(order), BATCH)]
    draw.shuffle(found)
    return found


def texts(some: Sequence[Rewrite]) -> list[tuple[str, str]]:
    """Prompt and what is to be written."""
    return [(prompt(each.question, each.earlier), written(each.alone)) for each in some]


def loss_of(model: CausalLm, some: Sequence[Rewrite]) -> Tensor:
    """Nats a token."""
    batch = batch_of(model, texts(some), most_tokens=MOST_TOKENS)
    with torch.autocast("cpu", torch.bfloat16):
        return nats_per_token(model, batch)


@torch.no_grad()
def dev_loss(model: CausalLm, parts: dict[str, list[Rewrite]]) -> dict[str, float]:
    """By set."""
    model.network.eval()
    losses = {
        name: sum(float(loss_of(model, part[at : at + BATCH])) for at in range(0, len(part), BATCH))
        / max(1, -(-len(part) // BATCH))
        for name, part in parts.items()
    }
    model.network.train()
    return losses


def train(arguments: argparse.Namespace) -> None:
    """The whole training, or what is left of it."""
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(arguments.seed)
    base = load(arguments.base)
    base.network.to(torch.bfloat16)
    model = with_adapters(
        base, rank=arguments.rank, alpha=2 * arguments.rank, first_layer=arguments.first_layer
    )
    adapters = {"alpha": 2 * arguments.rank, **form_of(base)}
    model.network.train()
    examples = mixture(arguments.data, arguments.limit, arguments.seed)
    dev = {name: rewrites(arguments.data, name, "dev")[:_DEV_MOST] for name in SETS}
    names = {parameter: name for name, parameter in model.trained.items()}
    optimizer = torch.optim.AdamW(model.trained.values(), lr=arguments.learning_rate, weight_decay=0.0)
    per_epoch = -(-len(examples) // BATCH)
    steps, first, best = per_epoch * arguments.epochs, 0, float("inf")
    print(f"{len(examples)} examples, {steps} steps", flush=True)
    if (out / STATE).exists():
        tensors, facts = read_checkpoint(out / STATE)
        with torch.no_grad():
            for name, parameter in model.trained.items():
                parameter.copy_(tensors[name])
        restore_optimizer(optimizer, names, tensors)
        first, best = facts["step"], facts["best"]
    began = kept = time.monotonic()
    summed, tokens = 0.0, 0
    for step in range(first, steps):
        epoch, place = divmod(step, per_epoch)
        some = batches(examples, f"{arguments.seed} {epoch}")[place]
        for group in optimizer.param_groups:
            group["lr"] = arguments.learning_rate * min((step + 1) / WARM_UP, (steps - step) / steps)
        loss = loss_of(model, some)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.trained.values(), 1.0)
        optimizer.step()
        summed, tokens = summed + float(loss.detach()), tokens + 1
        is_over = time.monotonic() - began > arguments.minutes * 60
        if step + 1 == steps or is_over or time.monotonic() - kept > CHECKPOINT_SECONDS:
            losses = dev_loss(model, dev)
            mean = sum(losses.values()) / len(losses)
            told = " ".join(f"{name} {value:.3f}" for name, value in losses.items())
            print(f"step {step + 1}, loss {summed / tokens:.3f}, dev {mean:.3f} ({told})", flush=True)
            if mean < best:
                best = mean
                write_checkpoint(out / BEST, model.trained, {"step": step + 1, "dev": losses, **adapters})
            write_checkpoint(
                out / STATE,
                {**model.trained, **optimizer_tensors(optimizer, names)},
                {"step": step + 1, "best": best},
            )
            kept, summed, tokens = time.monotonic(), 0.0, 0
        if is_over:
            print("out of time; the same command goes on", flush=True)
            break


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--base", type=Path, required=True, metavar="MODEL")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--limit", type=int, default=2300)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--first-layer", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    train(arguments)


if __name__ == "__main__":
    main()
