"""All looks in their order: what needs a whole database is not looked at without one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from assistant.checks import environment, models, searched, stored
from assistant.checks.check import Check, Look
from assistant.wiring.assistant import Assistant
from stores.base.errors import VouchError
from stores.base.shortages import shortage

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Step:
    """One look, and those that have to be in order before it."""

    name: str
    look: Callable[[], Check]
    needs: tuple[str, ...] = ()


def examine(assistant: Assistant, how: Look, *, asks_server: bool = False) -> Iterator[Check]:
    """Looks, and repairs what is derived; a check at a time. asks_server: also the chat model's."""
    states: dict[str, str] = {}
    for step in _steps(assistant, how, asks_server=asks_server):
        unmet = [name for name in step.needs if states[name] != "ok"]
        check = _not_looked_at(step.name, unmet[0]) if unmet else _looked(step)
        states[step.name] = check.state
        yield check


def _steps(assistant: Assistant, how: Look, *, asks_server: bool) -> list[_Step]:
    return [
        _Step("settings file", partial(environment.settings_file, assistant.given.locations)),
        _Step("data directory", partial(environment.data_directory, assistant.given.locations.data)),
        _Step("database", lambda: stored.database(assistant.stores.database)),
        _Step("texts", lambda: stored.texts(assistant.stores.database, how), ("database",)),
        _Step("words", lambda: stored.words(assistant.stores.database, how), ("database",)),
        _Step("turns", lambda: stored.turns(assistant.stores.database, how), ("database",)),
        _Step("remembering", lambda: stored.remembering(assistant.stores.database), ("database",)),
        _Step("encoder", lambda: models.encoder(assistant, how), ("database",)),
        _Step("reader", lambda: models.reader(assistant)),
        _Step("vectors", lambda: searched.vectors(assistant, how), ("database", "encoder")),
        _Step("shared index", lambda: searched.shared_index(assistant, how), ("vectors",)),
        _Step("chat model", lambda: models.chat_model(assistant, asks_server=asks_server)),
    ]


def _looked(step: _Step) -> Check:
    try:
        return step.look()
    except VouchError as error:
        return Check(step.name, "broken", error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - what looks for faults does not end by one
        if lacking := shortage(error):
            return Check(step.name, "broken", lacking.message, lacking.hint)
        _log.error("%s: the look failed", step.name, exc_info=error)
        told = f"{type(error).__name__}: {error}".partition("\n")[0]
        return Check(step.name, "broken", told, "Correct what else is broken; if this stays, report it.")


def _not_looked_at(name: str, unmet: str) -> Check:
    return Check(name, "missing", f"not looked at, because of: {unmet}")
