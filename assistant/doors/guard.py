"""Who may ask over HTTP, and how much: around any ASGI application."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from assistant.process.own_names import is_own_name, is_own_origin, name_of

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 4_000_000  # of a request


class Guard:
    """Refuses requests for other names, from other sites, without the key, and those that are too long."""

    def __init__(
        self,
        app: App,
        *,
        host: str,
        token: str | None,
        names: Sequence[str] = (),
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """host: what the server is bound to. token: that lets in; None: the application looks itself.

        names: by which others know the server besides, such as that of what stands before it.
        """
        self._app, self._host, self._token, self._most = app, host, token, most_bytes
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there is nothing but HTTP here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        asked = headers.get("host", "")
        length = headers.get("content-length", "0")
        if not (is_own_name(asked, self._host) or name_of(asked) in self._names):
            await refuse(send, 403, "This server has another name.")
        elif not is_own_origin(headers.get("origin"), asked):
            await refuse(send, 403, "The request came from another site.")
        elif self._token is not None and not same(bearer(headers.get("authorization", "")), self._token):
            await refuse(send, 401, "The key is missing or wrong. Send it: Authorization: Bearer KEY")
        elif not (length.isascii() and length.isdecimal()):
            await refuse(send, 400, "Content-Length is no number.")
        elif len(length) > 18 or int(length) > self._most:
            await refuse(send, 413, self._too_long)
        else:
            await self._passed_on(scope, receive, send)

    async def _passed_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The body is counted as it comes: it may be sent in pieces, without a length."""
        came, is_too_long, has_begun = 0, False, False

        async def counted() -> Message:
            nonlocal came, is_too_long
            message = await receive()
            came += len(message.get("body", b""))
            if came > self._most:
                is_too_long = True
                raise _TooLong
            return message

        async def sent(message: Message) -> None:
            nonlocal has_begun
            if not is_too_long or has_begun:  # else what the application says of it is not what is wrong
                has_begun = True
                await send(message)

        try:
            await self._app(scope, counted, sent)
        except _TooLong:
            if not has_begun:
                await refuse(send, 413, self._too_long)

    @property
    def _too_long(self) -> str:
        return f"The request is longer than {self._most:,} bytes."


class _TooLong(Exception):
    pass


def bearer(header: str) -> str:
    """The key of an Authorization header; empty where it holds none."""
    kind, _, key = header.partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


def same(given: str, wanted: str) -> bool:
    """Whether two keys are the same, in a time that does not tell how far they are."""
    return secrets.compare_digest(given.encode(errors="replace"), wanted.encode(errors="replace"))


async def refuse(send: Send, status: int, told: str) -> None:
    """An error as programs of either protocol read it."""
    body = json.dumps({"error": {"message": told, "type": "invalid_request_error", "code": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
