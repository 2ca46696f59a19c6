"""A reply while it is written: what has come of it, and how it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.turns.events import Event


class Stopped(Exception):
    """The reply was stopped; its part is kept."""


@dataclass
class Writing:
    """A reply that is being written: filled on the turns' thread, read on the screen's."""

    turn_id: int | None = None  # once the message is durable
    pieces: deque[str] = field(default_factory=deque)
    _is_stopped: bool = False
    _task: asyncio.Task[object] | None = None
    _loop: asyncio.AbstractEventLoop | None = None

    def watch(self, event: Event) -> None:
        """Takes in what a turn tells, on the loop and within the task that plays it."""
        from assistant.turns.events import Accepted, Wrote

        if isinstance(event, Accepted):
            self.turn_id = event.turn_id
            self._task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
            if self._is_stopped:
                self._cancel()
        elif isinstance(event, Wrote):
            self.pieces.append(event.text)

    def take(self) -> str:
        """All that came since this was last asked."""
        taken = []
        while self.pieces:
            taken.append(self.pieces.popleft())
        return "".join(taken)

    def stop(self) -> None:
        """Ends the reply, once its message is durable."""
        self._is_stopped = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and the reply with it
                self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()
