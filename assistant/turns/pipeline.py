"""One turn of conversation, from the user's message to the stored reply.

    accept (durable) -> augment -> retrieve -> rerank -> respond (stream) -> finish (durable) -> index

Each step is one agent call and one event, so a turn reads here from top to bottom, and every screen
and replay watch the same events in the same order. Nothing between the message and the first word
calls a model that the answer does not need; the user's words are encoded and indexed after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import ParamSpec, TypeVar

from agents.answering.responder import Responder
from agents.base.chat_interfaces import CutAtLimit, Image, ReplyRequest, Thought, Tokens, Tools
from agents.base.quoting_only import NOTHING_FOUND
from agents.languages.message_sorting import MessageSorter
from assistant.background.priority import AnswersFirst
from assistant.process.log import fields
from assistant.search.searching import Searching
from assistant.turns.documents_named import DocumentsCalled, documents_named
from assistant.turns.events import Accepted, Chosen, Event, Searched, Thinks, Wrote
from assistant.turns.images import images_again, noted
from assistant.turns.knowledge_talk import KnowledgeTalk
from assistant.turns.memory_talk import Finding, MemoryTalk
from assistant.turns.turn_in_progress import TurnInProgress
from stores.base.errors import ContextTooLong, ModelUnreachable, VouchError, WrongUsage
from stores.base.well_formed import well_formed
from stores.conversation.journal import Accepted as Kept
from stores.conversation.journal import Journal, Outcome

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
ELSEWHERE = "elsewhere"  # the model of what was said in another program
_LOOKED_BACK = 200  # turns of a session over a knowledge base, the newest, that it is read from


class TurnPipeline:
    """Answers messages."""

    def __init__(
        self,
        *,
        journal: Journal,
        searching: Callable[[], Searching],
        memory: MemoryTalk,
        responder: Responder,
        cut: Callable[[str], Sequence[str]],
        learns: bool = True,
        answers_first: AnswersFirst | None = None,
        server: str = "",
        sorter: MessageSorter | None = None,
        quoting: Callable[[], Responder | None] = lambda: None,
        knowledge: KnowledgeTalk | None = None,
        documents_called: DocumentsCalled = lambda user_id, name: (),
        trained: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """searching: what searches now, asked once a turn. cut: a long text as passages.

        memory: finds what a message is answered from. knowledge: the same in sessions about a knowledge base.
        learns: what is stated is to be remembered.
        answers_first: what works in the background waits for it.
        server: the host that the chat model runs at, kept with each turn; empty where that is this process.
        sorter: says what the sentences of a message do.
        quoting: answers where the chat model cannot be reached; None where the model itself quotes.
        documents_called: what a message means by @name.
        trained: the versions that rounds of training made and that answer, by role.
        """
        self._journal = journal
        self._searching = searching
        self._memory = memory
        self._responder = responder
        self._cut = cut
        self._learns = learns
        self._answers_first = answers_first or AnswersFirst()
        self._server = server
        self._sorter = sorter or MessageSorter()
        self._quoting = quoting
        self._knowledge = knowledge
        self._documents_called, self._trained = documents_called, trained
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

    def closes_too(self, responder: Responder) -> None:
        """Gives back this one's connections, too, at the end."""
        self._earlier_responders.append(responder)

    async def take(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        material: str = "",
        images: Sequence[Image] = (),
        instead_of: int | None = None,
        behind: int | None = None,
        tools: Tools | None = None,
    ) -> AsyncGenerator[Event]:
        """Plays one turn. Raises only when the message could not be kept; afterwards a failure is an event.

        instead_of: the turn in whose place it comes; that one is kept, in a branch of its own. behind: the
        turn that it follows, where that is not the session's last. tools: that the message's program offers.
        Cancelling the task that reads the events stops the reply; what had arrived is kept, as stopped.
        """
        with self._answers_first.answering():
            message, material = well_formed(message).strip(), well_formed(material)
            if not message:
                raise WrongUsage("the message is empty")
            if images:
                await self.check_images()
            if tools is not None:
                self.check_tools()
            asked = await self._on_thread(documents_named, message, user_id, self._documents_called)
            accept = partial(
                self._journal.accept,
                user_id,
                session_id,
                message,
                parts=self._cut(message),
                material=material,
                details=noted(images),
                learns=self._learns and asked[1] is None,  # what asks of a document states nothing
                instead_of=instead_of,
                behind=behind,
            )
            accepted = await asyncio.get_running_loop().run_in_executor(self._model_thread, accept)
            answer = self._answer(user_id, accepted, message, asked, material, tuple(images), tools)
            async with aclosing(answer) as events:
                async for event in events:
                    yield event

    def keep(self, user_id: int, session_id: int, message: str, answer: str) -> int:
        """Keeps an exchange that was held elsewhere, to be remembered as any other. Returns its turn."""
        return self._keep(user_id, session_id, message, answer, self._cut(message), learns=self._learns)

    def keep_as_said(self, user_id: int, session_id: int, message: str, answer: str) -> int:
        """Keeps one to be read with what follows it, and neither found nor remembered. Returns its turn."""
        return self._keep(user_id, session_id, message, answer, (), learns=False)

    def _keep(
        self,
        user_id: int,
        session_id: int,
        message: str,
        answer: str,
        parts: Sequence[str],
        *,
        learns: bool,
    ) -> int:
        message = well_formed(message).strip()
        if not message:
            raise WrongUsage("the message is empty")
        kept = self._journal.accept(user_id, session_id, message, parts=parts, learns=learns)
        outcome = Outcome(state="done", answer=well_formed(answer), model=ELSEWHERE)
        self._journal.finish(kept.turn_id, outcome)
        return kept.turn_id

    def between_steps(self, work: Callable[[], R]) -> R:
        """Runs it between the steps of turns, on the thread that they share; for any other thread."""
        return self._model_thread.submit(work).result()

    def check_tools(self) -> None:
        """Raises `WrongUsage` unless tools can be offered to the model that answers."""
        self._responder.check_tools()

    async def check_images(self) -> None:
        """Raises `WrongUsage` unless the model that answers is known to take images."""
        await self._responder.check_images()

    async def images_of(self, user_id: int, turn_id: int) -> tuple[Image, ...]:
        """Those that went with a turn's message, read anew. Raises `NotFound` where one is gone."""
        turn = await self._on_thread(self._journal.turn, user_id, turn_id)
        return await self._on_thread(images_again, turn.details)

    async def _answer(
        self,
        user_id: int,
        accepted: Kept,
        message: str,
        asked: tuple[str, list[int] | None],
        material: str,
        images: tuple[Image, ...],
        tools: Tools | None,
    ) -> AsyncGenerator[Event]:
        """What follows a message that is kept. asked: as of `_way`."""
        turn = TurnInProgress(accepted.turn_id, images)
        try:
            yield Accepted(accepted.turn_id, accepted.session_id)

            way = await self._on_thread(self._way, user_id, accepted, message, asked, material)
            finding = way.finding
            query = finding.query
            turn.note("augment", standalone=query.text, query=query.text, strategy=query.strategy)

            if await self._on_thread(finding.is_unclear):
                await finding.ask()
                turn.note("ask")
            retrieved = await self._on_thread(finding.retrieve)
            turn.note("retrieve", retrieved=retrieved)
            if finding.query.standalone:
                turn.note("rewrite", standalone=finding.query.standalone, strategy=finding.query.strategy)
            yield Searched(finding.query, retrieved.candidates)

            turn.note("rerank", reranked=await self._on_thread(finding.rerank), state=finding.state)

            await way.responder.get_ready()
            responder = way.responder.beside_images(len(images)) if images else way.responder
            prepared = await self._on_thread(finding.prepare, responder)
            request = replace(prepared, images=images, tools=tools)
            turn.note("prepare", request=request, model=way.responder.model_name, server=way.server)
            yield Chosen(request.sources, way.responder.model_name, request.left_out)

            try:
                async for event in self._answered(way.responder, request, turn):
                    yield event
            except ModelUnreachable as error:
                quoting = way.quoting()
                if quoting is None or turn.has_written:
                    raise
                request = await self._on_thread(finding.prepare, quoting)
                model = quoting.model_name
                turn.note("prepare", request=request, model=model, in_place_of=(self.model_name, error))
                quotes = [event async for event in _replied(quoting, request, turn)]
                if turn.written.startswith(NOTHING_FOUND):  # that is no answer of a model that failed
                    turn.quoted_nothing()
                    raise
                yield Chosen(request.sources, quoting.model_name, request.left_out, error)
                for event in quotes:
                    yield event
            tells = (await self._on_thread(self._sorter.sorted, message)).only_states
            turn.note("respond", tells=tells, trained=await self._on_thread(self._trained))
        except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit):
            self._journal.finish(turn.turn_id, turn.outcome("stopped"))
            raise
        except VouchError as error:
            if _is_being_stopped():  # a model may take being cancelled for a failure of its own
                self._journal.finish(turn.turn_id, turn.outcome("stopped"))
                raise asyncio.CancelledError from error
            await self._on_thread(self._journal.finish, turn.turn_id, turn.outcome("failed", error.message))
            state = "failed"
            yield turn.finished(state, error)
        except BaseException as error:
            self._journal.finish(turn.turn_id, turn.outcome("failed", type(error).__name__))
            raise
        else:
            state, outcome = "done", turn.outcome("done")
            await self._on_thread(self._journal.finish, turn.turn_id, outcome)
            yield turn.finished(state)
            finding.read_ahead(outcome.answer)
        self.counted += turn.counted
        _log.info(
            "turn %s finished", turn.turn_id, extra=fields(turn=turn.turn_id, **turn.told_to_the_log(state))
        )
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
        searching, knowledge = self._searching(), self._knowledge
        base = knowledge.base_of(user_id, accepted.session_id) if knowledge else None
        if knowledge is None or base is None:
            finding = self._memory.begin(searching, user_id, accepted, *asked, material, written=message)
            return _Way(finding, self._responder, self._server, self._quoting)
        turns = self._journal.turns_before(user_id, accepted.turn_id, limit=_LOOKED_BACK)
        over = knowledge.begin(base, searching, user_id, accepted, message, turns)
        responder, quotes = knowledge.responder, knowledge.quoting
        return _Way(over, responder, self._server, lambda: quotes if quotes is not responder else None)

    async def _on_thread(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._model_thread, partial(work, *args, **kwargs))


@dataclass(frozen=True)
class _Way:
    """How one message is answered."""

    finding: Finding
    responder: Responder
    server: str
    quoting: Callable[[], Responder | None]  # replies where the chat model cannot be reached


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
