"""Plays turns for a program without an event loop of its own, such as a command.

The loop runs on a thread of its own, so that what follows a turn goes on while a person types.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any, TypeVar

from assistant.remembering.remembering import Remembering
from assistant.turns.events import Event, Finished
from assistant.turns.pipeline import TurnPipeline
from stores.base.errors import OverTime
from stores.claims.decisions import Learned

T = TypeVar("T")

# A signal that the system hands to another thread, or that comes just before a wait, does not wake the thread
# that waits, and Python lets only the main one act on it: after so long it looks up by itself.
_LOOKS_UP_SECONDS = 0.1


class TurnPlayer:
    """One event loop for all turns, so that a model's connections outlive a turn."""

    def __init__(self, pipeline: TurnPipeline, remembering: Callable[[], Remembering]) -> None:
        """remembering: made when there is first something to remember; by the thread that says so."""
        self._pipeline = pipeline
        self._make_remembering = remembering
        self._remembering: Remembering | None = None
        self._one_at_a_time = asyncio.Lock()
        self._left: set[Future[None]] = set()  # what is being remembered
        self._tasks: set[asyncio.Task[Any]] = set()  # all that runs for this player
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="turns", daemon=True)
        self._thread.start()

    def play(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        watch: Callable[[Event], None],
        material: str = "",
        timeout_seconds: float | None = None,
        instead_of: int | None = None,
    ) -> Finished:
        """Plays one turn to its end, telling `watch` each event, on the loop's thread.

        instead_of: the turn in whose place it comes; that one is kept, in a branch of its own.
        Ctrl+C stops the reply, keeps its part, and raises KeyboardInterrupt. Raises `OverTime` after
        `timeout_seconds`, with the part kept too.
        """
        with self._announced():
            return self._run(
                self._play(
                    user_id,
                    session_id,
                    message,
                    watch,
                    material=material,
                    timeout_seconds=timeout_seconds,
                    instead_of=instead_of,
                )
            )

    def remember(self, user_id: int, tell: Callable[[Learned], None]) -> None:
        """Begins what is due for this user, in the background; `tell` is called on the loop's thread."""
        if self._remembering is None:
            self._remembering = self._make_remembering()
        work = self._known(self._remember(self._remembering, user_id, tell))
        self._left.add(asyncio.run_coroutine_threadsafe(work, self._loop))

    def settle(self, timeout_seconds: float | None = None) -> bool:
        """Waits until what was begun is remembered, or for so long; whether it is.

        Raises what went wrong, other than a model that is down: for that the jobs wait.
        """
        done, self._left = _wait(self._left, timeout_seconds)
        for each in done:
            each.result()
        return not self._left

    def ask_model(self, text: str) -> str:
        """The chat model's bare reply to a text: whether it can be reached at all."""
        return self._run(self._pipeline.bare_reply(text))

    def close(self) -> None:
        """Ends what still runs and gives back the model's connections; what is not remembered waits."""
        try:
            self._run(self._end())
        finally:
            if self._remembering is not None:
                self._remembering.close()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _end(self) -> None:
        others = {task for task in self._tasks if task is not asyncio.current_task()}
        for task in others:  # a turn is among them where Ctrl+C came twice, cancelled already
            if not task.cancelling():
                task.cancel()
        if others:
            await asyncio.wait(others)
        await self._pipeline.aclose()

    async def _remember(
        self, remembering: Remembering, user_id: int, tell: Callable[[Learned], None]
    ) -> None:
        async with self._one_at_a_time:
            await remembering.run_due(user_id, tell)

    def _announced(self) -> AbstractContextManager[None]:
        """From the message on, and not only once the loop has come to it, no step of remembering begins."""
        if self._remembering is None:
            return nullcontext()
        return self._remembering.answers_first.announced(self._loop)

    async def _known(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs to its end as one of those that `close` ends."""
        task = asyncio.current_task()
        assert task is not None, "it runs in a task"
        self._tasks.add(task)
        try:
            return await work
        finally:
            self._tasks.discard(task)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs to its end on the loop; torn out of it by a signal, stops the work and waits until it has."""
        ended = threading.Event()

        async def whole() -> T:
            try:
                return await self._known(work)
            finally:
                ended.set()

        running = asyncio.run_coroutine_threadsafe(whole(), self._loop)
        try:
            _wait({running}, None)
            return running.result()
        except BaseException:
            if not running.done():
                running.cancel()
                ended.wait()
            raise

    async def _play(
        self,
        user_id: int,
        session_id: int,
        message: str,
        watch: Callable[[Event], None],
        *,
        material: str,
        timeout_seconds: float | None,
        instead_of: int | None = None,
    ) -> Finished:
        finished: Finished | None = None
        turn = self._pipeline.take(user_id, session_id, message, material=material, instead_of=instead_of)
        try:
            async with asyncio.timeout(timeout_seconds), aclosing(turn) as events:
                async for event in events:
                    watch(event)
                    if isinstance(event, Finished):
                        finished = event
        except TimeoutError:
            if finished is None:
                raise OverTime(
                    f"no whole answer within {timeout_seconds:g} s",
                    hint="Give it longer with --timeout; what had arrived is kept.",
                ) from None
        assert finished is not None, "a turn that raises nothing finishes"
        return finished


def _wait(
    running: Collection[Future[T]], timeout_seconds: float | None
) -> tuple[set[Future[T]], set[Future[T]]]:
    """Waits for all of them, or for so long; those that are done and those that are not."""
    ends = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    while True:
        left = _LOOKS_UP_SECONDS if ends is None else min(_LOOKS_UP_SECONDS, ends - time.monotonic())
        done, others = wait_for(running, max(left, 0.0))
        if not others or left <= 0:
            return done, others
