"""Answers come first: what works in the background waits while one is being given."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class AnswersFirst:
    """Known to both sides: who answers says so, who can wait does. For one event loop."""

    def __init__(self) -> None:
        self._answering = 0
        self._announced = 0
        self._is_quiet = asyncio.Event()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer is given."""
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1
            self._tell_who_waits()

    @contextmanager
    def announced(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """The same, said by the one thread that sends messages, before the loop has come to this one."""
        self._announced += 1
        try:
            yield
        finally:
            self._announced -= 1
            loop.call_soon_threadsafe(self._tell_who_waits)

    async def wait(self) -> None:
        """Until no answer is being given."""
        while self._answering or self._announced:  # asked again: the next one may have begun
            self._is_quiet.clear()
            await self._is_quiet.wait()

    def _tell_who_waits(self) -> None:
        if not (self._answering or self._announced):
            self._is_quiet.set()
