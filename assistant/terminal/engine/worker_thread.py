"""One thread that does one thing after another for an event loop, and holds up no exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
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
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()  # who gives up waiting ends nothing

        def run() -> None:
            try:
                done.set_result(work())
            except Exception as error:  # noqa: BLE001 - raised where it is awaited
                done.set_exception(error)
            except BaseException as error:  # noqa: BLE001 - which would end the loop that awaits it
                done.set_exception(RuntimeError(f"{type(error).__name__} on a worker thread"))

        self._work.put(run)
        return await asyncio.wrap_future(done)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Callable[[], None]]:
        """While it does nothing else; begins once all that was given before is done. Gives what ends it."""
        loop, begun, ended = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def hold() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(begun.set)
            ended.wait()

        self._work.put(hold)
        try:
            await begun.wait()
            yield ended.set
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
