"""A copy of the database is gone when whoever worked on it is, however it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from store_fixtures import fresh_database

from stores.database.working_copies import sweep_copies, working_copy
from stores.exchange.backup import write_backup

WORKS = """
import sys
from pathlib import Path
from stores.database.working_copies import working_copy
with working_copy(Path(sys.argv[1])) as folder:
    (folder / "vouch.db").write_text("Zq0123456789abcdef")
    print(folder, flush=True)
    sys.stdin.read()
"""


def copies(data: Path) -> list[str]:
    return sorted(file.name for file in data.rglob("vouch.db"))


@pytest.fixture
def at_work(tmp_path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKS, str(tmp_path)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.stdout is not None
    assert started.stdout.readline()
    return started


def test_a_copy_goes_at_the_end_also_of_work_that_failed(tmp_path: Path) -> None:
    def works() -> None:
        with working_copy(tmp_path) as folder:
            (folder / "vouch.db").write_text("Zq")
            sweep_copies(tmp_path)  # another process leaves it: it is in use
            assert copies(tmp_path) == ["vouch.db"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        works()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_next(tmp_path: Path, at_work: subprocess.Popen[bytes]) -> None:
    sweep_copies(tmp_path)
    assert copies(tmp_path) == ["vouch.db"]
    os.kill(at_work.pid, signal.SIGKILL)
    at_work.communicate()
    assert copies(tmp_path) == ["vouch.db"]
    sweep_copies(tmp_path)
    assert list((tmp_path / "copies").iterdir()) == []


def test_forgetting_reaches_a_copy_in_use(tmp_path: Path, at_work: subprocess.Popen[bytes]) -> None:
    sweep_copies(tmp_path, in_use=True)
    assert list((tmp_path / "copies").iterdir()) == []
    at_work.communicate()
    assert at_work.returncode == 0


def test_a_folder_whose_lock_is_gone_goes_too(tmp_path: Path) -> None:
    (tmp_path / "copies" / "a").mkdir(parents=True)
    sweep_copies(tmp_path)
    assert list((tmp_path / "copies").iterdir()) == []


def test_a_backup_deletes_what_a_killed_one_left(tmp_path: Path) -> None:
    left = tmp_path / ".vouch-backup-0123"
    left.write_text("Zq")
    write_backup(fresh_database(tmp_path), tmp_path / "monday.db")
    assert not left.exists()
    assert not list(tmp_path.glob(".vouch-backup-*"))
