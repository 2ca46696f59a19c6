"""What can go wrong: each error says what, where and what next.

The exit codes are those of the command line: 1 the answer is no, 2 wrong usage or settings,
3 try again later, 4 over the time limit, and 70 for a defect of ours.
"""

from __future__ import annotations

import copyreg
from pathlib import Path
from typing import Any

DEFECT = 70  # exit code; the others are those of the errors
RESTORE = "Restore a backup: `vouch restore FILE --replace`; the database of now is kept beside it."


class VouchError(Exception):
    """Anything that a person can be told in a sentence."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint  # what to do next
        self.retry_after_seconds = retry_after_seconds

    def __reduce__(self) -> tuple[Any, ...]:
        """Whole in another process, whatever it was made from."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class NotFound(VouchError):
    """Something was named that is not there, or not this user's to see."""


class WrongUsage(VouchError):
    """A command was given something it cannot work with."""

    exit_code = 2


class InvalidSetting(WrongUsage):
    """A value in the settings that Vouch cannot run with."""

    def __init__(self, key: str, found: object, expected: str) -> None:
        super().__init__(f"{key} is {found!r}, but must be {expected}", hint="Change it in settings.toml.")
        self.key, self.found, self.expected = key, found, expected


class CannotUndo(VouchError):
    """A write that cannot be taken back as it stands."""


class CannotAccept(VouchError):
    """A proposal whose passage is not what it was when that was proposed."""


class TryAgain(VouchError):
    """Something outside was not ready; the same command may succeed later."""

    exit_code = 3


class StoreUnavailable(TryAgain):
    """The database cannot be read or written just now: locked, full or not permitted."""


class IndexWrittenElsewhere(StoreUnavailable):
    """An index that another process writes, as one at a time may."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder}: another process is writing the shared index",
            hint="Its changes are searched all the same; end it to write from here.",
        )
        self.folder = folder


class DamagedIndex(StoreUnavailable):
    """An index that is not as it was written. It is derived: `vouch doctor` fills it again."""


class NotABackup(WrongUsage):
    """A file that cannot be restored."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(
            f"{file} cannot be restored: {reason}", hint="Name a file that `vouch backup` wrote."
        )
        self.file, self.reason = file, reason


class SchemaDamaged(VouchError):
    """The database is not built as the release that wrote it built it."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"The database {place} is damaged: {reason}", hint=RESTORE)
        self.reason = reason


class SchemaTooNew(VouchError):
    """The data was written by a later release than this one."""

    exit_code = 2

    def __init__(self, url: str, found: str) -> None:
        super().__init__(
            f"The database {url} has schema {found}, which this release does not know",
            hint="Begin Vouch again if it was updated meanwhile; else update it, or name another database.",
        )


class SchemaTooOld(VouchError):
    """A database that an earlier release wrote: of a server, other processes may be writing it still."""

    exit_code = 2

    def __init__(self, url: str, found: str, needed: str) -> None:
        super().__init__(
            f"The database {url} has schema {found}, and this release needs {needed}",
            hint="Of a file, begin Vouch again; of a server, end the Vouch processes of the earlier release, "
            "then run `vouch doctor --migrate`.",
        )


class EncoderUnavailable(VouchError):
    """The encoder could not be prepared or does not do what its original does."""

    exit_code = 3


class DamagedEncoder(EncoderUnavailable):
    """An exported encoder that is not as it was written."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The exported encoder in {folder} is not whole: {reason}",
            hint="Delete that folder; it is made again at the next start.",
        )
        self.folder = folder


class ModelError(TryAgain):
    """The chat model did not give a whole reply."""


class ModelUnreachable(ModelError):
    """No connection to the model's server, or it stopped answering."""


class ModelBusy(ModelError):
    """The model's server refuses for now: a rate limit, or a failure of its own."""


class ToolsAsked(ModelError):
    """In place of an answer the model asks for tools of the program whose message it is."""

    def __init__(self, calls: list[dict[str, Any]]) -> None:
        """calls: as OpenAI's protocol has them: id, type, and function with name and arguments."""
        names = ", ".join(str(call["function"]["name"])[:40] for call in calls)
        super().__init__(f"the model asks for tools: {names}")
        self.calls = calls


class ReplyCut(ModelError):
    """The reply ended before the model said that it was done."""


class EmptyReply(ModelError):
    """The model was done and had answered nothing."""


class ModelRefused(ModelError):
    """The server understood and said no: wrong key, unknown model, or too long a text."""

    exit_code = 2


class WrongKey(ModelRefused):
    """The server does not accept the key."""


class UnknownModel(ModelRefused):
    """The server has no model of that name."""


class ContextTooLong(ModelRefused):
    """More text than the model can read at once."""


class NoLogProbabilities(ModelRefused):
    """The backend does not say how probable it finds a given reply."""


class BackendMissing(ModelRefused):
    """A backend whose package is not installed."""


class MalformedReply(ModelError):
    """A structured reply that did not fit its schema, also after one repair."""


class OverTime(VouchError):
    """The time limit the caller set has passed."""

    exit_code = 4


class UnreadableDocument(VouchError):
    """One document that could not be read; the others are not touched by it."""

    def __init__(self, source: str | Path, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source, self.reason = str(source), reason
