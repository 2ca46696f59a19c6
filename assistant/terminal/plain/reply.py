"""A reply in plain mode: printed as it comes, and until its first word a sentence every ten seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from assistant.turns.events import Accepted, Chosen, Event, Searched, Wrote
from stores.base.one_line import one_line

_SAID_EVERY_SECONDS = 10.0


class PlainReply:
    """Watches one turn, on the loop that plays it.

    with PlainReply(say, tells_waits=True) as reply:  # behind its end nothing more is waited for
        player.play(..., watch=reply.watch)
    """

    def __init__(self, say: Callable[[str], None], *, tells_waits: bool) -> None:
        """say: prints behind the opening of the reply. tells_waits: somebody is there who waits."""
        self._say = say
        self._tells_waits = tells_waits
        self._waits_for = "searching"
        self._waited = 0.0  # seconds
        self.is_kept = False
        self.has_written = False

    def __enter__(self) -> PlainReply:
        return self

    def __exit__(self, *_error: object) -> None:
        self._tells_waits = False

    def watch(self, event: Event) -> None:
        """Takes in what the turn tells."""
        if isinstance(event, Accepted):
            self.is_kept = True
            self._wait_on()
        elif isinstance(event, Searched):
            self._waits_for = "weighing what was found"
        elif isinstance(event, Chosen):
            self._waits_for = f"waiting for {one_line(event.model)}"
        elif isinstance(event, Wrote):
            self.has_written, self._tells_waits = True, False
            self._say(event.text)

    def _wait_on(self) -> None:
        if self._tells_waits:
            asyncio.get_running_loop().call_later(_SAID_EVERY_SECONDS, self._tell)

    def _tell(self) -> None:
        if self._tells_waits:
            self._waited += _SAID_EVERY_SECONDS
            self._say(f"({self._waits_for}: {self._waited:.0f} s so far; Ctrl+C stops it)\nAssistant: ")
            self._wait_on()
