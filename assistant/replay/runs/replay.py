"""A whole replay: every method and seed over one stream, each a run with a store of its own.

What lies in its folder has its names in `storage.folder`. The filled stores, which hang on the passages and
the encoder alone, lie in a folder that all replays share.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock

from agents.base.chat_interfaces import ChatModel
from agents.base.interfaces import Encoder, Judge
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.two_halves import first_half, first_halves, with_first_half
from agents.models.reader_files import SMALL, ReaderDescription
from agents.retrieval.reader_judge import ReaderJudge
from agents.retrieval.score_judge import ScoreJudge
from assistant.learning.recipes.collections.recipe import PROGRAM as OF_COLLECTIONS
from assistant.learning.recipes.judge.recipe import PROGRAM
from assistant.learning.training_process import Further
from assistant.replay.methods.choice import CAUTIOUS, EVO, FLOWRAG, MethodChoice
from assistant.replay.methods.evo import Evo
from assistant.replay.methods.flowrag import Flowrag
from assistant.replay.methods.luf import Luf
from assistant.replay.methods.method import Frozen, Method
from assistant.replay.methods.simulated_judge import SimulatedJudge, Truth, gold_truth
from assistant.replay.runs.in_folder import FORMAT, InFolder
from assistant.replay.runs.inputs import Streamed
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.player import Player
from assistant.replay.runs.replay_assistant import (
    FILLED_AT,
    MIN_JUDGED,
    ReplayAssistant,
    ReplayClock,
    own_locations,
    own_settings,
)
from assistant.replay.runs.run_progress import RunProgress, Watch
from assistant.replay.runs.steps import Steps
from assistant.replay.storage.data_set_store import Names, filled, store_key
from assistant.replay.storage.folder import MODEL, STEPS, STORE, STORE_IN_MAKING, TRAINED
from assistant.replay.streams.datasets import ReplayQuestion
from assistant.settings.config import TRAINED_JUDGE, Settings
from assistant.settings.identity import key_for
from assistant.settings.locations import Locations
from assistant.wiring.parts.search import weights_at
from stores.base.passages import Passage
from stores.learning.lessons import Lessons

_OF_THE_MODEL = ("backend", "name", "max_tokens", "context_tokens", "temperature")  # what its replies hang on


@dataclass(frozen=True)
class Run:
    """What one run has of its own."""

    folder: Path
    store: Path
    names: Names
    questions: Sequence[ReplayQuestion]  # as they are stored
    steps: Steps
    seed: int
    progress: RunProgress
    at_end: Callable[[Callable[[], None]], object]  # is given what gives back what is held


class Replay(InFolder):
    """Plays questions."""

    def __init__(
        self,
        plan: ReplayPlan,
        streamed: Streamed,
        folder: Path,
        *,
        settings: Settings,
        live: Locations,
        offline: bool = False,
    ) -> None:
        """live: of the chat, whose downloads are used and whose data is not touched."""
        super().__init__(plan, folder, live, settings)
        self._streamed, self._offline = streamed, offline

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the figures hang on, fit to be shown: nothing in it names this machine."""
        settings, plan = self._own_settings(learns=False), self.plan
        kind = "users" if self._trains_judge else plan.judge
        judge: dict[str, Any] = {"kind": kind} | ({"accuracy": plan.accuracy} if kind != "reader" else {})
        reranking = asdict(settings.reranking)
        folder = Path(reranking.pop("judge_model")).expanduser()  # names this machine
        if self._trains_judge:
            from agents.models.networks.judge_model import base_version

            judge["model"] = base_version(folder)
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
            "interval": plan.interval,
            **({"by_sets": True} if plan.is_by_sets else {}),
            "seeds": list(plan.seeds),
            "first": plan.first,
            "training": dict(plan.training),
            "threads": plan.threads,
            "encoder": self._encoder.version,
            "reader": ReaderDescription.read(SMALL).version,
            "model": {name: getattr(settings.model, name) for name in _OF_THE_MODEL},
            "retrieval": asdict(settings.retrieval),
            "reranking": reranking,
            "answer": asdict(settings.answer),
            "memory": asdict(settings.memory),
        }

    def _run(self, choice: MethodChoice, seed: int, folder: Path, watch: Watch, *, name: str) -> Steps:
        questions = self._streamed.questions(seed=seed, first=self.plan.first)
        steps = Steps(folder / STEPS)
        if len(steps.asked) == len(questions) and len(steps.learned) >= len(self._ends):
            return steps
        store = self._store_of_run(folder, watch)
        names = Names.of_store(store)
        asked = [names.as_stored(question) for question in questions]
        progress = RunProgress(watch, name, questions=len(questions), interval=self.plan.interval)
        with ExitStack() as at_end:
            run = Run(folder, store, names, asked, steps, seed, progress, at_end.callback)
            assistant = at_end.enter_context(closing(self._assistant(choice, run)))
            assistant.catch_up()
            self._player(choice, run, assistant).play(progress.asked)
        for left in (STORE, TRAINED):
            shutil.rmtree(folder / left, ignore_errors=True)
        return steps

    # Stores

    def _store_of_run(self, folder: Path, watch: Watch) -> Path:
        store = folder / STORE
        if not store.exists():
            shutil.rmtree(making := folder / STORE_IN_MAKING, ignore_errors=True)
            shutil.copytree(self._filled_store(watch), making)
            making.rename(store)
        return store

    def _filled_store(self, watch: Watch) -> Path:
        stores = self._live.cache / "replay-stores"
        stores.mkdir(parents=True, exist_ok=True)
        passages, sets = self._streamed.passages, self._streamed.collections if self.plan.is_by_sets else {}
        place = stores / store_key(passages, self._encoder.version, sets)
        with FileLock(f"{place}.lock"):
            clock = ReplayClock(FILLED_AT)
            return filled(place, passages, self.over, clock=clock, collections=sets, tell=watch)

    # Parts

    def over(
        self,
        folder: Path,
        *,
        learns: bool = False,
        judge: Judge | None = None,
        chat_model: ChatModel | None = None,
    ) -> ReplayAssistant:
        """The chat's own parts over a store. Its model's key is that of the machine where it runs."""
        return ReplayAssistant(
            self._own_settings(learns=learns),
            own_locations(self._live, folder),
            judge=judge,
            chat_model=chat_model,
            api_key=key_for(self._settings, self._settings.model, os.environ),
            offline=self._offline,
        )

    @cached_property
    def _encoder(self) -> Encoder:
        return self.over(self._folder / MODEL).search.wanted_encoder

    def _own_settings(self, *, learns: bool) -> Settings:
        judge = "reader" if self.plan.judge == "reader" else ""
        judge = TRAINED_JUDGE if self._trains_judge else judge
        return own_settings(self._settings, learns=learns, min_judged=MIN_JUDGED, judge=judge)

    def _assistant(self, _choice: MethodChoice, run: Run) -> ReplayAssistant:
        """What answers in a run."""
        return self.over(run.store, judge=self._judge(run))

    def _judge(self, run: Run) -> Judge | None:
        if self.plan.judge == "reader" or self._trains_judge:
            return None  # that of the settings
        return self._users(run)

    def _users(self, run: Run) -> SimulatedJudge:
        truth = _truth(run.questions, run.names)
        return SimulatedJudge(self.plan.accuracy, run.seed, is_relevant=truth)

    @property
    def _trains_judge(self) -> bool:
        return any(choice.kind in (EVO, CAUTIOUS) for choice in self.plan.played)

    def _player(
        self,
        choice: MethodChoice,
        run: Run,
        assistant: ReplayAssistant,
        kind: Callable[..., Player] = Player,
    ) -> Player:
        return kind(
            assistant,
            self._method(choice, run, assistant),
            run.questions,
            names=run.names,
            steps=run.steps,
            interval=self.plan.interval,
            ends=self._ends,
        )

    @property
    def _ends(self) -> tuple[int, ...]:
        """After how many questions a method learns; none where it does after intervals."""
        return self._streamed.ends(first=self.plan.first) if self.plan.is_by_sets else ()

    def _method(self, choice: MethodChoice, run: Run, assistant: ReplayAssistant) -> Method:
        """One that has learned nothing yet."""
        if choice.kind in (EVO, CAUTIOUS):
            is_cautious = choice.kind == CAUTIOUS
            judges = (ReaderJudge(assistant.models.readings), ScoreJudge()) if is_cautious else ()
            return self._evo(run, assistant, judges)
        if choice.kind == FLOWRAG:
            return self._flowrag(run, assistant)
        return self._luf(Luf, run, assistant) if choice.kind == "luf" else Frozen()

    def _evo(self, run: Run, assistant: ReplayAssistant, judges: Sequence[Judge]) -> Evo:
        options = ("--base", str(assistant.models.judge_folder))
        return Evo(
            run.folder / TRAINED,
            interval=self.plan.interval,
            training=Further(PROGRAM, {"seed": run.seed}, self.plan.threads, options),
            users=self._users(run),
            judges=judges,
            use=assistant.models.judge_with,
            tell=run.progress.trains,
        )

    def _flowrag(self, run: Run, assistant: ReplayAssistant) -> Flowrag:
        search, source = assistant.search, self._settings.encoder.source
        return Flowrag(
            run.folder / TRAINED,
            ends=self._ends,
            training=Further(OF_COLLECTIONS, {"seed": run.seed}, self.plan.threads),
            vectors=search.adapted_vectors,
            start=weights_at(source) if source else None,
            read=lambda made: search.adapted_in(made, self._encoder.version),
            tell=run.progress.trains,
        )

    def _luf(self, kind: Callable[..., Luf], run: Run, assistant: ReplayAssistant, **how: Any) -> Luf:
        """A `Luf`. how: what is not as the plan has it."""
        encoder, source = self._encoder, self._settings.encoder.source
        trained, stored = first_half(encoder), Lessons(assistant.stores.database)
        given = {
            "dimension": trained.dimension,
            "settings": {**self.plan.training, "seed": run.seed},
            "threads": self.plan.threads,
            "start": weights_at(source) if source else None,
            "load": lambda made: with_first_half(encoder, OnnxEncoder(made, threads=1)),
            "tell": run.progress.trains,
        }
        return kind(
            lambda ids: first_halves(stored.vectors(ids, encoder.version), trained.dimension),
            run.folder / TRAINED,
            **given | how,
        )


def _truth(questions: Sequence[ReplayQuestion], names: Names) -> Truth:
    """Gold by the names of the data set; nothing is relevant to what is no question of the stream."""
    known, is_gold = {question.text for question in questions}, gold_truth(questions)

    def is_relevant(text: str, passage: Passage) -> bool:
        return text in known and is_gold(text, names.named(passage))

    return is_relevant
