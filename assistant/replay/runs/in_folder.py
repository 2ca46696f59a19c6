"""A replay in a folder of its own: begun, gone on with, by one process at a time.

What lies in the folder has its names in `storage.folder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from assistant.replay.methods.choice import MethodChoice
from assistant.replay.runs.plan import ReplayPlan
from assistant.replay.runs.run_progress import Watch
from assistant.replay.runs.steps import Steps
from assistant.replay.storage.folder import LOCK, PLAN, PLAN_IN_WRITING, check_folder, forget_replay
from assistant.replay.storage.line_file import encoded
from assistant.settings.locations import Locations
from stores.base.errors import StoreUnavailable, WrongUsage

FORMAT = 3  # of what a replay leaves behind


class InFolder(ABC):
    """Plays a plan in a folder."""

    def __init__(self, plan: ReplayPlan, folder: Path, live: Locations) -> None:
        """live: of the chat, whose downloads are used and whose data is not touched."""
        if live.data == folder.resolve() or live.data in folder.resolve().parents:
            raise WrongUsage(
                f"{folder} is in the data directory of the chat", hint="Name another folder with --out."
            )
        self.plan, self._folder, self._live = plan, folder, live

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """All that the figures hang on, fit to be shown: nothing in it names this machine."""

    @abstractmethod
    def _run(self, choice: MethodChoice, seed: int, watch: Watch, *, name: str) -> Steps:
        """name: of the run, for whoever watches."""

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
            runs = [(choice, seed) for seed in self.plan.seeds for choice in self.plan.played]
            played: dict[tuple[str, int], Steps] = {}
            for number, (choice, seed) in enumerate(runs, start=1):
                of_all = f" ({number} of {len(runs)})" if len(runs) > 1 else ""
                name = f"{choice.label}, seed {seed}{of_all}"
                played[choice.label, seed] = self._run(choice, seed, watch, name=name)
            return played

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
