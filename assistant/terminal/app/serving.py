"""The screens of the chat in a browser: each tab is a chat of its own, as the person who serves them.

    browser ─ page, then keys and paintings over one connection ─► who may? ─► `vouch chat`, a process a tab

Whoever gets through reads and writes the memory of that person, so everything but a refusal needs the token.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import signal
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode

from aiohttp import web
from textual_serve.server import Server

from assistant.process.end_signals import not_ignored
from assistant.process.own_names import is_own_name, is_own_origin, shown_address
from stores.base.errors import TryAgain

SERVED = "VOUCH_SERVED"  # set for a chat whose screen is a browser's
_COOKIE = "vouch_token_{port}"  # a browser keeps no ports apart, and each server has a token of its own
_QUERY = "token"


class ScreenServer(Server):  # type: ignore[misc]  # it has no types
    """The library's server, behind a check of who asks."""

    def __init__(self, command: Sequence[str], *, host: str, port: int, token: str) -> None:
        """port: 0 takes a free one."""
        super().__init__(shlex.join(command), host=host, port=port, title="Vouch")
        self._token = token
        self._open: set[web.WebSocketResponse] = set()

    async def _make_app(self) -> web.Application:
        app: web.Application = await super()._make_app()
        app.middlewares.append(self._check)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Says nothing: the address is told once somebody can connect."""

    async def on_shutdown(self, app: web.Application) -> None:
        await asyncio.gather(*(each.close() for each in list(self._open)))

    @web.middleware
    async def _check(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if not is_own_name(request.host, self.host):
            raise web.HTTPForbidden(text="This server has another name.\n")
        if not is_own_origin(request.headers.get("Origin"), request.host):
            raise web.HTTPForbidden(text="Refused: the request came from another site.\n")
        given = request.query.get(_QUERY)
        cookie = _COOKIE.format(port=request.url.port)
        if given is not None and request.path == "/" and self._is_token(given):
            answer = web.HTTPFound("/")  # the token leaves the address, and with it the browser's history
            answer.set_cookie(cookie, given, httponly=True, samesite="Strict")
            raise answer
        if not self._is_token(request.cookies.get(cookie, "")):
            raise web.HTTPForbidden(text="Open the address that `vouch serve` printed: it holds a token.\n")
        answered = await handler(request)
        if not answered.prepared:
            answered.headers["Cache-Control"] = "no-store"
            answered.headers["Referrer-Policy"] = "no-referrer"
            answered.headers["X-Frame-Options"] = "DENY"
        return answered

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(errors="surrogatepass"), self._token.encode())

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page, which connects to the name by which it was asked for."""
        self.public_url = f"{request.scheme}://{request.host}"
        answer: web.StreamResponse = await super().handle_index(request)
        return answer

    async def _process_messages(self, websocket: web.WebSocketResponse, app_service: object) -> None:
        self._open.add(websocket)
        try:
            await super()._process_messages(websocket, app_service)
        finally:
            self._open.discard(websocket)

    async def run(self, tell_address: Callable[[str], None]) -> int:
        """Until it is told to end; returns the exit code. Raises `TryAgain` where the port is taken."""
        ends: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        for number in not_ignored((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
            asyncio.get_running_loop().add_signal_handler(number, _end, ends, number)
        runner = web.AppRunner(await self._make_app(), access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.host, self.port)
            try:
                await site.start()
            except (OSError, UnicodeError) as error:  # the latter of what can be no name, such as ".."
                told = error.strerror if isinstance(error, OSError) else "no name of a machine"
                raise TryAgain(
                    f"{self.host}:{self.port}: {told}", hint="Name another with --host and --port."
                ) from error
            tell_address(address(self.host, runner.addresses[0][1], self._token))
            return await ends
        finally:
            await runner.cleanup()


def _end(ends: asyncio.Future[int], number: int) -> None:
    if not ends.done():
        ends.set_result(0 if number == signal.SIGINT else 128 + number)


def address(host: str, port: int, token: str) -> str:
    """What is opened in the browser; it lets in whoever knows it."""
    return f"{shown_address(host, port)}/?{urlencode({_QUERY: token})}"


def serve(command: Sequence[str], *, host: str, port: int, token: str, tell: Callable[[str], None]) -> int:
    """Serves a chat to a browser until it is told to end; returns the exit code.

    command: opens one chat. tell: is given the address, once it can be opened.
    """
    os.environ[SERVED] = "1"
    return asyncio.run(ScreenServer(command, host=host, port=port, token=token).run(tell))
