"""A replay in a folder of its own: begun, gone on with, by one process at a time.

What lies in the folder has its names in `storage.folder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

from filelock import FileLock, Timeout

from assistant.replay.methods.choice import MethodChoice
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.run_progress import Watch
from assistant.replay.runs.steps import Steps
from assistant.replay.storage.folder import (
    ENDS_WITHIN_SECONDS,
    LOCK,
    PLAN,
    PLAN_IN_WRITING,
    RUNS,
    check_folder,
    forget_replay,
    run_name,
)
from assistant.replay.storage.line_file import encoded
from assistant.scale.spread import spread, workers_of
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from stores.base.errors import StoreUnavailable, WrongUsage

FORMAT = 3  # of what a replay leaves behind

NamedRun: TypeAlias = tuple[MethodChoice, int, str]  # its seed, and its name for whoever watches


class InFolder(ABC):
    """Plays a plan in a folder."""

    def __init__(self, plan: ReplayPlan, folder: Path, live: Locations, settings: Settings) -> None:
        """live: of the chat, whose downloads are used and whose data is not touched."""
        if live.data == folder.resolve() or live.data in folder.resolve().parents:
            raise WrongUsage(
                f"{folder} is in the data directory of the chat", hint="Name another folder with --out."
            )
        self.plan, self._folder, self._live, self._settings = plan, folder, live, settings

    def __getstate__(self) -> dict[str, Any]:
        """Without what was loaded or reckoned: a worker does that where it is."""
        kind = type(self)
        return {
            n: v for n, v in vars(self).items() if not isinstance(getattr(kind, n, None), cached_property)
        }

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """All that the figures hang on, fit to be shown: nothing in it names this machine."""

    @abstractmethod
    def _run(self, choice: MethodChoice, seed: int, folder: Path, watch: Watch, *, name: str) -> Steps:
        """folder: of the run. name: of it, for whoever watches."""

    def run_alone(self, run: NamedRun, watch: Watch) -> Steps:
        """One run to its end, by one process at a time. Raises as `play`."""
        choice, seed, name = run
        folder = self._folder / RUNS / run_name(choice.label, seed)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(folder / LOCK, timeout=ENDS_WITHIN_SECONDS):
                return self._run(choice, seed, folder, watch, name=name)
        except Timeout:
            raise StoreUnavailable(
                f"{folder} is being played by another process", hint="Wait for it, or end it."
            ) from None

    def begin_anew(self) -> None:
        """Deletes what an earlier replay left in the folder, and puts this plan in place of its.

        Raises as `play`.
        """
        with self._alone():
            forget_replay(self._folder)
            self._write_plan()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        check_folder(self._folder)  # before the lock, which is written there
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._folder / LOCK, timeout=0):
                yield
        except Timeout:
            raise StoreUnavailable(
                f"{self._folder} is being played by another process", hint="Wait for it, or end it."
            ) from None

    def play(self, watch: Watch = lambda what, done, of: None) -> dict[tuple[str, int], Steps]:
        """Every run to its end, in a fixed order; the steps of each, by label and seed. Repeated, it goes on.

        Raises `WrongUsage` where the folder holds another replay or other things, `StoreUnavailable` where a
        replay is going on there.
        """
        with self._alone():
            self._check_plan()
            pairs = [(choice, seed) for seed in self.plan.seeds for choice in self.plan.played]
            runs: list[NamedRun] = []
            for number, (choice, seed) in enumerate(pairs, start=1):
                of_all = f" ({number} of {len(pairs)})" if len(pairs) > 1 else ""
                runs.append((choice, seed, f"{choice.label}, seed {seed}{of_all}"))
            if self._settings.scale.engine != "here":
                self._play_by_workers(runs, watch)
            return {(run[0].label, run[1]): self.run_alone(run, watch) for run in runs}

    def _play_by_workers(self, runs: Sequence[NamedRun], watch: Watch) -> None:
        """Each run by one; they are done then, and only to be read."""
        scale = replace(self._settings.scale, workers=min(workers_of(self._settings.scale), len(runs)))
        models = (self._settings.model, *self._settings.models.values())
        asks_server = any(model.backend == "openai" for model in models)
        with closing(spread(partial(_playing, self), scale, ahead=1, needs_key=asks_server)) as workers:
            watch("runs", 0, len(runs))
            for done, _ in enumerate(workers.over(runs), start=1):
                watch("runs", done, len(runs))

    def _check_plan(self) -> None:
        file = self._folder / PLAN
        if not file.exists():
            self._write_plan()
        elif file.read_bytes() != encoded(self.identity):
            raise WrongUsage(
                f"{self._folder} holds another replay",
                hint="Name another folder, or begin anew with --fresh.",
            )

    def _write_plan(self) -> None:
        written = self._folder / PLAN_IN_WRITING
        written.write_bytes(encoded(self.identity))
        written.replace(self._folder / PLAN)  # whole, or as it was


def _playing(replay: InFolder) -> Callable[[NamedRun], None]:
    """What a worker does, made where it works: plays a run, whose steps lie in the folder."""

    def play(run: NamedRun) -> None:
        replay.run_alone(run, lambda what, done, of: None)

    return play
