"""One thread that does one thing after another for an event loop, and holds up no exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class WorkerThread:
    """Like an executor of one thread, but a program that leaves does not wait for it."""

    def __init__(self, name: str) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[], T]) -> T:
        """What the work returns, or raises, once all that was given before it is done."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - raised where it is awaited
                _tell(loop, done, partial(done.set_exception, _as_exception(error)))
            else:
                _tell(loop, done, partial(done.set_result, result))

        self._work.put(run)
        return await done

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """While it does nothing else; begins once all that was given before is done."""
        loop, begun, ended = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def hold() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(begun.set)
            ended.wait()

        self._work.put(hold)
        try:
            await begun.wait()
            yield
        finally:
            ended.set()

    def end(self, seconds: float, last: Callable[[], None] = lambda: None) -> bool:
        """Does a last thing and ends; whether that was done within so many seconds."""
        self._work.put(last)
        self._work.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _as_exception(error: BaseException) -> BaseException:
    """A future takes no StopIteration, and one that was cancelled elsewhere is no cancellation here."""
    if isinstance(error, Exception):
        return error
    return RuntimeError(f"{type(error).__name__} on a worker thread")


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Future[T], tell: Callable[[], None]) -> None:
    def unless_given_up() -> None:
        if not done.done():
            tell()

    try:
        loop.call_soon_threadsafe(unless_given_up)
    except RuntimeError:  # the loop has ended, and nobody waits any more
        return
