"""`vouch ask` in a process that stays warm: asked, interrupted, killed, not there, not ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant import warm

SERVER = """
import os, signal, sys, time
from assistant import warm

def run(arguments):
    print(arguments[-1], os.getcwd(), os.environ["ASKED_BY"], sys.stdin.read().strip(), flush=True)
    if arguments[-1] == "die":
        os._exit(9)
    if arguments[-1] == "wait":
        time.sleep(60)
    return 3

warm.serve(0.5, run)
"""
CLIENT = "import sys; from assistant import warm; sys.exit(warm.answered(sys.argv[1:], 1.0) or 77)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def server(place: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.DEVNULL) as process:
        ends = time.monotonic() + 60
        while not warm._place().exists():
            assert time.monotonic() < ends
            time.sleep(0.02)
        yield process
        process.kill()


def _asked(place: Path, *words: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(place), "ASKED_BY": "ann"}
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=place,
        env=environ,
        text=True,
    )


def test_it_runs_there_with_ones_streams_folder_and_environment_again_and_again(
    place: Path, server: subprocess.Popen[bytes]
) -> None:
    for word in ("one", "two"):
        with _asked(place, "ask", word) as asked:
            told, _ = asked.communicate("piped", timeout=60)
        assert (told, asked.returncode) == (f"{word} {place} ann piped\n", 3)
    assert server.poll() is None


def test_what_interrupts_who_asks_interrupts_what_runs(place: Path, server: subprocess.Popen[bytes]) -> None:
    with _asked(place, "ask", "wait") as asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        asked.stdin.close()
        assert asked.stdout.readline().startswith("wait")
        asked.send_signal(signal.SIGINT)
        assert asked.wait(timeout=60) == 130
    assert server.poll() is None


def test_who_leaves_leaves_nothing_running(place: Path, server: subprocess.Popen[bytes]) -> None:
    with _asked(place, "ask", "wait") as asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        asked.stdin.close()
        assert asked.stdout.readline().startswith("wait")
        asked.kill()
    with _asked(place, "ask", "next") as asked:
        asked.communicate("", timeout=60)
    assert asked.returncode in (3, 77)  # 77: it was busy for that moment
    assert server.poll() is None


@pytest.mark.usefixtures("server")
def test_a_question_that_dies_there_is_told_and_not_run_twice(place: Path) -> None:
    with _asked(place, "ask", "die") as asked:
        told, failed = asked.communicate("", timeout=60)
    assert told.count("\n") == 1
    assert "WarmProcessEnded" in failed


def test_without_one_it_runs_here_and_one_is_begun_for_the_next(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []
    monkeypatch.setattr(warm, "_begin", begun.append)
    assert warm.answered(["ask", "x"], 0.0) is None
    assert begun == []
    assert warm.answered(["ask", "x"], 2.0) is None
    assert begun == [2.0]
    folder = warm._place().parent
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "_begin", lambda minutes: None)
    folder = place / f"vouch-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        warm._place()
    assert warm.answered(["ask", "x"], 2.0) is None


def test_who_only_looks_whether_it_is_there_does_not_end_it(
    place: Path, server: subprocess.Popen[bytes]
) -> None:
    assert warm._is_taken(warm._place())
    with _asked(place, "ask", "next") as asked:
        asked.communicate("", timeout=60)
    assert asked.returncode in (3, 77)  # 77: it was busy for that moment
    assert server.poll() is None


def test_it_ends_when_nobody_asks(place: Path) -> None:
    served = threading.Thread(target=warm.serve, args=(0.001, lambda arguments: 0))
    served.start()
    served.join(timeout=60)
    warm.is_serving = False
    assert not served.is_alive()
    assert not warm._place().exists()
