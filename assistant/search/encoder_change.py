"""From the live encoder to the one that the settings name.

    encode everything beside the old vectors -> fill the new version's shared index -> swap the pointer

Until the swap search goes on with the old version. Killed or stopped at any point, what was encoded is
kept, and the next try goes on from there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event, Thread

from assistant.process.log import fields
from assistant.search.searching import Searching
from stores.base.errors import VouchError
from stores.search.encoder_versions import EncoderVersion, EncoderVersions

_log = logging.getLogger(__name__)
_MEASURED = 16  # texts whose time tells how long all will take
_IN_BACKGROUND = 32  # texts between two looks whether to stop


@dataclass(frozen=True)
class Cost:
    """What changing the encoder will cost."""

    passages: int  # to be encoded
    seconds: float
    megabytes: float  # of vectors, in the database

    def told(self) -> str:
        """As a person reads it."""
        minutes = self.seconds / 60
        time_needed = f"{self.seconds:.0f} seconds" if self.seconds < 90 else f"{minutes:.0f} minutes"
        return f"{self.passages:,} passages to encode, about {time_needed} and {self.megabytes:.0f} MB"


class EncoderChange:
    """The change to a new encoder version."""

    def __init__(
        self, versions: EncoderVersions, new: EncoderVersion, searching: Callable[[], Searching]
    ) -> None:
        """searching: by the new version, made when there is something to encode."""
        self._versions = versions
        self.new = new
        self._searching = searching

    def missing(self) -> int:
        """How many live passages have no vector of the new version yet."""
        return self._versions.missing(self.new.version)

    def cost(self) -> Cost:
        """What is left to do, judged by encoding the first few for good."""
        began = time.monotonic()
        done = next(self._searching().indexer.encode_everything(at_once=_MEASURED), 0)
        seconds = time.monotonic() - began
        missing = self.missing()
        return Cost(
            missing,
            missing * seconds / done if done else 0.0,
            missing * self.new.dimension * 4 / 1e6,
        )

    def build(self, *, at_once: int | None = None) -> Iterator[int]:
        """Does it; yields how many passages were encoded or indexed each time. Ends with the swap."""
        searching = self._searching()
        while True:
            newest_job = self._versions.newest_job()
            yield from searching.indexer.encode_everything(at_once=at_once)
            if self._needs_index(searching):
                yield from searching.shared_index.fill(known_job=newest_job)
            if self._versions.make_live(self.new):
                _log.info("encoder changed", extra=fields(encoder=self.new.version))
                return

    def _needs_index(self, searching: Searching) -> bool:
        with searching.spaces.database.reading() as sql:
            return searching.shared_index.is_wanted(sql) and not searching.shared_index.is_filled(sql)


class BackgroundChange:
    """Makes the change on a thread of its own, step by step, while a person chats."""

    def __init__(self, change: EncoderChange, tell: Callable[[str], None]) -> None:
        """tell: is given a sentence when it is done or cannot be."""
        self._change = change
        self._tell = tell
        self._should_stop = Event()
        self._thread = Thread(target=self._run, name="encoder change", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the step in progress; the next start goes on from there."""
        self._should_stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            for _ in self._change.build(at_once=_IN_BACKGROUND):
                if self._should_stop.is_set():
                    return
        except VouchError as error:
            self._tell(f"The encoder was not changed: {error.message}")
            _log.warning("encoder not changed", extra=fields(error=type(error).__name__))
        except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
            self._tell(f"The encoder was not changed ({type(error).__name__}); the log tells more.")
            _log.exception("encoder not changed")
        else:
            self._tell(f"From the next message on, search uses the encoder {self._change.new.version}.")
