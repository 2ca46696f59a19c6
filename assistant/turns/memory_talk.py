"""Finds what a message is answered from: passages, and what the user told.

    augment -> retrieve -> rerank -> prepare

`KnowledgeTalk` does the same where a session is about a knowledge base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agents.answering.overview import sections
from agents.answering.responder import Parts, Responder
from agents.base.chat_interfaces import DialogueState, ReplyRequest, Tabulated
from agents.base.interfaces import AugmentedQuery, Candidate, Exchange, Verdict
from agents.dialogue.tabulating import holds_rows
from agents.languages.message_sorting import MessageSorter
from agents.languages.standing import Secrets
from agents.retrieval.helping import most_helping
from agents.retrieval.own_statements import OwnStatements
from agents.retrieval.query_augmenter import QueryAugmenter
from agents.retrieval.reranker import Reranked, Reranker
from agents.retrieval.retriever import Retrieved, best_of
from agents.retrieval.said_here import Said, said_before_here
from assistant.search.searching import Searching
from assistant.turns.conversation import NEAR, WHOLE, Conversation, material_passage
from assistant.turns.provenance import MessagesBehind, beside_their_messages
from assistant.turns.settled import stating_first, without_settled
from stores.base.passages import Passage
from stores.conversation.journal import Accepted, Journal
from stores.conversation.turn_models import REWRITTEN
from stores.database.tables import Turn

_MATERIAL_SOURCES = 3  # passages of handed-over material put before the model, at most
_TABLE_AMONG = 3  # documents, the first, in which a table is looked for
_MOST_OF_A_TABLE = 2_000  # passages; of a longer document nothing is counted
_STANDING = 60  # statements that always hold, the newest, of which as many are sent as there is room for
_LOOKED_BACK = 200  # turns of a private session, the newest, that are looked through for what was said


class Finding(Protocol):
    """What one message is answered from. Each step but `ask` runs on the model thread, in this order."""

    query: AugmentedQuery

    @property
    def state(self) -> DialogueState | None:
        """Of a conversation over a knowledge base."""

    def is_unclear(self) -> bool:
        """Whether a chat model is to be asked what the message wants."""

    async def ask(self) -> None:
        """Asks it, on the event loop."""

    def retrieve(self) -> Retrieved:
        """What is found."""

    def rerank(self) -> Reranked:
        """Its order."""

    def prepare(self, responder: Responder) -> ReplyRequest:
        """What to ask of what replies."""

    def read_ahead(self, answer: str) -> None:
        """Once this was answered: readies what the next message will be searched with. Returns at once."""


class MemoryTalk:
    """Finds passages and the user's statements for a turn, unless its session is about a knowledge base."""

    def __init__(
        self,
        journal: Journal,
        *,
        augmenter: QueryAugmenter,
        reranker: Reranker,
        cut: Callable[[str], Sequence[str]],
        history_turns: int,
        settled: Callable[[int, Sequence[int]], Mapping[int, Sequence[str]]] = lambda user_id, versions: {},
        own_statements: OwnStatements | None = None,
        messages_behind: MessagesBehind = lambda user_id, versions: {},
        sorter: MessageSorter | None = None,
        asks_for_outline: Callable[[str], bool] = lambda question: False,
        secrets: Secrets | None = None,
        asked_in: Callable[[int, int], str | None] = lambda user_id, session_id: None,
        summary_of: Callable[[int, int], str] = lambda user_id, session_id: "",
        tabulated: Callable[[str, Sequence[Passage]], Tabulated | None] = lambda message, passages: None,
    ) -> None:
        """cut: a long text as passages. history_turns: how many earlier turns the model sees.

        settled: which words of a user's messages became knowledge, by version id.
        own_statements: which of the user's statements come first; None where no reader reads them.
        messages_behind: what a user wrote that their memories were made from, by version id.
        sorter: says what the sentences of a message do.
        asks_for_outline: whether a message that names a document asks what stands there at all.
        secrets: what is not sent to a model that writes unless it is asked for.
        asked_in: what a user's session asks of all answers in it; None: what the settings ask.
        summary_of: what was said in a user's session before what is still sent of it, in short.
        tabulated: what is counted over the rows of a document, if that is asked for.
        """
        self.tabulated = tabulated
        self.journal = journal
        self.secrets, self.asked_in = secrets or Secrets(None), asked_in
        self.summary_of = summary_of
        self.conversation = Conversation(journal, cut=cut, settled=settled)
        self.augmenter = augmenter
        self.reranker = reranker
        self.cut = cut
        self.history_turns = history_turns
        self.settled = settled
        self.own_statements = own_statements
        self.messages_behind = messages_behind
        self.sorter = sorter or MessageSorter()
        self.asks_for_outline = asks_for_outline

    def begin(
        self,
        searching: Searching,
        user_id: int,
        accepted: Accepted,
        message: str,
        only: Sequence[int] | None,
        material: str,
        *,
        written: str = "",
    ) -> Finding:
        """only: the versions that the message asks of alone, where it names documents.

        written: the message with their names; empty where it names none.
        """
        return _FromMemory(self, searching, user_id, accepted, message, only, material, written or message)


@dataclass
class _FromMemory:
    """From passages and from what the user told."""

    _talk: MemoryTalk
    _searching: Searching
    _user_id: int
    _accepted: Accepted
    _message: str
    _only: Sequence[int] | None
    _material: str
    _written: str
    state = None

    def __post_init__(self) -> None:
        talk = self._talk
        turns = talk.journal.turns_before(self._user_id, self._accepted.turn_id, limit=talk.history_turns)
        self._earlier = [Exchange(t.message, t.standalone, t.answer, t.id or 0) for t in turns]
        self._outlines = self._only is not None and talk.asks_for_outline(self._message)
        self.query = talk.augmenter.augment(self._message, self._earlier)

    def is_unclear(self) -> bool:
        return False

    async def ask(self) -> None: ...

    def retrieve(self) -> Retrieved:
        """What all queries find, as the last of them. Each is asked for when the one before was searched."""
        talk, space = self._talk, self._searching.spaces.of(self._user_id)
        searched = space if self._only is None else space.narrowed(self._only)
        without = self._accepted.version_ids
        of_each: dict[str, Retrieved] = {}
        for each in self._queries():
            if each not in of_each:
                of_each[each] = self._searching.retriever.retrieve(each, searched, without=without)
        found = best_of(list(of_each.values())[::-1])
        messages = [c.passage.version_id for c in found.candidates if c.passage.kind == "message"]
        settled = talk.settled(self._user_id, messages) if messages else {}
        found = replace(found, candidates=without_settled(found.candidates, settled))
        if talk.own_statements is not None and self._only is None:
            vectors = [one.vector for one in of_each.values()]
            across = self._searching.across_languages(found.query)
            found = talk.own_statements.put_first(found, space, vectors, across)
        if self._outlines and self._only:
            live = space.passages(self._only)
            parts = sections([live[version] for version in self._only if version in live])
            found = replace(found, candidates=_in_order(parts))
        self._found = found
        return found

    def _queries(self) -> Iterator[str]:
        """A follow-up that was made to stand alone is searched so in place of as it was typed."""
        yield self.query.text
        if alone := self.query.rewritten():
            self.query = replace(self.query, standalone=alone, strategy=REWRITTEN)
        yield alone or self._message

    def rerank(self) -> Reranked:
        if self._outlines:
            self._order = Reranked(self._found.candidates, ())
        else:
            self._order = self._talk.reranker.rerank(self.query.text, self._found.candidates)
        return self._order

    def prepare(self, responder: Responder) -> ReplyRequest:
        if not responder.quotes:
            return self._to_be_written(responder)
        in_front = [*self._best_of_material(), *self._said_here()]
        passages = [candidate.passage for candidate in stating_first(self._order.order, self._talk.sorter)]
        request = responder.prepare(
            self._message,
            self.query.text,
            [
                *in_front,
                *beside_their_messages(passages, self._user_id, self._talk.messages_behind),
            ],
            self._earlier,
            is_kept=bool(self._accepted.version_ids),
            at_least=len(in_front) + sum(candidate.given > 0 for candidate in self._order.order),
            useless=self._order.useless,
        )
        return replace(
            request,
            asks=self._only is not None,
            outlines=self._outlines,
            tabulated=self._tabulated([source.passage for source in request.sources]),
        )

    def _tabulated(self, sources: Sequence[Passage]) -> Tabulated | None:
        """What is counted over the table among the first documents found, if that is asked for."""
        documents = [passage for passage in sources if passage.kind == "document"][:_TABLE_AMONG]
        first = next(filter(holds_rows, documents), None)
        if first is None:
            return None
        whole = self._searching.spaces.of(self._user_id).whole(first.version_id, most=_MOST_OF_A_TABLE)
        counted = self._talk.tabulated(self._message, whole) if whole else None
        return counted and replace(counted, found_in=first.version_id)

    def _to_be_written(self, responder: Responder) -> ReplyRequest:
        """For a model that writes: what helps and is not in the conversation, which goes along."""
        talk, space = self._talk, self._searching.spaces.of(self._user_id)
        earlier = talk.conversation.before(self._user_id, self._accepted.turn_id, space)
        turn = talk.journal.turn(self._user_id, self._accepted.turn_id)
        whole = [material_passage(self._material, WHOLE, turn)] if self._material.strip() else []
        named: list[Passage] = []
        if self._only is not None:
            live = space.passages(self._only)
            named = [live[version] for version in self._only if version in live]
        found = [candidate.passage for candidate in self._order.order] if named else []
        said_here = self._asked_for(self._said_here())
        in_front = [*said_here, *([] if named else self._helping(responder.keep, earlier))]
        request = responder.prepare(
            self._written,
            self.query.text,
            in_front,
            earlier,
            is_kept=bool(self._accepted.version_ids),
            at_least=len(in_front),
            whole=[*whole, *named],
            parts=lambda: self._all_parts(turn, found, len(named)),
            holding=[
                passage for passage in space.standing(_STANDING) if not talk.secrets.holds(passage.text)
            ],
            withheld=talk.secrets.withheld,
            system=talk.asked_in(self._user_id, self._accepted.session_id),
            summary=talk.summary_of(self._user_id, self._accepted.session_id),
            at=turn.accepted_at,
        )
        seen = talk.conversation.listed_with(self._user_id, request.sources)
        return replace(
            request,
            asks=self._only is not None,
            outlines=self._outlines,
            is_written=True,
            seen=(*request.seen, *seen),
        )

    def _all_parts(self, turn: Turn, found: Sequence[Passage], named: int) -> Parts:
        """Of what was handed over and of the documents that are named; what was found of these."""
        handed_over = self._parts_of(turn)
        return Parts([*handed_over, *found], len(handed_over) + named)

    def _asked_for(self, said: Sequence[Passage]) -> list[Passage]:
        """What was said in a private session, without secrets that are far from what is asked."""
        secret = [passage for passage in said if self._talk.secrets.holds(passage.text)]
        if not secret:
            return list(said)
        vectors = self._searching.encoder.encode_passages([passage.text for passage in secret])
        far = {
            passage.version_id
            for passage, cosine in zip(secret, vectors @ self._found.vector, strict=True)
            if cosine < NEAR
        }
        return [passage for passage in said if passage.version_id not in far]

    def _helping(self, documents: int, earlier: Sequence[Exchange]) -> list[Passage]:
        """Of what was found what is likely to help, the likeliest first, messages with their answers.

        documents: passages of documents, at most. earlier: the conversation.
        """
        verdicts = {id(judgement.candidate): judgement.verdict for judgement in self._order.judgements}
        asks = bool(self._talk.sorter.sorted(self._message).asking)
        helping = most_helping(asks, self._order.order, verdicts, documents=documents)
        secrets = self._talk.secrets
        space = self._searching.spaces.of(self._user_id)
        without = self._accepted.version_ids
        here = (self._accepted.session_id, {exchange.turn_id for exchange in earlier})
        replies = self._talk.conversation.replies(self._user_id, space, self._found.vector, without, here)
        with_reply = [
            passage
            for passage in replies
            if not self._talk.sorter.sorted(passage.title).only_states  # what it says is found itself
            and not (secrets.holds(passage.title) or secrets.holds(passage.text))
        ]
        versions = {passage.version_id for passage in with_reply}
        others = [
            candidate.passage
            for candidate in helping
            if candidate.passage.version_id not in versions
            and self._may_be_sent(candidate.passage, verdicts.get(id(candidate)))
        ]
        return [*with_reply, *others]

    def _may_be_sent(self, passage: Passage, verdict: Verdict | None) -> bool:
        """Neither a secret that was not asked for, nor an old question."""
        if passage.is_shared:
            return True
        if passage.kind == "message" and not self._talk.sorter.sorted(passage.text).stating:
            return False
        return self._talk.secrets.may_be_sent(passage.text, verdict)

    def _parts_of(self, turn: Turn) -> list[Passage]:
        """What was handed over, in parts, those that are nearest to the question first."""
        parts = self._talk.cut(self._material) if self._material.strip() else []
        if not parts:
            return []
        scores = self._searching.encoder.encode_passages(parts) @ self._found.vector
        return [material_passage(parts[i], i, turn) for i in scores.argsort()[::-1].tolist()]

    def read_ahead(self, answer: str) -> None:
        said = [*self._earlier, Exchange(self._message, "", answer, self._accepted.turn_id)]
        self._talk.augmenter.read_ahead(said[max(0, len(said) - self._talk.history_turns) :])

    def _said_here(self) -> list[Passage]:
        """What was said before this turn in a private session: its transcript alone has it."""
        accepted, journal = self._accepted, self._talk.journal
        if accepted.version_ids or not journal.is_private(self._user_id, accepted.session_id):
            return []
        turns = journal.turns_before(self._user_id, accepted.turn_id, limit=_LOOKED_BACK)
        return said_before_here(Said(turn.id or 0, turn.message, turn.accepted_at) for turn in turns)

    def _best_of_material(self) -> list[Passage]:
        """The passages of what was handed over that are nearest to the question, in reading order."""
        turn = self._talk.journal.turn(self._user_id, self._accepted.turn_id)
        return sorted(self._parts_of(turn)[:_MATERIAL_SOURCES], key=lambda part: part.position)


def _in_order(parts: Sequence[Passage]) -> tuple[Candidate, ...]:
    """As candidates, each of them given whatever it is like."""
    return tuple(
        Candidate(part, 0.0, 0.0, 0.0, 0.0, found_rank=rank, given=1.0)
        for rank, part in enumerate(parts, start=1)
    )
