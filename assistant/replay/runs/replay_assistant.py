"""The chat's own parts over a store of its own: only judge, chat model, clock and search can be others.

turn -> MethodRetriever -> the method of the replay finds -> NotingJudge -> as in a chat
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agents.base.chat_interfaces import ChatModel
from agents.base.interfaces import Candidate, Judge, Judged, SearchableSpace, Vector
from agents.retrieval.reranker import Judgement
from agents.retrieval.retriever import Retrieved, Retriever, Signals
from assistant.replay.methods.method import Asked, Found, Method, Search
from assistant.search.searching import Searching
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.given import Given
from assistant.wiring.parts.models import Models
from assistant.wiring.parts.search import Search as Searches
from assistant.wiring.parts.stores import Stores
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from agents.models.networks.judge_model import JudgeModel

FILLED_AT = datetime(2020, 1, 1, tzinfo=UTC)  # what is there before anybody asks
_BEGINS = datetime(2026, 1, 1, tzinfo=UTC)
_A_QUESTION = timedelta(minutes=1)
_A_LOOK = timedelta(microseconds=1)
MIN_JUDGED = 5  # passages, before judging may stop, where questions are played


class ReplayClock:
    """Tells a time that hangs on the questions alone: a minute each, a microsecond each time it is asked."""

    def __init__(self, begins: datetime = _BEGINS) -> None:
        self._begins = self._time = begins

    def at(self, question: int) -> None:
        """So many questions were asked before."""
        self._time = self._begins + question * _A_QUESTION

    def __call__(self) -> datetime:
        self._time += _A_LOOK
        return self._time


@dataclass(frozen=True)
class JudgeCall:
    """One call of a judge."""

    judgements: tuple[Judgement, ...]
    tokens: int  # read and written


class NotingJudge:
    """Notes what a judge says of one question."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.calls: list[JudgeCall] = []

    @property
    def name(self) -> str:
        return self._judge.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        judged = self._judge.judge(question, candidates)
        share = max(1, len(candidates))
        tokens_in, tokens_out = judged.tokens_in // share, judged.tokens_out // share
        judgements = tuple(
            Judgement(candidate, verdict, self.name, tokens_in, tokens_out)
            for candidate, verdict in zip(candidates, judged.verdicts, strict=True)
            if verdict is not None
        )
        self.calls.append(JudgeCall(judgements, judged.tokens_in + judged.tokens_out))
        return judged


class MethodRetriever(Retriever):
    """Has a method find the passages of the question that is asked; every other search is the product's."""

    def __init__(
        self, method: Method, product: Retriever, search_in: Callable[[SearchableSpace], Search]
    ) -> None:
        """product: what searches where no question of the stream is asked. search_in: what a method gets."""
        self._method = method
        self._product = product
        self._search_in = search_in
        self.asked: Asked | None = None
        self.found: Found | None = None  # for the question asked last

    def retrieve(self, query: str, space: SearchableSpace, *, without: Collection[int] = ()) -> Retrieved:
        if self.asked is None:
            return self._product.retrieve(query, space, without=without)
        search = self._search_in(space)
        asked = replace(self.asked, text=query, without=tuple(without))
        self.found = self._method.retrieve(asked, search)
        version = self.found.encoder_version or search.encoder.version
        return Retrieved(query, self.found.vector, version, self.found.candidates)

    def signals(
        self, query: str, vector: Vector, space: SearchableSpace, *, without: Collection[int] = ()
    ) -> Signals:
        return self._product.signals(query, vector, space, without=without)


class ReplaySearch(Searches):
    """Searches as a chat does, until a method is to find what turns look for."""

    def __init__(self, given: Given, stores: Stores) -> None:
        super().__init__(given, stores)
        self._method_retriever: MethodRetriever | None = None

    @property
    def searching(self) -> Searching:
        found = super().searching
        return found if self._method_retriever is None else replace(found, retriever=self._method_retriever)

    def search_by(self, method: Method) -> MethodRetriever:
        """Has a method find what turns look for, from here on."""
        self._method_retriever = MethodRetriever(method, super().searching.retriever, self.search_in)
        return self._method_retriever

    def search_in(self, space: SearchableSpace) -> Search:
        """What a method searches a space with."""
        retrieval = self.given.settings.retrieval
        return Search(
            super().searching.encoder,
            space,
            keep=retrieval.candidates,
            pool=retrieval.pool,
            fusion=self.fusion,
        )


class ReplayModels(Models):
    """The models of a chat, whose judge is noted, and may be another one."""

    judged_by: Judge | None = None
    _trained: JudgeModel | None = None

    @property
    def judge_model(self) -> JudgeModel:
        """As it comes, or what a method has trained."""
        return self._trained or super().judge_model

    def judge_with(self, adapters: Path) -> None:
        """Has the model judge with these from here on."""
        self._trained = self._judge_model = None  # two would take twice the memory
        self._trained = self.judge_model_with(adapters)

    @cached_property
    def judge(self) -> NotingJudge:
        """What judges candidates, with what it said."""
        return NotingJudge(self.judged_by or super().judge)


class ReplayAssistant(Assistant):
    """One Vouch over a store of its own."""

    search: ReplaySearch
    models: ReplayModels

    def __init__(
        self,
        settings: Settings,
        locations: Locations,
        *,
        judge: Judge | None = None,
        chat_model: ChatModel | None = None,
        api_key: str = "",
        offline: bool = False,
    ) -> None:
        """judge, chat_model: in place of those that the settings name."""
        super().__init__(
            settings, locations, api_key=api_key, offline=offline, search=ReplaySearch, models=ReplayModels
        )
        self.models.judged_by = judge
        if chat_model is not None:
            self.models.use(settings.model, chat_model)

    def remember(self, user_id: int) -> list[str]:
        """Remembers what a user stated until now; why something could not be, in words.

        In a chat that would wait and be tried again. Nobody comes back to a replay.
        """
        jobs, host = self.stores.claim_jobs, self.turns.host
        before = {job.id: job.attempts for job in jobs.waiting(user_id)}
        host.remember(user_id, lambda learned: None)
        host.settle()
        waiting = jobs.waiting(user_id)
        return [one_line(job.error) for job in waiting if job.error and job.attempts > before.get(job.id, 0)]


def own_locations(live: Locations, folder: Path) -> Locations:
    """A data directory of its own, with what the chat has downloaded."""
    return Locations(data=folder, settings=live.settings, cache=live.cache, state=folder / "state")


def own_settings(settings: Settings, *, learns: bool, min_judged: int, judge: str = "") -> Settings:
    """The person's settings, with what a replay needs to give the same figures everywhere.

    One thread, since sums of floats hang on how many share them; an exact search; a database of its own.
    learns: what users say is remembered. judge: of `RerankingSettings`; else the person's.
    """
    reranking = replace(settings.reranking, min_judged=min_judged, judge=judge or settings.reranking.judge)
    return replace(
        settings,
        encoder=replace(settings.encoder, threads=1),
        memory=replace(settings.memory, learn=learns),
        reranking=reranking,
        store=type(settings.store)(),
        index=type(settings.index)(kind="exact"),
        scale=type(settings.scale)(),  # it may be played by a worker, which has no workers of its own
    )
