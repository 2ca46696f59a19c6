"""A comparison under way: `vouch replay` in a process of its own, which is ended when nobody waits for it.

A replay has a time of its own, in its whole process, so it cannot run in that of a chat.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.process.low_priority import give_way
from stores.base.errors import VouchError

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

_LONGEST_LINE = 1 << 26  # bytes
_LONGEST_END = 10.0  # seconds, in which it deletes its copies
SOURCES = Path(__file__).parents[3]  # Python searches the folder it begins in first: never the person's


class ComparisonFailed(VouchError):
    """It came to no end."""

    exit_code = 1


class ComparisonChild:
    """One comparison. All methods are called on the screen's loop."""

    def __init__(self, command: Sequence[str]) -> None:
        """command: tells its progress and then its rows, a JSON object a line."""
        self._command = list(command)
        self._process: Process | None = None
        self._is_left = False

    @staticmethod
    def of(
        assistant: Assistant,
        user: str,
        session_id: int,
        *,
        against: str,
        turn_id: int | None,
        newest: int | None = None,
    ) -> ComparisonChild:
        """Of a session of this user by the live model and another one.

        turn_id: the last turn played. newest: how many messages are played, the last ones; all for None.
        """
        arguments = [f"{session_id}", "--model", "live", "--against", against, "--user", user]
        if turn_id is not None:
            arguments += ["--up-to", f"{turn_id}"]
        if newest is not None:
            arguments += ["--newest", f"{newest}"]
        return ComparisonChild(assistant.learning.led_command("replay", "--json", *arguments))

    async def lines(self) -> AsyncGenerator[dict[str, Any], None]:
        """What it tells, as it tells it; nothing more once it is left. Raises `ComparisonFailed`."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=SOURCES,
            stdin=PIPE,  # it ends when this one is closed, also by a chat that was killed
            stdout=PIPE,
            stderr=PIPE,
            limit=_LONGEST_LINE,
            process_group=0,
        )
        self._process = process
        assert process.stdout is not None, "it is a pipe"
        assert process.stderr is not None, "it is a pipe"
        with suppress(ProcessLookupError):  # it has just ended
            give_way(process.pid)
        if self._is_left:
            self.leave()
        said = asyncio.create_task(process.stderr.read())
        try:
            while line := await process.stdout.readline():
                if not self._is_left:
                    yield json.loads(line)
            code = await process.wait()
            words = (await said).decode("utf-8", "replace").strip().splitlines()
            was_left = self._is_left
        finally:
            said.cancel()
            await self.ended()
        if code != 0 and not was_left:
            raise ComparisonFailed(_reason(words), hint="")

    def leave(self) -> None:
        """Has it end; its copies are deleted by itself."""
        self._is_left = True
        if self._process is None or self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)

    async def ended(self) -> None:
        """Has it end, and waits for that: a loop that ends first would leave its pipes open."""
        self.leave()
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), _LONGEST_END)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()


def _reason(said: Sequence[str]) -> str:
    last = said[-1] if said else "the comparison ended without a word"
    with suppress(ValueError, KeyError, TypeError):
        told = json.loads(last)
        return f"{told['error']}. {told.get('hint') or ''}".strip()
    return last
