"""What the program of the entity retriever reads of lessons.

reply -> the entity that it tells of -> its message as a vector, among those of all entities
"""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agents.base.interfaces import Vector
from agents.dialogue.entity_ranker import entity_query
from assistant.search.entity_search import EntitySearch, Turned
from assistant.search.searching import Searching
from stores.base.entities import Entity, entity_text
from stores.base.errors import NotFound
from stores.base.passages import searchable_text
from stores.learning.dialogue_lessons import DialogueLesson
from stores.search.knowledge_bases import KnowledgeBases, KnownBase

_MOST = 1_000  # entities of a knowledge base, from which the right one is told apart
_AT_ONCE = 64  # texts that are encoded


class EntityLessons:
    """Lessons of dialogues as the entity retriever reads them, over knowledge bases as they were at first."""

    def __init__(self, bases: KnowledgeBases, search: EntitySearch, searching: Searching) -> None:
        self._bases, self._search, self._searching = bases, search, searching
        self._known: dict[tuple[int, str], KnownBase | None] = {}  # by user and name

    def right(self, lesson: DialogueLesson) -> list[int]:
        """The versions of the entities that its reply tells of; none where that is not sure."""
        base = self._base(lesson)
        return [] if base is None else self._search.table(base).told_of(lesson.reply)

    def rows(
        self, lessons: Sequence[DialogueLesson], tell: Callable[[int, int], None]
    ) -> Iterator[Mapping[str, Any]]:
        """Each knowledge base with its entities' vectors, then its lessons; vectors as base64, 32 bits each.

        lessons: whose replies tell of an entity, each.
        """
        of_base: dict[int, tuple[KnownBase, list[tuple[DialogueLesson, list[int]]]]] = {}
        for lesson in lessons:
            base, right = self._base(lesson), self.right(lesson)
            if base is not None and right:
                of_base.setdefault(base.id, (base, []))[1].append((lesson, right))
        for base, told in of_base.values():
            entities = self._entities(base, {one for _, right in told for one in right})
            place = {version_id: number for number, version_id in enumerate(entities)}
            texts = [searchable_text(each.name, entity_text(each)) for each in entities.values()]
            vectors: list[str] = []
            for start in range(0, len(texts), _AT_ONCE):
                tell(start, len(texts))
                some = texts[start : start + _AT_ONCE]
                vectors += map(_as_text, self._searching.encoder.encode_passages(some))
            yield {"base": base.space, "entities": vectors}
            for lesson, right in told:
                vector = self._searching.encoder.encode_queries([self._query(base, lesson)])[0]
                yield {
                    "measured": lesson.tells_when_to_end,
                    "query": _as_text(vector),
                    "right": [place[one] for one in right],
                }

    def found(self, lesson: DialogueLesson, turned: Turned) -> list[int]:
        """The versions of the entities that are found for its message, in the chat's order."""
        base = self._base(lesson)
        if base is None:
            return []
        state = self._search.table(base).state(lesson.messages, lesson.answers)
        ranked = self._search.find(base, self._searching, lesson.messages[-1], state, turned).candidates
        return [each.passage.version_id for each in ranked]

    def _base(self, lesson: DialogueLesson) -> KnownBase | None:
        key = lesson.user_id, lesson.base
        if key not in self._known:
            try:
                self._known[key] = self._bases.named(*key)
            except NotFound:  # it was removed since
                self._known[key] = None
        base = self._known[key]
        if base is None or base.is_shared == lesson.is_of_own:  # of two with one name it is the other one
            return None
        return base

    def _query(self, base: KnownBase, lesson: DialogueLesson) -> str:
        state = self._search.table(base).state(lesson.messages, lesson.answers)
        return entity_query(lesson.messages[-1], state)

    def _entities(self, base: KnownBase, wanted: set[int]) -> dict[int, Entity]:
        """Those that are wanted and, of the others, as many as there is room for."""
        entities = dict(self._bases.entities(base))
        others = [version_id for version_id in entities if version_id not in wanted]
        kept = random.Random(0).sample(others, min(len(others), max(0, _MOST - len(wanted))))
        return {version_id: entities[version_id] for version_id in (*sorted(wanted), *sorted(kept))}


def _as_text(vector: Vector) -> str:
    return b64encode(vector.astype("<f4").tobytes()).decode()
