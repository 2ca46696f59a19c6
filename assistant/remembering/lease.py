"""A job that is being done stays with who does it, however long a model takes or an answer is waited for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from assistant.process.log import fields
from stores.base.errors import VouchError

_log = logging.getLogger(__name__)


@asynccontextmanager
async def holding(
    renew: Callable[[], Awaitable[None]], *, every_seconds: float, sleep: Callable[[float], Awaitable[None]]
) -> AsyncIterator[None]:
    """Within it, a lease is renewed again and again; a renewal that fails is left to the next one."""

    async def keep_on() -> None:
        while True:
            await sleep(every_seconds)
            try:
                await renew()
            except VouchError as error:
                _log.warning("lease not renewed", extra=fields(error=type(error).__name__))

    renewing = asyncio.create_task(keep_on())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])
