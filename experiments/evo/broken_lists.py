"""Why learning by labels breaks the order of a list: python -m experiments.evo.broken_lists

    made-up lists of 40 -> the five that the policy puts first are shown and labelled -> rounds of 100 lists

The policy is linear, z = w·φ + b, log pi(helpful) = log σ(z). At the reference the step of label mode is

    n₊ μ₊ - n₋ μ₋ = (n₊ - n₋) μ + 2 n₊ n₋ / n (μ₊ - μ₋)        μ, μ₊, μ₋: means of the shown, right, wrong

and that of document mode μ₊ - μ₋ alone. The first term of label mode says nothing of which is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.losses.preference import Pairs, document_pairs, dpo, label_pairs, margins
from experiments.evo.rounds import capped

CANDIDATES, SHOWN, LISTS, ROUNDS, SEEDS = 40, 5, 100, 6, 5
INFORMED = torch.tensor([1.2, 1.0, 0.8, 0.6, 0.4, 0.0, 0.0, 0.0])  # how far right ones stand out, deviations


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a round is learned from."""

    mode: str = "label"  # label, document, or sft: cross-entropy of the labels
    most: int | None = None  # wrong ones to a right one
    all_labelled: bool = False  # not the five alone
    bias_frozen: bool = False
    centred: bool = False  # φ less its mean over what is labelled
    steps: int = 20
    fixed_reference: bool = False  # M_0 in all rounds, not M_{t-1}
    plain_steps: bool = False  # SGD, whose steps shrink with the gradient, for AdamW


WAYS: Mapping[str, Way] = {
    "document": Way(mode="document"),
    "document, 80 steps": Way(mode="document", steps=80),
    "label": Way(),
    "label, 5 steps": Way(steps=5),
    "label, 80 steps": Way(steps=80),
    "label, M_0 as reference": Way(fixed_reference=True),
    "label, bias frozen": Way(bias_frozen=True),
    "label, 3 wrong to 1": Way(most=3),
    "label, 1 wrong to 1": Way(most=1),
    "label, centred": Way(centred=True),
    "label, all 40 labelled": Way(all_labelled=True),
    "label, SGD": Way(plain_steps=True),
    "sft": Way(mode="sft"),
    "sft, 80 steps": Way(mode="sft", steps=80),
    "sft, SGD": Way(mode="sft", plain_steps=True),
}


def lists(number: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Features (Q, 40, D), of mean 0 and deviation 1 over all, and which of the 40 is right (Q,)."""
    features = torch.randn(number, CANDIDATES, len(INFORMED), generator=generator)
    right = torch.randint(CANDIDATES, (number,), generator=generator)
    features[torch.arange(number), right] += INFORMED
    return features - features.mean((0, 1)), right


def ranks(features: Tensor, right: Tensor, weights: Tensor) -> Tensor:
    """The place of the right one, from 1: (Q,)."""
    scores = features @ weights
    return 1 + (scores > scores.gather(1, right[:, None])).sum(1)


def learn(way: Way, seed: int) -> dict[str, float]:
    """What came of ROUNDS rounds from a mix of the first two features."""
    generator = torch.Generator().manual_seed(seed)
    weights, bias = torch.zeros(len(INFORMED)), torch.tensor(-1.0)
    weights[:2] = 1.0
    later = lists(1000, generator)
    first = start = (weights.clone(), bias.clone())
    before = ranks(*later, weights)
    shared, told_apart = [], []
    for number in range(ROUNDS):
        features, right = lists(LISTS, generator)
        shown = (features @ weights).topk(CANDIDATES if way.all_labelled else SHOWN, dim=1).indices
        rows = features.gather(1, shown[..., None].expand(-1, -1, features.shape[2])).flatten(0, 1)
        gold = (shown == right[:, None]).flatten().long()
        if way.centred:
            rows = rows - rows.mean(0)
        count, wrong = int(gold.sum()), int((1 - gold).sum())
        shared.append((wrong - count) * rows.mean(0).norm().item())
        apart = rows[gold == 1].mean(0) - rows[gold == 0].mean(0)
        told_apart.append(2 * count * wrong / len(gold) * apart.norm().item())
        reference = first if way.fixed_reference else (weights.clone(), bias.clone())
        weights, bias = trained(way, rows, gold, (weights, bias), reference, seed + number)
    after = ranks(*later, weights)
    return {
        "R@5": (after <= SHOWN).double().mean().item(),
        "gain": ((after <= SHOWN).double().mean() - (before <= SHOWN).double().mean()).item(),
        "MRR": (1 / after).mean().item(),
        "shared / apart": mean(shared) / mean(told_apart),
        "w1": weights[:2].mean().item(),
        "size": weights.norm().item(),
        "bias": (bias - start[1]).item(),
    }


def trained(
    way: Way,
    rows: Tensor,
    gold: Tensor,
    policy: tuple[Tensor, Tensor],
    reference: tuple[Tensor, Tensor],
    seed: int,
) -> tuple[Tensor, Tensor]:
    """Weights and bias after a round. rows: (N, D), lists after each other; gold: (N,)."""
    weights, bias = (part.clone().requires_grad_() for part in policy)
    learned = [weights] if way.bias_frozen else [weights, bias]
    optimizer: torch.optim.Optimizer = torch.optim.AdamW(learned, lr=0.01, weight_decay=0.0)
    if way.plain_steps:
        optimizer = torch.optim.SGD(learned, lr=1.0)
    fixed = _table(rows, *reference)
    labels: list[int | None] = list(gold.tolist())
    if way.most is not None:
        labels = capped(labels, most=way.most, seed=seed)
    width = CANDIDATES if way.all_labelled else SHOWN
    pairs: Pairs = label_pairs(_table(rows, *policy), labels)
    if way.mode == "document":
        pairs = document_pairs([row // width for row in range(len(rows))], labels, seed=seed)
    for _ in range(way.steps):
        logp = _table(rows, weights, bias)
        loss = F.nll_loss(logp, gold) if way.mode == "sft" else dpo(margins(logp, fixed, pairs))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return weights.detach(), bias.detach()


def _table(rows: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    z = rows @ weights + bias
    return torch.stack([F.logsigmoid(-z), F.logsigmoid(z)], dim=1)


def main() -> None:
    titles = ("R@5", "gain", "MRR", "shared / apart", "w1", "size", "bias")
    print(f"| | {' | '.join(titles)} |\n| --- |{' ---: |' * len(titles)}")
    for name, way in WAYS.items():
        found = [learn(way, seed) for seed in range(SEEDS)]
        cells = [f"{mean(each[t] for each in found):.3f}" for t in titles]
        cells[1] += f" ± {stdev(each['gain'] for each in found) / SEEDS**0.5:.3f}"
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
