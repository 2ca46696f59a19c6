"""A reply while it is written: what has come of it, and how it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from assistant.turns.events import Event


class Stopped(Exception):
    """The reply was stopped; its part is kept."""


class Said(NamedTuple):
    """A piece of a reply, or of what is thought before it. is_all: so is what was said until now."""

    text: str
    is_thought: bool = False
    is_all: bool = False


@dataclass
class Writing:
    """A reply that is being written: filled on the turns' thread, read on the screen's."""

    turn_id: int | None = None  # once the message is durable
    asked_at: float | None = None  # when the model was, in seconds of `time.monotonic`
    pieces: deque[Said] = field(default_factory=deque)
    _is_stopped: bool = False
    _task: asyncio.Task[object] | None = None
    _loop: asyncio.AbstractEventLoop | None = None

    def watch(self, event: Event) -> None:
        """Takes in what a turn tells, on the loop and within the task that plays it."""
        from assistant.turns.events import Accepted, Chosen, Thinks, Wrote

        if isinstance(event, Accepted):
            self.turn_id = event.turn_id
            self._task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
            if self._is_stopped:
                self._cancel()
        elif isinstance(event, Chosen):
            self.asked_at = time.monotonic()
        elif isinstance(event, Wrote):
            self.pieces.append(Said(event.text))
        elif isinstance(event, Thinks):
            self.pieces.append(Said(event.text, is_thought=True, is_all=event.is_all))

    def take(self) -> list[Said]:
        """All that came since this was last asked."""
        return [self.pieces.popleft() for _ in range(len(self.pieces))]

    def stop(self) -> None:
        """Ends the reply, once its message is durable."""
        self._is_stopped = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and the reply with it
                self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()
