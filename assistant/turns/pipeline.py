"""One turn of conversation, from the user's message to the stored reply.

    accept (durable) -> augment -> retrieve -> rerank -> respond (stream) -> finish (durable) -> index

Each step is one agent call and one event, so a turn reads here from top to bottom, and every screen
and replay watch the same events in the same order. Nothing between the message and the first word
calls a model that the answer does not need; the user's words are encoded and indexed after it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any, ParamSpec, TypeVar

from agents.interfaces import CutAtLimit, Encoder, Exchange, ReplyRequest
from agents.own_statements import OwnStatements
from agents.query_augmenter import QueryAugmenter
from agents.reranker import Reranked, Reranker
from agents.responder import Citations, Responder
from agents.retriever import Retrieved
from assistant.log import fields
from assistant.turns.answers_first import AnswersFirst
from assistant.turns.events import Accepted, Chosen, Event, Finished, Searched, Wrote
from assistant.turns.reworded import MessagesBehind, with_reworded_marked
from assistant.turns.searching import Searching
from assistant.turns.settled import without_settled
from stores.clock import now
from stores.errors import VouchError, WrongUsage
from stores.journal import FoundPassage, Journal, Judged, Outcome
from stores.records import Passage, well_formed

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
_MATERIAL_SOURCES = 3  # passages of handed-over material put before the model, at most


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
    ) -> None:
        """searching: what searches now, asked once a turn. cut: a long text as passages.

        history_turns: how many earlier turns the model sees. learns: what is stated is to be remembered.
        settled: which words of a user's messages became knowledge, by version id.
        own_statements: which of the user's statements come before what was found.
        messages_behind: what a user wrote that their memories were made from, by version id.
        answers_first: what works in the background waits for it.
        server: the host that the chat model runs at, kept with each turn; empty where that is this process.
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
        self._own_statements = own_statements or OwnStatements()
        self._messages_behind = messages_behind
        self._answers_first = answers_first or AnswersFirst()
        self._server = server
        self._model_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._earlier_responders: list[Responder] = []

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
        earlier = await self._on_thread(self._recent, user_id, session_id, instead_of)
        accepted = await self._on_thread(
            self._journal.accept,
            user_id,
            session_id,
            message,
            parts=self._cut(message),
            material=material,
            learns=self._learns,
            instead_of=instead_of,
        )
        turn = _TurnInProgress(accepted.turn_id)
        try:
            yield Accepted(accepted.turn_id, accepted.session_id)

            query = self._augmenter.augment(message, earlier)
            turn.note("augment", standalone=query.text, query=query.text, strategy=query.strategy)

            searching = await self._on_thread(self._searching)
            retrieved = await self._on_thread(
                self._retrieve, searching, user_id, query.text, accepted.version_ids
            )
            turn.note("retrieve", retrieved=retrieved)
            yield Searched(query, retrieved.candidates)

            reranked = await self._on_thread(self._reranker.rerank, query.text, retrieved.candidates)
            handed_over = await self._on_thread(
                self._best_of_material, searching.encoder, material, retrieved
            )
            turn.note("rerank", reranked=reranked)

            request = await self._on_thread(
                self._responder.prepare,
                message,
                query.text,
                [*handed_over, *await self._on_thread(self._marked, user_id, reranked)],
                earlier,
                is_kept=bool(accepted.version_ids),
            )
            turn.note("prepare", request=request, model=self._responder.model_name, server=self._server)
            yield Chosen(request.sources, self._responder.model_name, request.left_out)

            async for piece in self._responder.respond(request, turn.citations):
                if isinstance(piece, CutAtLimit):
                    turn.was_cut(piece)
                else:
                    turn.heard(piece)
                    yield Wrote(piece)
            turn.note("respond")
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
            await self._on_thread(self._journal.finish, turn.turn_id, turn.outcome("done"))
            yield turn.finished("done")
        _log.info("turn %s finished", turn.turn_id, extra=fields(turn=turn.turn_id, **turn.told_to_the_log()))
        try:
            await self._on_thread(lambda: self._searching().indexer.catch_up())
        except VouchError as error:  # the answer stands, and the job waits for the next occasion
            _log.warning("not indexed yet", extra=fields(error=type(error).__name__))

    async def bare_reply(self, text: str) -> str:
        """What the chat model says to a text, without passages, memory or a turn."""
        return await self._responder.bare_reply(text)

    async def aclose(self) -> None:
        """Gives back the model's connections and waits for the model thread."""
        for responder in (self._responder, *self._earlier_responders):
            await responder.aclose()
        self._model_thread.shutdown(wait=True)

    def _retrieve(self, searching: Searching, user_id: int, query: str, without: Sequence[int]) -> Retrieved:
        space = searching.spaces.of(user_id)
        found = searching.retriever.retrieve(query, space, without=without)
        messages = [c.passage.version_id for c in found.candidates if c.passage.kind == "message"]
        settled = self._settled(user_id, messages) if messages else {}
        found = replace(found, candidates=without_settled(found.candidates, settled))
        return self._own_statements.put_first(query, found, space)

    def _marked(self, user_id: int, reranked: Reranked) -> list[Passage]:
        passages = [candidate.passage for candidate in reranked.order]
        return with_reworded_marked(passages, user_id, self._messages_behind)

    def _recent(self, user_id: int, session_id: int, instead_of: int | None) -> list[Exchange]:
        if instead_of is None:
            turns = self._journal.turns(user_id, session_id, limit=self._history_turns)
        else:
            turns = self._journal.turns_before(user_id, instead_of, limit=self._history_turns)
        return [Exchange(t.message, t.standalone, t.answer, t.id or 0) for t in turns]

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


def _is_being_stopped() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _TurnInProgress:
    """What a turn has come to know so far, so that it can be kept however it ends."""

    def __init__(self, turn_id: int) -> None:
        self.turn_id = turn_id
        self.citations = Citations(())
        self._began = self._last = time.monotonic()
        self._milliseconds: dict[str, float] = {}
        self._pieces: list[str] = []
        self._known: dict[str, Any] = {}

    def note(self, step: str, **known: Any) -> None:
        """A step is done; how long it took, and what came of it."""
        moment = time.monotonic()
        self._milliseconds[step] = round((moment - self._last) * 1000, 2)
        self._last = moment
        self._known.update(known)
        if "request" in known:
            self.citations = Citations(known["request"].sources)

    def heard(self, piece: str) -> None:
        if not self._pieces:
            self._milliseconds["first word"] = round((time.monotonic() - self._began) * 1000, 2)
        self._pieces.append(piece)

    def was_cut(self, cut: CutAtLimit) -> None:
        self._known["cut"] = cut

    def outcome(self, state: str, failure: str = "") -> Outcome:
        retrieved: Retrieved | None = self._known.get("retrieved")
        reranked: Reranked | None = self._known.get("reranked")
        request: ReplyRequest | None = self._known.get("request")
        return Outcome(
            state=state,
            answer="".join(self._pieces),
            failure=failure,
            model=self._known.get("model", ""),
            standalone=self._known.get("standalone", ""),
            query=self._known.get("query", "") if retrieved else "",
            strategy=self._known.get("strategy", "original"),
            encoder_version=retrieved.encoder_version if retrieved else "",
            found=_found(retrieved, reranked, request),
            judged=_judged(reranked),
            details={
                "milliseconds": self._milliseconds,
                "cited": self.citations.cited,
                **_given(retrieved),
                "invented_citations": self.citations.invented,
                "left_out": [asdict(left_out) for left_out in (request.left_out if request else ())],
                "is_cut": "cut" in self._known,
                **({"sent_to": self._known["server"]} if "server" in self._known else {}),
            },
        )

    def told_to_the_log(self) -> dict[str, object]:
        """How long the steps took and how much was found; no text."""
        retrieved: Retrieved | None = self._known.get("retrieved")
        return {
            "model": self._known.get("model", ""),
            "candidates": len(retrieved.candidates) if retrieved else 0,
            "left_out": len(self._known["request"].left_out) if "request" in self._known else 0,
            "is_cut": "cut" in self._known,
            "milliseconds": dict(self._milliseconds),
        }

    def finished(self, state: str, error: VouchError | None = None) -> Finished:
        request: ReplyRequest | None = self._known.get("request")
        sources = {source.number: source for source in request.sources} if request else {}
        return Finished(
            self.turn_id,
            state,
            "".join(self._pieces),
            tuple(sources[number] for number in self.citations.cited),
            tuple(self.citations.invented),
            time.monotonic() - self._began,
            error,
            self._known.get("cut"),
        )


def _found(
    retrieved: Retrieved | None, reranked: Reranked | None, request: ReplyRequest | None
) -> list[FoundPassage]:
    if retrieved is None:
        return []
    order = reranked.order if reranked else retrieved.candidates
    numbers = {s.passage.version_id: s.number for s in request.sources} if request else {}
    return [
        FoundPassage(
            version_id=candidate.passage.version_id,
            found_rank=candidate.found_rank,
            dense=candidate.dense,
            lexical=candidate.lexical,
            lift=candidate.lift,
            score=candidate.score,
            final_rank=rank,
            citation=numbers.get(candidate.passage.version_id),
        )
        for rank, candidate in enumerate(order, start=1)
    ]


def _given(retrieved: Retrieved | None) -> dict[str, dict[str, float]]:
    """What candidates gained as statements that give what was asked for, by version id; mostly nothing."""
    candidates = retrieved.candidates if retrieved else ()
    given = {str(c.passage.version_id): c.given for c in candidates if c.given}
    return {"given": given} if given else {}


def _judged(reranked: Reranked | None) -> list[Judged]:
    return [
        Judged(
            version_id=judgement.candidate.passage.version_id,
            judge=judgement.judge,
            label=judgement.verdict.label,
            score=judgement.verdict.score,
            found_rank=judgement.candidate.found_rank,
            tokens_in=judgement.tokens_in,
            tokens_out=judgement.tokens_out,
        )
        for judgement in (reranked.judgements if reranked else ())
    ]


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
