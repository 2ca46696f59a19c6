"""Four collections one after another: python -m experiments.flowrag.sequence DATA --work DIR

    frozen, contrastive prompts, prompts + L_ret, the full form -> a set of prompts and an index a collection
    REPLUG -> one encoder, trained on after each collection, by which all so far are indexed anew

Prompts are drawn and trained for each collection alone, so that they are the same in every order. What is
found is written to DIR/sequence.jsonl, line by line, and a stopped run goes on. --tables only prints.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.base.interfaces import Vectors
from agents.models.networks.adapted_bert import PLAIN, Adapter, Bert
from assistant.learning.recipes.retriever.network import load_network
from assistant.replay.metrics.metrics import has_answer
from experiments.flowrag.domains import TRAINED, Domain, read_domain, smaller
from experiments.flowrag.encoding import Texts, frozen
from experiments.flowrag.learning import EPOCHS, Pair, train
from experiments.flowrag.likelihood import simulated
from experiments.flowrag.printed import LOWER, UPPER, Encoded, encode, prompts
from experiments.flowrag.printed_learning import STATE_WEIGHT, Similarity, cosines, dots, train_by_likelihood
from experiments.flowrag.results import Results, saved
from experiments.flowrag.router import Centroid
from experiments.flowrag.sequence_tables import Judge, sequence_tables

ORDERS = (
    TRAINED,
    ("friendsqa", "timeqa", "documents", "covidqa"),
    ("covidqa", "friendsqa", "documents", "timeqa"),
)
COUNT, SEED = 32, 0  # prompts a layer
_MOST_TOKENS, _FOUND, _NEAR, _NEGATIVES = 96, 20, 5, 10


@dataclass(frozen=True)
class Method:
    """What is trained, by which loss."""

    name: str
    loss: Literal["none", "contrastive", "likelihood"] = "none"
    layers: tuple[int, ...] = ()  # with prompts; none: the whole encoder is trained
    is_fused: bool = False
    state_weight: float = 0.0
    state_similarity: Similarity = cosines
    rate: float = 1e-2
    epochs: int = EPOCHS  # of the contrastive loss


FROZEN = Method("frozen")
REPLUG = Method("REPLUG", "likelihood", rate=3e-5)
ALONE = (
    FROZEN,
    Method("contrastive prompts, layers 4-6", "contrastive", UPPER),
    Method("prompts + L_ret", "likelihood", LOWER),
    Method("full form", "likelihood", LOWER, is_fused=True, state_weight=STATE_WEIGHT),
)
VARIANTS = (
    replace(ALONE[3], name="full form, lambda 0", state_weight=0.0),
    replace(ALONE[1], name="contrastive prompts, 6 epochs", epochs=6),
    replace(ALONE[3], name="full form, states by dot product", state_similarity=dots),
)


@dataclass(frozen=True)
class Collection:
    """A domain as the encoder reads it."""

    domain: Domain
    passages: Texts
    train: Texts
    test: Texts


class Encoder:
    """A method's encoder: the weights, and the prompts of one collection, if any."""

    def __init__(self, bert: Bert, given: Adapter, *, is_fused: bool) -> None:
        self._bert, self._prompts, self._is_fused = bert, given, is_fused

    def of(self, texts: Texts) -> Callable[[Sequence[int]], Encoded]:
        """What encodes some of the texts, with gradients."""
        return lambda some: encode(self._bert, *texts.padded(some), self._prompts, is_fused=self._is_fused)

    def unit(self, texts: Texts) -> Callable[[Sequence[int]], Tensor]:
        """The same as vectors of unit length."""
        return lambda some: F.normalize(self.of(texts)(some).vectors, dim=1)

    def encoded(self, texts: Texts) -> Vectors:
        """All of the texts: (N, D), unit length, without gradients."""
        return texts.encoded(self.unit(texts))


class Comparison:
    """What all methods share: the collections, the frozen encoder and the results."""

    def __init__(self, domains: Sequence[Domain], work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._work, self.results = work, Results(work / "sequence.jsonl")
        network = load_network()
        self._bert = frozen(network.transformer)
        tokenizer = Tokenizer.from_file(str(network.source.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MOST_TOKENS)

        def read(domain: Domain) -> Collection:
            train, test = ([q.text for q in part] for part in (domain.train, domain.test))
            return Collection(
                domain, *(Texts(tokenizer, texts) for texts in (domain.searchable, train, test))
            )

        self._all = {domain.name: read(domain) for domain in domains}
        self._plain = Encoder(self._bert, PLAIN, is_fused=False)

    def run(self, orders: int) -> None:
        """The methods of the first order, then what depends on the order."""
        for method in ALONE[:3]:
            self._run_alone(method)
        self._run_in_order(0)
        self._run_alone(ALONE[3])
        for method in VARIANTS:
            self._run_alone(method)
        for order in range(1, orders):
            self._run_in_order(order)

    def judge(self) -> Judge:
        """What the tables need beside the results."""
        plain = {name: self._plain.encoded(each.test) for name, each in self._all.items()}
        learned = {name: Centroid.of(self._plain.encoded(each.train)) for name, each in self._all.items()}
        return Judge({name: each.domain for name, each in self._all.items()}, plain, learned)

    # A set of prompts a collection

    def _run_alone(self, method: Method) -> None:
        for name, each in self._all.items():
            facts = {"method": method.name, "index": name}
            if self.results.first(**facts):
                continue
            seed = SEED + 1000 * TRAINED.index(name)  # of the task, whatever its place
            made = dict[str, Tensor]()
            if method.layers:
                made = prompts(method.layers, COUNT, self._bert.width, seed=seed)
            encoder = Encoder(self._bert, made, is_fused=method.is_fused)
            trained = self._trained(method, each, encoder, list(made.values()))
            self.results.add({**facts, **trained, "found": self._found(encoder, each, self._all)})

    # One encoder

    def _run_in_order(self, order: int) -> None:
        weights: Mapping[str, Tensor] = self._bert.weights
        for stage, name in enumerate(ORDERS[order]):
            seen = ORDERS[order][: stage + 1]
            facts = {"method": REPLUG.name, "order": order, "stage": stage}
            file, last = self._work / f"encoder {order} {stage}.pt", {**facts, "index": name}
            learned = {n: each.detach().clone().requires_grad_() for n, each in weights.items()}
            bert = replace(self._bert, weights=learned)
            encoder, trained = Encoder(bert, PLAIN, is_fused=False), dict[str, Any]()
            if not file.exists():
                trained = self._trained(REPLUG, self._all[name], encoder, list(learned.values()))
                saved(file, learned)
            weights = torch.load(file)
            frozen = Encoder(replace(self._bert, weights=weights), PLAIN, is_fused=False)
            for index in seen:
                if not self.results.first(**facts, index=index):
                    told = trained if index == last["index"] else {}
                    asked = {n: self._all[n] for n in seen}
                    found = self._found(frozen, self._all[index], asked)
                    self.results.add({**facts, "index": index, **told, "found": found})

    # Both

    def _trained(
        self, method: Method, own: Collection, encoder: Encoder, parameters: Sequence[Tensor]
    ) -> dict[str, Any]:
        """What it took. Before training, what a new set of prompts finds is what an untrained one does."""
        if method.loss == "none":
            return {}
        began, domain, untrained = time.process_time(), own.domain, list[float]()
        searchable = domain.searchable
        for each in parameters:
            each.requires_grad_()

        def nearest() -> list[list[int]]:
            index = encoder.encoded(own.passages)
            if not untrained:
                best = _best(encoder.encoded(own.test) @ index.T, _NEAR)
                untrained.extend(
                    float(any(has_answer(searchable[place], q.answers) for place in row))
                    for q, row in zip(domain.test, best, strict=True)
                )
            return _best(encoder.encoded(own.train) @ index.T, _NEAR)

        if method.loss == "contrastive":
            sides = encoder.unit(own.train), encoder.unit(own.passages)
            pairs = self._pairs(own)
            steps = train(parameters, pairs, *sides, rate=method.rate, seed=SEED, epochs=method.epochs)
        else:
            steps = train_by_likelihood(
                parameters,
                nearest,
                lambda q, place: simulated(domain.train[q], searchable[place], seed=SEED),
                encoder.of(own.train),
                encoder.of(own.passages),
                rate=method.rate,
                state_weight=method.state_weight,
                state_similarity=method.state_similarity,
                seed=SEED,
            )
        losses = list(steps)
        third = max(1, len(losses) // 3)
        return {
            "seconds": time.process_time() - began,
            "loss": [fmean(losses[:third]), fmean(losses[-third:])],
            "untrained": fmean(untrained) if untrained else None,
        }

    def _pairs(self, own: Collection) -> list[Pair]:
        """Wrong is what the frozen dense search has among its best ten."""
        scores = self._plain.encoded(own.train) @ self._plain.encoded(own.passages).T
        rows = zip(own.domain.train, _best(scores, _NEGATIVES), strict=True)
        return [
            Pair(number, q.gold, tuple(place for place in best if place not in q.gold))
            for number, (q, best) in enumerate(rows)
        ]

    def _found(
        self, encoder: Encoder, own: Collection, asked: Mapping[str, Collection]
    ) -> dict[str, list[list[list[float]]]]:
        """By collection, of each of its test questions, the nearest places here and their cosines."""
        index = encoder.encoded(own.passages)
        found = dict[str, list[list[list[float]]]]()
        for name, each in asked.items():
            scores = encoder.encoded(each.test) @ index.T
            best = _best(scores, _FOUND)
            found[name] = [
                [[place, round(float(row[place]), 5)] for place in places]
                for row, places in zip(scores, best, strict=True)
            ]
        return found


def _best(scores: Vectors, count: int) -> list[list[int]]:
    """Of each row, the columns with the highest scores, best first."""
    best: list[list[int]] = np.argsort(-scores, axis=1, kind="stable")[:, :count].tolist()
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=700)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--tables", action="store_true")
    told = parser.parse_args()
    torch.set_num_threads(1)

    def cut(domain: Domain) -> Domain:
        few = replace(domain, train=domain.train[: told.pairs], dev=(), test=domain.test[: told.questions])
        return smaller(few, told.passages)

    sequence = Comparison([cut(read_domain(told.data, name)) for name in TRAINED], told.work)
    if not told.tables:
        sequence.run(told.orders)
    print(sequence_tables(sequence.results.every, sequence.judge(), ORDERS))


if __name__ == "__main__":
    main()
