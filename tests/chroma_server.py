"""A ChromaDB server on the loopback, for tests: started, killed and started again at the same address."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from tests.free_ports import free_port

PROGRAM = Path(sys.executable).with_name("chroma")
TRIES = 600  # a tenth of a second each


class CannotStart(Exception):
    """The server did not come up: Chroma is installed with Vouch, so a test may not do without."""


class ChromaServer:
    """`chroma run` over one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Runs until `stop`; ready when this returns. Raises `CannotStart`."""
        if not PROGRAM.exists():
            raise CannotStart(f"{PROGRAM} is not there")
        self._process = subprocess.Popen(
            [PROGRAM, "run", "--path", self.folder, "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False", "OMP_NUM_THREADS": "1"},
        )
        for _ in range(TRIES):
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=5).close()
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=0.1)
                raise CannotStart(f"chroma run ended with {self._process.returncode}")
        self.stop()
        raise CannotStart("chroma run does not answer")

    def stop(self) -> None:
        """Kills it, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
