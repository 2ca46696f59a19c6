"""The variants, the most important first: each trained, encoded and measured, a line of JSON a result.

    frozen -> prompts, LoRA, both sides (and QDC) with one seed -> prompts and LoRA -> both sides again

Rates are chosen on dev questions of two collections. What was trained or encoded is kept in files, so that a
run goes on where it was stopped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from torch import Tensor

from agents.models.networks.adapted_bert import Bert
from experiments.flowrag.bench import KNOWN, Bench
from experiments.flowrag.domains import BESIDE, TRAINED, Domain
from experiments.flowrag.encoding import Encode, Texts
from experiments.flowrag.learning import Pair, train
from experiments.flowrag.printed import UPPER, prompts
from experiments.flowrag.results import kept, saved
from experiments.flowrag.store import NDCG, Part, cosines

PROMPTS, RANK = 32, 8  # of equal size: 3 · 32 · D = 3 · 2 · 2 · 8 · D
RATES = {"prompts": (1e-2, 3e-3, 3e-2), "lora": (2e-3, 5e-4, 8e-3, 1.25e-4)}  # the first of equals is chosen
BOTH_SIDES_RATE = 3e-5
CHOSEN_ON = ("friendsqa", "documents")
_NEAR = 10  # of the fused search, among which wrong passages are


class Gate:
    """Trains the variants and has them measured."""

    def __init__(self, domains: Sequence[Domain], work: Path) -> None:
        self.bench = Bench(domains, work)
        self.results = self.bench.results
        self.pairs = {name: self._pairs(name) for name in TRAINED}

    def _pairs(self, name: str) -> list[Pair]:
        """The training questions; wrong is what the frozen fused search has among its best."""
        found, rows = [], self.bench.store.rows[name]
        for place, question, gold in self.bench.asked(name, "train"):
            best = self.bench.store.found(question.text, cosines([self.bench.plain], place, rows))[:_NEAR]
            wrong = tuple(int(each.passage.external_id) for each in best)
            found.append(Pair(place, gold, tuple(each for each in wrong if each not in gold)))
        return found

    def run(self, seeds: int) -> None:
        """All variants; what is in the results is passed over."""
        self.bench.measure("frozen", 0, [self.bench.plain])
        for name in CHOSEN_ON:
            self._dev("frozen", name, 0.0, [self.bench.plain])
        for kind in RATES:
            self._adapters(kind, 0)
        self._both_sides(0)
        for seed in range(1, seeds):
            for kind in RATES:
                self._adapters(kind, seed)
        for seed in range(1, seeds):
            self._both_sides(seed)

    def _is_done(self, variant: str, seed: int) -> bool:
        return self.results.first(variant=variant, seed=seed, domain=BESIDE[-1], searched=KNOWN) is not None

    def _trained(
        self,
        variant: str,
        name: str,
        made: Mapping[str, Tensor],
        by: tuple[Encode, Encode],
        rate: float,
        seed: int,
    ) -> dict[str, Tensor]:
        """Tensors that have learned a collection, through which both sides encode; kept in a file."""
        file = self.bench.work / f"{variant} {name} {rate:g} {seed}.pt"
        if not file.exists():
            began, parameters = time.process_time(), [each.requires_grad_() for each in made.values()]
            losses = list(train(parameters, self.pairs[name], *by, rate=rate, seed=seed))
            saved(file, {n: each.detach() for n, each in made.items()})
            facts = {"trained": variant, "domain": name, "rate": rate, "seed": seed}
            loss = [fmean(losses[:5]), fmean(losses[-5:])]
            self.results.add({**facts, "seconds": time.process_time() - began, "loss": loss})
        found: dict[str, Tensor] = torch.load(file)
        return found

    # Adapters

    def part(self, kind: str, name: str, rate: float, seed: int) -> Part:
        """A collection under an adapter of its own, with all questions."""
        bert = self.bench.bert
        made = (
            bert.low_rank(RANK, seed=seed)
            if kind == "lora"
            else prompts(UPPER, PROMPTS, bert.width, seed=seed)
        )
        adapter = self._trained(kind, name, made, self.bench.encoders(made), rate, seed)
        return self.bench.part(f"{kind} {name} {rate:g} {seed}", adapter, self.bench.store.rows[name])

    def rate(self, kind: str) -> float:
        """The one with the best fused nDCG@10 of dev questions, within their collections."""
        best = {rate: fmean(self._dev(kind, name, rate) for name in CHOSEN_ON) for rate in RATES[kind]}
        return max(best, key=lambda rate: best[rate])

    def _dev(self, kind: str, name: str, rate: float, parts: Sequence[Part] | None = None) -> float:
        facts = {"dev of": kind, "domain": name, "rate": rate}
        if (known := self.results.first(**facts)) is None:
            parts = parts or self.bench.among_others(name, self.part(kind, name, rate, 0))
            known = {**facts, "scores": self.bench.scored(name, "dev", parts, KNOWN)}
            self.results.add(known)
        return fmean(known["scores"][NDCG])

    def _adapters(self, kind: str, seed: int) -> None:
        """Each passage once, under its collection's adapter; questions under all; cosines merged.

        As they are, and once more with an offset for each collection.
        """
        if not self._is_done(f"{kind}, offset", seed):
            rate, plain = self.rate(kind), self.bench.plain
            first = self.bench.store.rows[BESIDE[0]].start
            beside = Part(plain.passages[first:], plain.questions)
            parts = [self.part(kind, name, rate, seed) for name in TRAINED]
            self.bench.measure(kind, seed, [*parts, beside])
            level = [self._levelled(name, part) for name, part in zip(TRAINED, parts, strict=True)]
            self.bench.measure(f"{kind}, offset", seed, [*level, beside])

    def _levelled(self, name: str, part: Part) -> Part:
        """With the offset by which dev questions are as near to their ten best as they are plainly."""
        rows = self.bench.store.rows[name]
        plain = Part(self.bench.plain.passages[rows], self.bench.plain.questions)
        asked = self.bench.places[name, "dev"]
        near, wanted = (fmean(np.sort(p.cosines(i))[-10:].mean() for i in asked) for p in (part, plain))
        return replace(part, offset=wanted - near)

    # The whole encoder

    def _both_sides(self, seed: int) -> None:
        """A collection after another; then all is encoded anew. QDC: the old index, drift taken back."""
        if self._is_done("qdc", seed):
            return
        bench, bert = self.bench, self.bench.bert
        for name in TRAINED:
            bert = self._further(bert, name, seed)
            facts = {"variant": "both, just learned", "seed": seed, "domain": name, "searched": KNOWN}
            if self.results.first(**facts) is None:
                questions, passages = whole(bert, bench.questions), whole(bert, bench.passages)
                own = bench.passages.encoded(passages, bench.store.rows[name])
                parts = bench.among_others(name, Part(own, bench.questions.encoded(questions)))
                self.results.add({**facts, "scores": bench.scored(name, "test", parts, KNOWN)})
        asked, encode = bench.questions.encoded(whole(bert, bench.questions)), whole(bert, bench.passages)
        passages_now = kept(bench.work / f"both {seed}.npy", lambda: bench.passages.encoded(encode))
        bench.measure("both", seed, [Part(passages_now, asked)])

        learned = [place for name in TRAINED for place in bench.places[name, "train"]]
        back = asked - (asked - bench.plain.questions)[learned].mean(0)
        back /= np.linalg.norm(back, axis=1, keepdims=True)
        bench.measure("qdc", seed, [Part(bench.plain.passages, back)])

    def _further(self, bert: Bert, name: str, seed: int) -> Bert:
        weights = {n: each.clone() for n, each in bert.weights.items()}
        made = Bert(weights, bert.layers, bert.heads, bert.epsilon)
        by = whole(made, self.bench.questions), whole(made, self.bench.passages)
        learned = self._trained("both", name, weights, by, BOTH_SIDES_RATE, seed)
        return Bert(learned, bert.layers, bert.heads, bert.epsilon)


def whole(bert: Bert, texts: Texts) -> Encode:
    """What encodes texts from their tokens on."""

    def encode(places: Sequence[int]) -> Tensor:
        ids, mask = texts.padded(places)
        return bert.upper(bert.lower(ids, mask), mask)

    return encode
