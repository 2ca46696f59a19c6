"""Calls from other threads to the screen's loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[T], None]) -> Callable[[T], None]:
    """The same, called from any thread, on the loop and in the context of now."""
    context = contextvars.copy_context()

    def later(given: T) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody looks any more
            loop.call_soon_threadsafe(call, given, context=context)

    return later


def asking(ask: Callable[[], Coroutine[Any, Any, str]]) -> Callable[[], str]:
    """Asks on the loop of now, and waits for what is said on another thread."""
    loop = asyncio.get_running_loop()

    async def put(answered: concurrent.futures.Future[str]) -> None:
        try:
            answered.set_result(await ask())
        except BaseException:
            answered.set_result("")
            raise

    tasks: set[asyncio.Task[None]] = set()

    def start(answered: concurrent.futures.Future[str]) -> None:
        tasks.add(asyncio.create_task(put(answered)))

    begin = on_loop(loop, start)

    def asked() -> str:
        answered: concurrent.futures.Future[str] = concurrent.futures.Future()
        begin(answered)
        return answered.result()

    return asked
