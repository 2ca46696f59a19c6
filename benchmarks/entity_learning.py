"""Whether the entities of a knowledge base are found better once replies over it were corrected.

    python -m benchmarks.entity_learning DATA [--sets camrest mwoz_e2e] [--lessons 500 1500] [--seeds 1 2 3]
        [--accuracy 1]

Each domain of a set is a knowledge base of its own, with all entities of the set. So many turns of its
training part, drawn by the seed, are told to the chat's store, each with the reply of the set as a
correction, or where a user is not right with that of another turn; then a round of the entity retriever runs
as in a chat, and its rule decides. Measured on the test part, each turn with the dialogue as it was held: the
share of the reply's values that stand in the first K entities (Re@K), with what was learned, live or not,
against without; paired, 95 % by normal approximation.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agents.models.entity_map import EntityMap
from assistant.learning.recipes.examples.dialogues import TaskDialogue, read_dialogues, read_entities
from assistant.library.knowledge_file import prepared
from assistant.search.entity_search import Turned
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.entities import Entity
from stores.base.passages import knowledge_space, own_space
from stores.conversation.journal import FoundPassage, Outcome
from training.dialogue.measures import values_covered

SETS = ("camrest", "mwoz_e2e")
DEPTHS = (1, 3, 5)
_SHOWN = 5  # entities put before the model, as in a chat


@dataclass(frozen=True)
class AskedTurn:
    """A turn of a dialogue, with what was said before it."""

    domain: str
    dialogue: str
    messages: tuple[str, ...]
    answers: tuple[str, ...]
    reply: str
    values: frozenset[str]  # that the reply tells, by the annotators


def plain(text: str) -> str:
    """As people write it: the sets join the words of a value."""
    return text.replace("_", " ")


def turns_of(dialogues: Sequence[TaskDialogue]) -> list[AskedTurn]:
    """Every turn, in the order of the dialogues."""
    found = []
    for each in dialogues:
        said, shown = tuple[str, ...](), tuple[str, ...]()
        for turn in each.turns:
            said = *said, plain(turn.user)
            reply, values = plain(turn.system), frozenset(map(plain, turn.entities))
            found.append(AskedTurn(each.domain, each.id, said, shown, reply, values))
            shown = *shown, reply
    return found


def corrected(turns: Sequence[AskedTurn], accuracy: float, seed: int) -> list[AskedTurn]:
    """With their own replies so often; else with that of another turn over the same knowledge base."""
    draw = random.Random(f"{seed} corrections")
    of_domain: dict[str, list[str]] = {}
    for turn in turns:
        of_domain.setdefault(turn.domain, []).append(turn.reply)
    return [
        turn if draw.random() < accuracy else replace(turn, reply=draw.choice(of_domain[turn.domain]))
        for turn in turns
    ]


class Chat:
    """A store with the knowledge bases of a set."""

    def __init__(self, data: Path, name: str, folder: str) -> None:
        self.assistant = Assistant(Settings(), find_locations(os.environ, data=folder), offline=True)
        self.user = self.assistant.stores.journal.user_id("ann")
        of_domain: dict[str, list[Entity]] = {}
        for domain, each in read_entities(data, name):
            values = {plain(column): plain(value) for column, value in each.values.items()}
            of_domain.setdefault(domain, []).append(Entity(plain(each.name), values))
        for domain, entities in of_domain.items():
            base = self.assistant.stores.knowledge_bases.open(self.user, domain, shared=False)
            document = prepared(domain, Path(f"{domain}.csv"), entities)
            space = knowledge_space(base)
            list(self.assistant.turns.ingest.run(
                self.user, space, [document], summary=domain, of_space=own_space(self.user)
            ))  # fmt: skip
        self.domains = set(of_domain)

    def found(self, turn: AskedTurn, turned: Turned) -> list[tuple[int, Entity]]:
        """The entities, best first."""
        assistant = self.assistant
        base = assistant.stores.knowledge_bases.named(self.user, turn.domain)
        search = assistant.models.entity_search
        state = search.table(base).state(turn.messages, turn.answers)
        found = search.find(base, assistant.search.searching, turn.messages[-1], state, turned).candidates
        entities = self._entities(turn.domain)
        return [(i, entities[i]) for i in (each.passage.version_id for each in found)]

    def _entities(self, domain: str) -> dict[int, Entity]:
        bases = self.assistant.stores.knowledge_bases
        known = self.__dict__.setdefault("_known", {})
        if domain not in known:
            known[domain] = dict(bases.entities(bases.named(self.user, domain)))
        return known[domain]  # type: ignore[no-any-return]

    def tell(self, turns: Sequence[AskedTurn]) -> None:
        """Each in a session of its dialogue, and corrected."""
        journal, sessions = self.assistant.stores.journal, dict[str, int]()
        for turn in turns:
            session = sessions.setdefault(turn.dialogue, 0) or journal.open_session(self.user)
            sessions[turn.dialogue] = session
            message = turn.messages[-1]
            turn_id = journal.accept(self.user, session, message, parts=[message]).turn_id
            base = self.assistant.stores.knowledge_bases.named(self.user, turn.domain)
            state = self.assistant.models.entity_search.table(base).state(turn.messages, turn.answers)
            shown = self.found(turn, EntityMap().turned)[:_SHOWN]
            found = [
                FoundPassage(
                    version_id=i, found_rank=n, dense=0.0, lexical=0.0, lift=0.0, score=0.0, final_rank=n,
                    citation=n,
                )
                for n, (i, _) in enumerate(shown, start=1)
            ]  # fmt: skip
            told = {"name": turn.domain, "entities": state.entities, "meeting": state.meeting}
            told |= {"constraints": dict(state.constraints), "is_generated": False}
            version = self.assistant.search.searching.encoder.version
            details = {"cited": [1], "knowledge_base": told}
            journal.finish(turn_id, Outcome(
                state="done", answer=turn.reply, query=message, encoder_version=version, found=found,
                details=details,
            ))  # fmt: skip
            journal.rate(self.user, turn_id, "taught", correction=turn.reply)

    def measured(self, turns: Sequence[AskedTurn], turned: Turned) -> np.ndarray:  # type: ignore[type-arg]
        """(turns, depths) of those whose reply tells a value."""
        rows = []
        for turn in turns:
            held = [{e.name, *e.values.values()} for _, e in self.found(turn, turned)]
            every = {v for e in self._entities(turn.domain).values() for v in (e.name, *e.values.values())}
            if wanted := every & turn.values:
                rows.append([values_covered(wanted, held, k) for k in DEPTHS])
        return 100 * np.array(rows)


def measure(data: Path, name: str, lessons: int, seed: int, accuracy: float) -> None:
    """One round, and what it changes."""
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(data, name, folder)
        with closing(chat.assistant) as assistant:
            train, test = (
                [each for each in read_dialogues(data, name, part) if each.domain in chat.domains]
                for part in ("train", "test")
            )
            random.Random(seed).shuffle(train)
            told, asked = corrected(turns_of(train)[:lessons], accuracy, seed), turns_of(test)
            chat.tell(told)
            before = chat.measured(asked, EntityMap().turned)
            ended = assistant.learning.learner_of("entities").run()
            if ended.version:
                learned = EntityMap.read(assistant.stores.checkpoints.place("entities", ended.version))
                gains = chat.measured(asked, learned.turned) - before
                spread = 1.96 * gains.std(axis=0) / len(gains) ** 0.5
                told_gains = "  ".join(
                    f"Re@{k} {was:.1f} {gain:+.1f} ± {by:.1f}"
                    for k, was, gain, by in zip(DEPTHS, before.mean(0), gains.mean(0), spread, strict=True)
                )
            else:
                told_gains = "nothing was learned"
            print(f"{name}, {len(told)} corrections, seed {seed}: {told_gains}\n  {ended.reason}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--lessons", nargs="+", type=int, default=[500, 1500])
    parser.add_argument("--accuracy", type=float, default=1.0, help="share of corrections that are right")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    arguments = parser.parse_args()
    for name in arguments.sets:
        for lessons in arguments.lessons:
            for seed in arguments.seeds:
                measure(arguments.data, name, lessons, seed, arguments.accuracy)


if __name__ == "__main__":
    main()
