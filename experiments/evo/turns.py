"""What learned weights cost a turn: python -m experiments.evo.turns DATA --work DIR [--set NAME]

DIR is that of `training.relevance`, which keeps the store of each set there. Each question is a turn of the
product over a copy of that store, once by the fixed mix and once by the shipped weights, the first of which
is changed with every question; a few before them only warm up. Milliseconds to the first word and to the
end, and of the processor to the end. The difference is that of the same question.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from assistant.learning.held_out.bootstrap import interval
from assistant.replay.storage.data_set_store import Names
from assistant.replay.streams.datasets import ReplayQuestion
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.turns.events import Event, Wrote
from assistant.wiring.assistant import Assistant
from training.relevance import SETS, rankings

WAYS: tuple[Literal["mixed", "learned"], ...] = ("mixed", "learned")
WARM = 5  # questions
MEASURES = ("first word", "whole turn", "processor")


def assistant_by(order: Literal["mixed", "learned"], store: Path) -> Assistant:
    """The product over a store, by this order."""
    settings = replace(Settings(), reranking=replace(Settings().reranking, order=order))
    return Assistant(settings, find_locations(os.environ, data=str(store)), offline=True)


def played(assistant: Assistant, question: ReplayQuestion) -> list[float]:
    """MEASURES of a turn in a session of its own, in ms."""
    user = assistant.stores.journal.user_id(question.user)
    session = assistant.stores.journal.open_session(user)
    words: list[float] = []

    def watch(event: Event) -> None:
        if isinstance(event, Wrote) and not words:
            words.append(time.perf_counter())

    began, cpu = time.perf_counter(), time.process_time()
    assistant.turns.host.play(user, session, question.text, watch=watch)
    ended = time.perf_counter()
    spent = time.process_time() - cpu
    return [1000 * each for each in (words[0] - began if words else ended - began, ended - began, spent)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--set", default="everyday test", choices=SETS)
    parser.add_argument("--questions", type=int, default=200)
    told = parser.parse_args()
    rankings(told.set, told.data, told.work)  # fills the store where there is none
    asked = SETS[told.set](told.data).questions
    asked = tuple(random.Random(1).sample(asked, min(len(asked), told.questions + WARM)))
    took: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        assistants: dict[str, Assistant] = {}
        for way in WAYS:
            store = shutil.copytree(told.work / f"{told.set} store", Path(folder) / way)
            assistants[way] = opened.enter_context(closing(assistant_by(way, store)))
        names = Names.of_store(Path(folder) / WAYS[0])
        for number, question in enumerate(map(names.as_stored, asked)):
            for way in WAYS if number % 2 else WAYS[::-1]:
                took[way].append(played(assistants[way], question))
    of = {way: np.array(found[WARM:]) for way, found in took.items()}
    print(f"| {told.set}, {len(of[WAYS[0]])} turns, ms | p50 | p95 |\n| --- | ---: | ---: |")
    for place, measure in enumerate(MEASURES):
        for way in WAYS:
            p50, p95 = np.percentile(of[way][:, place], [50, 95])
            print(f"| {measure}, {way} | {p50:.0f} | {p95:.0f} |")
        more = of["learned"][:, place] - of["mixed"][:, place]
        low, high = interval(more, seed=1)
        found = f"{np.median(more):+.1f}, mean {more.mean():+.1f} [{low:+.1f}, {high:+.1f}]"
        print(f"| {measure}, more by learned weights | {found} | |")


if __name__ == "__main__":
    main()
