"""Whether the frozen store finds what the product finds: two small collections, ten questions of each."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from agents.models.encoders.two_halves import first_half
from assistant.replay.runs.replay_assistant import FILLED_AT
from assistant.replay.storage.data_set_store import Names, filled
from assistant.replay.streams.datasets import ReplayPassage
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from experiments.flowrag.domains import Domain, read_domain
from experiments.flowrag.store import Part, Store, cosines

_OF_EACH = 150  # passages
_ASKED = 10


def check(data: Path, work: Path) -> str:
    """How many lists of candidates are equal, and how far a score differs at most."""
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
