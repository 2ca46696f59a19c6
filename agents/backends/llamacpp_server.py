"""The child process that `llamacpp_child` starts: llama.cpp with one model, until its standard input ends.

    one line of JSON in  -> the model is loaded -> one line of JSON out: where it listens, or what went wrong

It listens on this machine alone, at a port of the system's choice, and answers only who knows the key.
A file's own template is run while it loads and with each request, and may loop or grow for ever: the system
ends this process with its standard input, whatever it does then, and limits its memory.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import sys
import urllib.request
from typing import Any


def main() -> None:
    """Serves the model that standard input names; ends with it, so never outlives who started it."""
    asked: dict[str, Any] = json.loads(sys.stdin.readline())
    _end_with_standard_input()
    with contextlib.suppress(ValueError, OSError):  # not every system knows or allows it
        # Of what it writes to: a file that is mapped, and what a graphics card's driver sets aside, are none.
        resource.setrlimit(resource.RLIMIT_DATA, (asked["memory_bytes"],) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import xllamacpp
    except ImportError as error:
        _say(missing=str(error))
        return
    params = xllamacpp.CommonParams()
    params.model.path = asked["path"]
    params.model_alias = {asked["name"]}
    params.n_ctx = asked["context_tokens"]
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = asked["threads"]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [asked["key"]]
    if asked["adapters"]:
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(asked["adapters"])]
    params.ui = params.endpoint_slots = False
    params.verbosity = -1
    try:
        server = xllamacpp.Server(params)
        listed = urllib.request.Request(
            f"{server.listening_address}/v1/models", headers={"Authorization": f"Bearer {asked['key']}"}
        )
        with urllib.request.urlopen(listed) as answer:
            context_tokens = json.load(answer)["data"][0]["meta"]["n_ctx"]
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
        _say(failed=str(error))
    else:
        _say(address=server.listening_address, context_tokens=context_tokens)
        sys.stdin.read()
    os._exit(0)  # at once: the server would first finish its reply


def _end_with_standard_input() -> None:
    """Has the system signal its end: while a model loads, no other thread of Python's can run to see it."""
    if sys.platform != "linux":
        return
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)  # SIGIO ends a process
    at_its_end = select.poll()
    at_its_end.register(0, select.POLLHUP)
    if at_its_end.poll(0):  # before that
        os.kill(os.getpid(), signal.SIGKILL)


def _say(**told: object) -> None:
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
