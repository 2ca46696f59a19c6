"""One call of a command: its common options, the assistant it works with, and how it speaks.

Results go to standard output, narration to standard error; progress only where standard error is a
terminal, and in plain mode as a sentence every ten seconds.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from assistant.settings.config import Settings
from assistant.settings.identity import key_for, user_name
from assistant.settings.locations import Locations, find_locations
from assistant.settings.settings_file import load_settings
from assistant.terminal.plain.plainness import should_be_plain
from stores.base.errors import OverTime, WrongUsage
from stores.base.one_line import json_line
from stores.base.shortages import temporary_folder

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_REDRAWN_EVERY_SECONDS = 0.1
_SAID_EVERY_SECONDS = 10.0  # in plain mode


class RowId(click.types.IntParamType):
    """The number of a turn, session, passage or receipt."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not 0 < number < 2**31:
            self.fail(f"{value!r} is no number of anything here.", param, ctx)
        return number


class Words(click.types.StringParamType):
    """Text from the command line: what is no UTF-8 in it is replaced, as it can be neither kept nor shown."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value, param, ctx).encode("utf-8", "replace").decode("utf-8")


class Invocation:
    """What a command was called with."""

    def __init__(self, context: click.Context) -> None:
        given: dict[str, Any] = context.find_root().ensure_object(dict)
        self.arguments: list[str] = given.get("arguments", [])  # as they were typed
        self.as_json = bool(given.get("json"))
        self.is_quiet = bool(given.get("quiet"))
        self.is_verbose = bool(given.get("verbose"))
        self.is_plain = bool(given.get("plain"))
        self.no_input = bool(given.get("no_input"))
        self.is_offline = bool(given.get("offline"))
        self.no_color = bool(given.get("no_color"))
        self.timeout_seconds: float | None = given.get("timeout")
        self.user = user_name(given.get("user"), os.environ)
        self.locations: Locations = find_locations(
            os.environ, data=given.get("data"), settings=given.get("settings")
        )
        given["places"] = {  # that are written to, and how another one is named
            self.locations.data: "Name another directory with --data.",
            self.locations.cache: "Name another one with XDG_CACHE_HOME.",
            self.locations.state: "Name another one with XDG_STATE_HOME.",
            temporary_folder(): "Name another one with TMPDIR.",
        }
        self.settings: Settings = load_settings(
            self.locations.settings, environ=os.environ, explicit=self.locations.settings_are_named
        )

    def use_model(self, name: str | None) -> None:
        """Has this model answer in place of the settings'; None leaves it. Raises `WrongUsage`.

        name: of a [models.NAME], of one that was added, of one at the settings' server or for their backend,
        or extractive.
        """
        if name is None:
            return
        from assistant.settings.local_models import LocalModels

        model = self.settings.model
        added = {each.name: each for each in LocalModels(self.locations.chat_models).all()}
        if name in self.settings.models:
            model = self.settings.models[name]
        elif name in added:
            model = replace(model, backend="llamacpp", path=str(added[name].path))
        elif name == "extractive":
            model = replace(model, backend="extractive")
        elif model.backend in ("extractive", "llamacpp"):
            raise WrongUsage(
                f"there is no model {name!r} on this machine, and the settings name no server",
                hint="`vouch models list` shows those that were added.",
            )
        else:
            model = replace(model, name=name)
        self.settings = replace(self.settings, model=model)

    @property
    def api_key(self) -> str:
        """The key of the model server that the settings name; empty where it needs none."""
        return key_for(self.settings, self.settings.model, os.environ)

    @contextmanager
    def assistant(
        self, *, limits_turns: bool = False, tell: Callable[[str], None] | None = None
    ) -> Iterator[Assistant]:
        """The assistant this command works with; let go of at the end.

        limits_turns: --timeout is a turn's, which keeps its part; otherwise it is the whole command's.
        tell: is given the narration, which goes to standard error otherwise.
        """
        from assistant.process.log import start_log
        from assistant.wiring.assistant import Assistant

        assistant = Assistant(
            self.settings,
            self.locations,
            api_key=self.api_key,
            offline=self.is_offline,
            tell=tell or self.tell,
        )
        start_log(self.locations, self.settings)
        try:
            with time_limit(None if limits_turns else self.timeout_seconds):
                yield assistant
        finally:
            assistant.close()

    def tell(self, sentence: str) -> None:
        """Narration, for the person."""
        if not self.is_quiet:
            click.echo(sentence, err=True)

    def give(self, result: dict[str, Any]) -> None:
        """One JSON object on standard output."""
        click.echo(json_line({"schema": 1, **result}, default=str))

    def progress_line(self) -> ProgressLine:
        """Tells how far a command is, where somebody watches."""
        is_watched = sys.stderr.isatty()
        reason = should_be_plain(self.is_plain, os.environ, self.settings, is_watched)
        return ProgressLine(is_shown=is_watched and not self.is_quiet, is_plain=reason is not None)


class _TimeIsUp(BaseException):
    """Passes whoever catches every error, such as the reader of one damaged document."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raises `OverTime` in the main thread when the time is up; a transaction under way is rolled back."""

    def end(_number: int, _frame: object) -> None:
        raise _TimeIsUp

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _TimeIsUp:
        raise OverTime(f"not done within {seconds:g} s", hint="Give it longer with --timeout.") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class ProgressLine:
    """One line on standard error that is written over; in plain mode a sentence every ten seconds."""

    def __init__(self, *, is_shown: bool, is_plain: bool) -> None:
        self._is_shown = is_shown
        self._is_plain = is_plain
        self._is_drawn = False
        self._next = time.monotonic() + (_SAID_EVERY_SECONDS if is_plain else 0.0)

    def show(self, text: str) -> None:
        """Replaces what the line says; `text` is a sentence but for its capital and its full stop."""
        if not self._is_shown or time.monotonic() < self._next:
            return
        if self._is_plain:
            sys.stderr.write(f"{text[:1].upper()}{text[1:]}.\n")
        else:
            sys.stderr.write(f"\r\x1b[K{_within_a_line(text)}")
            self._is_drawn = True
        sys.stderr.flush()
        self._next = time.monotonic() + (_SAID_EVERY_SECONDS if self._is_plain else _REDRAWN_EVERY_SECONDS)

    def clear(self) -> None:
        """Takes the line away."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False


def _within_a_line(text: str) -> str:
    """As much as standard error shows in one line: one that wraps cannot be written over."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # it is no terminal, or has no number
        columns = 0
    return text[: columns - 1] if columns > 1 else text
