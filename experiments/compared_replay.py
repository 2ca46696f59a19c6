"""A replay of the compared methods, with simulated answers, simulated users, and other trainings of luf.

A run that was killed begins anew: what these methods have become hangs on more than their steps.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from agents.base.chat_interfaces import ChatModel
from agents.base.interfaces import Candidate, Encoder, SearchableSpace, Vectors
from agents.models.encoders.two_halves import TwoHalves, first_half, first_halves
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.methods.method import Found, Method, Search
from assistant.replay.metrics.measures import measured
from assistant.replay.runs.player import Player, played
from assistant.replay.runs.replay import Replay, Run
from assistant.replay.runs.replay_assistant import ReplayAssistant
from assistant.replay.runs.run_progress import Watch
from assistant.replay.runs.steps import AskedStep, Steps
from assistant.replay.storage.folder import STEPS
from assistant.replay.streams.datasets import ReplayQuestion
from assistant.wiring.parts.search import weights_at
from experiments.feedback import SimulatedFeedback, said_after
from experiments.methods import query2doc, query_rewrite
from experiments.methods.luf_variants import LufVariant, Remembers, losses_of, weights_of
from experiments.methods.query2doc import Query2Doc
from experiments.methods.query_rewrite import QueryRewrite
from experiments.methods.rafe import Rafe
from experiments.methods.simulated_writers import SimulatedDocuments, SimulatedRewrites
from experiments.methods.tent import Tent
from experiments.methods.writers import ChatWriter, Writer
from experiments.simulated_chat import SimulatedChat
from stores.base.errors import TryAgain, WrongUsage
from stores.learning.lessons import Lessons

_WRITERS: Mapping[str, tuple[Callable[[ChatModel], ChatWriter], Callable[..., Writer]]] = {
    "query2doc": (query2doc.chat_writer, SimulatedDocuments),
    "query-rewrite": (query_rewrite.chat_writer, SimulatedRewrites),
}


@dataclass(frozen=True)
class How:
    """What a replay of the product does not have."""

    answers: Literal["own", "simulated"] = "own"
    remembers: Remembers = "all"  # a training of luf is made of all lessons, or of those since the last one
    user_feedback: bool = False  # users say right, wrong and unrelated things after answers, which luf hears
    training: Mapping[str, Any] = field(default_factory=dict)  # settings of luf's training


class ComparedReplay(Replay):
    """Plays questions."""

    def __init__(self, *given: Any, how: How, **chat: Any) -> None:
        """how: besides the plan. given, chat: see `Replay`."""
        super().__init__(*given, **chat)
        self.how = how
        asking = [each for each in self.plan.played if each.kind in _WRITERS and not each.how]
        if asking and self._settings.model.backend == "extractive":
            hint = f"Set model.backend in settings.toml, or have its writer simulated: {asking[0].kind}:0.8"
            raise WrongUsage(f"{asking[0].kind} asks a chat model, and the settings name none", hint=hint)

    @cached_property
    def identity(self) -> dict[str, Any]:
        return super().identity | {"compared": asdict(self.how)}

    def _run(self, choice: MethodChoice, seed: int, folder: Path, watch: Watch, *, name: str) -> Steps:
        asked = self._streamed.questions(seed=seed, first=self.plan.first)
        if len(Steps(folder / STEPS).asked) < len(asked):
            shutil.rmtree(folder)
            folder.mkdir()
        return super()._run(choice, seed, folder, watch, name=name)

    def _hears(self, choice: MethodChoice) -> bool:
        return self.how.user_feedback and choice.kind == "luf"

    def _assistant(self, choice: MethodChoice, run: Run) -> ReplayAssistant:
        is_simulated = self.how.answers == "simulated"
        return self.over(
            run.store,
            learns=self._hears(choice),
            judge=self._judge(run),
            chat_model=SimulatedChat(run.questions, run.names) if is_simulated else None,
        )

    def _player(
        self,
        choice: MethodChoice,
        run: Run,
        assistant: ReplayAssistant,
        kind: Callable[..., Player] = Player,
    ) -> Player:
        if not self.how.user_feedback:
            return super()._player(choice, run, assistant, kind)
        said: Mapping[str, SimulatedFeedback] = {}
        if self._hears(choice):
            try:
                said = said_after(run.questions, seed=run.seed)
            except ValueError as error:
                raise WrongUsage(f"users cannot be simulated here: {error}") from error
        return super()._player(choice, run, assistant, partial(HearingPlayer, said))

    def _method(self, choice: MethodChoice, run: Run, assistant: ReplayAssistant) -> Method:
        if choice.kind == "luf":
            settings = {**self.plan.training, **weights_of(losses_of(choice.how)), **self.how.training}
            return self._luf(
                LufVariant,
                run,
                assistant,
                settings=settings | {"seed": run.seed},
                remembers=self.how.remembers,
                search_by=lambda folder, space: _search_by(assistant, folder, space),
            )
        if choice.kind in _WRITERS:
            writer = self._writer(choice, run, assistant)
            return Query2Doc(writer) if choice.kind == "query2doc" else QueryRewrite(writer)
        if choice.kind == "rafe":
            return Rafe(seed=run.seed)
        return self._tent(assistant) if choice.kind == "tent" else super()._method(choice, run, assistant)

    def _writer(self, choice: MethodChoice, run: Run, assistant: ReplayAssistant) -> Writer:
        make, simulated = _WRITERS[choice.kind]
        if choice.how:
            passages = self._streamed.passages
            return simulated(float(choice.how), run.seed, questions=run.questions, passages=passages)
        writer = make(assistant.models.chat_model_of(self._settings.model))  # one that nobody else asks
        run.at_end(writer.close)
        return writer

    def _tent(self, assistant: ReplayAssistant) -> Tent:
        os.environ.setdefault("OMP_NUM_THREADS", str(self.plan.threads))  # torch, which comes now, heeds it
        from assistant.learning.recipes.retriever.network import load_network
        from experiments.methods.entropy_minimisation import EntropyMinimisation

        source, encoder, stored = (
            self._settings.encoder.source,
            self._encoder,
            Lessons(assistant.stores.database),
        )
        network = load_network(weights_at(source) if source else None)
        dimension = first_half(encoder).dimension
        return Tent(
            AdaptingFirstHalf(EntropyMinimisation(network), encoder),
            lambda ids: first_halves(stored.vectors(ids, encoder.version), dimension),
        )


def _search_by(assistant: ReplayAssistant, folder: Path, space: SearchableSpace) -> Search:
    trained = assistant.search.searching_in(folder)
    for _ in trained.indexer.encode_everything():
        pass
    same: Any = space
    retrieval = assistant.given.settings.retrieval
    return Search(
        trained.encoder,
        same.by(trained.spaces),
        keep=retrieval.candidates,
        pool=retrieval.pool,
        fusion=assistant.search.fusion,
    )


class HearingPlayer(Player):
    """Has users speak after answers, in ordinary sessions; passages of the set are measured alone, too."""

    def __init__(self, said: Mapping[str, SimulatedFeedback], *given: Any, **how: Any) -> None:
        """said: by question id. given, how: see `Player`."""
        super().__init__(*given, **how)
        self._said = said

    def ask(self, question: ReplayQuestion) -> AskedStep:
        step = super().ask(question)
        if (said := self._said.get(question.id)) is not None:
            user_id = self.assistant.stores.journal.user_id(question.user)
            played(self.assistant, user_id, self.assistant.stores.journal.open_session(user_id), said.message)
            if reasons := self.assistant.remember(user_id):
                raise TryAgain(f"what a user says cannot be remembered: {reasons[0]}")
        return step

    def figures(
        self, question: ReplayQuestion, found: Found, reranked: Sequence[Candidate], reply: str
    ) -> dict[str, float]:
        """As if what users said meanwhile stood apart, besides: R@5 "of the set"."""
        orders = {"dense": found.dense, "fused": found.candidates, "reranked": reranked}
        of_set = {name: [each for each in self.named(order) if each[0]] for name, order in orders.items()}
        alone = measured(question, **of_set, reply="", tokens=0)
        return super().figures(question, found, reranked, reply) | {
            f"{name} of the set": alone[name] for name in alone if name in {f"{each} R@5" for each in orders}
        }


class AdaptingFirstHalf:
    """Adapts what can be trained of an encoder, and encodes with the whole."""

    def __init__(self, adapting: Any, encoder: Encoder) -> None:
        self._adapting, self._encoder = adapting, encoder

    def encode(self, texts: Sequence[str]) -> Vectors:
        first: Vectors = self._adapting.encode(texts)
        return self._encoder.beside(first, texts) if isinstance(self._encoder, TwoHalves) else first

    def step(self, texts: Sequence[str], documents: Sequence[Vectors]) -> float:
        """See `Adapting`; documents: as vectors of the first half."""
        entropy: float = self._adapting.step(texts, documents)
        return entropy
