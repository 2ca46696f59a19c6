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
from agents.base.citations import without_citations
from agents.base.interfaces import AugmentedQuery, Candidate, Exchange
from agents.dialogue.chat_wish_parser import ChatWishParser, in_doubt, kept
from agents.dialogue.knowledge_table import NAME
from agents.dialogue.session_state import state_of
from agents.dialogue.wish_parser import Meant, WishParser
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
        reads: Callable[[], WishParser | None],
        asks: Callable[[], ChatWishParser | None] = lambda: None,
        history_turns: int,
    ) -> None:
        """quoting: replies in the words of entities. writing: the chat model, where one is set.

        told: which of a user's statements answers a question, given the message before it.
        reads: what says what a message wants. asks: the chat model, where it reads what is in doubt.
        history_turns: how many earlier turns the chat model sees.
        """
        self._bases = bases
        self.search = search
        self._sessions, self.asked_in = sessions, sessions.system
        self._quoting = quoting
        self._writing = writing
        self.told = told
        self.reads, self.asks = reads, asks
        self.history_turns = history_turns

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

    def state_of(
        self, base: KnownBase, turns: Sequence[Turn], message: str = "", read: Meant | None = None
    ) -> DialogueState:
        """What a session has come to. turns: its own, oldest first.

        message: that is not answered yet. read: what a chat model reads in it, if it was asked.
        """
        messages = [*(turn.message for turn in turns), *([message] if message else [])]
        table, shown = self.search.table(base), [turn.answer for turn in turns]
        notes = (turn.details.get("knowledge_base", {}).get("read") for turn in turns)
        by_model = [*(kept(note, table) for note in notes), *([read] if message else [])]
        return state_of(table, self.reads(), messages, shown, by_model)

    def shown(self, base: KnownBase, turns: Sequence[Turn]) -> list[str]:
        """The names of the entities that the answers of these turns tell of, in their order."""
        named = (one for turn in turns for one in self.search.table(base).named_in(turn.answer))
        return list(dict.fromkeys(one.value for one in named if one.column == NAME))


@dataclass
class _OverKnowledge:
    """From the entities of a knowledge base."""

    _talk: KnowledgeTalk
    _base: KnownBase
    _searching: Searching
    _user_id: int
    _accepted: Accepted
    _message: str
    _turns: Sequence[Turn]
    _read: Meant | None = None  # what the chat model read in the message
    _statement: Candidate | None = None  # the user's own, by which an entity was chosen

    def __post_init__(self) -> None:
        self.query = AugmentedQuery(self._message, "original")

    @property
    def state(self) -> DialogueState:
        return self._state

    def is_unclear(self) -> bool:
        """Where a chat model is set, whether the trained parser is in doubt."""
        reads, self._asked = self._talk.reads(), self._talk.asks()
        if reads is None or self._asked is None:
            return False
        self._table = self._talk.search.table(self._base)
        self._meant = reads.meant(self._message, self._table)
        if not in_doubt(self._meant, self._message, self._table):
            return False
        self._wishes = self._talk.state_of(self._base, self._turns).wishes
        return True

    async def ask(self) -> None:
        """Has the chat model read the message; where it adds nothing, the trained reading stands."""
        if self._asked is not None:
            self._read = await self._asked.meant(self._message, self._table, self._meant, self._wishes)

    def retrieve(self) -> Retrieved:
        """The entities for the message, best first."""
        search = self._talk.search
        self._state = self._talk.state_of(self._base, self._turns, self._message, self._read)
        if not search.table(self._base).named_in(self._message):
            self._take_what_is_meant()
        self._found = search.find(self._base, self._searching, self._message, self._state)
        return self._found

    def rerank(self) -> Reranked:
        """The order of the ranker, which has judged nothing else."""
        return Reranked(self._found.candidates, ())

    def prepare(self, responder: Responder) -> ReplyRequest:
        passages = [candidate.passage for candidate in self._found.candidates[:_SHOWN]]
        if self._statement is not None:
            passages.append(self._statement.passage)
        recent = self._turns[max(0, len(self._turns) - self._talk.history_turns) :]
        request = responder.prepare(
            self._message,
            self._message,
            passages,
            [Exchange(t.message, t.standalone, without_citations(t.answer), t.id or 0) for t in recent],
            is_kept=bool(self._accepted.version_ids),
            at_least=len(passages),
            system=self._talk.asked_in(self._user_id, self._accepted.session_id),
        )
        return replace(request, state=self._state)

    def read_ahead(self, answer: str) -> None: ...

    def _take_what_is_meant(self) -> None:
        """The entity that a statement of the user's names, where one surely says which."""
        space = self._searching.spaces.of(self._user_id)
        found = self._searching.retriever.retrieve(self._message, space, without=self._accepted.version_ids)
        table = self._talk.search.table(self._base)
        naming: list[tuple[Candidate, list[int]]] = []
        for candidate in found.candidates:
            text = candidate.passage.text
            named = table.named_in(text) if is_own_words(candidate.passage) else []
            if entities := [e for one in named if one.column == NAME for e in one.entities]:
                naming.append((candidate, entities))
        naming = naming[:_STATEMENTS]
        sources = [Source(number, one.passage) for number, (one, _) in enumerate(naming, start=1)]
        before = self._turns[-1].message if self._turns else ""
        answers = self._talk.told(self._message, before, sources) if sources else []
        if answers and answers[0].probability >= _SURE_FROM:
            self._statement, entities = naming[answers[0].statement.source.number - 1]
            self._state = replace(self._state, focus=tuple(entities), asks_for_more=False, act="find")
