"""A process that was killed is known to be gone; one that lives, or is not known, is not."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stores.database.living_processes import LivingProcess

_LIVES = """
import sys
from pathlib import Path
from stores.database.living_processes import LivingProcess
print(LivingProcess(Path(sys.argv[1])).name, flush=True)
sys.stdin.read()
"""


def test_only_a_process_that_was_killed_has_died(tmp_path: Path) -> None:
    here = LivingProcess(tmp_path / "processes")
    child = subprocess.Popen(
        [sys.executable, "-c", _LIVES, str(tmp_path / "processes")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert name
        assert not here.has_died(name)
        child.kill()
        child.wait()
        assert here.has_died(name)
        assert here.has_died(name)  # to be asked again does no harm


def test_nothing_is_known_of_oneself_of_nobody_and_of_another_machine(tmp_path: Path) -> None:
    here = LivingProcess(tmp_path / "processes")
    assert not here.has_died(here.name)
    assert not here.has_died("")
    assert not here.has_died("0123456789abcdef")


def test_a_process_that_ended_leaves_no_file(tmp_path: Path) -> None:
    here, other = LivingProcess(tmp_path / "processes"), LivingProcess(tmp_path / "processes")
    name = here.name
    assert not other.has_died(name)  # also within one process
    assert oct((tmp_path / "processes" / f"{name}.lock").stat().st_mode)[-3:] == "600"
    here.close()
    here.close()
    assert list((tmp_path / "processes").iterdir()) == []


def test_what_a_killed_process_left_is_swept_away_a_day_later(tmp_path: Path) -> None:
    folder = tmp_path / "processes"
    folder.mkdir()
    (folder / "old.lock").touch()
    (folder / "young.lock").touch()
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(folder / "old.lock", (long_ago, long_ago))
    name = LivingProcess(folder).name
    assert {file.stem for file in folder.iterdir()} == {"young", name}


def test_a_process_that_lives_is_not_swept_away_however_old_its_file_is(tmp_path: Path) -> None:
    folder = tmp_path / "processes"
    here = LivingProcess(folder)
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(folder / f"{here.name}.lock", (long_ago, long_ago))
    other = LivingProcess(folder)
    assert other.name  # from now on it is one, too
    assert {file.stem for file in folder.iterdir()} == {here.name, other.name}
    assert not other.has_died(here.name)


def test_where_no_lock_can_be_had_there_is_no_name_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def flock(descriptor: int, _operation: int) -> None:
        tries.append(descriptor)
        raise OSError(errno.ENOLCK, "no locks available")

    here = LivingProcess(tmp_path / "processes")
    monkeypatch.setattr(fcntl, "flock", flock)
    assert [here.name for _ in range(5)] == [""] * 5
    assert len(tries) == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(tries[0])
    assert list((tmp_path / "processes").iterdir()) == []
    here.close()


def test_where_nothing_can_be_written_there_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "processes").write_text("no folder")
    assert LivingProcess(tmp_path / "processes").name == ""
