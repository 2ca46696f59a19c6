"""The variants, the most important first: each trained, encoded and measured, a line of JSON a result.

    frozen -> prompts, LoRA, both sides (and QDC) with one seed -> prompts and LoRA -> both sides again

Rates are chosen on dev questions of two collections. What was trained or encoded is kept in files, so that a
run goes on where it was stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from agents.base.interfaces import Vectors
from assistant.learning.held_out.ranking import success_at
from assistant.learning.recipes.retriever.network import load_network
from experiments.flowrag.adapters import PLAIN, UPPER, Adapter, Bert, low_rank, prompts
from experiments.flowrag.domains import BESIDE, TRAINED, Domain, Question
from experiments.flowrag.encoding import KeptStates, Texts
from experiments.flowrag.learning import Pair, train
from experiments.flowrag.store import NDCG, RERANKED, Part, Store, cosines, measured, reranker

PROMPTS, RANK = 32, 8  # of equal size: 3 · 32 · D = 3 · 2 · 2 · 8 · D
RATES = {"prompts": (1e-2, 3e-3, 3e-2), "lora": (2e-3, 5e-4, 8e-3)}  # the first of equals is chosen
BOTH_SIDES_RATE = 3e-5
CHOSEN_ON = ("friendsqa", "documents")
READ = 250  # test questions of a domain that are reranked
WHOLE, KNOWN = "store", "collection"  # what is searched

Scored = dict[str, list[float]]


class Results:
    """Lines of JSON; a line that a kill cut off is none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        self.every: list[dict[str, Any]] = [json.loads(line) for line in lines if line.endswith(b"}\n")]
        if file.exists() and lines and not lines[-1].endswith(b"}\n"):
            file.write_bytes(b"".join(lines[:-1]))

    def first(self, **facts: object) -> dict[str, Any] | None:
        """The record that says all of this."""
        return next((r for r in self.every if facts.items() <= r.items()), None)

    def add(self, record: dict[str, Any]) -> None:
        """On the disk when this returns."""
        self.every.append(record)
        with self._file.open("ab") as out:
            out.write(json.dumps(record).encode() + b"\n")
            out.flush()
            os.fsync(out.fileno())
        shown = {k: v for k, v in record.items() if k not in ("scores", "found")}
        means = {k: round(fmean(v), 3) for k, v in record.get("scores", {}).items() if v}
        print(time.strftime("%H:%M:%S"), *shown.values(), *means.values(), flush=True)


class Gate:
    """What all variants share: the store, the frozen encoder and its states, the pairs and the results."""

    def __init__(self, domains: Sequence[Domain], work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self.work, self.domains, self.results = work, domains, Results(work / "results.jsonl")
        self.store, self._reranker = Store(domains), reranker(work / "verdicts.jsonl")
        network = load_network()
        self.bert = Bert.of(network.transformer)
        tokenizer = Tokenizer.from_file(str(network.source.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(network.source.max_tokens)
        kinds = [part for domain in domains for part in (domain.train, domain.dev, domain.test)]
        ends = [0, *accumulate(map(len, kinds))]
        self._asked = {
            (domain.name, kind): range(*ends[3 * i + k : 3 * i + k + 2])
            for i, domain in enumerate(domains)
            for k, kind in enumerate(("train", "dev", "test"))
        }
        self.questions = Texts(tokenizer, [question.text for part in kinds for question in part])
        self.passages = Texts(tokenizer, self.store.texts)
        self.question_states = KeptStates(work, self.bert, self.questions)
        began, known = time.process_time(), len(list(work.glob("*.done")))
        self.passage_states = KeptStates(work, self.bert, self.passages)
        if known < 2:
            self._note_cost("lower layers", "all", began, self.passages)
        self.plain = Part(self._plain_passages(), self._adapted(PLAIN, self.questions, self.question_states))
        self.pairs = {domain.name: self._pairs(domain) for domain in domains if domain.train}

    # Encoding

    def _plain_passages(self) -> Vectors:
        def make() -> Vectors:
            began = time.process_time()
            made = self._adapted(PLAIN, self.passages, self.passage_states)
            self._note_cost("upper layers", "all", began, self.passages)
            return made

        return kept(self.work / "plain.npy", make)

    def _adapted(
        self, adapter: Adapter, texts: Texts, states: KeptStates, rows: slice = slice(None)
    ) -> Vectors:
        places = range(len(texts.ids))[rows]
        return texts.encoded(places, lambda some: self.bert.upper(*states.of(some), adapter))

    def _note_cost(
        self, what: str, domain: str, began: float, texts: Texts, rows: slice = slice(None)
    ) -> None:
        seconds, tokens = time.process_time() - began, sum(texts.lengths[rows])
        self.results.add({"cost": what, "domain": domain, "seconds": seconds, "tokens": tokens})

    # Training

    def _pairs(self, domain: Domain) -> list[Pair]:
        """The training questions; wrong is what the frozen fused search has among its best ten."""
        rows, found = self.store.rows[domain.name], []
        for place, question in zip(self._asked[domain.name, "train"], domain.train, strict=True):
            gold = frozenset(rows.start + each for each in question.gold)
            best = self.store.found(question.text, cosines([self.plain], place, rows))[:10]
            wrong = tuple(int(each.passage.external_id) for each in best)
            found.append(Pair(place, gold, tuple(each for each in wrong if each not in gold)))
        return found

    def adapter(self, kind: str, name: str, *, rate: float, seed: int) -> Adapter:
        """A trained one of a collection."""
        file = self.work / f"{kind} {name} {rate:g} {seed}.pt"
        if not file.exists():
            make = {"prompts": partial(prompts, UPPER, PROMPTS), "lora": partial(low_rank, UPPER, RANK)}[kind]
            made = {n: each.requires_grad_() for n, each in make(self.bert.width, seed=seed).items()}
            began = time.process_time()
            losses = list(
                train(
                    list(made.values()),
                    self.pairs[name],
                    lambda places: self.bert.upper(*self.question_states.of(places), made),
                    lambda places: self.bert.upper(*self.passage_states.of(places), made),
                    rate=rate,
                    seed=seed,
                )
            )
            saved(file, {n: each.detach() for n, each in made.items()})
            facts = {"rate": rate, "seed": seed, "loss": [fmean(losses[:5]), fmean(losses[-5:])]}
            self.results.add(
                {"trained": kind, "domain": name, "seconds": time.process_time() - began, **facts}
            )
        found: Adapter = torch.load(file)
        return found

    def part(self, kind: str, name: str, *, rate: float, seed: int) -> Part:
        """A collection under its adapter, with all questions."""
        adapter, rows = self.adapter(kind, name, rate=rate, seed=seed), self.store.rows[name]

        def make() -> Vectors:
            began = time.process_time()
            made = self._adapted(adapter, self.passages, self.passage_states, rows)
            self._note_cost(f"upper layers, {kind}", name, began, self.passages, rows)
            return made

        passages = kept(self.work / f"{kind} {name} {rate:g} {seed}.npy", make)
        return Part(passages, self._adapted(adapter, self.questions, self.question_states))

    def among_others(self, name: str, part: Part) -> list[Part]:
        """The whole store in parts, of which one collection has another encoder."""
        rows = self.store.rows[name]
        return [
            Part(self.plain.passages[: rows.start], self.plain.questions),
            part,
            Part(self.plain.passages[rows.stop :], self.plain.questions),
        ]

    def rate(self, kind: str) -> float:
        """The one with the best fused nDCG@10 of dev questions, within their collections."""
        best = {rate: fmean(self._dev(kind, name, rate) for name in CHOSEN_ON) for rate in RATES[kind]}
        return max(best, key=lambda rate: best[rate])

    def _dev(self, kind: str, name: str, rate: float) -> float:
        facts = {"dev of": kind, "domain": name, "rate": rate}
        if (known := self.results.first(**facts)) is None:
            parts = self.among_others(name, self.part(kind, name, rate=rate, seed=0))
            scores = self.scored(self._domain(name), "dev", parts, KNOWN)
            self.results.add(known := {**facts, "scores": scores})
        return fmean(known["scores"][NDCG])

    # Measuring

    def _domain(self, name: str) -> Domain:
        return next(domain for domain in self.domains if domain.name == name)

    def scored(
        self, domain: Domain, kind: str, parts: Sequence[Part], searched: str, read: int = 0
    ) -> Scored:
        """By measure, a score a question. read: how many of the questions are reranked."""
        rows = self.store.rows[domain.name]
        asked: tuple[Question, ...] = getattr(domain, kind)
        scores: Scored = {}
        for number, (place, question) in enumerate(zip(self._asked[domain.name, kind], asked, strict=True)):
            dense = cosines(parts, place, self.store.all_rows if searched == WHOLE else rows)
            found = self.store.found(question.text, dense)
            gold = frozenset(rows.start + each for each in question.gold)
            for name, score in measured(found, dense, gold).items():
                scores.setdefault(name, []).append(score)
            if number < read:
                order = self._reranker.rerank(question.text, found).order
                ids = [each.passage.external_id for each in order]
                scores.setdefault(RERANKED, []).append(success_at(ids, {*map(str, gold)}, 5))
        return scores

    def measure(self, variant: str, seed: int, parts: Sequence[Part]) -> None:
        """On the test questions of every domain, in the whole store and within its collection."""
        for searched, read in ((WHOLE, READ), (KNOWN, 0)):
            for domain in self.domains:
                facts = {"variant": variant, "seed": seed, "domain": domain.name, "searched": searched}
                if self.results.first(**facts) is None:
                    scores = self.scored(domain, "test", parts, searched, read)
                    self.results.add({**facts, "scores": scores})

    # Variants

    def run(self, seeds: int) -> None:
        """All of them; what is in the results is passed over."""
        self.measure("frozen", 0, [self.plain])
        for kind in RATES:
            self._adapters(kind, 0)
        self._both_sides(0)
        for seed in range(1, seeds):
            for kind in RATES:
                self._adapters(kind, seed)
        for seed in range(1, seeds):
            self._both_sides(seed)

    def _is_done(self, variant: str, seed: int) -> bool:
        last = {"domain": self.domains[-1].name, "searched": KNOWN}
        return self.results.first(variant=variant, seed=seed, **last) is not None

    def _adapters(self, kind: str, seed: int) -> None:
        """Each passage once, under its collection's adapter; questions under all; cosines merged."""
        if self._is_done(kind, seed):
            return
        rate = self.rate(kind)
        parts = [self.part(kind, name, rate=rate, seed=seed) for name in TRAINED]
        beside = self.store.rows[BESIDE[0]].start
        self.measure(kind, seed, [*parts, Part(self.plain.passages[beside:], self.plain.questions)])

    def _both_sides(self, seed: int) -> None:
        """The whole encoder, gently, a collection after another; then everything is encoded anew."""
        if self._is_done("qdc", seed):
            return
        bert = self.bert
        for name in TRAINED:
            bert = self._trained_further(bert, name, seed)
            facts = {"variant": "both, just learned", "seed": seed, "domain": name, "searched": KNOWN}
            if self.results.first(**facts) is None:
                rows = self.store.rows[name]
                part = Part(encoded(bert, self.passages, rows), encoded(bert, self.questions))
                scores = self.scored(self._domain(name), "test", self.among_others(name, part), KNOWN)
                self.results.add({**facts, "scores": scores})
        questions = encoded(bert, self.questions)
        passages = kept(self.work / f"both {seed}.npy", lambda: encoded(bert, self.passages))
        self.measure("both", seed, [Part(passages, questions)])

        learned = [place for name in TRAINED for place in self._asked[name, "train"]]
        drift = (questions - self.plain.questions)[learned].mean(0)
        back = questions - drift
        back /= np.linalg.norm(back, axis=1, keepdims=True)
        self.measure("qdc", seed, [Part(self.plain.passages, back)])

    def _trained_further(self, bert: Bert, name: str, seed: int) -> Bert:
        file = self.work / f"both {name} {seed}.pt"
        if not file.exists():
            weights = {n: each.clone().requires_grad_() for n, each in bert.weights.items()}
            made = Bert(weights, bert.layers, bert.heads, bert.epsilon)
            questions, passages = (whole(made, texts) for texts in (self.questions, self.passages))
            began = time.process_time()
            every, pairs = list(weights.values()), self.pairs[name]
            losses = list(train(every, pairs, questions, passages, rate=BOTH_SIDES_RATE, seed=seed))
            saved(file, {n: each.detach() for n, each in weights.items()})
            facts = {"rate": BOTH_SIDES_RATE, "seed": seed, "loss": [fmean(losses[:5]), fmean(losses[-5:])]}
            self.results.add(
                {"trained": "both", "domain": name, "seconds": time.process_time() - began, **facts}
            )
        return Bert(torch.load(file), bert.layers, bert.heads, bert.epsilon)


def whole(bert: Bert, texts: Texts) -> Callable[[Sequence[int]], Tensor]:
    """What encodes texts from their tokens on."""

    def encode(places: Sequence[int]) -> Tensor:
        ids, mask = texts.padded(places)
        return bert.upper(bert.lower(ids, mask), mask)

    return encode


def encoded(bert: Bert, texts: Texts, rows: slice = slice(None)) -> Vectors:
    """(N, D): texts from their tokens on."""
    return texts.encoded(range(len(texts.ids))[rows], whole(bert, texts))


def kept(file: Path, make: Callable[[], Vectors]) -> Vectors:
    """What lies in a file; made and put there first, if need be."""
    if not file.exists():
        part = file.with_suffix(".part.npy")
        np.save(part, make())
        part.rename(file)
    found: Vectors = np.load(file)
    return found


def saved(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Whole or not at all."""
    torch.save(dict(tensors), file.with_suffix(".part"))
    file.with_suffix(".part").rename(file)
