"""What follows a turn runs in steps on one thread, and no step begins while an answer is being given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from assistant.background.priority import AnswersFirst

P = ParamSpec("P")
R = TypeVar("R")


class BackgroundSteps:
    """The thread of what follows a turn. Stores and agents are plain functions and run here."""

    def __init__(self, answers_first: AnswersFirst) -> None:
        self._answers_first = answers_first
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="remembering")

    async def may_begin(self) -> None:
        """Returns when no answer is being given."""
        await self._answers_first.wait()

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """A step on the thread, begun while no answer is given; one that has begun is waited for."""
        await self.may_begin()
        step = self._submit(lambda: work(*args, **kwargs))
        try:
            return await asyncio.shield(step)
        except asyncio.CancelledError:
            await asyncio.wait([step])
            raise

    async def run_beside_an_answer(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What is too small to be a step and may not wait for an answer's end, such as renewing a lease."""
        return await self._submit(lambda: work(*args, **kwargs))

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    def _submit(self, work: Callable[[], R]) -> asyncio.Future[R]:
        return asyncio.get_running_loop().run_in_executor(self._thread, work)
