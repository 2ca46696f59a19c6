"""Rounds of learning over four domains in sequence: what every slice gains and forgets.

    python -m benchmarks.twenty_rounds DATA --work DIR --seeds 1 2 3

Questions of one domain after the other are asked in the product's own turns, judged by a simulated judge of
stated accuracy, and after every so many `vouch train`'s own learner runs a round: it trains, compares on its
held-out questions and promotes or refuses. Every domain is asked in a month of its own and stands in a
collection of its own, so the rule that neither a month nor a domain may lose holds for those before. After
each round the live model searches test questions of every domain, which no round ever sees: a row of R@5 by
vectors alone and as searched.

Prints a line of JSON for each round, one for each seed, and with several seeds their means with 95 %
intervals. A seed that was killed goes on behind its last whole round, and one that has ended is only told
again: so seeds may be played by processes of their own, and one more run with all of them sums up.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from assistant.learning.held_out.ranking import success_at
from assistant.replay.methods.simulated_judge import SimulatedJudge, gold_truth
from assistant.replay.metrics.figures import estimate
from assistant.replay.runs.replay_assistant import (
    FILLED_AT,
    ReplayAssistant,
    ReplayClock,
    own_locations,
    own_settings,
)
from assistant.replay.storage.data_set_store import Names, filled, store_key
from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion, Split, read_set
from assistant.settings.config import LearningSettings, Settings
from assistant.settings.locations import Locations, find_locations
from benchmarks.kept_rounds import KeptRounds
from experiments.simulated_chat import SimulatedChat
from stores.base.clock import time_by
from stores.base.passages import SHARED, Passage
from stores.database.database import Database
from stores.database.tables import Document

DOMAINS = ("covidqa", "realtimeqa", "friendsqa", "nq")
Row = dict[str, dict[str, float]]  # R@5 by signal and domain

_ANYBODY = "measured"  # owns nothing, so that the shared passages alone are searched
_BEGINS = datetime(2026, 1, 15, tzinfo=UTC)
_A_MONTH, _A_DAY = timedelta(days=31), timedelta(days=1)


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
        self._kept = KeptRounds(options.work / f"seed-{seed}")
        self._folder = self._kept.store
        names = ("domains", "rounds", "questions", "measured", "accuracy", "epochs", "learning_rate")
        self._settings = {name: getattr(options, name) for name in names}

    def play(self) -> dict[str, Any]:
        """All rounds of all domains, behind those that were kept; returns the figures of the seed.

        Raises ValueError where those were played with other settings.
        """
        told = self._kept.rows()
        if told and told[0]["settings"] != self._settings:
            raise ValueError(f"{self._folder.parent} holds rounds of other settings; name another --work")
        number_of_rounds = len(self._domains) * self._options.rounds
        if len(told) <= number_of_rounds:
            self._begin(told)
        for number in range(len(told), number_of_rounds + 1):
            row = self._round(number, told[-1])
            self._kept.keep(row)
            _tell(seed=self._seed, **row)
            told.append(row)
        rows: list[Row] = [{name: row[name] for name in ("dense", "fused")} for row in told]
        return summary(rows, [row["state"] for row in told[1:]])

    def _begin(self, told: list[dict[str, Any]]) -> None:
        """At the latest whole round, or before the first, which adds a row."""
        store = self._filled()
        self._names = Names.of_store(store)
        self._kept.restore()
        if told:
            return
        shutil.copytree(store, self._folder)
        with self._assistant() as assistant:
            self._name_collections(assistant.stores.database)
            told.append({"round": 0, "settings": self._settings, **self._measured(assistant)})
        self._kept.keep(told[0])
        _tell(seed=self._seed, **told[0])

    def _round(self, number: int, before: Mapping[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        place, nth = divmod(number - 1, self._options.rounds)
        domain = self._domains[place]
        share = len(domain.asked) // self._options.rounds
        clock = ReplayClock(_BEGINS + place * _A_MONTH + nth * _A_DAY)
        with self._assistant() as assistant, time_by(clock):
            self._ask(assistant, domain.asked[nth * share : (nth + 1) * share])
            ended = assistant.learning.learner_of("retriever").run()
        measured = {name: before[name] for name in ("dense", "fused")}
        if ended.state == "promoted":
            with self._assistant() as assistant:
                measured = self._measured(assistant)
        compared = ended.figures.get("comparison", {})
        return {
            "round": number,
            "domain": domain.name,
            "state": ended.state,
            "reason": ended.reason,
            **measured,
            "months": compared.get("slices", {}),
            "domains": compared.get("domains", []),
            "seconds": round(time.monotonic() - began),
        }

    def _ask(self, assistant: ReplayAssistant, questions: Sequence[ReplayQuestion]) -> None:
        for question in questions:
            # Somebody new each time: nobody is shown a question of before as his own words.
            user = assistant.stores.journal.user_id(f"asks {question.id}")
            session = assistant.stores.journal.open_session(user)
            finished = assistant.turns.host.play(user, session, question.text, watch=lambda event: None)
            if finished.error is not None:
                raise finished.error
        assistant.search.indexer.catch_up()

    def _measured(self, assistant: ReplayAssistant) -> Row:
        user = assistant.stores.journal.user_id(_ANYBODY)
        search = assistant.search.search_in(assistant.search.spaces.of(user))
        encode = assistant.search.searching.encoder.encode_queries
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

    def _filled(self) -> Path:
        """The store of all passages, filled by the first of the processes that want it."""
        every = [passage for domain in self._domains for passage in domain.passages]
        stores = self._options.work / "stores"
        stores.mkdir(parents=True, exist_ok=True)
        with (stores / "filling.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with self._over(stores / "none") as assistant:
                version = assistant.search.wanted_encoder.version
            key = store_key(every, version)
            return filled(stores / key, every, self._made, clock=ReplayClock(FILLED_AT))

    def _name_collections(self, database: Database) -> None:
        """As if the records of each domain had been ingested from a file named after it."""
        domains = {passage.id: domain.name for domain in self._domains for passage in domain.passages}
        with database.writing() as sql:
            for document in sql.scalars(select(Document).where(col(Document.space) == SHARED)):
                name = document.source.removeprefix("replay#")
                document.source = f"{domains[name]}#{name}"

    @contextmanager
    def _assistant(self) -> Iterator[ReplayAssistant]:
        """The chat's own parts, with the model that is live now."""
        asked = [self._names.as_stored(q) for domain in self._domains for q in domain.asked]
        truth, known = gold_truth(asked), {question.text for question in asked}

        def is_relevant(text: str, passage: Passage) -> bool:
            return text in known and truth(text, self._names.named(passage))

        judge = SimulatedJudge(self._options.accuracy, self._seed, is_relevant=is_relevant)
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


def forgetting(scores: Sequence[Mapping[str, float]]) -> float:
    """The average over slices of the best score so far minus the score now; 0 where nothing was lost.

    scores: after each round, of each slice, higher is better. The best so far may be the present one, so a
    slice that gained does not hide another that lost. Source: arXiv:1801.10112, section 3.2. Raises
    ValueError where the last round lacks a slice or there is none.
    """
    known = {name for each in scores for name in each}
    if not known:
        raise ValueError("there is no slice to measure")
    if missing := known - scores[-1].keys():
        raise ValueError(f"the last round has no score of {sorted(missing)}")
    return fmean(max(each[name] for each in scores if name in each) - scores[-1][name] for name in known)


def over_seeds(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The means of several seeds with their 95 % intervals (Student's t), figure by figure, to four places.

    figures: a `summary` of each; what one of them lacks, such as "promoted", was 0 there.
    """
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for each in figures for name in each):
        values = [each.get(name, 0) for each in figures]
        if isinstance(values[0], Mapping):
            found[name] = over_seeds(values)
        elif (known := estimate([[float(value)] for value in values])) is not None:
            found[name] = [round(known.mean, 4), round(known.low, 4), round(known.high, 4)]
    return found


def _locations() -> Locations:
    return find_locations(os.environ)


def _tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line of JSON for each round, the figures of each seed, and those of all."""
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
    figures = []
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
        figures.append(Rounds(options, domains, seed).play())
        _tell(seed=seed, **figures[-1])
    if len(figures) > 1:
        _tell(seeds=options.seeds, **over_seeds(figures))


if __name__ == "__main__":
    main()
