"""What is understood of other people's dialogues: the wishes after each turn against annotated states.

    python -m benchmarks.states_parsed DATA [--part dev] [--only multiwoz21_dst] [--limit 300] [--turns]

DATA has the folders multiwoz21_dst, sgd and star. A table has the slots as columns, and a row for each state
of the part's dialogues, so it holds what is asked for. In a dialogue of several domains each has a talk of
its own, with the turns that are about it, as a session is about one table. Measured are slots that a table
can hold:

- MultiWOZ: hotel, restaurant, attraction and train, without names and bookings; `dontcare` is no wish.
- SGD: slots of intents that search, without dates, times and names, which are said in other forms than a
  table's; dialogues without any state are left out.
- STAR: equal to, one of and limits of the searches for flats, hotels, restaurants and flights and of weather,
  over the rows that its knowledge base returned, where a search is annotated.

A number is right whatever its limit, but for MultiWOZ's times and STAR, which tell them apart. Wishes against
a value are not annotated, and not counted. "words": each value named is wanted. "nothing": no wish at all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.dialogue.knowledge_table import KnowledgeTable
from agents.dialogue.session_state import state_of
from agents.dialogue.wish_parser import WishParser
from agents.models.wish_network import SHIPPED, WishNetwork
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.entities import Entity
from stores.base.wishes import Wish, is_same, words

_MOST, _LEAST = ("most", "below"), ("least", "above")
_ANY = ("is", *_MOST, *_LEAST)
_MULTIWOZ = {
    "hotel": "area pricerange stars type internet parking",
    "restaurant": "area pricerange food",
    "attraction": "area type",
    "train": "departure destination day leaveat arriveby",
}
_SPOKEN = {"pricerange": "price range", "leaveat": "leave at", "arriveby": "arrive by"}
_TIMES = {"leaveat": ("is", *_LEAST), "arriveby": ("is", *_MOST)}
_OTHERWISE_SAID = re.compile(r"date|time|name|title|_on$|day$")  # slots of SGD
_STAR = ("apartment_search", "hotel_search", "restaurant_search", "plane_search", "weather")
_OPERATORS = {"is_equal_to": ("is",), "is_one_of": ("is",), "is_at_most": _MOST, "is_less_than": _MOST}
_OPERATORS |= {"is_at_least": _LEAST, "is_greater_than": _LEAST}
_COUNTED = ("turns", "joint", "right", "told", "wanted", "said", "said right", "changes", "changes right")
_DRAWS = 1000


@dataclass(frozen=True)
class Wanted:
    """What is annotated of one column."""

    values: tuple[str, ...]
    operators: Sequence[str] = _ANY
    all_of: bool = False  # any of the values is wanted; else they are ways to write one

    def fits(self, wish: Wish) -> bool:
        """Whether a wish says it."""
        count = len(self.values) if self.all_of else 1
        own = all(any(is_same(each, one) for one in self.values) for each in wish.values)
        return own and wish.operator in self.operators and len(wish.values) == count


State = Mapping[str, Wanted]


@dataclass
class Talk:
    """A dialogue over one table: messages, answers, and the state after each, where it is annotated."""

    table: str
    said: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    states: list[State | None] = field(default_factory=list)

    def add(self, message: str, answer: str, state: State | None) -> None:
        """A turn."""
        self.said.append(message)
        self.shown.append(answer)
        self.states.append(state)


Read = tuple[dict[str, list[Talk]], dict[str, KnowledgeTable]]  # talks by dialogue, tables by name


def _lines(file: Path) -> list[Any]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _pairs(turns: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Turns of the user with what was answered."""
    for at, turn in enumerate(turns):
        if turn["speaker"] == "user":
            yield turn, turns[at + 1]["text"] if at + 1 < len(turns) else ""


def _with_tables(found: dict[str, list[Talk]]) -> Read:
    rows: dict[str, list[Entity]] = defaultdict(list)
    for talk in (talk for talks in found.values() for talk in talks):
        for state, before in zip(talk.states, [None, *talk.states], strict=False):
            if state and state != before:
                values = {column: each.values[0] for column, each in state.items()}
                rows[talk.table].append(Entity(f"Row{len(rows[talk.table])}", values))
    return found, {name: KnowledgeTable(name, enumerate(each)) for name, each in rows.items()}


def _multiwoz(folder: Path, part: str) -> Read:
    found: dict[str, list[Talk]] = {}
    for dialogue in _lines(folder / f"{part}.jsonl.gz"):
        talks: dict[str, Talk] = {}
        about: set[str] = set()
        for turn, answer in _pairs(dialogue["turns"]):
            named = {act.partition("-")[0].lower() for act in turn.get("acts", {})}
            about = named.intersection(_MULTIWOZ) or about
            for domain in about:
                held = {slot: turn["state"].get(f"{domain}-{slot}", "") for slot in _MULTIWOZ[domain].split()}
                state = {
                    _SPOKEN.get(slot, slot): Wanted(
                        tuple(re.split(r"[|<>]", "yes" if value == "free" else value)), _TIMES.get(slot, _ANY)
                    )
                    for slot, value in held.items()
                    if value not in ("", "dontcare")
                }
                talks.setdefault(domain, Talk(domain)).add(turn["text"], answer, state)
        found[dialogue["id"]] = list(talks.values())
    return _with_tables(found)


def _sgd(folder: Path, part: str) -> Read:
    slots: dict[str, set[str]] = {}
    for service in _lines(folder / f"schema_{part}.jsonl.gz"):
        searches = [intent for intent in service["intents"] if not intent["is_transactional"]]
        names = {slot for each in searches for slot in (*each["required_slots"], *each["optional_slots"])}
        slots[service["service_name"]] = {name for name in names if not _OTHERWISE_SAID.search(name)}
    found = {}
    for dialogue in _lines(folder / f"{part}.jsonl.gz"):
        talks: dict[str, Talk] = {}
        for turn, answer in _pairs(dialogue["turns"]):
            for service, held in turn["state"].items():
                state = {
                    slot.replace("_", " "): Wanted(tuple(values))
                    for slot, values in held.items()
                    if slot in slots[service] and values[0] != "dontcare"
                }
                talks.setdefault(service, Talk(service)).add(turn["text"], answer, state)
        if any(any(turn["state"].values()) for turn, _ in _pairs(dialogue["turns"])):  # ten files have none
            found[dialogue["id"]] = [talk for talk in talks.values() if slots[talk.table]]
    return _with_tables(found)


def _star(folder: Path, part: str) -> Read:
    rows: dict[str, list[Entity]] = {api: [] for api in _STAR}
    dialogues = _lines(folder / f"{part}.jsonl.gz")
    for dialogue in [*_lines(folder / "train.jsonl.gz"), *dialogues]:
        for row in dialogue["kb"]:
            if (api := row.pop("APIName")) in rows:
                name = row.pop("Name", f"Row{len(rows[api])}")
                values = {_spaced(c): str(v) for c, v in row.items() if v not in ("", None, []) and c != "id"}
                rows[api].append(Entity(name, values))
    tables = {api: KnowledgeTable(api, enumerate(each)) for api, each in rows.items()}
    found = {}
    for dialogue in (each for each in dialogues if not each["multitask"]):
        for api in {q["api"] for turn in dialogue["turns"] for q in turn["queries"]}.intersection(_STAR):
            talk = Talk(api)
            for turn in dialogue["turns"]:
                asked = [query["constraints"] for query in turn["queries"] if query["api"] == api]
                state = {
                    _spaced(name): wanted
                    for name, condition in (asked[-1].items() if asked else ())
                    if _spaced(name) in tables[api].columns and (wanted := _condition(str(condition)))
                }
                talk.add(turn["user"], turn["system"], state if asked else None)
            found[dialogue["id"]] = [talk]
    return found, tables


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _condition(text: str) -> Wanted | None:
    call = re.fullmatch(r"api\.(\w+)\((.*)\)", text)
    operator, inside = (call[1], call[2]) if call else ("is_equal_to", text)
    values = tuple(re.findall(r'"([^"]+)"', inside)) or ((inside.strip(),) if inside.strip("[] ") else ())
    if operator not in _OPERATORS or not values or values == ("null",):
        return None
    return Wanted(values, _OPERATORS[operator], operator == "is_one_of")


def counted(talk: Talk, table: KnowledgeTable, parser: WishParser | None, *, tells: bool) -> list[int]:
    """Of the turns of one talk, see `_COUNTED`. tells: prints each that is not right."""
    counts = np.zeros(len(_COUNTED), int)
    before: State = {}
    held_before: dict[str, list[Wish]] = {}
    for at, state in enumerate(talk.states):
        if state is None:
            continue
        held: dict[str, list[Wish]] = defaultdict(list)
        for wish in state_of(table, parser, talk.said[: at + 1], talk.shown[:at]).wishes:
            if wish.operator != "not":
                held[wish.column].append(wish)
        right = {c for c, wanted in state.items() if any(map(wanted.fits, held.get(c, ())))}
        text = f" {' '.join(words(' '.join(talk.said[: at + 1])))} "
        said = {c for c in state if any(f" {' '.join(words(one))} " in text for one in state[c].values)}
        told = sum(map(len, held.values()))
        is_right = len(right) == len(state) == told
        moved = {c for c in {*state, *before} if state.get(c) != before.get(c)}
        touched = moved | {c for c in {*held, *held_before} if held.get(c) != held_before.get(c)}
        as_moved = all(c in right if c in state else not held.get(c) for c in touched)
        both = (len(said), len(right & said), bool(moved), bool(moved) and as_moved)
        counts += np.array((1, is_right, len(right), told, len(state), *both), int)
        if tells and not is_right:
            print(f"{talk.table}: {talk.said[at]}\n     wanted { ({c: w.values for c, w in state.items()}) }")
            print(f"     read {[wish.told for each in held.values() for wish in each]}")
        before, held_before = state, held
    return [int(count) for count in counts]


def shares(counts: Sequence[Sequence[int]]) -> str:
    """In percent, with intervals over dialogues. counts: of each dialogue."""
    rows = np.array(counts)
    draws = np.random.default_rng(0).integers(0, len(rows), (_DRAWS, len(rows)))
    sums = np.vstack([rows.sum(0), rows[draws].sum(1)])  # (1 + _DRAWS, counts)
    turns, joint, right, told, wanted, said, said_right, changes, changed = np.maximum(sums, 1e-9).T
    found = {"joint": joint / turns, "F1": 2 * right / (told + wanted), "precision": right / told}
    found |= {"recall": right / wanted, "recall of said": said_right / said, "change": changed / changes}
    ends = {name: np.quantile(each[1:], (0.025, 0.975)) for name, each in found.items()}
    texts = [
        f"{n} {e[0]:.1%} [{ends[n][0]:.1%}, {ends[n][1]:.1%}]".replace("%", "") for n, e in found.items()
    ]
    return f"{len(rows)} dialogues, {sums[0, 0]} turns, {sums[0, 7]} changes: {', '.join(texts)}"


_SETS = {"multiwoz21_dst": _multiwoz, "sgd": _sgd, "star": _star}


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--part", nargs="+", default=["dev", "test"], choices=("dev", "test"))
    arguments.add_argument("--only", nargs="+", default=list(_SETS), choices=_SETS)
    arguments.add_argument("--limit", type=int, default=300, help="dialogues of each part")
    arguments.add_argument("--turns", action="store_true", help="print what is misread")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            parser = WishParser(WishNetwork(assistant.models.packaged_encoder, SHIPPED))
            for name, part in [(name, part) for name in given.only for part in given.part]:
                found, tables = _SETS[name](given.data / name, part)
                keys = sorted(key for key, talks in found.items() if talks)
                some = random.Random(0).sample(keys, min(given.limit, len(keys)))
                for reads, by in (("parser", parser), ("words", None)):
                    tells = given.turns and by is not None
                    rows = [
                        np.sum([counted(t, tables[t.table], by, tells=tells) for t in found[key]], axis=0)
                        for key in some
                    ]
                    print(f"{name} {part}, {reads}: {shares(rows)}", flush=True)
                states = [state for key in some for talk in found[key] for state in talk.states]
                empty = np.mean([not state for state in states if state is not None])
                print(f"{name} {part}, nothing: joint {100 * empty:.1f}", flush=True)


if __name__ == "__main__":
    main()
