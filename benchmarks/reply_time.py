"""How long a reply over a knowledge base takes: python -m benchmarks.reply_time

Each message is a turn of a chat over data/restaurants.jsonl, once with replies of the dialogue generator and
once with replies that quote the entities. The first word comes with the whole reply, which is checked
before it is shown. A cold reply encodes its words anew; a warm one is the same message in a second session.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from assistant.library.knowledge_file import prepared, read_knowledge
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.turns.events import Event, Wrote
from assistant.wiring.assistant import Assistant
from benchmarks.everyday_chat import ROOT
from stores.base.passages import SHARED, knowledge_space

WAYS = {"generated": True, "quoted": False}
DIALOGUES = (
    (
        "a cheap place in the north",
        "what is the phone number?",
        "and the address?",
        "something in the south?",
    ),
    ("I would like thai food", "somewhere cheap please", "where is it?", "do they have parking?"),
    ("is there an italian restaurant with a garden?", "its postcode?", "what about an expensive one?"),
    ("indian food in the centre", "which area is it in?", "phone please", "is there another?"),
    ("looking for french food", "moderate prices", "address and phone?", "does it have a garden?"),
)


def main() -> None:
    """Prints the medians and 95th percentiles, in milliseconds."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    took: dict[tuple[str, str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        home = {"XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        assistants = {}
        for way, generator in WAYS.items():
            settings = replace(Settings(), answer=replace(Settings().answer, generator=generator))
            places = find_locations(home | {"HOME": f"{folder}/{way}"})
            assistants[way] = opened.enter_context(closing(Assistant(settings, places, offline=True)))
        for assistant in assistants.values():
            _add(assistant)
            _talk(assistant, ("hello", "japanese food", "its phone?"))  # loads the models
        for temperature in ("cold", "warm"):
            for messages in DIALOGUES:
                for way, assistant in assistants.items():
                    for of_turn in _talk(assistant, messages):
                        for part, seconds in zip(("first word", "whole reply"), of_turn, strict=True):
                            took.setdefault((way, temperature, part), []).append(1000 * seconds)
    print(f"{sum(map(len, DIALOGUES))} messages each, ms")
    for (way, temperature, part), found in took.items():
        p95 = statistics.quantiles(found, n=20, method="inclusive")[-1]
        print(f"{way:<9} {temperature}  {part:<11}  p50 {statistics.median(found):4.0f}  p95 {p95:4.0f}")


def _add(assistant: Assistant) -> None:
    file = ROOT / "data" / "restaurants.jsonl"
    user = assistant.stores.journal.user_id("ann")
    base = assistant.stores.knowledge_bases.open(user, "restaurants", shared=True)
    document = prepared("restaurants", file, read_knowledge(file).entities)
    for _ in assistant.turns.ingest.run(user, knowledge_space(base), [document], summary="", of_space=SHARED):
        pass


def _talk(assistant: Assistant, messages: Sequence[str]) -> list[tuple[float, float]]:
    """Seconds to the first word and to the end of each reply, in a session of its own."""
    user = assistant.stores.journal.user_id("ann")
    session = assistant.stores.journal.open_session(user)
    assistant.stores.sessions.talk_over(
        user, session, assistant.stores.knowledge_bases.named(user, "restaurants").id
    )
    took = []
    for message in messages:
        began, words = time.perf_counter(), list[float]()

        def watch(event: Event, words: list[float] = words) -> None:
            if isinstance(event, Wrote):
                words.append(time.perf_counter())

        assistant.turns.host.play(user, session, message, watch=watch)
        took.append((words[0] - began, words[-1] - began))
    return took


if __name__ == "__main__":
    main()
