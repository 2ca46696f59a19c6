"""A server on a port, until it is told to end."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from assistant.doors.guard import App
from assistant.process.own_names import shown_address
from stores.base.errors import TryAgain

_ENDS_WITHIN_SECONDS = 5  # what is still answered then is stopped, and its part kept


def listen(app: App, *, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serves until SIGINT or SIGTERM. port: 0 takes a free one. tell: is given the address.

    Raises `TryAgain` where the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            link.bind((host, port))
            link.listen(128)
        except (OSError, UnicodeError) as error:
            told = error.strerror if isinstance(error, OSError) else "no name of a machine"
            raise TryAgain(f"{host}:{port}: {told}", hint="Name another with --host and --port.") from error
        tell(shown_address(host, link.getsockname()[1]))
        config = uvicorn.Config(
            app,
            log_config=None,  # which would close the handlers of all others
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_ENDS_WITHIN_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[link])
