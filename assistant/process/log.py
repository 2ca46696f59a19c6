"""The log, as JSON lines with one file a day, and the report of a crash.

    log = logging.getLogger(__name__)
    log.info("turn finished", extra=fields(turn=5, seconds=1.4, message=TextField(message)))

What people write stays out of both unless `log_text` is set: texts are logged as `TextField`,
and what other libraries say, or an exception's own words, is kept as its length only. Neither can
stop the program: a line that cannot be written is dropped, and the next one is tried again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import platform
import re
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib import metadata
from pathlib import Path
from tempfile import gettempdir

from assistant.settings.config import Settings
from assistant.settings.locations import Locations, make_private_directory
from stores.base.secrets import HIDDEN

_OURS = (
    "assistant",
    "agents",
    "stores",
    "vouch",
)  # packages whose events are written without anyone's text in them

_TELLING_OPTIONS = frozenset(  # whose values say much about a crash and nothing about a person's secrets
    "--data --settings --session --timeout --scope --kind --since --limit --recipe --budget --passage".split()
)


@dataclass(frozen=True, repr=False)
class TextField:
    """Someone's text in a log line. Printed, it shows its length; only the log may know the rest."""

    text: str

    def __str__(self) -> str:
        return f"({len(self.text)} characters)"

    __repr__ = __str__


def fields(**values: object) -> dict[str, Mapping[str, object]]:
    """What a logging call takes as `extra`, so that the values become the line's fields."""
    return {"fields": values}


def start_log(locations: Locations, settings: Settings) -> DailyLog:
    """Begins to log everything under the state directory and deletes what is older than `log.days`.

    Closing the result ends it; starting another log ends it too.
    """
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, DailyLog)]:
        handler.close()
    with contextlib.suppress(OSError):
        make_private_directory(locations.state)
    delete_old_logs(locations.state, days=settings.log.days, today=datetime.now(UTC).date())
    log = DailyLog(locations.state, with_text=settings.log.log_text, secrets=settings.model.secrets)
    root.addHandler(log)
    for name in _OURS:
        logging.getLogger(name).setLevel(settings.log.level.upper())
    return log


def delete_old_logs(folder: Path, *, days: int, today: date) -> None:
    """Keeps the files of the last `days` days, today's among them."""
    oldest = today - timedelta(days=days - 1)
    with contextlib.suppress(OSError):
        for path in folder.glob("log-*.jsonl"):
            with contextlib.suppress(OSError, ValueError):  # ValueError: not named after a day, so not ours
                if date.fromisoformat(path.stem.removeprefix("log-")) < oldest:
                    path.unlink()


class DailyLog(logging.Handler):
    """Appends each record as one JSON line to the file of its day, in UTC; several processes may share it."""

    def __init__(self, folder: Path, *, with_text: bool, secrets: Sequence[str] = ()) -> None:
        """secrets: are never written, whoever says them."""
        super().__init__()
        self._folder = folder
        self._with_text = with_text
        self._secrets = [json.dumps(secret)[1:-1] for secret in secrets]
        self._day = ""
        self._file: int | None = None
        self._is_torn = False  # the last line was written in part, as on a full disk

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = json.dumps(self._line(record))
            for secret in self._secrets:
                line = line.replace(secret, HIDDEN)
            self._append(line.encode() + b"\n", record)
        except Exception:  # noqa: BLE001 - a log must never break, or print over, what it tells about
            self._drop_file()

    def close(self) -> None:
        logging.getLogger().removeHandler(self)
        self._drop_file()
        super().close()

    def _line(self, record: logging.LogRecord) -> dict[str, object]:
        is_ours = record.name.partition(".")[0] in _OURS
        values = getattr(record, "fields", {})
        if is_ours:
            event = self._event(record)
        else:
            event = "library record"
            values = {"at": f"{record.module}:{record.lineno}", "message": TextField(self._event(record))}
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": event,
            "fields": _plain(values, with_text=self._with_text),
        }
        if record.exc_info and record.exc_info[1]:
            line["error"] = self._error(record.exc_info[1])
        return line

    def _event(self, record: logging.LogRecord) -> str:
        try:
            return record.getMessage()
        except Exception:  # noqa: BLE001 - arguments that do not fit their template, or cannot be printed
            return str(record.msg)

    def _error(self, error: BaseException) -> dict[str, object]:
        frames = traceback.extract_tb(error.__traceback__)
        said = TextField(_said(error))
        return {
            "type": _type_name(error),
            "message": _plain(said, with_text=self._with_text),
            "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-20:]],
        }

    def _append(self, line: bytes, record: logging.LogRecord) -> None:
        day = datetime.fromtimestamp(record.created, UTC).date().isoformat()
        if self._file is None or day != self._day:
            self._drop_file()
            path = self._folder / f"log-{day}.jsonl"
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._is_torn = self._is_torn and day == self._day
            self._day = day
            os.fchmod(self._file, 0o600)  # it may have been there with another mode
        if self._is_torn:
            line = b"\n" + line
        self._is_torn = os.write(self._file, line) < len(line)

    def _drop_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


class StreamLog(DailyLog):
    """The same lines on standard error, for whoever gathers them there; until it is closed."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(Path(), with_text=settings.log.log_text, secrets=settings.model.secrets)
        logging.getLogger().addHandler(self)

    def _append(self, line: bytes, record: logging.LogRecord) -> None:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()


def _plain(value: object, *, with_text: bool) -> object:
    """A value as JSON has it. Of an object that is none of these only the type is told: it may hold text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, TextField):
        return value.text if with_text else {"characters": len(value.text)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item, with_text=with_text) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, with_text=with_text) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    return f"<{type(value).__qualname__}>"


# Crashes ----------------------------------------------------------------------------------------


def write_crash_report(
    state: Path,
    error: BaseException,
    *,
    argv: Sequence[str] | None = None,
    commands: Collection[str] = (),
    with_text: bool = False,
) -> Path:
    """Writes down what is known of a defect, for its reader to send or not: returns the report's path.

    It holds the way to the error, versions and the command, and nobody's words: of the command only
    what is known to be harmless, and the error's own message, which may quote anything, only
    `with_text`. When the state directory takes no file the report goes to the directory for temporary
    ones; raises OSError when that takes none either. commands: the names of all commands.
    """
    moment = datetime.now(UTC)
    report = "\n".join(
        (
            "Vouch ended by a defect of its own.",
            "",
            f"time      {moment.isoformat(timespec='seconds')}",
            f"command   {' '.join(telling_arguments(sys.argv if argv is None else argv, commands))}",
            f"python    {sys.version.split()[0]}",
            f"platform  {platform.platform()}",
            f"terminal  {os.environ.get('TERM', 'none')}",
            "",
            *_error_lines(error, with_text=with_text),
            "",
            *(f"{name} {version}" for name, version in _versions()),
            "",
        )
    )
    name = f"crash-{moment:%Y-%m-%dT%H-%M-%S-%f}-{os.getpid()}.txt"
    content = report.encode("utf-8", "backslashreplace")
    try:
        make_private_directory(state)
        return _write_new(state / name, content)
    except OSError:
        return _write_new(Path(gettempdir()) / f"vouch-{name}", content)


def telling_arguments(argv: Sequence[str], commands: Collection[str] = ()) -> list[str]:
    """A command line fit for a report: what was to be done, without keys and without anyone's words.

    Commands, names of options, and values of options known to be harmless stay; the rest is only counted.
    """
    told = [Path(argv[0]).name] if argv else []
    before = ""  # the option whose value may follow
    texts_only = False
    for argument in argv[1:]:
        option, equals, value = argument.partition("=")
        if texts_only or not re.fullmatch(r"--?[A-Za-z][A-Za-z-]*|--", option):
            keeps = not texts_only and (before in _TELLING_OPTIONS or argument in commands)
            told.append(argument if keeps else str(TextField(argument)))
            before = ""
        elif not option.startswith("--") and len(option) > 2:  # flags as one, or a value glued to its option
            told.append(f"{option[:2]}{TextField(argument[2:])}")
        else:
            shown = value if option in _TELLING_OPTIONS else TextField(value)
            told.append(f"{option}={shown}" if equals else option)
            before = "" if equals else option
            texts_only = option == "--"
    return told


def _write_new(path: Path, content: bytes) -> Path:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC  # never through someone else's link
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        try:
            file.write(content)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise
    return path


def _error_lines(error: BaseException, *, with_text: bool) -> list[str]:
    """The frames that led to an error, before them those of what it came from; a group's parts come last."""
    lines: list[str] = []
    seen: set[int] = set()
    waiting = [error]
    while waiting:  # no recursion: an error of too deep a recursion must be told as well
        chain: list[BaseException] = []
        link: BaseException | None = waiting.pop(0)
        while link is not None and id(link) not in seen:
            seen.add(id(link))
            chain.append(link)
            link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        for position, step in enumerate(reversed(chain)):
            lines += ["which led to"] if position else []
            lines += "".join(traceback.format_tb(step.__traceback__)).splitlines()
            number = f", errno {step.errno}" if isinstance(step, OSError) and step.errno else ""
            said = _said(step)
            words = said if with_text else f"its message, {len(said)} characters, is left out"
            lines.append(f"{_type_name(step)}{number}: {words}")
            if isinstance(step, BaseExceptionGroup):
                lines.append(f"which holds {len(step.exceptions)}, told below")
                waiting.extend(step.exceptions)
    return lines


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error that cannot be printed is still an error to be told
        return ""


def _type_name(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")


def _versions() -> Iterator[tuple[str, str]]:
    """Vouch and the packages it needs, as installed."""
    try:
        needed = metadata.requires("vouch") or []
    except metadata.PackageNotFoundError:
        needed = []
    for requirement in ("vouch", *needed):
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield name, metadata.version(name)
