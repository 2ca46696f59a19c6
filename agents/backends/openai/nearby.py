"""Model servers on this machine, looked for at the ports that they usually have. Only where somebody asks."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException

USUAL_PORTS: Mapping[int, str] = {
    11434: "Ollama",
    8080: "llama.cpp",
    1234: "LM Studio",
    8000: "vLLM",
    1337: "Jan",
}
_WITHIN_SECONDS = 1.0
_MOST_BYTES, _MOST_MODELS = 1_000_000, 100


@dataclass(frozen=True)
class NearbyServer:
    """One that speaks OpenAI's protocol."""

    kind: str  # what usually has its port
    base_url: str
    models: tuple[str, ...]  # that chat, as far as their names tell


def nearby_servers(ports: Mapping[int, str] = USUAL_PORTS) -> list[NearbyServer]:
    """Those that answer on the loopback address within a second, and have a model."""
    with ThreadPoolExecutor(max_workers=len(ports)) as threads:
        found = threads.map(_models_at, ports)
        return [
            NearbyServer(kind, f"http://127.0.0.1:{port}/v1", models)
            for (port, kind), models in zip(ports.items(), found, strict=True)
            if models
        ]


def chats(name: str) -> bool:
    """Whether a model of a server writes, as far as its name tells: lists tell nothing else of it."""
    return "embed" not in name.lower()


def _models_at(port: int) -> tuple[str, ...]:
    connection = HTTPConnection("127.0.0.1", port, timeout=_WITHIN_SECONDS)
    ends = time.monotonic() + _WITHIN_SECONDS
    with suppress(OSError, HTTPException, ValueError, RecursionError):
        try:
            connection.request("GET", "/v1/models")
            answer, read = connection.getresponse(), b""
            while len(read) < _MOST_BYTES and time.monotonic() < ends and (piece := answer.read1(65_536)):
                read += piece
            told = json.loads(read)
        finally:
            connection.close()
        listed = told.get("data") if isinstance(told, dict) and answer.status == 200 else None
        entries = listed if isinstance(listed, list) else []
        names = [each.get("id") for each in entries if isinstance(each, dict)]
        return tuple(name for name in names if isinstance(name, str) and chats(name))[:_MOST_MODELS]
    return ()
