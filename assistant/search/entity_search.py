"""Finds the entities of a knowledge base that a message is about.

the user's messages -> values that they name (state) -> entities found, and those that meet it -> ranked
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from agents.base.chat_interfaces import DialogueState
from agents.base.interfaces import Candidate, Vector
from agents.dialogue.entity_ranker import entity_query, ranked
from agents.dialogue.knowledge_table import KnowledgeTable
from agents.retrieval.retriever import Retrieved
from assistant.search.searching import Searching
from stores.search.knowledge_bases import KnowledgeBases, KnownBase
from stores.search.spaces import Space

_MEETING = 30  # entities that meet the wishes, looked at beside those found
_TABLES = 4  # kept in memory

Turned: TypeAlias = Callable[[str, str, Vector], Vector]  # of a base's space, an encoder's version, a vector


class EntitySearch:
    """Finds entities of the knowledge bases of all users."""

    def __init__(self, bases: KnowledgeBases, turned: Turned) -> None:
        """turned: how a message's vector is searched with; see `EntityMap`."""
        self._bases, self._turned = bases, turned
        self._tables: dict[tuple[int, int], KnowledgeTable] = {}  # by knowledge base and version

    def table(self, base: KnownBase) -> KnowledgeTable:
        """Its values."""
        key = (base.id, base.version)
        if key not in self._tables:
            self._tables[key] = KnowledgeTable(base.name, self._bases.entities(base))
            for old in list(self._tables)[:-_TABLES]:
                self._tables.pop(old, None)  # another thread may have been quicker
        return self._tables[key]

    def find(
        self,
        base: KnownBase,
        searching: Searching,
        message: str,
        state: DialogueState,
        turned: Turned | None = None,
    ) -> Retrieved:
        """The entities that a message is about, best first. turned: in place of what is live."""
        space = searching.spaces.of_knowledge_base(base)
        query = entity_query(message, state)
        vector = searching.encoder.encode_queries([query])[0]
        vector = (turned or self._turned)(base.space, searching.version, vector)
        found = searching.retriever.retrieve_by(query, vector, space)
        meeting = self.table(base).meeting(state.wishes)[:_MEETING]
        also = self._also(space, found, [*state.focus, *meeting])
        return replace(found, query=message, candidates=ranked([*found.candidates, *also], state))

    def _also(self, space: Space, found: Retrieved, wanted: Sequence[int]) -> list[Candidate]:
        """Entities that are looked at, whether or not the search came upon them."""
        known = {candidate.passage.version_id for candidate in found.candidates}
        ids = [version_id for version_id in dict.fromkeys(wanted) if version_id not in known]
        passages = space.passages(ids)
        cosines, by_words = space.similarities(found.vector, ids), space.word_scores(found.query, ids)
        return [
            Candidate(passages[i], cosines.get(i, 0.0), by_words.get(i, 0.0), 0.0, 0.0, 0)
            for i in ids
            if i in passages
        ]
