"""A real vLLM with a tiny model on the CPU: its server on loopback, and its engine in this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agents.backends.vllm_chat import VllmChat
from tests.free_ports import free_port

READY_SECONDS = 400.0
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
}


@contextmanager
def serving(folder: Path, longest_tokens: int) -> Iterator[str]:
    """Serves the model in `folder` under the name `tiny`. Gives the address, up to and with /v1."""
    port = free_port()
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    command += ["--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--dtype", "float32", "--max-model-len", str(longest_tokens), "--enforce-eager"]
    command += ["--max-num-seqs", "16", "--structured-outputs-config"]
    command += ['{"backend": "xgrammar", "disable_any_whitespace": true}']
    log = folder.with_suffix(".server.log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | ENVIRONMENT,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            with suppress(ProcessLookupError):  # its own processes too
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def vllm_maker(folder: Path) -> Callable[[int], VllmChat]:
    """Makes chat models of the same engine whose replies have up to so many of the likeliest tokens."""
    os.environ.update(ENVIRONMENT)
    options = {"dtype": "float32", "enforce_eager": True, "max_num_seqs": 16}
    first: list[VllmChat] = []

    def make(max_tokens: int) -> VllmChat:
        chat = VllmChat(
            str(folder), offline=True, max_tokens=max_tokens, temperature=0.0, engine_options=options
        )
        if first:
            chat._started = first[0]._started  # type: ignore[method-assign]  # an engine takes a minute
        first.append(chat)
        return chat

    return make


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + READY_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:  # not listening yet
            time.sleep(0.5)
    raise RuntimeError(f"the vLLM server was not ready; its log ends with:\n{log.read_text()[-3000:]}")
