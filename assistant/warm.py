"""`vouch ask` that stays warm: a process of the same user that has everything imported and loaded.

    vouch ask -> socket (0600, in a folder of the user's own) -> the same command, run there
    its streams, folder and environment go along; "ready", "go", and at last the exit code

The process answers one question after another, keeps nothing of any but the models it has loaded, and ends
when nobody asked for some minutes. Where there is none, or one of another version of the program, the command
runs as ever. No question is run twice.
"""

from __future__ import annotations

import array
import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stores.base.errors import VouchError

_READY, _GO, _INTERRUPT = b"r", b"g", b"i"
_MOST_BYTES = 4_000_000  # of a request
_GREETS_WITHIN_SECONDS = 0.3  # else it is busy with another question, and this one runs as ever
_MOST_QUESTIONS = 500  # then it ends, whatever it has kept
is_serving = False  # in this process


class WarmProcessEnded(VouchError):
    """It ended amid a question, which may have been kept."""

    exit_code = 1


def answered(arguments: Sequence[str], minutes: float) -> int | None:
    """The exit code of the command, run in the warm process; None where it is to run here.

    minutes: how long such a process waits for the next question; one is begun for the next where there is
    none. Raises `WarmProcessEnded`.
    """
    if is_serving or minutes <= 0 or not hasattr(socket, "SO_PEERCRED"):
        return None
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(_GREETS_WITHIN_SECONDS)
        try:
            link.connect(str(_place()))
            _send(link, arguments)
            if link.recv(1) != _READY:
                return None
            link.sendall(_GO)  # it may begin: from here on the question is not asked here
        except (TimeoutError, BlockingIOError):
            return None  # busy
        except OSError:
            _begin(minutes)
            return None
        link.settimeout(None)
        return _waited(link)


def _waited(link: socket.socket) -> int:
    """The exit code that comes; what interrupts us interrupts the command."""

    before: dict[signal.Signals, Any] = {}

    def interrupt(number: int, frame: object) -> None:
        with suppress(OSError):
            link.send(_INTERRUPT)
        signal.signal(number, before[signal.Signals(number)])  # a second one ends us as ever

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, interrupt)
    try:
        told = link.recv(4, socket.MSG_WAITALL)
    except OSError:
        told = b""
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if len(told) < 4:
        raise WarmProcessEnded(
            "the process that was answering has ended", hint="Ask again: it runs here then."
        )
    return int(struct.unpack("!i", told)[0])


def _send(link: socket.socket, arguments: Sequence[str]) -> None:
    request = {"arguments": list(arguments), "folder": str(Path.cwd()), "environment": dict(os.environ)}
    body = json.dumps(request).encode("utf-8", "surrogateescape")
    streams = array.array("i", [0, 1, 2])
    head = struct.pack("!I", len(body))
    link.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    link.sendall(body)


def _begin(minutes: float) -> None:
    """Begins a process for the next question; nobody waits for it, and that it fails is no matter."""
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-m", "assistant.warm", str(minutes)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )


def _place() -> Path:
    """The socket of this version of the program, in a folder that is this user's alone.

    Raises OSError where there is no such folder.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(base) / f"vouch-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not folder.is_dir() or folder.is_symlink():
        raise PermissionError(f"{folder} is not ours alone")
    return folder / f"{_version()}.sock"


def _version() -> str:
    """Changes with the program: its place, its interpreter, and when its files were last written."""
    root = Path(__file__).parents[1]
    names = ("assistant", "agents", "stores")
    newest = max(file.stat().st_mtime_ns for name in names for file in (root / name).rglob("*.py"))
    return hashlib.sha256(f"{root}\n{sys.executable}\n{newest}".encode()).hexdigest()[:16]


# In the process


def serve(minutes: float, run: Callable[[list[str]], int]) -> None:
    """Answers questions until nobody asked for so many minutes. run: a command, to its exit code."""
    global is_serving
    is_serving = True
    place = _place()
    with socket.socket(socket.AF_UNIX) as door:
        os.umask(0o177)
        if _is_taken(place):
            return
        place.unlink(missing_ok=True)
        door.bind(str(place))
        os.umask(0o077)
        door.listen(1)
        door.settimeout(minutes * 60)
        try:
            for _ in range(_MOST_QUESTIONS):
                link, _ = door.accept()
                with link, suppress(OSError, ValueError, KeyError):
                    _serve_one(link, run)
                if not place.exists():
                    return  # somebody took it away: another one may be there
        except TimeoutError:
            return
        finally:
            place.unlink(missing_ok=True)


def _is_taken(place: Path) -> bool:
    """Whether another process has it: two that were begun at once."""
    with socket.socket(socket.AF_UNIX) as link, suppress(OSError):
        link.connect(str(place))
        return True
    return False


def _serve_one(link: socket.socket, run: Callable[[list[str]], int]) -> None:
    link.settimeout(_GREETS_WITHIN_SECONDS)
    if _peer(link) != os.getuid():
        return
    head, streams, _, _ = socket.recv_fds(link, 4, 3)
    try:
        if len(head) < 4:
            return  # somebody looked whether we are here
        body = _received(link, struct.unpack("!I", head)[0])
        request = json.loads(body.decode("utf-8", "surrogateescape"))
        arguments, folder = [str(each) for each in request["arguments"]], str(request["folder"])
        environment = {str(name): str(value) for name, value in request["environment"].items()}
        os.chdir(folder)
        link.sendall(_READY)
        if link.recv(1) != _GO:  # who asked has given up waiting, and runs it there
            return
        link.settimeout(None)
        code = _run_there(link, run, arguments, environment, streams)
        link.sendall(struct.pack("!i", code))
    finally:
        for stream in streams:
            os.close(stream)
        os.chdir("/")


def _run_there(
    link: socket.socket,
    run: Callable[[list[str]], int],
    arguments: list[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
) -> int:
    """The command with the streams and the environment of who asks; who leaves interrupts it."""
    own_environment = dict(os.environ)
    is_over = threading.Event()
    _take_streams(streams)
    os.environ.clear()
    os.environ.update(environment)

    def heed() -> None:
        is_there = True
        while is_there and not is_over.is_set():
            with suppress(OSError):
                is_there = bool(link.recv(1))  # an interrupt, or its end
            if not is_over.is_set():
                os.kill(os.getpid(), signal.SIGINT)

    heeding = threading.Thread(target=heed, daemon=True)
    heeding.start()
    try:
        return run(arguments)
    except KeyboardInterrupt:
        return 130
    finally:
        is_over.set()
        with suppress(OSError):
            link.shutdown(socket.SHUT_RD)
        heeding.join()
        os.environ.clear()
        os.environ.update(own_environment)
        null = os.open(os.devnull, os.O_RDWR)
        _take_streams([null] * 3)
        os.close(null)


def _take_streams(streams: Sequence[int]) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 - the process's own
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115


def _received(link: socket.socket, size: int) -> bytes:
    if size > _MOST_BYTES:
        raise ValueError("a request that long is none of ours")
    body = b""
    while len(body) < size:
        piece = link.recv(size - len(body))
        if not piece:
            raise ValueError("the request broke off")
        body += piece
    return body


def _peer(link: socket.socket) -> int:
    """The user at the other end."""
    told = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", told)[1])


def main() -> None:
    """Loads what every question needs, and serves."""
    from assistant.cli import run
    from assistant.wiring.parts.kept import keep_loaded

    signal.signal(signal.SIGINT, signal.default_int_handler)  # as who began us may have ignored them
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    keep_loaded()
    serve(float(sys.argv[1]), run)


if __name__ == "__main__":
    main()
