"""The same for programs that wait asynchronously."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, overload

from vouch.client import Vouch
from vouch.conversations import Messages
from vouch.results import Answer, Forgotten, Found, Ingested, Receipt, Version, Why

P = ParamSpec("P")
T = TypeVar("T")


class AsyncVouch:
    """`Vouch`, each of whose methods is awaited; they follow each other on a thread of its own."""

    def __init__(
        self,
        user: str | None = None,
        *,
        data: str | Path | None = None,
        settings: str | Path | None = None,
        offline: bool = False,
    ) -> None:
        """See `Vouch`; it is opened by `async with`."""
        self._open = lambda: Vouch(user, data=data, settings=settings, offline=offline)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vouch")

    async def __aenter__(self) -> Self:
        self._vouch = await asyncio.get_running_loop().run_in_executor(self._thread, self._open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._do(self._vouch.close)
        self._thread.shutdown(wait=False)

    async def _do(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(*given, **named))

    @overload
    async def add(self, what: str) -> Receipt: ...

    @overload
    async def add(self, what: Messages) -> list[Receipt]: ...

    async def add(self, what: Any) -> Any:
        """See `Vouch.add`."""
        return await self._do(self._vouch.add, what)

    async def search(self, query: str, limit: int = 10) -> list[Found]:
        """See `Vouch.search`."""
        return await self._do(self._vouch.search, query, limit)

    async def ask(
        self, question: str | Messages, session: int | None = None, *, material: str = ""
    ) -> Answer:
        """See `Vouch.ask`."""
        return await self._do(self._vouch.ask, question, session, material=material)

    async def stream(
        self, question: str | Messages, session: int | None = None, *, material: str = ""
    ) -> AsyncIterator[str | Answer]:
        """The pieces of an answer, and at last the answer."""
        pieces = self._vouch.stream(question, session, material=material)
        try:
            await self._do(pieces.__enter__)
            read = iter(pieces)
            while (piece := await self._do(next, read, None)) is not None:
                yield piece
            yield pieces.answer
        finally:
            await self._do(pieces.__exit__, None, None, None)

    async def why(self, turn: int) -> Why:
        """See `Vouch.why`."""
        return await self._do(self._vouch.why, turn)

    async def history(self, passage: int) -> list[Version]:
        """See `Vouch.history`."""
        return await self._do(self._vouch.history, passage)

    async def forget(self, *passages: int) -> Forgotten:
        """See `Vouch.forget`."""
        return await self._do(self._vouch.forget, *passages)

    async def undo(self, receipt: Receipt | int | None = None) -> list[int]:
        """See `Vouch.undo`."""
        return await self._do(self._vouch.undo, receipt)

    async def ingest(self, path: str | Path, *, into: str | None = None) -> list[Ingested]:
        """See `Vouch.ingest`."""
        return await self._do(self._vouch.ingest, path, into=into)

    async def export(self) -> list[dict[str, Any]]:
        """See `Vouch.export`."""
        return await self._do(lambda: list(self._vouch.export()))

    async def feedback(
        self, turn: int, *, good: bool | None = None, teach: str | None = None
    ) -> Receipt | None:
        """See `Vouch.feedback`."""
        return await self._do(self._vouch.feedback, turn, good=good, teach=teach)
