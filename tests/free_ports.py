"""Ports of the loopback for servers that have to be told theirs."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

_PORTS = range(15_000, 30_000)  # below those that systems hand out: nobody is given one by chance meanwhile


def free_port() -> int:
    """A port of the loopback that nobody listens at."""
    chance = random.SystemRandom()  # other processes look for one, too
    while True:
        port = chance.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
