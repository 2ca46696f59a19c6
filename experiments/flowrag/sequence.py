"""Four collections one after another: python -m experiments.flowrag.sequence DATA --work DIR

    frozen, prompts, the full form, LoRA -> an adapter and an index a collection
    REPLUG, Atlas PDist, End2EndRAG -> one encoder, trained on after each collection, which indexes all anew
    L2R, QDC -> one encoder too, but an index stays as it was made

Adapters are drawn and trained for each collection alone, so that they are the same in every order. What is
found is written to DIR/sequence.jsonl, line by line, and a stopped run goes on. --tables only prints.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from experiments.flowrag.l2r import train_with_memory
from experiments.flowrag.learning import EPOCHS, Pair, train
from experiments.flowrag.likelihood import KeptReader, simulated
from experiments.flowrag.printed import LOWER, UPPER, Encoded, encode, prompts
from experiments.flowrag.printed_learning import (
    STATE_WEIGHT,
    Align,
    Similarity,
    cosines,
    distilled_loss,
    dots,
    gentle_loss,
    marginal_loss,
    retrieval_loss,
    train_by_likelihood,
)
from experiments.flowrag.results import Results, saved
from experiments.flowrag.router import Centroid
from experiments.flowrag.sequence_tables import Judge, sequence_tables

ORDERS = (
    TRAINED,
    ("friendsqa", "timeqa", "documents", "covidqa"),
    ("covidqa", "friendsqa", "documents", "timeqa"),
)
COUNT, SEED = 32, 0  # prompts a layer
_RANK = 8  # of LoRA, as large
_MOST_TOKENS, _FOUND, _NEAR, _NEGATIVES = 96, 20, 5, 10


@dataclass(frozen=True)
class Method:
    """What is trained, by which loss, and by which encoder what was learned before is found."""

    name: str
    loss: Literal["none", "contrastive", "likelihood", "memory"] = "none"
    layers: tuple[int, ...] = ()  # with prompts or LoRA; none: the whole encoder is trained
    kind: Literal["prompts", "LoRA"] = "prompts"
    is_fused: bool = False
    state_weight: float = 0.0
    state_similarity: Similarity = cosines
    align: Align = retrieval_loss
    is_read: bool = False  # its likelihoods are the reader's, of the answer and what was found beside it
    index: Literal["anew", "kept", "first"] = "anew"  # of a whole encoder, after it went on
    rate: float = 1e-2
    epochs: int = EPOCHS  # of the contrastive loss


FROZEN = Method("frozen")
ALONE = (
    FROZEN,
    Method("contrastive prompts, layers 4-6", "contrastive", UPPER),
    Method("prompts + L_ret", "likelihood", LOWER),
    Method("full form", "likelihood", LOWER, is_fused=True, state_weight=STATE_WEIGHT),
)
LORA = Method("LoRA", "contrastive", UPPER, kind="LoRA", rate=5e-4)
VARIANTS = (
    replace(ALONE[3], name="full form, lambda 0", state_weight=0.0),
    replace(ALONE[1], name="contrastive prompts, 6 epochs", epochs=6),
    replace(ALONE[3], name="full form, states by dot product", state_similarity=dots),
    LORA,
    replace(LORA, name="LoRA, 4 epochs", epochs=4),
    replace(LORA, name="LoRA by the reader's likelihood", loss="likelihood", align=gentle_loss, is_read=True),
)
REPLUG = Method("REPLUG", "likelihood", rate=3e-5)
IN_ORDER = (
    REPLUG,
    Method("QDC", index="first"),  # REPLUG's encoder, the frozen one's index, drift taken back
    replace(REPLUG, name="Atlas PDist", align=partial(distilled_loss, width=384)),
    replace(REPLUG, name="End2EndRAG", align=marginal_loss),
    Method("L2R", "memory", index="kept", rate=3e-5),
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
        self._reader = KeptReader(work / "read.jsonl")
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

    def run(self, orders: int, methods: Sequence[str]) -> None:
        """What does not depend on the order first. methods: names of those to run; none: all."""
        for method in (*ALONE, *VARIANTS):
            if not methods or method.name in methods:
                self._run_alone(method)
        for order in range(orders):
            for method in IN_ORDER:
                if not methods or method.name in methods:
                    self._run_in_order(method, order)

    def judge(self) -> Judge:
        """What the tables need beside the results."""
        plain = {name: self._plain.encoded(each.test) for name, each in self._all.items()}
        learned = {name: Centroid.of(self._plain.encoded(each.train)) for name, each in self._all.items()}
        return Judge(
            {name: each.domain for name, each in self._all.items()}, plain, learned, self._reader.answer
        )

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
                if method.kind == "LoRA":
                    made = self._bert.low_rank(_RANK, seed=seed)
            encoder = Encoder(self._bert, made, is_fused=method.is_fused)
            trained = self._trained(method, each, encoder, list(made.values()))
            asked = {n: encoder.encoded(other.test) for n, other in self._all.items()}
            found = _found(encoder.encoded(each.passages), asked)
            self.results.add({**facts, **trained, "found": found})

    # One encoder

    def _run_in_order(self, method: Method, order: int) -> None:
        names, indexes = ORDERS[order], dict[str, Vectors]()
        if self.results.first(method=method.name, order=order, stage=len(names) - 1, index=names[-1]):
            return
        weights: Mapping[str, Tensor] = self._bert.weights
        for stage, name in enumerate(names):
            seen = names[: stage + 1]
            facts = {"method": method.name, "order": order, "stage": stage}
            trainer = REPLUG if method.index == "first" else method
            weights, trained = self._further(trainer, weights, seen)
            encoder = Encoder(replace(self._bert, weights=weights), PLAIN, is_fused=False)
            asked = {each: encoder.encoded(self._all[each].test) for each in seen}
            if method.index == "first":
                asked = self._without_drift(asked, encoder)
                indexes[name] = self._plain.encoded(self._all[name].passages)
            for index in seen if method.index == "anew" else (name,) if method.index == "kept" else ():
                indexes[index] = encoder.encoded(self._all[index].passages)
            for index in seen:
                if not self.results.first(**facts, index=index):
                    told = trained if index == name else {}
                    self.results.add(
                        {**facts, "index": index, **told, "found": _found(indexes[index], asked)}
                    )

    def _further(
        self, method: Method, weights: Mapping[str, Tensor], seen: Sequence[str]
    ) -> tuple[Mapping[str, Tensor], dict[str, Any]]:
        """The weights after one collection more, kept in a file that is of all orders that begin so."""
        file, trained = self._work / f"{method.name} {' '.join(seen)}.pt", dict[str, Any]()
        if not file.exists():
            learned = {name: each.detach().clone().requires_grad_() for name, each in weights.items()}
            encoder = Encoder(replace(self._bert, weights=learned), PLAIN, is_fused=False)
            trained = self._trained(method, self._all[seen[-1]], encoder, list(learned.values()))
            saved(file, learned)
        found: dict[str, Tensor] = torch.load(file)
        return found, trained

    def _without_drift(self, asked: Mapping[str, Vectors], encoder: Encoder) -> dict[str, Vectors]:
        """QDC: the questions, less the mean way that training questions so far have gone from the frozen."""
        moved = [encoder.encoded(self._all[n].train) - self._plain.encoded(self._all[n].train) for n in asked]
        drift = np.concatenate(moved).mean(0)
        back = {name: vectors - drift for name, vectors in asked.items()}
        return {name: each / np.linalg.norm(each, axis=1, keepdims=True) for name, each in back.items()}

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
            if method.is_read:
                return [[min(pair.gold), *pair.wrong][:_NEAR] for pair in self._pairs(own)]
            index = encoder.encoded(own.passages)
            if not untrained:
                best = _best(encoder.encoded(own.test) @ index.T, _NEAR)
                untrained.extend(
                    float(any(has_answer(searchable[place], q.answers) for place in row))
                    for q, row in zip(domain.test, best, strict=True)
                )
            return _best(encoder.encoded(own.train) @ index.T, _NEAR)

        def likelihood(question: int, place: int) -> float:
            asked, document = domain.train[question], searchable[place]
            if method.is_read:
                return self._reader.log_probability(asked, document)
            return simulated(asked, document, seed=SEED)

        sides = encoder.unit(own.train), encoder.unit(own.passages)
        if method.loss == "memory":
            steps = train_with_memory(
                parameters,
                [question.gold for question in domain.train],
                lambda: (encoder.encoded(own.train), encoder.encoded(own.passages)),
                *sides,
                rate=method.rate,
                seed=SEED,
            )
        elif method.loss == "contrastive":
            pairs = self._pairs(own)
            steps = train(parameters, pairs, *sides, rate=method.rate, seed=SEED, epochs=method.epochs)
        else:
            steps = train_by_likelihood(
                parameters,
                nearest,
                likelihood,
                encoder.of(own.train),
                encoder.of(own.passages),
                rate=method.rate,
                state_weight=method.state_weight,
                state_similarity=method.state_similarity,
                align=method.align,
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


def _found(index: Vectors, asked: Mapping[str, Vectors]) -> dict[str, list[list[list[float]]]]:
    """By collection, of each of its questions, the nearest places of an index and their cosines."""
    found = dict[str, list[list[list[float]]]]()
    for name, questions in asked.items():
        scores = questions @ index.T
        found[name] = [
            [[place, round(float(row[place]), 5)] for place in places]
            for row, places in zip(scores, _best(scores, _FOUND), strict=True)
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
    parser.add_argument("--methods", nargs="*", default=[])
    parser.add_argument("--tables", action="store_true")
    told = parser.parse_args()
    torch.set_num_threads(1)

    def cut(domain: Domain) -> Domain:
        few = replace(domain, train=domain.train[: told.pairs], dev=(), test=domain.test[: told.questions])
        return smaller(few, told.passages)

    sequence = Comparison([cut(read_domain(told.data, name)) for name in TRAINED], told.work)
    if not told.tables:
        sequence.run(told.orders, told.methods)
    print(sequence_tables(sequence.results.every, sequence.judge(), ORDERS))


if __name__ == "__main__":
    main()
