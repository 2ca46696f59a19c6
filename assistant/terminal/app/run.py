"""Opens the screens and returns the exit code; everything is let go of behind them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assistant.terminal.actions.drafts import Drafts
from assistant.terminal.app.app import ChatApp
from assistant.terminal.app.lasting_output import lasting_output
from assistant.terminal.engine.engine import Desk, Glances, Opens, SessionChoice
from assistant.terminal.input.keys import keymap
from assistant.terminal.input.whole_paste import whole_pastes

_HANDS_OVER_SECONDS = 0.001
_COLLECTS_AFTER = (10_000, 20, 50)  # new objects; collections of those, and of the ones that outlived them


@contextmanager
def short_pauses() -> Iterator[None]:
    """While the screens are open. Nothing is collected until `set_aside` is called for the first time."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(_HANDS_OVER_SECONDS)
    gc.set_threshold(*_COLLECTS_AFTER)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)


def set_aside() -> None:
    """Everything that is loaded by now is looked at no more."""
    gc.freeze()
    gc.enable()


@dataclass(frozen=True)
class Left:
    """How the person left."""

    code: int
    plain_session: int | None  # the session that is to go on in plain mode


def run_screens(
    opens: Opens,
    choice: SessionChoice,
    *,
    user: str,
    timeout_seconds: float | None,
    state: Path,
    data: Path,
    theme: str,
    send_with: str,
    follows: bool,
    mouse: bool,
    keys: Mapping[str, str],
    is_offline: bool = False,
    glances: Glances = lambda session_id, turns: None,
    keep_theme: Callable[[str], None] = lambda name: None,
) -> Left:
    """Until the person leaves. state, data: where drafts are kept, and of which data directory they are.

    glances: reads the last turns of a session before it is open, as the desk asks for them.
    keep_theme: writes a chosen one into the settings.

    Raises what the chat could not be opened for, and any defect.
    """
    changed_keys = keymap(keys, send_with=send_with)
    desk = Desk(opens, user=user, timeout_seconds=timeout_seconds, glances=glances)
    app = ChatApp(
        desk,
        Drafts(state, data, user),
        choice,
        theme=theme,
        keep_theme=keep_theme,
        follows=follows,
        changed_keys=changed_keys,
        status="offline" if is_offline else "",
    )
    app.chat.when_loaded = set_aside
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        with short_pauses(), whole_pastes(app.driver_class), lasting_output(app.driver_class):
            code = app.run(mouse=mouse)
    finally:
        app.has_left()
        for number, handler in handlers.items():  # the loop of the screens leaves the system's own behind
            signal.signal(number, handler)
    is_closed = desk.close()
    if app.defect is not None:
        raise app.defect
    if app.failure is not None:
        raise app.failure
    session_id = app.chat.talk.session_id if desk.goes_plain else None
    if not is_closed:
        if session_id is not None:
            print(f"Go on with: vouch chat --plain --session {session_id}")
        sys.stdout.flush()
        os._exit(
            code or 0
        )  # a library is still loading on its thread, and would fall over the interpreter's end
    return Left(code or 0, session_id)
