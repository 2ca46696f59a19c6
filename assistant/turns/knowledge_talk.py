"""What a turn over a knowledge base searches and answers with, in place of passages and memory.

    the user's messages -> values that they name (state) -> entities found, and those that meet it -> ranked

The user's own memory takes part where the message names nothing: "the one I liked" is an entity that a
statement of theirs names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agents.answering.memory_answers import MemoryAnswer
from agents.answering.responder import Responder
from agents.base.chat_interfaces import DialogueState, ReplyRequest, Source
from agents.base.interfaces import AugmentedQuery, Candidate, Exchange
from agents.dialogue.knowledge_table import NAME
from agents.retrieval.own_statements import is_own_words
from agents.retrieval.reranker import Reranked
from agents.retrieval.retriever import Retrieved
from assistant.search.entity_search import EntitySearch
from assistant.search.searching import Searching
from assistant.turns.memory_talk import Finding
from stores.conversation.journal import Accepted
from stores.conversation.sessions import Sessions
from stores.database.tables import Turn
from stores.search.knowledge_bases import KnowledgeBases, KnownBase

_SHOWN = 5  # entities put before the model
_STATEMENTS = 5  # of the user's, read for the entity that is meant
_SURE_FROM = 0.5  # probability from which a statement says which entity is meant


@dataclass(frozen=True)
class TalkedOver:
    """What was found in a knowledge base for one message."""

    retrieved: Retrieved
    state: DialogueState
    statement: Candidate | None = None  # the user's own, by which an entity was chosen

    @property
    def reranked(self) -> Reranked:
        """The order of the ranker, which has judged nothing else."""
        return Reranked(self.retrieved.candidates, ())


class KnowledgeTalk:
    """Finds entities for the turns of sessions that are about a knowledge base."""

    def __init__(
        self,
        bases: KnowledgeBases,
        search: EntitySearch,
        sessions: Sessions,
        *,
        quoting: Callable[[], Responder],
        writing: Callable[[], Responder | None],
        told: Callable[[str, str, Sequence[Source]], list[MemoryAnswer]],
        history_turns: int,
    ) -> None:
        """quoting: replies in the words of entities. writing: the chat model, where one is set.

        told: which of a user's statements answers a question, given the message before it.
        history_turns: how many earlier turns the chat model sees.
        """
        self._bases = bases
        self._search = search
        self._sessions = sessions
        self._quoting = quoting
        self._writing = writing
        self._told = told
        self._history_turns = history_turns

    @property
    def quoting(self) -> Responder:
        """Replies in the words of entities."""
        return self._quoting()

    @property
    def responder(self) -> Responder:
        """What replies: the chat model, where one is set."""
        return self._writing() or self._quoting()

    def base_of(self, user_id: int, session_id: int) -> KnownBase | None:
        """The knowledge base that a session is about. Raises `NotFound` where it was removed."""
        known = self._sessions.knowledge_base(user_id, session_id)
        return None if known is None else self._bases.with_id(user_id, known)

    def begin(
        self,
        base: KnownBase,
        searching: Searching,
        user_id: int,
        accepted: Accepted,
        message: str,
        turns: Sequence[Turn],
    ) -> Finding:
        """turns: of the session, before this one, oldest first."""
        return _OverKnowledge(self, base, searching, user_id, accepted, message, turns)

    def state_of(self, base: KnownBase, turns: Sequence[Turn], message: str = "") -> DialogueState:
        """What a session has come to. turns: its own, oldest first. message: that is not answered yet."""
        messages = [*(turn.message for turn in turns), *([message] if message else [])]
        return self._search.table(base).state(messages, [turn.answer for turn in turns])

    def shown(self, base: KnownBase, turns: Sequence[Turn]) -> list[str]:
        """The names of the entities that the answers of these turns tell of, in their order."""
        named = (one for turn in turns for one in self._search.table(base).named_in(turn.answer))
        return list(dict.fromkeys(one.value for one in named if one.column == NAME))

    def find(
        self,
        base: KnownBase,
        searching: Searching,
        user_id: int,
        message: str,
        turns: Sequence[Turn],
        without: Sequence[int],
    ) -> TalkedOver:
        """The entities for a message, best first. without: versions of the user's that are not looked for."""
        state = self.state_of(base, turns, message)
        before = turns[-1].message if turns else ""
        statement: Candidate | None = None
        if not self._search.table(base).named_in(message):
            state, statement = self._meant(base, searching, user_id, message, before, state, without)
        return TalkedOver(self._search.find(base, searching, message, state), state, statement)

    def prepare(
        self, responder: Responder, message: str, talked: TalkedOver, turns: Sequence[Turn], *, is_kept: bool
    ) -> ReplyRequest:
        """What to ask of what replies."""
        passages = [candidate.passage for candidate in talked.retrieved.candidates[:_SHOWN]]
        if talked.statement is not None:
            passages.append(talked.statement.passage)
        recent = turns[max(0, len(turns) - self._history_turns) :]
        history = [Exchange(t.message, t.standalone, t.answer, t.id or 0) for t in recent]
        request = responder.prepare(
            message, message, passages, history, is_kept=is_kept, at_least=len(passages)
        )
        return replace(request, state=talked.state)

    def _meant(
        self,
        base: KnownBase,
        searching: Searching,
        user_id: int,
        message: str,
        before: str,
        state: DialogueState,
        without: Sequence[int],
    ) -> tuple[DialogueState, Candidate | None]:
        """The state with the entity that a statement of the user's names, where one surely says which."""
        found = searching.retriever.retrieve(message, searching.spaces.of(user_id), without=without)
        table = self._search.table(base)
        naming: list[tuple[Candidate, list[int]]] = []
        for candidate in found.candidates:
            text = candidate.passage.text
            named = table.named_in(text) if is_own_words(candidate.passage) else []
            if entities := [e for one in named if one.column == NAME for e in one.entities]:
                naming.append((candidate, entities))
        naming = naming[:_STATEMENTS]
        if not naming:
            return state, None
        sources = [Source(number, one.passage) for number, (one, _) in enumerate(naming, start=1)]
        answers = self._told(message, before, sources)
        if not answers or answers[0].probability < _SURE_FROM:
            return state, None
        candidate, entities = naming[answers[0].statement.source.number - 1]
        return replace(state, focus=tuple(entities), asks_for_more=False), candidate


class _OverKnowledge:
    """From the entities of a knowledge base."""

    def __init__(
        self,
        talk: KnowledgeTalk,
        base: KnownBase,
        searching: Searching,
        user_id: int,
        accepted: Accepted,
        message: str,
        turns: Sequence[Turn],
    ) -> None:
        self._talk, self._base, self._searching = talk, base, searching
        self._user_id, self._accepted, self._message, self._turns = user_id, accepted, message, turns
        self.query = AugmentedQuery(message, "original")

    @property
    def state(self) -> DialogueState:
        return self._talked.state

    def retrieve(self) -> Retrieved:
        self._talked = self._talk.find(
            self._base,
            self._searching,
            self._user_id,
            self._message,
            self._turns,
            self._accepted.version_ids,
        )
        return self._talked.retrieved

    def rerank(self) -> Reranked:
        return self._talked.reranked

    def prepare(self, responder: Responder) -> ReplyRequest:
        is_kept = bool(self._accepted.version_ids)
        return self._talk.prepare(responder, self._message, self._talked, self._turns, is_kept=is_kept)

    def read_ahead(self, answer: str) -> None: ...
