"""Whether a request over HTTP is for this server, and by which names it goes."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit


def is_own_name(asked: str, host: str) -> bool:
    """Whether a request's Host is a name of this server, and not one that somebody made point here.

    asked: with its port or without. host: what the server is bound to.
    """
    name = name_of(asked)
    if not name:
        return False
    number = address_of(name)
    if number is not None:  # which nobody else can make point here
        return number.is_loopback or not is_loopback(host)
    return name in (host.lower(), "localhost") or (
        not is_loopback(host) and name == socket.gethostname().lower()
    )


def name_of(asked: str) -> str:
    """The name in a request's Host, in small letters; empty where that is none."""
    try:
        parts = urlsplit(f"//{asked}")
        name, _ = (parts.hostname or "").lower(), parts.port
    except ValueError:  # such as a bracket that is not closed, or a port of letters
        return ""
    return name


def is_own_origin(origin: str | None, asked: str) -> bool:
    """Whether a page that sends a request came from here; None: no page sends it. asked: as above."""
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc == asked != ""
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect."""
    number = address_of(host)
    return host.lower() == "localhost" if number is None else number.is_loopback


def address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a name is; None where it is a name."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def shown_address(host: str, port: int) -> str:
    """How others name this server, as a URL without a path."""
    number = address_of(host)
    name = socket.gethostname() if number is not None and number.is_unspecified else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
