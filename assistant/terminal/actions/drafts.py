"""What was typed and not sent, kept by session until it is sent or taken away."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from assistant.settings.locations import make_private_directory

NEW = "new"  # of a session in which nothing was said yet: the next new one takes it over


def unsent(draft: str, accepted: str) -> str:
    """A draft without the message that was accepted last, as a killed program may leave it in front."""
    if draft.strip() == accepted.strip():
        return ""
    return draft.removeprefix(f"{accepted}\n\n") if accepted else draft


class Drafts:
    """A file for each draft in the state directory, readable by its owner alone."""

    def __init__(self, state: Path, data: Path, user: str) -> None:
        """data, user: whose drafts they are; those of another data directory are not mixed with them."""
        whose = hashlib.sha256(f"{data}\n{user}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._folder = state / "drafts" / whose
        self._lock = Lock()  # of the files
        self._begun: dict[str, int] = {}  # how often each was to be kept

    def read(self, session: int | str) -> str:
        """The draft of a session; empty when there is none, or it cannot be read."""
        try:
            return (self._folder / f"{session}.txt").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def clear(self) -> None:
        """Takes all of them away."""
        with suppress(OSError):
            for file in self._folder.iterdir():
                file.unlink(missing_ok=True)

    def write(self, session: int | str, text: str) -> bool:
        """Keeps a draft in place of the one before, an empty one not at all. False: it could not be kept."""
        return self.keeping(session, text)()

    def keeping(self, session: int | str, text: str) -> Callable[[], bool]:
        """Does what `write` does when it is called, on any thread; nothing if one was kept meanwhile."""
        file = self._folder / f"{session}.txt"
        number = self._begun[file.name] = self._begun.get(file.name, 0) + 1

        def keep() -> bool:
            with self._lock:
                return number != self._begun[file.name] or self._write(file, text)

        return keep

    def _write(self, file: Path, text: str) -> bool:
        if not text.strip():
            with suppress(OSError):
                file.unlink(missing_ok=True)
            return True
        try:
            make_private_directory(self._folder)
            descriptor, name = tempfile.mkstemp(dir=self._folder)  # mode 0600
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as written:
                written.write(text)
            Path(name).replace(file)
        except OSError:
            return False
        return True
