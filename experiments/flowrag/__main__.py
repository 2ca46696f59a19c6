"""Runs the variants, or goes on with them, and prints the tables of what is there.

    python -m experiments.flowrag --data DATA --work DIR [--seeds 3] [--tables | --check]

--tables only prints. --check compares the frozen store with the product's own search.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import torch

from agents.models.encoders.two_halves import first_half
from assistant.replay.runs.replay_assistant import FILLED_AT
from assistant.replay.storage.data_set_store import Names, filled
from assistant.replay.streams.datasets import ReplayPassage
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from experiments.flowrag.domains import Domain, read_domain, read_domains
from experiments.flowrag.gate import Gate
from experiments.flowrag.results import Results
from experiments.flowrag.store import Part, Store, cosines
from experiments.flowrag.tables import tables

_OF_EACH = 150  # passages
_ASKED = 10


def check(data: Path, work: Path) -> str:
    """How many lists of candidates are equal to the product's, and how far a score differs at most.

    Of ten questions of each of two small collections.
    """
    domains = [_small(read_domain(data, name)) for name in ("friendsqa", "realtimeqa")]
    store = Store(domains)
    every = [(t, x) for domain in domains for t, x in zip(domain.titles, domain.texts, strict=True)]
    passages = [ReplayPassage(str(row), title, text) for row, (title, text) in enumerate(every)]
    folder = filled(work / "check", passages, _assistant_at, clock=lambda: FILLED_AT)
    assistant, names = _assistant_at(folder), Names.of_store(folder)
    try:
        encoder, space = first_half(assistant.search.encoder), assistant.search.spaces.of(1)
        asked = [question.text for domain in domains for question in domain.test[:_ASKED]]
        part = Part(encoder.encode_passages(store.texts), encoder.encode_queries(asked))
        equal, apart = 0, 0.0
        for row, question in enumerate(asked):
            ours = store.found(question, cosines([part], row, store.all_rows))
            theirs = assistant.search.searching.retriever.retrieve(question, space).candidates
            scores = {names.of(each.passage): each.score for each in theirs}
            equal += [each.passage.external_id for each in ours] == list(scores)
            apart = max(
                apart, *(abs(each.score - scores.get(each.passage.external_id, 9.0)) for each in ours)
            )
        return (
            f"{equal} of {len(asked)} lists of {len(ours)} candidates are equal; scores differ by {apart:.1e}"
        )
    finally:
        assistant.close()


def _small(domain: Domain) -> Domain:
    return replace(domain, titles=domain.titles[:_OF_EACH], texts=domain.texts[:_OF_EACH])


def _assistant_at(folder: Path) -> Assistant:
    return Assistant(Settings(), find_locations(os.environ, data=str(folder)), offline=True)


def main() -> None:
    read = argparse.ArgumentParser(prog="python -m experiments.flowrag")
    read.add_argument("--data", type=Path, required=True)
    read.add_argument("--work", type=Path, required=True)
    read.add_argument("--seeds", type=int, default=3)
    read.add_argument("--tables", action="store_true")
    read.add_argument("--check", action="store_true")
    given = read.parse_args()
    torch.set_num_threads(1)
    if given.check:
        print(check(given.data, given.work))
        return
    if not given.tables:
        Gate(read_domains(given.data), given.work).run(given.seeds)
    print(tables(Results(given.work / "results.jsonl").every))


if __name__ == "__main__":
    main()
