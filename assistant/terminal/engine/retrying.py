"""A message whose model was busy is tried again by itself."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from stores.base.errors import ModelBusy

_FIRST_SECONDS, _LONGEST_SECONDS = 5.0, 60.0  # where the server does not say how long


class TryingAgain:
    """Waits out a model that refuses for now, counting down."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """tell: is given a sentence a second for the status line."""
        self._tell = tell
        self._given_up = asyncio.Event()
        self._tries = 0

    def give_up(self) -> None:
        """The person waits no longer."""
        self._given_up.set()

    async def wait_out(self, error: ModelBusy) -> bool:
        """Until it can be tried again; False when the person gave up first."""
        seconds = wait_seconds(error, self._tries)
        self._tries += 1
        for left in range(math.ceil(seconds), 0, -1):
            self._tell(f"the model is busy: trying again in {left} s · Esc stops trying")
            if await self._gave_up_within(1.0):
                self._tell("")
                return False
        self._tell("trying again …")
        return not self._given_up.is_set()

    async def _gave_up_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._given_up.wait(), seconds)
        except TimeoutError:
            return False
        return True


def wait_seconds(error: ModelBusy, tries: int) -> float:
    """As long as the server says; else longer each time. tries: those that were waited out before."""
    if error.retry_after_seconds is not None:
        return max(1.0, error.retry_after_seconds)
    return float(min(_LONGEST_SECONDS, _FIRST_SECONDS * 2**tries))
