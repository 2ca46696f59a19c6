"""Rounds: M_{t-1} is measured on round t, then labels are had, and M_t is trained against it.

    table of M_{t-1} -> measured -> labels (gold, or own and judges') -> preferences, old ones replayed
    -> loss against the frozen table of M_{t-1} -> M_t

It does not know which policy it trains. Source: EVO-Reranker, sections 3 and 4, Eq. 4 and 5, Algorithm 1.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.losses.calibration import fitted_temperature, fitted_threshold
from agents.losses.preference import (
    Pairs,
    cautious_labels,
    document_pairs,
    dpo,
    is_sure,
    label_pairs,
    margins,
    replayed,
)
from experiments.evo.judges import SimulatedJudges
from experiments.evo.measures import Figures, measured
from experiments.evo.policy import Policy, table
from experiments.evo.sets import Item, Stream

Loss = Literal["none", "sft", "dpo"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a round is learned from."""

    loss: Loss = "dpo"
    mode: Literal["label", "document"] = "label"
    alpha: float = 1.0  # share of new pairs; 1 replays none
    labels: Literal["gold", "own"] = "gold"
    threshold: float | None = None  # τ of own labels; none: found on the holdout
    judge: float | None = None  # accuracy of each of two judges; none: what is unsure is dropped
    most: int = 3  # the larger class of a round has at most so many times the others


METHODS: Mapping[str, Method] = {
    "sft": Method(loss="none"),
    "multi sft": Method(loss="sft"),
    "multi sft, replay": Method(loss="sft", alpha=0.5),
    "multi dpo": Method(),
    "multi dpo, even": Method(most=1),
    "replay .5": Method(alpha=0.5),
    "replay .7": Method(alpha=0.7),
    "cautious .8": Method(labels="own", judge=0.8),
    "cautious .8, even": Method(labels="own", judge=0.8, most=1),
    "cautious .5": Method(labels="own", judge=0.5),
    "ungated .8": Method(labels="own", judge=0.8, threshold=2.0),
    "unvoted": Method(labels="own"),
    "self": Method(labels="own", threshold=0.0),
    "documents": Method(mode="document"),
    "documents .5": Method(mode="document", alpha=0.5),
}


@dataclass(frozen=True, kw_only=True)
class Training:
    """A round's steps. The paper's rate is not given; for small models 1e-4."""

    learning_rate: float = 1e-4
    epochs: int = 2
    batch: int = 32
    beta: float = 0.2
    clip: float = 1.0
    warm_up: float = 0.1  # of the steps


START = Training(epochs=4, batch=16)  # M_0: of four tried with one seed, the rounds in view too


class Preference(NamedTuple):
    """A candidate and its label, before another candidate or label. It keeps no log-probabilities."""

    chosen: tuple[Item, int]
    rejected: tuple[Item, int]


@dataclass
class Round:
    """What became of a round."""

    figures: Figures  # of M_{t-1} on the round's candidates
    labelling: Figures = field(default_factory=dict)
    new: int = 0
    old: int = 0
    first_loss: float | None = None
    kept: list[Figures] = field(default_factory=list)  # of M_t, on the kept part of each round


def started(policy: Policy, stream: Stream, *, seed: int, training: Training = START) -> None:
    """M_0: cross-entropy on the labelled start."""
    labels = capped([item.label for item in stream.start], most=Method().most, seed=seed)
    told = preferences(Method(loss="sft"), table(policy, stream.start), stream.start, labels, seed=seed)
    for _ in train(policy, told, Method(loss="sft"), training, seed=seed):
        pass


def play(
    policy: Policy,
    stream: Stream,
    method: Method,
    judges: SimulatedJudges,
    *,
    seed: int,
    training: Training | None = None,
) -> Iterator[Round]:
    """The four rounds from M_0 on, each handed out when M_t is there; the policy is then M_t."""
    training = training or Training()
    history: list[list[Preference]] = []
    for number, items in enumerate(stream.rounds):
        before = table(policy, items)
        found = Round(measured(before, items))
        if method.loss != "none":
            labels, found.labelling = labelled(method, policy, before, items, stream.holdout, judges)
            if method.mode == "label":
                labels = capped(labels, most=method.most, seed=seed + number)
            new = preferences(method, before, items, labels, seed=seed + number)
            kept, old = replayed(new, history, alpha=method.alpha, seed=seed + number)
            history.append(new)
            found.new, found.old = len(kept), len(old)
            losses = list(train(policy, [*kept, *old], method, training, seed=seed + number))
            found.first_loss = losses[0] if losses else None
        found.kept = [measured(table(policy, each), each) for each in stream.kept]
        yield found


def labelled(
    method: Method,
    policy: Policy,
    before: Tensor,
    items: Sequence[Item],
    holdout: Sequence[Item],
    judges: SimulatedJudges,
) -> tuple[list[int | None], Figures]:
    """The labels that a round learns from, and how many, by whom, and how right they are.

    before: (N, C) of M_{t-1}. Gold is read for the figures alone, where it is not what is learned from.
    """
    gold = [item.label for item in items]
    if method.labels == "gold":
        return list(gold), {}
    known, truth = table(policy, holdout), torch.tensor([item.label for item in holdout])
    temperature = fitted_temperature(known, truth)
    threshold = method.threshold
    if threshold is None:
        threshold = fitted_threshold(known / temperature, truth)
    sure = is_sure(before / temperature, threshold=threshold).tolist()
    asked = judges.asked
    votes: list[Sequence[int] | None] = [None] * len(items)
    if method.judge is not None:
        votes = [None if taken else judges.votes(item) for taken, item in zip(sure, items, strict=True)]
    labels = cautious_labels(before / temperature, votes, threshold=threshold)
    right = [label == truth for label, truth in zip(labels, gold, strict=True)]
    own = [good for good, taken in zip(right, sure, strict=True) if taken]
    voted = [
        g for g, taken, label in zip(right, sure, labels, strict=True) if not taken and label is not None
    ]
    figures = {
        "temperature": temperature,
        "threshold": threshold,
        "sure": sum(sure) / len(items),
        "coverage": (len(own) + len(voted)) / len(items),
        "asked": float(judges.asked - asked),
        "right": _share([*own, *voted]),
        "own right": _share(own),
        "voted right": _share(voted),
    }
    return labels, {name: value for name, value in figures.items() if value == value}


def _share(claims: Sequence[bool]) -> float:
    return sum(claims) / len(claims) if claims else float("nan")


def capped(labels: Sequence[int | None], *, most: int, seed: int) -> list[int | None]:
    """Without what the largest class has beyond `most` times all others, at random; of one class, all."""
    counts = Counter(label for label in labels if label is not None)
    if len(counts) < 2:
        return list(labels)
    largest, count = counts.most_common(1)[0]
    rows = [row for row, label in enumerate(labels) if label == largest]
    left_out = set(random.Random(seed).sample(rows, max(0, count - most * (counts.total() - count))))
    return [None if row in left_out else label for row, label in enumerate(labels)]


def preferences(
    method: Method, before: Tensor, items: Sequence[Item], labels: Sequence[int | None], *, seed: int
) -> list[Preference]:
    """Pairs of the losses' builders, by candidate instead of by row of a table."""
    if method.mode == "document":
        numbers: dict[str, int] = {}
        questions = [numbers.setdefault(item.question, len(numbers)) for item in items]
        pairs = document_pairs(questions, labels, seed=seed)
    else:
        pairs = label_pairs(before, labels)
    cells = zip(pairs.chosen.tolist(), pairs.rejected.tolist(), strict=True)
    return [Preference((items[a], label), (items[b], other)) for (a, label), (b, other) in cells]


def train(
    policy: Policy, told: Sequence[Preference], method: Method, training: Training, *, seed: int
) -> Iterator[float]:
    """Each step's loss. The reference is the policy at the first step, as a table that stays (Eq. 4)."""
    reference = reference_of(policy, told) if method.loss == "dpo" else {}
    trained = list(policy.parameters())
    optimizer = torch.optim.AdamW(trained, lr=training.learning_rate)
    steps = training.epochs * -(-len(told) // training.batch)
    warm = max(1, round(training.warm_up * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warm))
    rng = random.Random(seed)
    for _ in range(training.epochs):
        order = rng.sample(list(told), len(told))
        for at in range(0, len(order), training.batch):
            loss = _loss(policy, order[at : at + training.batch], method, reference, training)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained, training.clip)
            optimizer.step()
            schedule.step()
            yield loss.item()


def reference_of(policy: Policy, told: Sequence[Preference]) -> dict[str, Tensor]:
    """log pi of every candidate that is learned from, by its id: (C,) each, of the policy as it is."""
    items = list({item.id: item for each in told for item, _ in each}.values())
    return dict(zip([item.id for item in items], table(policy, items), strict=True))


def _loss(
    policy: Policy,
    told: Sequence[Preference],
    method: Method,
    reference: Mapping[str, Tensor],
    training: Training,
) -> Tensor:
    items = list({item.id: item for each in told for item, _ in each}.values())
    rows = {item.id: row for row, item in enumerate(items)}
    logp = policy.logp(items)
    chosen, rejected = (
        torch.tensor([(rows[item.id], label) for item, label in cells]) for cells in zip(*told, strict=True)
    )
    if method.loss == "sft":
        return F.nll_loss(logp[chosen[:, 0]], chosen[:, 1])
    fixed = torch.stack([reference[item.id] for item in items])
    return dpo(margins(logp, fixed, Pairs(chosen, rejected)), beta=training.beta)


def as_record(rounds: Sequence[Round]) -> list[dict[str, object]]:
    """For a line of JSON."""
    return [asdict(each) for each in rounds]
