"""Commands as forks of a process that has imported them: real processes, without the second of importing.

    ForkedCommand(("ask", "when?"), cwd=..., env=..., stdin=PIPE, stdout=PIPE, stderr=PIPE)

It is a `subprocess.Popen` in all that tests do with it: pipes, signals, exit codes. The process that forks
has one thread and no assistant; it is begun once for each process of tests, and ends with it. What depends on
how Python itself starts (first imports, PYTHON... variables, terminals) is tested with processes begun anew.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parent.parent
COMMAND = str(Path(sys.executable).with_name("vouch"))
_LENGTH = struct.Struct("!I")
_STATUS = struct.Struct("!i")
_MAY_BE_IGNORED = (signal.SIGTERM, signal.SIGHUP)  # by whoever begins a command, as `nohup` does
_NOT_YET = ("onnxruntime", "torch", "textual")  # the first begins a thread, which no fork has
_LIBRARIES = ("numpy", "tokenizers", "sqlmodel", "openai", "jsonschema", "alembic.command")


class ForkedCommand(subprocess.Popen[bytes]):
    """A command that runs."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], **pipes: Any) -> None:
        self._line: socket.socket | None = None
        super().__init__([COMMAND, *arguments], cwd=cwd, env=env, **pipes)

    def _execute_child(self, args: Any, _executable: Any, *given: Any) -> None:
        """In place of fork and exec: parameters and pipes go to the process that forks."""
        cwd, env = given[3], given[4]
        pipes = given[8:14]
        ignored = [each for each in _MAY_BE_IGNORED if signal.getsignal(each) is signal.SIG_IGN]
        asked = {"arguments": list(args[1:]), "cwd": str(cwd), "env": dict(env), "ignored": ignored}
        handed = [
            own if theirs == -1 else theirs for own, theirs in enumerate((pipes[0], pipes[3], pipes[5]))
        ]
        self._line = _forks().begin(asked, handed)
        self.pid = _STATUS.unpack(self._line.recv(_STATUS.size, socket.MSG_WAITALL))[0]
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """As waitpid, of a process that is another one's child."""
        assert self._line is not None
        self._line.setblocking(not wait_flags & os.WNOHANG)
        try:
            told = self._line.recv(_STATUS.size)
        except BlockingIOError:
            return 0, 0
        if not told:
            raise RuntimeError("the process that forks the commands has ended")
        self._line.close()
        return self.pid, _STATUS.unpack(told)[0]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


class _Forks:
    """The process that forks, seen from the tests."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        self._lock = threading.Lock()
        environment = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HOME": "/nonexistent",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONWARNINGS": "error",
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def begin(self, asked: Mapping[str, Any], pipes: Sequence[int]) -> socket.socket:
        """The line on which the process tells its number, and how it ended."""
        ours, theirs = socket.socketpair()
        told = json.dumps(asked).encode()
        with theirs, self._lock:
            socket.send_fds(self._control, [_LENGTH.pack(len(told))], [*pipes, theirs.fileno()])
            self._control.sendall(told)
        return ours


_running: dict[int, _Forks] = {}


def _forks() -> _Forks:
    if os.getpid() not in _running:
        _running.clear()  # of the process that we were forked from
        _running[os.getpid()] = _Forks()
    return _running[os.getpid()]


def _import_all() -> None:
    for name in _NOT_YET:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in _LIBRARIES:
        importlib.import_module(name)
    for package in ("stores", "agents", "assistant"):
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if "migrations" not in found.name:
                with contextlib.suppress(ImportError):  # of what is not imported yet, or of an extra
                    importlib.import_module(found.name)
    for name in _NOT_YET:
        del sys.modules[name]
    assert threading.active_count() == len([*Path("/proc/self/task").iterdir()]) == 1, "a fork has one thread"


def _serve(control: socket.socket) -> Mapping[str, Any]:
    """Forks until the tests have ended; in a fork, returns what it is to run."""
    waits = selectors.DefaultSelector()
    waits.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in waits.select():
            if key.fileobj is control:
                head, pipes, *_ = socket.recv_fds(control, _LENGTH.size, 4, socket.MSG_WAITALL)
                if not head:
                    os._exit(0)
                asked = control.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL)
                pid = os.fork()
                if pid == 0:
                    for other in waits.get_map().values():
                        if other.data:
                            other.data[1].detach()
                    waits.close()
                    control.close()
                    return _become(json.loads(asked), pipes)
                line = socket.socket(fileno=pipes[3])
                for number in pipes[:3]:
                    os.close(number)
                line.sendall(_STATUS.pack(pid))
                waits.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, line))
            else:
                pid, line = key.data
                _, status = os.waitpid(pid, 0)
                waits.unregister(key.fd)
                os.close(key.fd)
                with contextlib.suppress(OSError):  # nobody waits for it
                    line.sendall(_STATUS.pack(status))
                line.close()


def _become(asked: dict[str, Any], pipes: Sequence[int]) -> dict[str, Any]:
    """Makes a fork what a process is that was begun with these."""
    os.close(pipes[3])
    for number, pipe in enumerate(pipes[:3]):
        os.dup2(pipe, number)
    os.closerange(3, 256)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    for number in _MAY_BE_IGNORED:
        signal.signal(number, signal.SIG_IGN if number in asked["ignored"] else signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        how = {"encoding": "utf-8", "errors": "backslashreplace" if number == 2 else "surrogateescape"}
        stream = open(number, "r" if number == 0 else "w", closefd=False, **how)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv[:] = [COMMAND, *asked["arguments"]]
    sys.path[0] = str(Path(COMMAND).parent)
    return asked


def _end(code: int) -> NoReturn:
    """As Python ends a process, without taking down what was imported, which takes half a second."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    gc.disable()
    _import_all()
    gc.freeze()  # or each fork would copy what it never changes
    _serve(socket.socket(fileno=int(sys.argv[1])))
    gc.enable()
    from assistant.cli import run

    _end(run(sys.argv[1:]))
