"""Turns of task dialogues as lessons: what the generator reads, and the reply that was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.base.chat_interfaces import DialogueState
from agents.base.interfaces import Candidate
from agents.dialogue.entity_ranker import entity_query, ranked
from agents.dialogue.knowledge_table import KnowledgeTable
from agents.models.dialogue_arrays import Strings
from agents.models.dialogue_inputs import MOST_ROWS, NAME, DialogueInputs, dialogue_inputs
from assistant.learning.held_out.replies import MOST_REPLY, wanted_reply
from assistant.learning.recipes.examples.dialogues import TaskTurn, read_dialogues, read_entities
from stores.base.clock import now
from stores.base.entities import Entity, entity_text
from stores.base.passages import Passage
from stores.learning.dialogue_lessons import DialogueLesson

_LEAST_WORD, _LEAST_VALUE = 2, 5  # times in replies, from which a word, or a value without a source, is told


@dataclass(frozen=True)
class Lesson:
    """One turn."""

    inputs: DialogueInputs
    reply: tuple[str, ...]
    entities: tuple[str, ...]  # values that it tells, by the annotators
    set_name: str
    domain: str  # or several, with spaces between
    tells: bool = True  # see `TaskTurn`


@dataclass(frozen=True)
class Moment:
    """One turn before its entities are chosen."""

    said: tuple[str, ...]  # by the user; the last is the message
    shown: tuple[str, ...]  # by the system
    entities: Sequence[Entity]  # of the dialogue, or of its domain; the same object for the same entities
    state: DialogueState
    columns_of: Mapping[str, str]  # of each value among the words
    told: TaskTurn
    set_name: str
    domain: str
    dialogue: str  # its id

    @property
    def query(self) -> str:
        """What its entities are searched by."""
        return entity_query(self.said[-1], self.state).replace("_", " ")

    @property
    def reply(self) -> tuple[str, ...]:
        """Its words, cut where they are too many."""
        return tuple(self.told.system.split()[:MOST_REPLY])

    def inputs(self, rows: Sequence[Entity]) -> DialogueInputs:
        """With these entities, best first."""
        both = [text for pair in zip(self.said, (*self.shown, ""), strict=True) for text in pair][:-1]
        return dialogue_inputs(both, rows, self.state.constraints, self.state.meeting, self.columns_of)


def moments(data: Path, set_name: str, split: str, level: str) -> Iterator[Moment]:
    """The turns of one part of a set. level: session or dataset, which says what can be found."""
    of_domain: dict[str, list[Entity]] = {}
    for domain, entity in read_entities(data, set_name):
        of_domain.setdefault(domain, []).append(entity)
    columns_of = _columns_of(entity for entities in of_domain.values() for entity in entities)
    tables = {domain: KnowledgeTable(domain, enumerate(entities)) for domain, entities in of_domain.items()}
    for dialogue in read_dialogues(data, set_name, split):
        entities: Sequence[Entity] = dialogue.entities
        table = KnowledgeTable(dialogue.domain, enumerate(entities))
        if level == "dataset":
            entities, table = of_domain[dialogue.domain], tables[dialogue.domain]
        said, shown = tuple[str, ...](), tuple[str, ...]()
        for turn in dialogue.turns:
            said = *said, turn.user
            words = dict.fromkeys(word for utterance in (*said, *shown) for word in utterance.split())
            known = {word: columns_of[word] for word in words if word in columns_of}
            state = table.state(said, shown)
            yield Moment(said, shown, entities, state, known, turn, set_name, dialogue.domain, dialogue.id)
            shown = *shown, turn.system


def lessons(data: Path, set_name: str, split: str, level: str, strings: Strings) -> Iterator[Lesson]:
    """The same as the generator reads them. strings: by whose vectors entities are found."""
    for moment, best in with_entities(moments(data, set_name, split, level), strings):
        told = moment.told
        yield Lesson(moment.inputs(best), moment.reply, told.entities, set_name, moment.domain, told.tells)


def with_entities(turns: Iterable[Moment], strings: Strings) -> Iterator[tuple[Moment, list[Entity]]]:
    """Each with the entities that are put before the generator, best first."""
    found = list(turns)
    strings.add(moment.query for moment in found)
    entities: Sequence[Entity] = []
    vectors = np.zeros((0, len(strings[""])), np.float32)
    for moment in found:
        if moment.entities is not entities:
            entities = moment.entities
            texts = [encoded_text(entity) for entity in entities]
            strings.add(texts)
            vectors = np.array([strings[text] for text in texts]).reshape(-1, vectors.shape[1])
        yield moment, _best(moment.entities, vectors @ strings[moment.query], moment.state)


def lesson_of(told: DialogueLesson) -> Lesson:
    """A reply that a user found right or wrote."""
    wanted = wanted_reply(told)
    values = wanted.values
    entities = tuple(word for word in wanted.words if word in values)
    return Lesson(wanted.inputs, wanted.words, entities, told.base, told.base)


def _best(entities: Sequence[Entity], cosines: npt.NDArray[np.float32], state: DialogueState) -> list[Entity]:
    found = [
        Candidate(
            Passage(i, i, "kb:1", "entity", entity.name, entity_text(entity), 1, i, "", "", now()),
            float(cosines[i]),
            0.0,
            0.0,
            float(cosines[i]),
            0,
        )
        for i, entity in enumerate(entities)
    ]
    return [entities[candidate.passage.version_id] for candidate in ranked(found, state)[:MOST_ROWS]]


def encoded_text(entity: Entity) -> str:
    """An entity as it is encoded."""
    return f"{entity.name}\n{entity_text(entity)}".replace("_", " ")


def _columns_of(entities: Iterable[Entity]) -> dict[str, str]:
    """The column that each value mostly stands in."""
    counts: dict[str, Counter[str]] = {}
    for entity in entities:
        for column, value in ((NAME, entity.name), *entity.values.items()):
            counts.setdefault(value, Counter())[column] += 1
    return {value: counted.most_common(1)[0][0] for value, counted in counts.items()}


def vocabulary_of(found: Sequence[Lesson], is_value: Callable[[str], bool]) -> list[str]:
    """The words that replies are made of, besides values: those that are told often enough."""
    counts: Counter[str] = Counter()
    for lesson in found:
        sources = {cell.value for row in lesson.inputs.rows for cell in row}.union(lesson.inputs.words)
        for word in lesson.reply:
            if not is_value(word) or word not in sources:
                counts[word] += 1
    return sorted(w for w, n in counts.items() if n >= (_LEAST_VALUE if is_value(w) else _LEAST_WORD))


def values_of(data: Path, set_names: Sequence[str]) -> set[str]:
    """Every value of the knowledge bases of these sets."""
    return {
        value
        for set_name in set_names
        for _, entity in read_entities(data, set_name)
        for value in (entity.name, *entity.values.values())
    }
