"""Answers come first: what works in the background waits while one is being given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")


class AnswerBegan(Exception):
    """Work was broken off because an answer began; whoever asked for it begins it anew, or not."""


class AnswersFirst:
    """Known to both sides: who answers says so, who can wait does. For one event loop."""

    def __init__(self, *, patience: float | None = None) -> None:
        """patience: seconds after which what waits goes on beside answers; None: it waits for their end."""
        self.patience = patience
        self._answering = 0
        self._announced = set[object]()  # of any thread: a set takes in and gives out as one step
        self._is_quiet = asyncio.Event()
        self._has_begun = asyncio.Event()
        self._watchers: list[Callable[[bool], None]] = []

    def watch(self, tell: Callable[[bool], None]) -> None:
        """tell: is told whether an answer is being given whenever that changes; it returns at once."""
        self._watchers.append(tell)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer is given."""
        self._answering += 1
        self._has_begun.set()
        self._tell_watchers(begun=self._answering == 1)
        try:
            yield
        finally:
            self._answering -= 1
            self._tell_watchers(ended=self._answering == 0)
            self._tell_who_waits()

    @contextmanager
    def announced(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """The same, said by the thread that sends a message, before the loop has come to it."""
        announced = object()
        self._announced.add(announced)
        loop.call_soon_threadsafe(self._has_begun.set)
        try:
            yield
        finally:
            self._announced.discard(announced)
            loop.call_soon_threadsafe(self._tell_who_waits)

    async def wait(self) -> None:
        """Until no answer is being given, or patience ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                while self._is_answering:  # asked again: the next one may have begun
                    self._is_quiet.clear()
                    await self._is_quiet.wait()

    @property
    def _is_answering(self) -> bool:
        return bool(self._answering or self._announced)

    async def between(self, work: Callable[[], Coroutine[Any, Any, T]], *, again: bool = True) -> T:
        """Work done while no answer is given: broken off where one begins, and begun anew behind it.

        again: if not, raises `AnswerBegan` where it is broken off.
        """
        began = asyncio.get_running_loop().time()
        while True:
            await self.wait()
            if self.patience is not None and asyncio.get_running_loop().time() - began >= self.patience:
                return await work()
            self._has_begun.clear()
            working = asyncio.ensure_future(work())
            begun = asyncio.ensure_future(self._has_begun.wait())
            try:
                await asyncio.wait([working, begun], return_when=asyncio.FIRST_COMPLETED)
                if working.done():
                    return working.result()
            finally:
                working.cancel()
                begun.cancel()
                await asyncio.gather(working, begun, return_exceptions=True)
            if not again:
                raise AnswerBegan

    def _tell_who_waits(self) -> None:
        if not self._is_answering:
            self._is_quiet.set()

    def _tell_watchers(self, *, begun: bool = False, ended: bool = False) -> None:
        for tell in self._watchers if begun or ended else ():
            tell(begun)
