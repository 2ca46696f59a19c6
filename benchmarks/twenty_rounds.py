"""Rounds of learning over four domains in sequence: what every slice gains and forgets.

    python -m benchmarks.twenty_rounds DATA --work DIR --seeds 1 2 3

Questions of one domain after the other are asked in the product's own turns, judged by a simulated judge of
stated accuracy, and after every so many `vouch train`'s own learner runs a round: it trains, compares on its
held-out questions and promotes or refuses. Every domain is asked in a month of its own, so the rule that no
month may lose holds for the domains before. After each round the live model searches test questions of every
domain, which no round ever sees: a row of R@5 by vectors alone and as searched.

Prints a line of JSON for each round and one for each seed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from assistant.config import LearningSettings, Settings
from assistant.locations import Locations, find_locations
from assistant.replay.datasets import ReplayPassage, ReplayQuestion, Split, read_set
from assistant.replay.metrics import forgetting, success_at
from assistant.replay.own_store import Names, filled, store_key
from assistant.replay.replay_assistant import (
    FILLED_AT,
    ReplayAssistant,
    ReplayClock,
    own_locations,
    own_settings,
)
from assistant.replay.simulate import SimulatedJudge, gold_truth
from assistant.replay.simulated_chat import SimulatedChat
from stores.clock import time_by
from stores.records import Passage

DOMAINS = ("covidqa", "realtimeqa", "friendsqa", "nq")
Row = dict[str, dict[str, float]]  # R@5 by signal and domain

_ANYBODY = "measured"  # owns nothing, so that the shared passages alone are searched
_BEGINS = datetime(2026, 1, 15, tzinfo=UTC)
_A_MONTH = timedelta(days=31)


@dataclass(frozen=True)
class Domain:
    """One data set: what is asked in the rounds, and what is measured with."""

    name: str
    passages: tuple[ReplayPassage, ...]
    asked: tuple[ReplayQuestion, ...]
    measured: tuple[ReplayQuestion, ...]


def read_domain(data: Path, name: str, *, asked: int, measured: int, seed: int) -> Domain:
    """Training questions to ask, and test questions to measure with; drawn by the seed."""
    read = {split: read_set(data, name, split) for split in ("train", "test")}
    drawn = random.Random(f"{seed} {name}")

    def some(split: Split, number: int) -> tuple[ReplayQuestion, ...]:
        known = [question for question in read[split].questions if question.gold]
        return tuple(drawn.sample(known, min(number, len(known))))

    test = some("test", measured)
    texts = {question.text for question in test}
    train = tuple(question for question in some("train", asked) if question.text not in texts)
    passages = {p.id: p for split in read.values() for p in split.passages}
    return Domain(name, tuple(passages.values()), train, test)


class Rounds:
    """The rounds of one seed, over a store of its own."""

    def __init__(self, options: argparse.Namespace, domains: Sequence[Domain], seed: int) -> None:
        self._options, self._domains, self._seed = options, domains, seed
        self._live = _locations()
        self._folder: Path = options.work / f"seed-{seed}"
        self._clock = ReplayClock(_BEGINS)

    def play(self) -> None:
        """All rounds of all domains in sequence."""
        self._fill()
        with self._assistant() as assistant:
            rows = [self._measured(assistant)]
        _tell(seed=self._seed, round=0, **rows[0])
        states = []
        for domain in self._domains:
            share = len(domain.asked) // self._options.rounds
            for number in range(self._options.rounds):
                with self._assistant() as assistant, time_by(self._clock):
                    self._ask(assistant, domain.asked[number * share : (number + 1) * share])
                    ended = assistant.learner.run()
                with self._assistant() as assistant:
                    same = ended.state != "promoted"
                    rows.append(rows[-1] if same else self._measured(assistant))
                states.append(ended.state)
                _tell(
                    seed=self._seed,
                    domain=domain.name,
                    round=len(states),
                    state=ended.state,
                    reason=ended.reason,
                    **rows[-1],
                )
            self._clock = ReplayClock(_BEGINS + (self._domains.index(domain) + 1) * _A_MONTH)
        _tell(seed=self._seed, **summary(rows, states))

    def _ask(self, assistant: ReplayAssistant, questions: Sequence[ReplayQuestion]) -> None:
        for question in questions:
            # Somebody new each time: nobody is shown a question of before as his own words.
            user = assistant.journal.user_id(f"asks {question.id}")
            session = assistant.journal.open_session(user)
            finished = assistant.player.play(user, session, question.text, watch=lambda event: None)
            if finished.error is not None:
                raise finished.error
        assistant.indexer.catch_up()

    def _measured(self, assistant: ReplayAssistant) -> Row:
        user = assistant.journal.user_id(_ANYBODY)
        search = assistant.search_in(assistant.spaces.of(user))
        encode = assistant.searching.encoder.encode_queries
        found: Row = {"dense": {}, "fused": {}}
        for domain in self._domains:
            hits: dict[str, list[float]] = {"dense": [], "fused": []}
            for question in map(self._names.as_stored, domain.measured):
                (vector,) = encode([question.text])
                ranked = search.ranked(question.text, vector)
                for name, candidates in (("dense", ranked.dense), ("fused", ranked.fused)):
                    ids = [self._names.of(candidate.passage) for candidate in candidates]
                    hits[name].append(success_at(ids, question.gold or frozenset(), 5))
            for name, each in hits.items():
                found[name][domain.name] = round(sum(each) / len(each), 4)
        return found

    def _fill(self) -> None:
        every = [passage for domain in self._domains for passage in domain.passages]
        stores = self._options.work / "stores"
        stores.mkdir(parents=True, exist_ok=True)
        with self._over(stores / "none") as assistant:
            version = assistant.wanted_encoder.version
        store = filled(stores / store_key(every, version), every, self._made, clock=ReplayClock(FILLED_AT))
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(store, self._folder)
        self._names = Names.of_store(self._folder)

    @contextmanager
    def _assistant(self) -> Iterator[ReplayAssistant]:
        """The chat's own parts, with the model that is live now."""
        asked = [self._names.as_stored(q) for domain in self._domains for q in domain.asked]
        truth, known = gold_truth(asked), {question.text for question in asked}

        def is_relevant(text: str, passage: Passage) -> bool:
            return text in known and truth(text, self._names.named(passage))

        judge = SimulatedJudge(self._options.accuracy, self._seed, is_relevant=is_relevant, blurs="verdict")
        with self._over(self._folder, judge=judge, chat_model=SimulatedChat(asked, self._names)) as opened:
            opened.catch_up()
            yield opened

    @contextmanager
    def _over(self, folder: Path, **parts: Any) -> Iterator[ReplayAssistant]:
        assistant = self._made(folder, **parts)
        try:
            yield assistant
        finally:
            assistant.close()

    def _made(self, folder: Path, **parts: Any) -> ReplayAssistant:
        learning = LearningSettings(
            fewest_lessons=30,
            epochs=self._options.epochs,
            learning_rate=self._options.learning_rate,
            seed=self._seed,
        )
        settings = own_settings(replace(Settings(), learning=learning), learns=False, min_judged=9)
        return ReplayAssistant(settings, own_locations(self._live, folder), offline=True, **parts)


def summary(rows: Sequence[Row], states: Sequence[str]) -> dict[str, Any]:
    """What came of the rounds. rows: before the first round, and after each."""
    figures: dict[str, Any] = {state: states.count(state) for state in sorted(set(states))}
    for name in rows[0]:
        start, *later = [row[name] for row in rows]
        lowest = min(row[domain] - start[domain] for row in later for domain in start)
        figures[name] = {
            "gain": {domain: round(later[-1][domain] - start[domain], 4) for domain in start},
            "forgetting": round(forgetting([row[name] for row in rows]), 4),
            "lowest against its start": round(lowest, 4),
        }
    return figures


def _locations() -> Locations:
    return find_locations(os.environ)


def _tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line of JSON for each round, and the figures of each seed."""
    parser = argparse.ArgumentParser(prog="twenty_rounds")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=5, help="of each domain")
    parser.add_argument("--questions", type=int, default=160, help="asked before each round")
    parser.add_argument("--measured", type=int, default=300, help="test questions of each domain")
    parser.add_argument("--accuracy", type=float, default=0.9, help="of the simulated judge")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--domains", nargs="+", default=list(DOMAINS))
    options = parser.parse_args(arguments)
    for seed in options.seeds:
        domains = [
            read_domain(
                options.data,
                name,
                asked=options.rounds * options.questions,
                measured=options.measured,
                seed=seed,
            )
            for name in options.domains
        ]
        Rounds(options, domains, seed).play()


if __name__ == "__main__":
    main()
