"""A month in four collections: python -m experiments.flowrag.month DATA --work DIR

    four sets as collections of one user -> 50 turns a day, in turn -> ratings -> the learner's rounds -> what
      questions gain that nobody asked

Everything is the product with its default settings, but that collections learn, and nothing else does. The
user rates a fifth of the answers: good where a cited passage answers, bad where none does, and is wrong one
time in ten. After each day the rounds run that are due. Questions that were never asked are searched in the
end with the adapters that answer by then, and without. What happened is written to DIR/month.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.retrieval.retriever import Retriever
from assistant.learning.held_out.bootstrap import interval
from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.settings.config import LearningSettings, Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from experiments.flowrag.domains import TRAINED, Domain, Question, read_domain, smaller
from stores.base.errors import VouchError
from stores.base.passages import own_space

A_DAY, USER, COLLECTIONS = 50, "ann", "collections"
RATED, RIGHT = 0.2, 0.9
_PASSAGES, _LATER = 1200, 60  # of a collection; questions that are not asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--days", type=int, default=30)
    told = parser.parse_args()
    told.work.mkdir(parents=True, exist_ok=True)
    domains = [smaller(read_domain(told.data, name), _PASSAGES) for name in TRAINED]
    settings = Settings(learning=LearningSettings(collections=True, in_chat=False))
    assistant = Assistant(settings, find_locations(os.environ, data=str(told.work / "data")), offline=True)
    try:
        with (told.work / "month.jsonl").open("a", encoding="utf-8") as out:
            for row in month(assistant, domains, days=told.days):
                print(json.dumps(row), file=out, flush=True)
                print(json.dumps(row), flush=True)
    finally:
        assistant.close()


def month(assistant: Assistant, domains: Sequence[Domain], *, days: int) -> Iterator[dict[str, Any]]:
    """What happened, a row a day, a round and a collection."""
    user = assistant.stores.journal.user_id(USER)
    assistant.catch_up()
    for domain in domains:
        for _ in assistant.turns.ingest.run(
            user, own_space(user), documents(domain), summary=domain.name, into=domain.name
        ):
            pass
    draw = random.Random(0)
    later = {d.name: d.test[-_LATER:] for d in domains}
    asked = [(d, q) for d in domains for q in (*d.train, *d.dev, *d.test[:-_LATER])]
    draw.shuffle(asked)
    for day in range(days):
        some = asked[day * A_DAY : (day + 1) * A_DAY]
        if not some:
            break
        began, cited_right = time.process_time(), 0
        session = assistant.stores.journal.open_session(user)
        for domain, question in some:
            finished = assistant.turns.host.play(user, session, question.text, watch=lambda _: None)
            gold = {f"{domain.name}:{place}" for place in question.gold}
            is_right = any(source.passage.source in gold for source in finished.cited)
            cited_right += is_right
            if draw.random() < RATED:
                rating = "good" if is_right == (draw.random() < RIGHT) else "bad"
                assistant.stores.journal.rate(user, finished.turn_id, rating)
        yield {"day": day + 1, "cited_right": cited_right / len(some), "cpu": time.process_time() - began}
        yield from rounds(assistant)
    yield from gains(assistant, user, later)


def documents(domain: Domain) -> Iterator[PreparedDocument]:
    """A document a passage, named by its place."""
    for place, (title, text) in enumerate(zip(domain.titles, domain.texts, strict=True)):
        source = f"{domain.name}:{place}"
        yield PreparedDocument(source, title, source, (PreparedPassage(title, text),))


def rounds(assistant: Assistant) -> Iterator[dict[str, Any]]:
    """Those of collections that are due."""
    occasions = assistant.learning.occasions_of(COLLECTIONS)
    while occasions.is_due():
        began = time.monotonic()
        try:
            ended = assistant.learning.learner_of(COLLECTIONS).run()
        except VouchError as error:
            occasions.came_to_nothing()
            yield {"state": "none", "reason": error.message}
            continue
        seconds = round(time.monotonic() - began, 1)
        yield {"round": ended.round_id, "state": ended.state, "reason": ended.reason, "seconds": seconds}


def gains(
    assistant: Assistant, user: int, later: dict[str, tuple[Question, ...]]
) -> Iterator[dict[str, Any]]:
    """By collection, fused and reranked R@5 without and with the adapters that answer."""
    space = assistant.search.spaces.of(user)
    live = assistant.search.searching.retriever
    base = assistant.search._with_trained_queries(assistant.search._searching_untrained).retriever
    every: list[tuple[float, ...]] = []
    for name, questions in later.items():
        found = [
            (*hits(assistant, base, space, name, q), *hits(assistant, live, space, name, q))
            for q in questions
        ]
        every += found
        yield {"later": name, **told(found)}
    yield {"later": "all", **told(every)}


def hits(
    assistant: Assistant, retriever: Retriever, space: Any, name: str, question: Question
) -> list[float]:
    """Whether something that answers is among the first five: as found, and as put in order."""
    candidates = retriever.retrieve(question.text, space).candidates
    gold = {f"{name}:{place}" for place in question.gold}
    orders = candidates, assistant.models.reranker.rerank(question.text, candidates).order
    return [float(any(each.passage.source in gold for each in order[:5])) for order in orders]


def told(found: Sequence[tuple[float, ...]]) -> dict[str, Any]:
    """R@5 before, after, and the interval of the difference."""
    values, rows = np.array(found), {}
    for place, name in enumerate(("fused", "reranked")):
        before, after = values[:, place], values[:, place + 2]
        low, high = interval(after - before, seed=1)
        rows[name] = [round(float(x), 4) for x in (before.mean(), after.mean(), low, high)]
    return rows


if __name__ == "__main__":
    main()
