"""The client that connects to one server with its key, through a proxy where one is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from agents.backends.openai.streams import client_class
from stores.base.errors import BackendMissing, ModelUnreachable, WrongKey

if TYPE_CHECKING:
    import httpx2
    import openai

_ABOUT_THIS_MACHINE = tuple(  # what the client library would tell every server about it
    f"X-Stainless-{part}"
    for part in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
)
_NO_KEY = "no-key"  # sent where no key is set; with none at all the client would read OPENAI_API_KEY
_CORRECT_PROXY = "Correct ALL_PROXY or HTTPS_PROXY, or name the server in NO_PROXY."


def make_client(
    base_url: str,
    *,
    server: str,
    api_key: str,
    headers: Mapping[str, str],
    connect_seconds: float,
    read_seconds: float,
    pruned: Callable[[str], str],
) -> openai.AsyncOpenAI:
    """A client that knows this server and key, and none from the environment.

    server: the address as it may be shown. pruned: a library's words without secrets.
    Raises `WrongKey`, `BackendMissing` or `ModelUnreachable` where there can be none.
    """
    if not (api_key.isascii() and api_key.isprintable()):
        raise WrongKey(
            f"The key for {server} has a character that no header can carry",
            hint="Copy the key again into VOUCH_API_KEY, without quotation marks or line breaks.",
        )
    import httpx2
    import openai

    try:
        client = client_class()(
            base_url=base_url,
            api_key=api_key or _NO_KEY,
            timeout=httpx2.Timeout(read_seconds, connect=connect_seconds),
            max_retries=0,
            default_headers={**dict.fromkeys(_ABOUT_THIS_MACHINE, openai.omit), **headers},  # type: ignore[arg-type]
            http_client=_http_client(base_url),
        )
    except ImportError as error:
        raise BackendMissing(
            f"The proxy of the environment needs a package: {pruned(str(error))}",
            hint="Install socksio, or name the server in NO_PROXY.",
        ) from None
    except httpx2.InvalidURL as error:
        if _is_readable(base_url):  # without the library's words: they may hold part of a password
            raise ModelUnreachable(
                "The proxy of the environment cannot be used: its address is none",
                hint=_CORRECT_PROXY,
            ) from None
        raise ModelUnreachable(
            f"{server} is no address of a server: {pruned(str(error))}",
            hint="Correct base_url: it looks like http://127.0.0.1:8000/v1.",
        ) from None
    except ValueError as error:
        raise ModelUnreachable(
            f"The proxy of the environment cannot be used: {pruned(str(error))}",
            hint=_CORRECT_PROXY,
        ) from None
    client.organization = client.project = None  # OPENAI_ORG_ID is no business of other servers
    _ = client.chat.completions  # imported on first use: 60 ms
    return client


def is_on_this_machine(base_url: str) -> bool:
    """Whether an address leads to a server of this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # another name
        return False


def _is_readable(url: str) -> bool:
    import httpx2

    try:
        httpx2.URL(url)
    except httpx2.InvalidURL:
        return False
    return True


def _http_client(base_url: str) -> httpx2.AsyncClient:
    """As the client library makes it; of a server that NO_PROXY names, no proxy is even looked at."""
    import httpx2
    import openai

    if not proxy_bypass(urlsplit(base_url).hostname or ""):
        return openai.DefaultAsyncHttpxClient()
    return openai.DefaultAsyncHttpxClient(
        transport=httpx2.AsyncHTTPTransport(limits=openai.DEFAULT_CONNECTION_LIMITS)
    )
