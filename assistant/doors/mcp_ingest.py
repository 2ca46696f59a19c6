"""Documents that an agent has read, in the background, from folders that a person named."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from assistant.library.documents import find_documents
from stores.base.errors import NotFound, VouchError, WrongUsage
from vouch import Vouch

_MOST_PROBLEMS = 20  # that are told


@dataclass(frozen=True)
class IngestStatus:
    """How far an ingest is."""

    handle: int
    path: str
    state: Literal["running", "done", "failed"]
    documents: int = 0
    passages: int = 0
    problems: tuple[str, ...] = ()  # what could not be read, and why


class Ingesting:
    """One after another, on a thread of its own; what is stored stays when it ends early."""

    def __init__(self, vouch: Vouch, folders: Sequence[Path]) -> None:
        """folders: which alone may be read from."""
        self._vouch = vouch
        self._folders = [folder.resolve() for folder in folders]
        self._status: list[IngestStatus] = []
        self._one_at_a_time = threading.Lock()

    def begin(self, path: str) -> IngestStatus:
        """Begins to read a file or folder. Raises `WrongUsage` for what is not in the folders."""
        try:
            place = self._folders[0] / Path(path).expanduser()
            self._check(place)
        except (OSError, ValueError, RuntimeError):  # RuntimeError: of ~nobody
            raise WrongUsage(f"{path[:80]!r} is no name of a file") from None
        status = IngestStatus(len(self._status) + 1, str(place), "running")
        self._status.append(status)
        threading.Thread(target=self._read, args=(status, place), name="ingest", daemon=True).start()
        return status

    def status(self, handle: int) -> IngestStatus:
        """How far it is. Raises `NotFound`."""
        if not 0 < handle <= len(self._status):
            raise NotFound(f"there is no ingest {handle}", hint="Give the handle that `ingest` returned.")
        return self._status[handle - 1]

    def _check(self, place: Path) -> None:
        """Links are followed, so every file that is found must lie within, and the place itself first."""
        outside = [file for file in [place] if not self._is_within(file.resolve())]
        if not outside:
            outside = [file for file in find_documents([place]).files if not self._is_within(file.resolve())]
        if outside:
            named = ", ".join(map(str, self._folders))
            raise WrongUsage(f"{outside[0]} is not in a folder that may be read: {named}")
        if not place.exists():
            raise WrongUsage(f"{place} does not exist")

    def _is_within(self, real: Path) -> bool:
        return any(real.is_relative_to(folder) for folder in self._folders)

    def _read(self, status: IngestStatus, place: Path) -> None:
        with self._one_at_a_time:
            try:
                self._check(place)  # again: it may have waited, and a link may lead elsewhere by now
                became = self._vouch.ingest(place)
            except VouchError as error:
                status = replace(status, state="failed", problems=(error.message,))
            except Exception as error:  # noqa: BLE001 - whatever it is, the agent that asks is told
                status = replace(status, state="failed", problems=(type(error).__name__,))
            else:
                read = [each for each in became if each.change != "unread"]
                problems = tuple(each.problem for each in became if each.change == "unread")
                status = replace(
                    status,
                    state="done",
                    documents=len(read),
                    passages=sum(each.passages for each in read),
                    problems=problems[:_MOST_PROBLEMS],
                )
        self._status[status.handle - 1] = status
