"""No memory, no file left to open, no room on a disk: each is told by its cause, the disk by its place."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from agents.backends.llamacpp_chat import LlamaCppChat, _Child
from agents.backends.llamacpp_child import start
from agents.base.chat_interfaces import ChatMessage, ReplyRequest
from assistant import cli
from stores.base import shortages
from stores.base.errors import ReplyCut, UnknownModel
from stores.base.shortages import lacks_files, shortage, temporary_folder
from stores.database.database import Database, told_plainly
from stores.exchange.backup import write_backup

MEMORY, FILES, DISK = "there is not enough memory", "too many files are open", "a disk is full"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), MEMORY),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), MEMORY),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to"), MEMORY),
        (RuntimeError("Failed to allocate memory for requested buffer of size 5"), MEMORY),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), MEMORY),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), MEMORY),
        (OSError(errno.EMFILE, "Too many open files", "/x"), FILES),
        (OSError(errno.ENFILE, "Too many open files in system"), FILES),
        (ImportError("x.so: cannot open shared object file: Too many open files"), FILES),
        (OSError(errno.ENOSPC, "No space left on device"), DISK),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), DISK),
        (sqlite3.OperationalError("database or disk is full"), DISK),
        (shutil.Error([("a", "b", "[Errno 28] No space left on device")]), DISK),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"), DISK),
    ],
)
def test_a_shortage_is_told_also_behind_the_error_that_it_led_to(error: Exception, told: str) -> None:
    outer = ValueError("what became of it")
    outer.__context__ = error
    for each in (error, outer):
        lacking = shortage(each)
        assert lacking is not None
        assert lacking.message.startswith(told)
        assert lacking.hint
        assert lacking.exit_code == 3


def test_a_text_that_speaks_of_a_shortage_is_none() -> None:
    told = OperationalError("INSERT", {"text": "out of memory"}, sqlite3.OperationalError("near x: syntax"))
    assert shortage(told) is None
    assert shortage(ValueError("no number\nDETAIL: the disk is full")) is None
    assert shortage(KeyError("x")) is None


# A full disk


def test_the_place_that_the_system_names_is_named(tmp_path: Path) -> None:
    places = {tmp_path / "data": "Name another directory with --data."}
    named = shortage(OSError(errno.ENOSPC, "No space", str(tmp_path / "data" / "x")), places)
    target = shortage(OSError(errno.ENOSPC, "No space", "/from", None, "/else/where"), places)
    assert named is not None
    assert target is not None
    assert named.message == f"{tmp_path}/data/x: the disk is full"
    assert named.hint == "Make room there, then try again. Name another directory with --data."
    assert (target.message, target.hint) == (
        "/else/where: the disk is full",
        "Make room there, then try again.",
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real one, of 64 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("no disk can be made here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(folder: Path) -> OSError:
    with pytest.raises(OSError, match="No space left") as full, (folder / "filled").open("wb") as out:
        out.write(b"x" * 1_000_000)
    return full.value


def test_of_several_places_the_one_without_room_is_named(tmp_path: Path, small_disk: Path) -> None:
    error = fill(small_disk)
    assert error.filename is None  # the system does not say which
    told = shortage(error, {tmp_path: "Not here.", small_disk / "cache" / "models": "Name another cache."})
    assert told is not None
    assert told.message == f"{small_disk}/cache/models: the disk is full"
    assert told.hint == "Make room there, then try again. Name another cache."


def test_where_there_is_room_again_each_disk_is_named_once(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(shortages, "room", lambda _: 1 << 30)
    told = shortage(error, {tmp_path: "", tmp_path / "beside": "", small_disk: ""})
    assert told is not None
    assert told.message == f"{tmp_path}: the disk is full"
    assert told.hint == f"Make room there or on the disk of {small_disk}, then try again."


def test_a_backup_names_the_disk_of_its_target(tmp_path: Path, small_disk: Path) -> None:
    database = Database.at(tmp_path)
    with pytest.raises(shortages.StoreUnavailable) as told:
        write_backup(database, small_disk / "backup.db")
    database.close()
    assert told.value.message == f"{small_disk}: the disk is full"


def test_a_database_names_the_temporary_folder_where_that_is_full(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITE_TMPDIR", str(small_disk))
    assert temporary_folder("SQLITE_TMPDIR") == small_disk
    fill(small_disk)
    with pytest.raises(shortages.StoreUnavailable) as told, told_plainly(f"sqlite:///{tmp_path}/vouch.db"):
        raise sqlite3.OperationalError("database or disk is full")
    assert told.value.message == f"{small_disk}: the disk is full"


def test_a_command_names_the_cache_where_that_is_full(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    error = fill(small_disk)
    monkeypatch.setenv("XDG_CACHE_HOME", str(small_disk))
    monkeypatch.setattr("assistant.settings.local_models.LocalModels.all", fails)
    assert cli.run(["models", "list", "--data", str(tmp_path)]) == 3
    told = capsys.readouterr().err
    assert told.startswith(f"vouch: {small_disk}/vouch: the disk is full\n")
    assert "XDG_CACHE_HOME" in told


# Memory, files and children


LIMITED = """
import resource, sys
from assistant.cli import run
kind, more = getattr(resource, sys.argv[1]), int(sys.argv[2])
if kind == resource.RLIMIT_AS:
    more += int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(kind, (more, more))
sys.exit(run(["memory", "list", "--data", sys.argv[3]]))
"""


@pytest.mark.parametrize(
    ("kind", "limit", "told"),
    [
        ("RLIMIT_NOFILE", 3, f"{FILES}: this process may have 3"),
        ("RLIMIT_NOFILE", 5, f"{FILES}: this process may have 5"),
        ("RLIMIT_NOFILE", 7, f"{FILES}: this process may have 7"),
        ("RLIMIT_AS", 30_000_000, MEMORY),  # with 10 CPython itself may loop, amid an import
    ],
)
def test_a_command_under_a_limit_says_what_it_lacks(tmp_path: Path, kind: str, limit: int, told: str) -> None:
    environment = os.environ | {"HOME": str(tmp_path)}
    before = [sys.executable, "-c", LIMITED]
    made = subprocess.run([*before, "RLIMIT_NOFILE", "100", tmp_path / "d"], env=environment, check=True)
    assert made.returncode == 0
    ran = subprocess.run(
        [*before, kind, str(limit), tmp_path / "d"], env=environment, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr.splitlines()[0]) == (3, f"vouch: {told}"), ran.stderr
    assert len(ran.stderr.splitlines()) == 2


def test_files_that_are_used_up_are_noticed() -> None:
    script = (
        "import resource; from stores.base.shortages import lacks_files\n"
        "assert not lacks_files()\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))\n"
        "assert lacks_files()"
    )
    assert not lacks_files()
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_defect_whose_report_cannot_be_written_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    def refuses(*_: object, **_more: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/state")

    monkeypatch.setattr(cli, "_invoke", fails)
    monkeypatch.setattr("assistant.process.log.write_crash_report", refuses)
    assert cli.run(["memory"]) == 70
    assert "No report could be written: [Errno 13] Permission denied: '/state'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "told"),
    [("kill -9 $$", "it was ended by signal 9, as when memory runs out"), ("exit 1", "it ended at once")],
)
def test_a_model_that_is_killed_as_it_loads_is_told_by_what_it_is_mostly_killed_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    begin = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _, **how: begin(["sh", "-c", f"read x; {script}"], **how))
    (tmp_path / "m.gguf").touch()
    with pytest.raises(UnknownModel, match=f"m.gguf: {told}"):
        start(tmp_path / "m.gguf", context_tokens=100, threads=1)


def test_a_model_that_is_killed_as_it_writes_is_told_so(tmp_path: Path) -> None:
    async def cut(_: object) -> AsyncIterator[str]:
        yield "Li"
        child.kill()
        raise ReplyCut("the connection broke")

    async def read(chat: LlamaCppChat) -> list[object]:
        return [piece async for piece in chat.stream(ReplyRequest((ChatMessage("user", "?"),)))]

    chat = LlamaCppChat(tmp_path / "m.gguf")
    with subprocess.Popen(["sleep", "600"], text=True) as child:
        served: Any = SimpleNamespace(
            stream=cut, harmless_messages=lambda messages: messages, require_template=lambda messages: None
        )
        chat._kept = _Child(child, served, 100, served)
        try:
            with pytest.raises(ReplyCut, match="reply of m, was ended by signal 9, as when memory runs out"):
                asyncio.run(read(chat))
        finally:
            child.kill()
