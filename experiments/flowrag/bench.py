"""What all variants share: the store, the frozen encoder with its states, and how a variant is measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from tokenizers import Tokenizer

from agents.base.interfaces import Vectors
from agents.models.networks.adapted_bert import PLAIN, Adapter
from assistant.learning.held_out.ranking import success_at
from assistant.learning.recipes.retriever.network import load_network
from experiments.flowrag.domains import Domain, Question
from experiments.flowrag.encoding import Encode, KeptStates, Texts, frozen
from experiments.flowrag.results import Results, kept
from experiments.flowrag.store import RERANKED, Part, Store, cosines, measured, reranker

READ = 250  # test questions of a domain that are reranked
WHOLE, KNOWN = "store", "collection"  # what is searched

Scored = dict[str, list[float]]


class Bench:
    """Encodes, searches and measures; what is computed once is kept in the folder of the run."""

    def __init__(self, domains: Sequence[Domain], work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self.work, self.results = work, Results(work / "results.jsonl")
        self.domains = {domain.name: domain for domain in domains}
        self.store, self._reranker = Store(domains), reranker(work / "verdicts.jsonl")
        network = load_network()
        self.bert = frozen(network.transformer)
        tokenizer = Tokenizer.from_file(str(network.source.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(network.source.max_tokens)
        parts = {(d.name, kind): asked for d in domains for kind, asked in d.questions.items()}
        ends = accumulate(map(len, parts.values()))
        self.places = {
            key: range(end - len(part), end) for (key, part), end in zip(parts.items(), ends, strict=True)
        }
        self.questions = Texts(tokenizer, [question.text for part in parts.values() for question in part])
        self.passages = Texts(tokenizer, self.store.texts)
        self._question_states = KeptStates(work, self.bert, self.questions)
        began = time.process_time()
        self._passage_states = KeptStates(work, self.bert, self.passages)
        if self._passage_states.are_new:
            self._note_cost("lower layers", began, self.store.all_rows)
        self.plain = self.part("plain", PLAIN, self.store.all_rows)

    # Encoding

    def encoders(self, adapter: Adapter) -> tuple[Encode, Encode]:
        """What encodes questions and passages under an adapter, with gradients."""
        return (
            lambda places: self.bert.upper(*self._question_states.of(places), adapter),
            lambda places: self.bert.upper(*self._passage_states.of(places), adapter),
        )

    def part(self, name: str, adapter: Adapter, rows: slice) -> Part:
        """Some of the passages under an adapter, with all questions. name: of the file with the vectors."""
        questions, passages = self.encoders(adapter)

        def make() -> Vectors:
            began = time.process_time()
            made = self.passages.encoded(passages, rows)
            self._note_cost(f"upper layers, {name}", began, rows)
            return made

        return Part(kept(self.work / f"{name}.npy", make), self.questions.encoded(questions))

    def _note_cost(self, what: str, began: float, rows: slice) -> None:
        seconds, tokens = time.process_time() - began, sum(self.passages.lengths[rows])
        self.results.add({"cost": what, "seconds": seconds, "tokens": tokens})

    def among_others(self, name: str, part: Part) -> list[Part]:
        """The whole store in parts, of which one collection has another encoder."""
        rows, (passages, questions) = self.store.rows[name], (self.plain.passages, self.plain.questions)
        return [Part(passages[: rows.start], questions), part, Part(passages[rows.stop :], questions)]

    # Measuring

    def asked(self, name: str, kind: str) -> list[tuple[int, Question, frozenset[int]]]:
        """Questions of a domain, each with its place and the rows of the store that answer it."""
        first, questions = self.store.rows[name].start, self.domains[name].questions[kind]
        return [
            (place, question, frozenset(first + each for each in question.gold))
            for place, question in zip(self.places[name, kind], questions, strict=True)
        ]

    def scored(self, name: str, kind: str, parts: Sequence[Part], searched: str, read: int = 0) -> Scored:
        """By measure, a score a question. read: how many of the questions are reranked."""
        rows = self.store.all_rows if searched == WHOLE else self.store.rows[name]
        scores: Scored = {}
        for number, (place, question, gold) in enumerate(self.asked(name, kind)):
            dense = cosines(parts, place, rows)
            found = self.store.found(question.text, dense)
            for measure, score in measured(found, dense, gold).items():
                scores.setdefault(measure, []).append(score)
            if number < read:
                order = self._reranker.rerank(question.text, found).order
                ids = [each.passage.external_id for each in order]
                scores.setdefault(RERANKED, []).append(success_at(ids, {*map(str, gold)}, 5))
        return scores

    def measure(self, variant: str, seed: int, parts: Sequence[Part]) -> None:
        """On the test questions of every domain, in the whole store and within its collection."""
        for searched, read in ((WHOLE, READ), (KNOWN, 0)):
            for name in self.domains:
                facts = {"variant": variant, "seed": seed, "domain": name, "searched": searched}
                if self.results.first(**facts) is None:
                    self.results.add({**facts, "scores": self.scored(name, "test", parts, searched, read)})
