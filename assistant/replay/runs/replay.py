"""A whole replay: every method and seed over one stream, each a run with a store of its own.

What lies in its folder has its names in `replay_files`. The filled stores, which hang on the passages and
the encoder alone, lie in a folder that all replays share.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from filelock import FileLock

from agents.base.chat_interfaces import ChatModel
from agents.base.interfaces import Encoder, Judge
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.two_halves import first_half, first_halves, with_first_half
from agents.models.reader_files import SMALL, ReaderDescription
from assistant.learning.recipes.retriever.recipe import weights_at
from assistant.replay.methods.choice import MethodChoice, MethodParts, make_method
from assistant.replay.runs.in_folder import FORMAT, InFolder
from assistant.replay.runs.inputs import Streamed
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.player import Player
from assistant.replay.runs.recorded_chat import RecordedChat, Recording
from assistant.replay.runs.replay_assistant import (
    FILLED_AT,
    ReplayAssistant,
    ReplayClock,
    own_locations,
    own_settings,
)
from assistant.replay.runs.run_progress import RunProgress, Watch, told_to
from assistant.replay.runs.steps import Steps
from assistant.replay.simulation.chat_judge import ChatJudge
from assistant.replay.simulation.chat_model import SimulatedChat
from assistant.replay.simulation.participants import SimulatedFeedback, SimulatedJudge, Truth, gold_truth
from assistant.replay.storage.data_set_store import (
    Names,
    filled,
    forget_copies,
    keep_memory,
    put_memory_back,
    store_key,
)
from assistant.replay.storage.folder import (
    MODEL,
    REPLIES,
    RUNS,
    STEPS,
    STORE,
    STORE_IN_MAKING,
    TRAINED,
    run_name,
)
from assistant.replay.streams.datasets import ReplayQuestion
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from stores.base.errors import WrongUsage
from stores.base.passages import Passage
from stores.learning.lessons import Lessons

_OF_THE_MODEL = ("backend", "name", "max_tokens", "context_tokens", "temperature")  # what its replies hang on


class Replay(InFolder):
    """Plays questions."""

    # What simulated users say after answers; none in the product: experiments/replay.py gives it
    said_after: ClassVar[Callable[..., Mapping[str, SimulatedFeedback]] | None] = None

    def __init__(
        self,
        plan: ReplayPlan,
        streamed: Streamed,
        folder: Path,
        *,
        settings: Settings,
        live: Locations,
        api_key: str = "",
        offline: bool = False,
        replies: Path | None = None,
    ) -> None:
        """live: of the chat, whose downloads are used and whose data is not touched. replies: a recording."""
        super().__init__(plan, folder, live)
        self._streamed, self._settings = streamed, settings
        self._api_key, self._offline = api_key, offline
        asks = settings.model.backend != "extractive"
        if not asks and (plan.judge == "model" or any(choice.writes for choice in plan.played)):
            raise WrongUsage(
                "this replay asks a chat model, and the settings name none",
                hint="Set model.backend, or choose --judge reader or simulated.",
            )
        self._replies = replies or folder / REPLIES

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the figures hang on, fit to be shown: nothing in it names this machine."""
        settings, plan = self._own_settings(learns=False), self.plan
        judge = {"kind": plan.judge} | ({"accuracy": plan.accuracy} if plan.judge == "simulated" else {})
        return {
            "format": FORMAT,
            "vouch": metadata.version("vouch"),
            "data": {
                "names": list(self._streamed.names),
                "sha256": self._streamed.sha256(),
                "passages": len(self._streamed.passages),
                "questions": sum(map(len, self._streamed.parts)),
            },
            "methods": [choice.label for choice in plan.played],
            "judge": judge,
            "answers": plan.answers,
            "interval": plan.interval,
            "remembers": plan.remembers,
            "seeds": list(plan.seeds),
            "order": plan.order,
            "first": plan.first,
            "user_feedback": plan.user_feedback,
            "training": dict(plan.training),
            "threads": plan.threads,
            "encoder": self._encoder.version,
            "reader": ReaderDescription.read(SMALL).version,
            "model": {name: getattr(settings.model, name) for name in _OF_THE_MODEL},
            "retrieval": asdict(settings.retrieval),
            "reranking": asdict(settings.reranking),
            "answer": asdict(settings.answer),
            "memory": {**asdict(settings.memory), "learn": plan.user_feedback},
        }

    def _run(
        self, choice: MethodChoice, seed: int, watch: Watch, *, name: str, earlier: Sequence[Steps]
    ) -> Steps:
        """name: of the run, for whoever watches. earlier: runs of the same method."""
        questions = self._streamed.questions(order=self.plan.order, seed=seed, first=self.plan.first)
        folder = self._folder / RUNS / run_name(choice.label, seed)
        folder.mkdir(parents=True, exist_ok=True)
        steps = Steps(folder / STEPS)
        if len(steps.asked) == len(questions):
            return steps
        hears = self.plan.user_feedback and choice.kind == "luf"
        store = self._store_of_run(folder, steps, watch, changes=hears)
        run = _Run(self, store, questions, seed)
        progress = RunProgress(
            watch,
            name,
            steps,
            questions=len(questions),
            interval=self.plan.interval,
            is_trained=choice.kind == "luf",
            grows=self.plan.remembers == "all",
            earlier=earlier,
        )
        with ExitStack() as at_end:
            at_end.callback(run.close)
            assistant = run.assistant(learns=hears)
            at_end.callback(assistant.close)
            assistant.catch_up()
            parts = self._parts(assistant, folder, questions, seed, at_end.callback, hears=hears)
            parts = replace(parts, train=partial(told_to, progress.trains, parts.train))
            player = Player(
                assistant,
                make_method(choice, parts),
                run.questions,
                names=run.names,
                steps=steps,
                interval=self.plan.interval,
                feedback=self._said(questions, seed) if hears else None,
                users_speak=self.plan.user_feedback,
                learns_by_searching=choice.learns_by_searching,
                keep_memory=lambda done: (
                    keep_memory(assistant.stores.database, folder, done) if hears else None
                ),
            )
            player.play(progress.asked)
        for left in (STORE, TRAINED):
            shutil.rmtree(folder / left, ignore_errors=True)
        forget_copies(folder)
        return steps

    def _said(self, questions: Sequence[ReplayQuestion], seed: int) -> Mapping[str, SimulatedFeedback]:
        assert self.said_after is not None, "nobody speaks in the product's own replays"
        try:
            return self.said_after(questions, seed=seed)
        except ValueError as error:
            raise WrongUsage(f"users cannot be simulated here: {error}") from error

    # Stores

    def _store_of_run(self, folder: Path, steps: Steps, watch: Watch, *, changes: bool) -> Path:
        """The run's own store as it was behind the last step; steps that it has not seen are taken back."""
        store = folder / STORE
        if changes:
            shutil.rmtree(store, ignore_errors=True)
        if not store.exists():
            shutil.rmtree(making := folder / STORE_IN_MAKING, ignore_errors=True)
            shutil.copytree(self._filled_store(watch), making)
            making.rename(store)
        if changes:
            done = put_memory_back(folder, store / "vouch.db")
            steps.go_back(asked=done, learned=done // self.plan.interval if self.plan.interval else 0)
        return store

    def _filled_store(self, watch: Watch) -> Path:
        stores = self._live.cache / "replay-stores"
        stores.mkdir(parents=True, exist_ok=True)
        place = stores / store_key(self._streamed.passages, self._encoder.version)
        with FileLock(f"{place}.lock"):
            return filled(
                place,
                self._streamed.passages,
                lambda folder: self.over(folder),
                clock=ReplayClock(FILLED_AT),
                tell=watch,
            )

    # Parts

    def over(
        self,
        folder: Path,
        *,
        learns: bool = False,
        judge: Judge | None = None,
        chat_model: ChatModel | None = None,
    ) -> ReplayAssistant:
        """The chat's own parts over a store."""
        return ReplayAssistant(
            self._own_settings(learns=learns),
            own_locations(self._live, folder),
            judge=judge,
            chat_model=chat_model,
            api_key=self._api_key,
            offline=self._offline,
        )

    def chat(self) -> RecordedChat:
        """The chat model of the settings, for one user of it, over the recording."""
        model = self._settings.model

        def make() -> ChatModel:
            locations = own_locations(self._live, self._folder / MODEL)
            other = Assistant(self._settings, locations, api_key=self._api_key, offline=self._offline)
            return other.models.chat_model

        return RecordedChat(self._recording, make, name=f"{model.backend} {model.label}")

    @property
    def asks_a_model(self) -> bool:
        """Replies are written by a chat model."""
        return self._settings.model.backend != "extractive"

    @property
    def broken_replies(self) -> Sequence[int]:
        """The numbers of the recording's lines that cannot be read, from 1."""
        return self._recording.broken

    @cached_property
    def _recording(self) -> Recording:
        return Recording(self._replies)

    @cached_property
    def _encoder(self) -> Encoder:
        return self.over(self._folder / MODEL).search.wanted_encoder

    def _own_settings(self, *, learns: bool) -> Settings:
        judge = "reader" if self.plan.judge == "reader" else ""
        return own_settings(self._settings, learns=learns, min_judged=self.plan.min_judged, judge=judge)

    def _parts(
        self,
        assistant: ReplayAssistant,
        folder: Path,
        questions: Sequence[ReplayQuestion],
        seed: int,
        at_end: Callable[[Callable[[], None]], object],
        *,
        hears: bool,
    ) -> MethodParts:
        encoder, source = self._encoder, self._settings.encoder.source
        trained = first_half(encoder)
        stored = Lessons(assistant.stores.database)
        return MethodParts(
            folder=folder / TRAINED,
            vectors_of=lambda ids: first_halves(stored.vectors(ids, encoder.version), trained.dimension),
            dimension=trained.dimension,
            start=weights_at(source) if source else None,
            encoder=encoder,
            load=lambda made: with_first_half(encoder, OnnxEncoder(made, threads=1)),
            chat=self.chat,
            at_end=at_end,
            seed=seed,
            training=self.plan.training,
            threads=self.plan.threads,
            hears_users=hears,
            remembers=self.plan.remembers,
            questions=questions,
            passages=self._streamed.passages,
        )


class _Run:
    """What one run has of its own."""

    def __init__(self, replay: Replay, store: Path, questions: Sequence[ReplayQuestion], seed: int) -> None:
        self._replay, self._store, self._seed = replay, store, seed
        self.names = Names.of_store(store)
        self.questions = [self.names.as_stored(question) for question in questions]
        self._chat_judge: ChatJudge | None = None

    def assistant(self, *, learns: bool) -> ReplayAssistant:
        return self._replay.over(
            self._store, learns=learns, judge=self._judge(), chat_model=self._chat_model()
        )

    def close(self) -> None:
        if self._chat_judge is not None:
            self._chat_judge.close()

    def _judge(self) -> Judge | None:
        plan = self._replay.plan
        if plan.judge == "simulated":
            truth = _truth(self.questions, self.names)
            return SimulatedJudge(plan.accuracy, self._seed, is_relevant=truth, blurs="verdict")
        if plan.judge == "model":
            self._chat_judge = ChatJudge(self._replay.chat())
            return self._chat_judge
        return None

    def _chat_model(self) -> ChatModel | None:
        if self._replay.plan.answers == "simulated":
            return SimulatedChat(self.questions, self.names)
        return self._replay.chat() if self._replay.asks_a_model else None


def _truth(questions: Sequence[ReplayQuestion], names: Names) -> Truth:
    """Gold by the names of the data set; nothing is relevant to what is no question of the stream."""
    known, is_gold = {question.text for question in questions}, gold_truth(questions)

    def is_relevant(text: str, passage: Passage) -> bool:
        return text in known and is_gold(text, names.named(passage))

    return is_relevant
