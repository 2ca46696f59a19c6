"""Plays turns for a program without an event loop of its own, such as a command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from assistant.turns.events import Event, Finished
from assistant.turns.pipeline import TurnPipeline
from stores.errors import OverTime


class TurnPlayer:
    """One event loop for all turns, so that a model's connections outlive a turn."""

    def __init__(self, pipeline: TurnPipeline) -> None:
        self._pipeline = pipeline
        self._runner = asyncio.Runner()
        self._turn: asyncio.Task[object] | None = None

    def play(
        self,
        user_id: int,
        session_id: int,
        message: str,
        *,
        watch: Callable[[Event], None],
        material: str = "",
        timeout_seconds: float | None = None,
    ) -> Finished:
        """Plays one turn to its end, telling `watch` each event.

        Ctrl+C stops the reply, keeps its part, and raises KeyboardInterrupt. Raises `OverTime` after
        `timeout_seconds`, with the part kept too.
        """
        return self._runner.run(
            self._play(
                user_id, session_id, message, watch, material=material, timeout_seconds=timeout_seconds
            )
        )

    def ask_model(self, text: str) -> str:
        """The chat model's bare reply to a text: whether it can be reached at all."""
        return self._runner.run(self._pipeline.bare_reply(text))

    def close(self) -> None:
        """Ends what still runs and gives back the model's connections."""
        try:
            self._runner.run(self._end())
        finally:
            self._runner.close()

    async def _end(self) -> None:
        if self._turn is not None and not self._turn.done():  # a signal tore us out of it: its part is kept
            self._turn.cancel()
            await asyncio.wait([self._turn])
        await self._pipeline.aclose()

    async def _play(
        self,
        user_id: int,
        session_id: int,
        message: str,
        watch: Callable[[Event], None],
        *,
        material: str,
        timeout_seconds: float | None,
    ) -> Finished:
        self._turn = asyncio.current_task()
        finished: Finished | None = None
        turn = self._pipeline.take(user_id, session_id, message, material=material)
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
