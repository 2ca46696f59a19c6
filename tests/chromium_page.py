"""A page in Chromium without a window, led through its debugging protocol.

async with page_in_chromium(tmp_path) as page:
    await page.opens("http://127.0.0.1:8484/")
    await page.until("document.title === 'Vouch'")
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

_WITHIN_SECONDS = 90.0  # generous: only what never comes fails by it
_LOOKS_SECONDS = 0.1


class Page:
    """One page, and what it evaluates."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._numbers = count(1)

    async def opens(self, url: str) -> None:
        """Goes there."""
        await self._asks("Page.navigate", url=url)

    async def evaluates(self, script: str) -> Any:
        """What a script gives, as JSON would hold it."""
        given = await self._asks("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in given, given["exceptionDetails"]
        return given["result"].get("value")

    async def types(self, text: str) -> None:
        """Keys; a line's end is Enter."""
        for letter in text:
            key = {"key": "Enter", "windowsVirtualKeyCode": 13} if letter == "\n" else {"key": letter}
            await self._asks("Input.dispatchKeyEvent", type="keyDown", text=letter.replace("\n", "\r"), **key)
            await self._asks("Input.dispatchKeyEvent", type="keyUp", **key)

    async def until(self, script: str) -> Any:
        """Waits until a script gives something that is true; gives that."""
        async with asyncio.timeout(_WITHIN_SECONDS):
            while not (found := await self.evaluates(script)):  # noqa: ASYNC110 - the page tells nobody
                await asyncio.sleep(_LOOKS_SECONDS)
        return found

    async def _asks(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._connection.send_json({"id": number, "method": method, "params": parameters})
        while True:
            answered = await self._connection.receive_json(timeout=_WITHIN_SECONDS)
            if answered.get("id") == number:
                assert "error" not in answered, answered["error"]
                return dict(answered["result"])


@asynccontextmanager
async def page_in_chromium(folder: Path) -> AsyncIterator[Page]:
    """An empty page. folder: where the browser keeps what it keeps."""
    process = await asyncio.create_subprocess_exec(
        *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        *("--window-size=1000,700", "--remote-debugging-port=0", f"--user-data-dir={folder / 'chromium'}"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        async with aiohttp.ClientSession() as session:
            made = await session.put(f"{await _where_it_listens(process)}/json/new?about:blank")
            address = json.loads(await made.text())["webSocketDebuggerUrl"]
            async with session.ws_connect(address, max_msg_size=0) as connection:
                yield Page(connection)
    finally:
        process.kill()
        await process.communicate()


async def _where_it_listens(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async with asyncio.timeout(_WITHIN_SECONDS):
        while line := (await process.stderr.readline()).decode(errors="replace"):
            if found := re.search(r"ws://(\S+?)/", line):
                return f"http://{found[1]}"
    raise AssertionError(f"Chromium ended with {await process.wait()}")
