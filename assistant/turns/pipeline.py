"""One turn of conversation, from the user's message to the stored reply.

    accept (durable) -> augment -> retrieve -> rerank -> respond (stream) -> finish (durable) -> index

Each step is one agent call and one event, so a turn reads here from top to bottom, and every screen
and replay watch the same events in the same order. Nothing between the message and the first word
calls a model that the answer does not need; the user's words are encoded and indexed after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from typing import ParamSpec, Protocol, TypeVar

from agents.answering.overview import sections
from agents.answering.responder import Responder
from agents.base.chat_interfaces import CutAtLimit, DialogueState, ReplyRequest, Thought, Tokens
from agents.base.interfaces import AugmentedQuery, Candidate, Encoder, Exchange
from agents.base.message_sorting import MessageSorter
from agents.retrieval.own_statements import OwnStatements
from agents.retrieval.query_augmenter import QueryAugmenter
from agents.retrieval.reranker import Reranked, Reranker
from agents.retrieval.retriever import Retrieved, best_of
from agents.retrieval.said_here import Said, said_before_here
from assistant.background.priority import AnswersFirst
from assistant.process.log import fields
from assistant.search.searching import Searching
from assistant.turns.documents_named import DocumentsCalled, documents_named
from assistant.turns.events import Accepted, Chosen, Event, Searched, Thinks, Wrote
from assistant.turns.knowledge_talk import KnowledgeTalk
from assistant.turns.provenance import MessagesBehind, beside_their_messages
from assistant.turns.settled import stating_first, without_settled
from assistant.turns.turn_in_progress import TurnInProgress
from stores.base.clock import now
from stores.base.errors import ContextTooLong, ModelUnreachable, VouchError, WrongUsage
from stores.base.passages import Passage
from stores.base.well_formed import well_formed
from stores.conversation.journal import Accepted as Kept
from stores.conversation.journal import Journal
from stores.database.tables import Turn
from stores.search.knowledge_bases import KnownBase

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
_MATERIAL_SOURCES = 3  # passages of handed-over material put before the model, at most
_LOOKED_BACK = 200  # turns of a private session, the newest, that are looked through for what was said


class TurnPipeline:
    """Answers messages."""

    def __init__(
        self,
        *,
        journal: Journal,
        searching: Callable[[], Searching],
        augmenter: QueryAugmenter,
        reranker: Reranker,
        responder: Responder,
        cut: Callable[[str], Sequence[str]],
        history_turns: int,
        learns: bool = True,
        settled: Callable[[int, Sequence[int]], Mapping[int, Sequence[str]]] = lambda user_id, versions: {},
        own_statements: OwnStatements | None = None,
        messages_behind: MessagesBehind = lambda user_id, versions: {},
        answers_first: AnswersFirst | None = None,
        server: str = "",
        sorter: MessageSorter | None = None,
        quoting: Callable[[], Responder | None] = lambda: None,
        knowledge: KnowledgeTalk | None = None,
        documents_called: DocumentsCalled = lambda user_id, name: (),
        asks_for_outline: Callable[[str], bool] = lambda question: False,
    ) -> None:
        """searching: what searches now, asked once a turn. cut: a long text as passages.

        history_turns: how many earlier turns the model sees. learns: what is stated is to be remembered.
        settled: which words of a user's messages became knowledge, by version id.
        own_statements: which of the user's statements come first; None where no reader reads them.
        messages_behind: what a user wrote that their memories were made from, by version id.
        answers_first: what works in the background waits for it.
        server: the host that the chat model runs at, kept with each turn; empty where that is this process.
        sorter: says what the sentences of a message do.
        quoting: answers where the chat model cannot be reached; None where the model itself quotes.
        knowledge: finds and answers in sessions that are about a knowledge base.
        documents_called: what a message means by @name.
        asks_for_outline: whether such a message asks what stands there at all.
        """
        self._journal = journal
        self._searching = searching
        self._augmenter = augmenter
        self._reranker = reranker
        self._responder = responder
        self._cut = cut
        self._history_turns = history_turns
        self._learns = learns
        self._settled = settled
        self._own_statements = own_statements
        self._messages_behind = messages_behind
        self._answers_first = answers_first or AnswersFirst()
        self._server = server
        self._sorter = sorter or MessageSorter()
        self._quoting = quoting
        self._knowledge = knowledge
        self._documents_called = documents_called
        self._asks_for_outline = asks_for_outline
        self._model_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._earlier_responders: list[Responder] = []
        self.counted = Tokens()  # of all turns so far, as far as a server tells

    @property
    def model_name(self) -> str:
        """The chat model that answers."""
        return self._responder.model_name

    def answer_with(self, responder: Responder, *, server: str) -> None:
        """Another chat model answers from the next turn on; not while one is played. server: where it is."""
        self._earlier_responders.append(self._responder)
        self._responder, self._server = responder, server

    async def take(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        material: str = "",
        instead_of: int | None = None,
    ) -> AsyncGenerator[Event]:
        """Plays one turn. Raises only when the message could not be kept; afterwards a failure is an event.

        instead_of: the turn in whose place it comes; that one is kept, in a branch of its own.
        Cancelling the task that reads the events stops the reply; what had arrived is kept, as stopped.
        """
        with self._answers_first.answering():
            turn = self._events(user_id, session_id, message, material, instead_of)
            async with aclosing(turn) as events:
                async for event in events:
                    yield event

    async def _events(
        self, user_id: int, session_id: int, message: str, material: str, instead_of: int | None
    ) -> AsyncGenerator[Event]:
        message, material = well_formed(message).strip(), well_formed(material)
        if not message:
            raise WrongUsage("the message is empty")
        asked = await self._on_thread(documents_named, message, user_id, self._documents_called)
        accepted = await self._on_thread(
            self._journal.accept,
            user_id,
            session_id,
            message,
            parts=self._cut(message),
            material=material,
            learns=self._learns and asked[1] is None,  # what asks of a document states nothing
            instead_of=instead_of,
        )
        turn = TurnInProgress(accepted.turn_id)
        try:
            yield Accepted(accepted.turn_id, accepted.session_id)

            way = await self._on_thread(self._way, user_id, accepted, message, asked, material)
            query = way.query
            turn.note("augment", standalone=query.text, query=query.text, strategy=query.strategy)

            retrieved = await self._on_thread(way.retrieve)
            turn.note("retrieve", retrieved=retrieved)
            if way.query.standalone:
                turn.note("rewrite", standalone=way.query.standalone, strategy=way.query.strategy)
            yield Searched(way.query, retrieved.candidates)

            turn.note("rerank", reranked=await self._on_thread(way.rerank), state=way.state)

            request = await self._on_thread(way.prepare, way.responder)
            turn.note("prepare", request=request, model=way.responder.model_name, server=way.server)
            yield Chosen(request.sources, way.responder.model_name, request.left_out)

            try:
                async for event in self._answered(way.responder, request, turn):
                    yield event
            except ModelUnreachable as error:
                quoting = way.quoting()
                if quoting is None or turn.has_written:
                    raise
                request = await self._on_thread(way.prepare, quoting)
                model = quoting.model_name
                turn.note("prepare", request=request, model=model, in_place_of=(self.model_name, error))
                yield Chosen(request.sources, quoting.model_name, request.left_out)
                async for event in _replied(quoting, request, turn):
                    yield event
            turn.note("respond", tells=(await self._on_thread(self._sorter.sorted, message)).only_states)
        except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit):
            self._journal.finish(turn.turn_id, turn.outcome("stopped"))
            raise
        except VouchError as error:
            if _is_being_stopped():  # a model may take being cancelled for a failure of its own
                self._journal.finish(turn.turn_id, turn.outcome("stopped"))
                raise asyncio.CancelledError from error
            await self._on_thread(self._journal.finish, turn.turn_id, turn.outcome("failed", error.message))
            yield turn.finished("failed", error)
        except BaseException as error:
            self._journal.finish(turn.turn_id, turn.outcome("failed", type(error).__name__))
            raise
        else:
            outcome = turn.outcome("done")
            await self._on_thread(self._journal.finish, turn.turn_id, outcome)
            yield turn.finished("done")
            way.read_ahead(outcome.answer)
        self.counted += turn.counted
        _log.info("turn %s finished", turn.turn_id, extra=fields(turn=turn.turn_id, **turn.told_to_the_log()))
        try:
            await self._on_thread(lambda: self._searching().indexer.catch_up())
        except VouchError as error:  # the answer stands, and the job waits for the next occasion
            _log.warning("not indexed yet", extra=fields(error=type(error).__name__))

    async def _answered(
        self, responder: Responder, request: ReplyRequest, turn: TurnInProgress
    ) -> AsyncGenerator[Event]:
        """The reply; asked for once more in short where the server finds the request too long."""
        try:
            async for event in _replied(responder, request, turn):
                yield event
        except ContextTooLong:  # by the server's count, which is not known before
            shorter = await self._on_thread(responder.shortened, request)
            if turn.has_written or shorter is None:
                raise
            turn.note("prepare", request=shorter)
            yield Chosen(shorter.sources, responder.model_name, shorter.left_out)
            async for event in _replied(responder, shorter, turn):
                yield event

    async def bare_reply(self, text: str) -> str:
        """What the chat model says to a text, without passages, memory or a turn."""
        return await self._responder.bare_reply(text)

    async def aclose(self) -> None:
        """Gives back the model's connections and waits for the model thread."""
        for responder in (self._responder, *self._earlier_responders):
            await responder.aclose()
        self._model_thread.shutdown(wait=True)

    def _way(
        self, user_id: int, accepted: Kept, message: str, asked: tuple[str, list[int] | None], material: str
    ) -> _Way:
        """From a knowledge base, where the session is about one; else from memory.

        asked: the question, and the versions that it asks of alone, where it names documents.
        """
        base = self._knowledge.base_of(user_id, accepted.session_id) if self._knowledge else None
        if self._knowledge is None or base is None:
            return _FromMemory(self, user_id, accepted, *asked, material)
        turns = self._journal.turns_before(user_id, accepted.turn_id, limit=_LOOKED_BACK)
        return _OverKnowledge(
            self._knowledge, base, self._searching(), self._server, user_id, accepted, message, turns
        )

    def _retrieve(
        self,
        searching: Searching,
        user_id: int,
        queries: Iterable[str],
        without: Sequence[int],
        only: Sequence[int] | None = None,
    ) -> Retrieved:
        """What they find, as the last of them. Each is asked for when the one before was searched."""
        space = searching.spaces.of(user_id)
        if only is not None:
            space = space.narrowed(only)
        of_each: dict[str, Retrieved] = {}
        for each in queries:
            if each not in of_each:
                of_each[each] = searching.retriever.retrieve(each, space, without=without)
        found = best_of(list(of_each.values())[::-1])
        messages = [c.passage.version_id for c in found.candidates if c.passage.kind == "message"]
        settled = self._settled(user_id, messages) if messages else {}
        found = replace(found, candidates=without_settled(found.candidates, settled))
        if self._own_statements is None or only is not None:
            return found
        return self._own_statements.put_first(found, space, [one.vector for one in of_each.values()])

    def _marked(self, user_id: int, reranked: Reranked) -> list[Passage]:
        passages = [candidate.passage for candidate in stating_first(reranked.order, self._sorter)]
        return beside_their_messages(passages, user_id, self._messages_behind)

    def _recent(self, user_id: int, turn_id: int) -> list[Exchange]:
        turns = self._journal.turns_before(user_id, turn_id, limit=self._history_turns)
        return [Exchange(t.message, t.standalone, t.answer, t.id or 0) for t in turns]

    def _said_here(self, user_id: int, accepted: Kept) -> list[Passage]:
        """What was said before this turn in a private session: its transcript alone has it."""
        if accepted.version_ids or not self._journal.is_private(user_id, accepted.session_id):
            return []
        turns = self._journal.turns_before(user_id, accepted.turn_id, limit=_LOOKED_BACK)
        return said_before_here(Said(turn.id or 0, turn.message, turn.accepted_at) for turn in turns)

    def _best_of_material(self, encoder: Encoder, material: str, retrieved: Retrieved) -> list[Passage]:
        """The passages of what was handed over that are nearest to the question, in reading order."""
        parts = self._cut(material) if material.strip() else []
        if not parts:
            return []
        scores = encoder.encode_passages(parts) @ retrieved.vector
        best = sorted(scores.argsort()[::-1][:_MATERIAL_SOURCES].tolist())
        return [_material_passage(parts[number], number) for number in best]

    async def _on_thread(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._model_thread, lambda: work(*args, **kwargs))


class _Way(Protocol):
    """How one message is answered. Each step runs on the model thread, in this order."""

    query: AugmentedQuery
    responder: Responder
    server: str

    @property
    def state(self) -> DialogueState | None:
        """Of a conversation over a knowledge base."""

    def retrieve(self) -> Retrieved:
        """What is found."""

    def rerank(self) -> Reranked:
        """Its order."""

    def prepare(self, responder: Responder) -> ReplyRequest:
        """What to ask of what replies."""

    def quoting(self) -> Responder | None:
        """What replies where the chat model cannot be reached; None where none was to reply."""

    def read_ahead(self, answer: str) -> None:
        """Once this was answered: readies what the next message will be searched with. Returns at once."""


class _FromMemory:
    """Answers from passages and from what the user told."""

    state = None

    def __init__(
        self,
        pipeline: TurnPipeline,
        user_id: int,
        accepted: Kept,
        message: str,
        only: list[int] | None,
        material: str,
    ) -> None:
        self._pipeline = pipeline
        self._user_id, self._accepted = user_id, accepted
        self._message, self._only = message, only
        self._material = material
        self._outlines = only is not None and pipeline._asks_for_outline(message)
        self._earlier = pipeline._recent(user_id, accepted.turn_id)
        self.query = pipeline._augmenter.augment(self._message, self._earlier)
        self.responder, self.server, self.quoting = pipeline._responder, pipeline._server, pipeline._quoting
        self._searching = pipeline._searching()

    def retrieve(self) -> Retrieved:
        self._found = self._pipeline._retrieve(
            self._searching, self._user_id, self._queries(), self._accepted.version_ids, self._only
        )
        if self._outlines and self._only:
            live = self._searching.spaces.of(self._user_id).passages(self._only)
            parts = sections([live[version] for version in self._only if version in live])
            self._found = replace(self._found, candidates=_in_order(parts))
        return self._found

    def _queries(self) -> Iterator[str]:
        """A follow-up that was made to stand alone is searched so in place of as it was typed."""
        yield self.query.text
        if alone := self.query.rewritten():
            self.query = replace(self.query, standalone=alone, strategy="made to stand alone")
        yield alone or self._message

    def rerank(self) -> Reranked:
        pipeline = self._pipeline
        if self._outlines:
            self._order = Reranked(self._found.candidates, ())
        else:
            self._order = pipeline._reranker.rerank(self.query.text, self._found.candidates)
        self._in_front = [
            *pipeline._best_of_material(self._searching.encoder, self._material, self._found),
            *pipeline._said_here(self._user_id, self._accepted),
        ]
        return self._order

    def prepare(self, responder: Responder) -> ReplyRequest:
        request = responder.prepare(
            self._message,
            self.query.text,
            [*self._in_front, *self._pipeline._marked(self._user_id, self._order)],
            self._earlier,
            is_kept=bool(self._accepted.version_ids),
            at_least=len(self._in_front) + sum(candidate.given > 0 for candidate in self._order.order),
            useless=self._order.useless,
        )
        return replace(request, asks=self._only is not None, outlines=self._outlines)

    def read_ahead(self, answer: str) -> None:
        said = [*self._earlier, Exchange(self._message, "", answer, self._accepted.turn_id)]
        self._pipeline._augmenter.read_ahead(said[max(0, len(said) - self._pipeline._history_turns) :])


class _OverKnowledge:
    """Answers over a knowledge base."""

    def __init__(
        self,
        knowledge: KnowledgeTalk,
        base: KnownBase,
        searching: Searching,
        server: str,
        user_id: int,
        accepted: Kept,
        message: str,
        turns: Sequence[Turn],
    ) -> None:
        self._knowledge, self._base, self._searching = knowledge, base, searching
        self._user_id, self._accepted, self._message, self._turns = user_id, accepted, message, turns
        self.query = AugmentedQuery(message, "original")
        self.responder, self.server = knowledge.responder, server

    @property
    def state(self) -> DialogueState:
        return self._talked.state

    def retrieve(self) -> Retrieved:
        self._talked = self._knowledge.find(
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
        return self._knowledge.prepare(responder, self._message, self._talked, self._turns, is_kept=is_kept)

    def quoting(self) -> Responder | None:
        return self._knowledge.quoting if self.responder is not self._knowledge.quoting else None

    def read_ahead(self, answer: str) -> None: ...


def _in_order(parts: Sequence[Passage]) -> tuple[Candidate, ...]:
    """As candidates, each of them given whatever it is like."""
    return tuple(
        Candidate(part, 0.0, 0.0, 0.0, 0.0, found_rank=rank, given=1.0)
        for rank, part in enumerate(parts, start=1)
    )


async def _replied(
    responder: Responder, request: ReplyRequest, turn: TurnInProgress
) -> AsyncGenerator[Event]:
    before = responder.used
    async for piece in responder.respond(request, turn.citations):
        if isinstance(piece, CutAtLimit):
            turn.was_cut(piece)
        elif isinstance(piece, Thought):
            if piece.is_all:
                turn.begin_anew()
            yield Thinks(piece.text, piece.is_all)
        else:
            turn.heard(piece)
            yield Wrote(piece)
    if used := responder.used - before:  # meanwhile nothing else asks the model
        turn.note("count", tokens=used)


def _is_being_stopped() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _material_passage(text: str, position: int) -> Passage:
    return Passage(
        version_id=-1 - position,  # in no store
        passage_id=0,
        space="material",
        kind="material",
        title="",
        text=text,
        document_id=None,
        position=position,
        source="handed over with the message",
        external_id="",
        created_at=now(),
    )
