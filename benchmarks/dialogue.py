"""Task dialogues over knowledge bases: the entities found, and the replies of the built-in chat model.

    python -m benchmarks.dialogue DATA [--only camrest smd mwoz_e2e] [--split test] [--level session dataset]
        [--encoder DIR] [--distractors 10 100] [--generated] [--words]

For each turn, with the dialogue so far as it was held: Re@K by value and by turn for the entities by cosine
alone and as the product ranks them; BLEU and Entity-F1 of the product's replies, by nothing trained.
Re@K counts the turns whose reply tells a value of the knowledge base; "first named" those that name an
entity which the dialogue has not named before. At dataset level all entities of the domain are candidates.
--distractors: so many times as many entities at dataset level, the new ones with values of others, digits
drawn anew. The product's order is of the nearest, those talked about and the first that meet what is wanted,
as in a chat. --generated: replies of the shipped dialogue generator. Nothing is fitted here.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from agents.base.chat_interfaces import DialogueState, ReplyRequest, Source
from agents.base.interfaces import Candidate, Encoder
from agents.dialogue.entity_ranker import entity_query, ranked
from agents.dialogue.entity_replies import EntityReplies
from agents.dialogue.knowledge_table import KnowledgeTable
from agents.dialogue.reply_writer import ReplyWriter
from agents.dialogue.session_state import state_of
from agents.dialogue.wish_parser import WishParser
from agents.languages.message_sorting import MessageSorter
from agents.models.encoders.encoder import OnnxEncoder
from assistant.learning.held_out.replies import entity_f1
from assistant.learning.recipes.dialogue.lessons import encoded_text
from assistant.learning.recipes.examples.dialogues import (
    WITH_BASE,
    TaskDialogue,
    read_dialogues,
    read_entities,
)
from assistant.learning.recipes.retriever.network import SERVED
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.clock import now
from stores.base.entities import Entity, entity_text
from stores.base.passages import Passage
from training.dialogue.measures import bleu, values_covered, values_in

DEPTHS = (1, 3, 5)
LEVELS = ("session", "dataset")
_SHOWN = 5  # entities that the reply is made from
_NEAREST, _MEETING = 40, 20  # that the product ranks
_CITED = re.compile(r"\[\d\]")


@dataclass
class Measured:
    """What came of the turns of one set at one level."""

    right: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    wanted: list[set[str]] = field(default_factory=list)  # values of each reply, by the annotators
    covered: dict[str, list[list[float]]] = field(default_factory=dict)  # by way; a row a turn, by depth
    first_named: list[bool] = field(default_factory=list)  # of the same turns
    values: set[str] = field(default_factory=set)  # of all entities
    found_ms: list[float] = field(default_factory=list)  # of each turn, until its entities are in order
    replied_ms: list[float] = field(default_factory=list)  # and until its reply is there


def measure(
    encoder: Encoder,
    data: Path,
    name: str,
    split: str,
    level: str,
    *,
    times: int = 1,
    writer: Callable[[], ReplyWriter] | None = None,
    parser: WishParser | None = None,
) -> Measured:
    """Every turn of a set. times: as many entities as there are, at dataset level."""
    measured = Measured()
    of_domain: dict[str, list[Entity]] = {}
    for domain, entity in read_entities(data, name):
        of_domain.setdefault(domain, []).append(entity)
    of_domain = {domain: grown(entities, times) for domain, entities in of_domain.items()}
    measured.values.update(value for entities in of_domain.values() for e in entities for value in _values(e))
    tables = {domain: _table(domain, entities) for domain, entities in of_domain.items()}
    replies = EntityReplies(lambda: encoder, MessageSorter(), writer)
    for number, dialogue in enumerate(read_dialogues(data, name, split)):
        entities = of_domain[dialogue.domain] if level == "dataset" else list(dialogue.entities)
        table = tables[dialogue.domain] if level == "dataset" else _table(dialogue.domain, entities)
        _play(measured, encoder, replies, dialogue, entities, table, parser)
        if number % 50 == 0:
            print(f"{name}, {level}: {number} dialogues", file=sys.stderr)
    return measured


def grown(entities: Sequence[Entity], times: int) -> list[Entity]:
    """With so many times as many: each value one of its column, the digits of new ones drawn anew."""
    draw, made = random.Random(0), list(entities)
    columns: dict[str, list[str]] = {}
    for entity in entities:
        for column, value in entity.values.items():
            columns.setdefault(column, []).append(value)

    def other(value: str) -> str:
        return "".join(str(draw.randrange(10)) if letter.isdigit() else letter for letter in value)

    while len(made) < times * len(entities):
        one, two = draw.choice(entities), draw.choice(entities)
        name = f"{one.name.partition('_')[0]}_{two.name.rpartition('_')[2]}_{len(made)}"
        made.append(Entity(name, {column: other(draw.choice(columns[column])) for column in one.values}))
    return made


def _play(
    measured: Measured,
    encoder: Encoder,
    replies: EntityReplies,
    dialogue: TaskDialogue,
    entities: Sequence[Entity],
    table: KnowledgeTable,
    parser: WishParser | None,
) -> None:
    vectors = _vectors(encoder, tuple(map(encoded_text, entities)))
    names = {entity.name for entity in entities}
    known = {value for entity in entities for value in (entity.name, *entity.values.values())}
    said, shown = list[str](), list[str]()
    for turn in dialogue.turns:
        said.append(turn.user)
        began = time.perf_counter()
        state = state_of(table, parser, said, shown)
        query = encoder.encode_queries([entity_query(turn.user, state).replace("_", " ")])[0]
        cosines = vectors @ query if entities else np.empty(0)
        nearest = list(map(int, np.argsort(-cosines, kind="stable")[:_NEAREST]))
        chosen = dict.fromkeys([*nearest, *state.focus, *table.meeting(state.wishes)[:_MEETING]])
        found = {i: candidate_of(i, entities[i], float(cosines[i])) for i in chosen}
        ways = {"cosine": [found[i] for i in nearest], "product": list(ranked(list(found.values()), state))}
        measured.found_ms.append(1_000 * (time.perf_counter() - began))
        gold = known.intersection(turn.entities)
        if gold:
            for way, order in ways.items():
                rows = [_values(entities[candidate.passage.version_id]) for candidate in order]
                measured.covered.setdefault(way, []).append([values_covered(gold, rows, k) for k in DEPTHS])
            before = " ".join([*said, *shown])
            measured.first_named.append(any(name not in before for name in gold & names))
        measured.right.append(turn.system)
        measured.told.append(_spaced(replied(replies, turn.user, state, ways["product"])))
        measured.replied_ms.append(1_000 * (time.perf_counter() - began))
        measured.wanted.append(set(turn.entities))
        shown.append(turn.system)


def _table(domain: str, entities: Sequence[Entity]) -> KnowledgeTable:
    return KnowledgeTable(domain, enumerate(entities))


@cache
def _vectors(encoder: Encoder, texts: tuple[str, ...]) -> np.ndarray:  # type: ignore[type-arg]
    return encoder.encode_passages(texts)


def candidate_of(number: int, entity: Entity, cosine: float) -> Candidate:
    """An entity, as found by its place and its cosine."""
    passage = Passage(
        number, number, "kb:1", "entity", entity.name, entity_text(entity), 1, number, "", "", now()
    )
    return Candidate(passage, cosine, 0.0, 0.0, cosine, 0)


def _values(entity: Entity) -> set[str]:
    return {entity.name, *entity.values.values()}


def replied(replies: EntityReplies, message: str, state: DialogueState, order: Sequence[Candidate]) -> str:
    """The reply as text. order: entities, best first."""
    sources = tuple(Source(n, candidate.passage) for n, candidate in enumerate(order[:_SHOWN], start=1))
    request = ReplyRequest((), message, message, sources, state=state)

    async def read() -> str:
        return "".join([piece async for piece in replies.stream(request)])

    return asyncio.run(read())


def _spaced(text: str) -> str:
    text = _CITED.sub("", text)
    return " ".join(text.replace(",", " , ").replace(":", " ").split())


def report(name: str, level: str, measured: Measured) -> None:
    """One set's lines."""
    turns, counted = len(measured.right), len(measured.first_named)
    print(f"\n{name}, {level}: {turns} turns, {counted} that tell a value of the knowledge base")
    for what, ms in (("found", measured.found_ms), ("replied", measured.replied_ms)):
        print(f"  {what:<8} p50 {np.percentile(ms, 50):.1f} ms, p95 {np.percentile(ms, 95):.1f} ms")
    first = np.array(measured.first_named)
    for way, rows in measured.covered.items():
        of_all = np.array(rows)
        for part, kept in (("all", of_all), ("first named", of_all[first])):
            means = zip(DEPTHS, 100 * kept.mean(axis=0), strict=True)
            by_value = "  ".join(f"Re@{k} {mean:.1f}" for k, mean in means)
            whole = "  ".join(f"{v:.1f}" for v in 100 * (kept >= 1 - 1e-9).mean(axis=0))
            print(f"  {way:<8} {part:<12} {by_value}   whole turns {whole}")
    values = sorted(measured.values)
    removes = name == "mwoz_e2e"
    told = [values_in(text, values, removes=removes) for text in measured.told]
    right = [values_in(text, values, removes=removes) for text in measured.right]
    spaced = [[text.replace("_", " ") for text in texts] for texts in (measured.right, measured.told)]
    print(
        f"  replies  BLEU {bleu(measured.right, measured.told):.2f} (spaces {bleu(*spaced):.2f})"
        f"  Entity-F1 {entity_f1(right, told):.2f} (strict {entity_f1(right, told, strict=True):.2f},"
        f" annotated {entity_f1(measured.wanted, told):.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", default=WITH_BASE, choices=WITH_BASE)
    parser.add_argument("--level", nargs="+", default=LEVELS, choices=LEVELS)
    parser.add_argument("--encoder", type=Path, help="of `entity_retriever`, instead of the packaged one")
    parser.add_argument("--distractors", nargs="+", type=int, default=[1], metavar="TIMES")
    parser.add_argument("--generated", action="store_true", help="replies of the dialogue generator")
    parser.add_argument("--words", action="store_true", help="nothing reads: each value named is wanted")
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant:
            encoder: Encoder = assistant.models.packaged_encoder
            if arguments.encoder:
                encoder = OnnxEncoder(arguments.encoder / SERVED)
            for name in arguments.only:
                for level in arguments.level:
                    if (name, level) == ("smd", "dataset"):
                        continue  # each of its dialogues has a knowledge base of its own
                    writer = (
                        (lambda: ReplyWriter(assistant.models.dialogue_generator, assistant.models.spoken))
                        if arguments.generated
                        else None
                    )
                    for times in arguments.distractors if level == "dataset" else [1]:
                        found = measure(
                            *(encoder, arguments.data, name, arguments.split, level),
                            times=times,
                            writer=writer,
                            parser=None if arguments.words else assistant.models.wish_parser,
                        )
                        report(name, f"{level} level, {times} x" if times > 1 else f"{level} level", found)


if __name__ == "__main__":
    main()
