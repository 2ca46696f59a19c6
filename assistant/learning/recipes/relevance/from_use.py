"""Trains the weights of relevance on questions of whose candidates some helped and some did not.

    python -m assistant.learning.recipes.relevance.from_use LESSONS.jsonl --out FOLDER

    the weights of before any round -> a step for each round that went live, and one more -> FOLDER

Each round goes all steps again over the lessons that are there now, so nothing of a lesson that was taken
back is left. A step learns what came since the round before it, with as many pairs of earlier steps; its
reference is what the step before it made: what answers now, while nothing was taken back. In each,
document-mode ReplayDPO and RankNet learn from the same pairs. DPO is taken where it orders the lessons that
tell when to end better than RankNet. FOLDER has `served/` and settings.json.

w · φ + b stands for the log-probability that a candidate helps, as it is. So the bias cancels in each pair,
and a pair teaches less the further it has come from the reference; by log σ(w · φ + b), what is sure to help
would teach nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agents.losses.preference import BETA, Pairs, document_pairs, dpo, margins, replayed
from agents.models.exporters.onnx_export import put_in_place
from agents.retrieval.feature_names import NAMES
from agents.retrieval.relevance import FILE, Relevance, Row, Weights
from assistant.learning.held_out.bootstrap import paired_gain
from assistant.learning.held_out.ranking import ndcg_at, success_at
from assistant.learning.recipes.from_shipped import SERVED, options_of
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, Tell, run, workplace

FEWEST = 50  # lessons of a kind, with fewer of which its weights stay as they are
DPO, RANKNET = "ReplayDPO", "RankNet"
Pair = tuple[Row, Row]  # φ of what helped, and of what did not


@dataclass(frozen=True)
class RelevanceTraining:
    """How it is trained."""

    epochs: int = 20
    learning_rate: float = 0.01  # of ReplayDPO
    ranknet_rate: float = 0.003  # of RankNet: at that of DPO it loses
    beta: float = BETA
    alpha: float = 0.5  # the share of new pairs among all
    pairs: int = 4  # of a question
    batch: int = 32  # pairs
    seed: int = 0


@dataclass(frozen=True)
class Question:
    """One lesson: its candidates in the order found."""

    step: int  # in which it is new, from 0
    is_measured: bool  # tells when to end
    rows: tuple[Row, ...]  # φ
    told: tuple[bool, ...]  # ordered by the weights of messages
    asks: tuple[bool, ...]  # comes last anyway
    helps: tuple[bool | None, ...]

    def is_of(self, *, told: bool) -> bool:
        """Whether something of this kind helped."""
        return any(helps and kind == told for helps, kind in zip(self.helps, self.told, strict=True))

    def pairs(self, *, told: bool, most: int, seed: int) -> list[Pair]:
        """Of one kind, at random."""
        each = zip(self.helps, self.told, self.asks, strict=True)
        labels = [None if h is None or kind != told or asks else int(not h) for h, kind, asks in each]
        found = document_pairs([0] * len(labels), labels, most=most, seed=seed, positive=0)
        rows = zip(found.chosen[:, 0].tolist(), found.rejected[:, 0].tolist(), strict=True)
        return [(self.rows[won], self.rows[lost]) for won, lost in rows]

    def ndcg(self, relevance: Relevance) -> float:
        """nDCG@10 of its order by these weights."""
        return ndcg_at(self._order(relevance), dict.fromkeys(self._helping, 1.0), 10)

    def recall(self, relevance: Relevance, depth: int) -> float:
        """1 where something that helps is among the first of its order by these weights."""
        return success_at(self._order(relevance), self._helping, depth)

    @property
    def _helping(self) -> list[str]:
        return [str(place) for place, helps in enumerate(self.helps) if helps]

    def _order(self, relevance: Relevance) -> list[str]:
        each = zip(self.asks, self.told, self.rows, strict=True)
        keys = [(asks, -relevance.of(told=told).score(row)) for asks, told, row in each]
        return [str(place) for place in sorted(range(len(keys)), key=keys.__getitem__)]


def read_lessons(file: Path) -> tuple[Relevance, list[Question]]:
    """The weights of before any round, and the lessons. Raises `CannotTrain`."""
    try:
        first, *rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        return Relevance.of_record(first), [
            Question(
                row["step"],
                row["measured"],
                tuple(map(tuple, row["rows"])),
                tuple(row["told"]),
                tuple(row["asks"]),
                tuple(row["helps"]),
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CannotTrain(f"{file} holds no lessons of relevance: {error}") from error


def moved(
    reference: Tensor,
    pairs: Sequence[Pair],
    settings: RelevanceTraining,
    way: str,
    tell: Callable[[float], None],
) -> Tensor:
    """The weights (D,) that these pairs make of the reference, which stays as it is.

    way: RankNet is the same loss without a reference and with β = 1 (Burges et al. 2005). tell: the mean loss
    of each epoch.
    """
    rows = torch.tensor(pairs, dtype=torch.float64)  # (P, 2, D)
    behind, beta = (reference, settings.beta) if way == DPO else (torch.zeros_like(reference), 1.0)
    weights = reference.clone().requires_grad_()
    rate = settings.learning_rate if way == DPO else settings.ranknet_rate
    optimizer = torch.optim.Adam([weights], lr=rate)
    draw = torch.Generator().manual_seed(settings.seed)
    for _ in range(settings.epochs):
        total = 0.0
        order = torch.randperm(len(rows), generator=draw)
        for start in range(0, len(rows), settings.batch):
            some = order[start : start + settings.batch]
            both = rows[some].transpose(0, 1).flatten(0, 1)  # (2 B, D): those that helped come first
            places = torch.stack([torch.arange(len(both)), torch.zeros(len(both), dtype=torch.long)], 1)
            table = Pairs(places[: len(some)], places[len(some) :])
            h = margins((both @ weights)[:, None], (both @ behind)[:, None], table)
            loss = dpo(h, beta=beta)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(loss.detach()) * len(some)
        tell(total / len(rows))
    return weights.detach()


def learned_by(
    way: str,
    relevance: Relevance,
    steps: Sequence[Sequence[Question]],
    settings: RelevanceTraining,
    *,
    told: bool,
    tell: Callable[[float], None] = lambda loss: None,
) -> Relevance:
    """What the lessons of these steps make of the weights of one kind; those of the last are new.

    The bias keeps the best of a question as high as it was, on the mean: by it the kinds are compared.
    """
    taught = [[each for each in step if not each.is_measured] for step in steps]
    draw = random.Random(settings.seed)
    *history, new = [
        [
            pair
            for each in step
            for pair in each.pairs(told=told, most=settings.pairs, seed=draw.getrandbits(32))
        ]
        for step in taught
    ]
    kept, old = replayed(new, history, alpha=settings.alpha, seed=settings.seed)
    if sum(each.is_of(told=told) for step in steps for each in step) < FEWEST or not kept:
        return relevance
    before = relevance.of(told=told)
    start = torch.tensor([before.named.get(name, 0.0) for name in NAMES], dtype=torch.float64)
    found = moved(start, [*kept, *old], settings, way, tell)
    if not found.isfinite().all():
        raise CannotTrain(f"{way} made weights that are no numbers; nothing was kept")
    named = zip(NAMES, (round(weight, 6) for weight in found.tolist()), strict=True)
    after = Weights({name: weight for name, weight in named if weight}, before.bias)
    of_kind = [
        [r for r, kind in zip(q.rows, q.told, strict=True) if kind == told] for step in taught for q in step
    ]
    rises = [max(map(after.score, rows)) - max(map(before.score, rows)) for rows in of_kind if rows]
    after = replace(after, bias=before.bias - sum(rises) / len(rises))
    return replace(relevance, **{"messages" if told else "documents": after})


def measured(relevance: Relevance, steps: Sequence[Sequence[Question]], *, told: bool) -> list[float]:
    """nDCG@10 of each lesson of one kind that tells when to end."""
    every = (each for step in steps for each in step)
    return [each.ndcg(relevance) for each in every if each.is_measured and each.is_of(told=told)]


@dataclass(frozen=True)
class Learned:
    """What came of it, and in the last step by which way."""

    relevance: Relevance
    way: str
    ndcg: dict[str, float]  # of messages, by way, and at the start of the step


def learned(
    start: Relevance,
    lessons: Sequence[Question],
    settings: RelevanceTraining,
    tell: Callable[[float], None] = lambda loss: None,
) -> Learned:
    """All steps. Documents change only where the interval of their gain is above zero: mostly they lose."""
    found = Learned(start, "", {})
    steps: list[list[Question]] = []
    for number in range(1 + max((each.step for each in lessons), default=0)):
        steps.append([each for each in lessons if each.step == number])
        made = {"": found.relevance}
        for way in (DPO, RANKNET):
            made[way] = learned_by(way, found.relevance, steps, settings, told=True, tell=tell)
        ndcg = {way: _mean(measured(each, steps, told=True)) for way, each in made.items()}
        way = DPO if ndcg[DPO] > ndcg[RANKNET] else RANKNET
        documents = learned_by(DPO, made[way], steps, settings, told=False)
        after, before = (measured(each, steps, told=False) for each in (documents, made[way]))
        wins = bool(after) and paired_gain(after, before, seed=settings.seed).low > 0
        found = Learned(documents if wins else made[way], way, ndcg)
    return found


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores) if scores else 0.0


class Rounds:
    """The training that a round begins."""

    def __init__(self, options: argparse.Namespace, stop: StopSignal, tell: Tell) -> None:
        self._options, self._stop, self._tell = options, stop, tell
        self._start, self._lessons = read_lessons(options.lessons)
        if not any(each.is_measured for each in self._lessons):
            raise CannotTrain("There are too few lessons to learn from and to measure on")

    def train(self) -> None:
        """Takes so short that nothing is written down on the way. Raises `Stopped` when told to stop."""
        settings = self._options.settings
        self._tell("phase", phase="training")
        steps = 2 * settings.epochs * (1 + max(each.step for each in self._lessons))
        done = 0

        def after_epoch(loss: float) -> None:
            nonlocal done
            done += 1
            self._tell("step", step=done, steps=steps, loss=loss)
            if self._stop.came:
                raise Stopped

        self._made = learned(self._start, self._lessons, settings, after_epoch)
        for epoch, way in ((0, ""), (settings.epochs, self._made.way)):
            self._tell("held_out", epoch=epoch, ndcg_at_10=self._made.ndcg[way])

    def finish(self) -> None:
        """Puts the folder in its place."""
        whole = workplace(self._options.out)
        shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed while it wrote
        (whole / SERVED).mkdir(parents=True)
        record = self._made.relevance.as_record()
        (whole / SERVED / FILE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        is_new = self._made.relevance != self._start
        facts: dict[str, Any] = {
            "settings": asdict(self._options.settings),
            "by": self._made.way,
            "ndcg_at_10": {way or "before": each for way, each in self._made.ndcg.items()},
            "documents": self._made.relevance.documents != self._start.documents,
            "best_epoch": self._options.settings.epochs if is_new else 0,
            "taught": sum(not each.is_measured for each in self._lessons),
            "measured": sum(each.is_measured for each in self._lessons),
        }
        (whole / SETTINGS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        put_in_place(whole, self._options.out)
        self._tell("done", folder=str(self._options.out), best_epoch=facts["best_epoch"])


def begun(options: argparse.Namespace, stop: StopSignal, tell: Tell) -> Rounds:
    """The training that these options ask for."""
    tell("phase", phase="reading", device="cpu")
    return Rounds(options, stop, tell)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code; see `run`."""
    parser = options_of("from_use", __doc__, RelevanceTraining)
    return run(lambda: parser.parse_args(arguments), begun)


if __name__ == "__main__":
    os._exit(main())  # to take torch down in order takes a second more, for which a stop would wait
