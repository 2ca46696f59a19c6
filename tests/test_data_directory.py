"""Many may use a data directory at once; who replaces what lies in it has it alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from stores.base.errors import StoreUnavailable
from stores.database.data_directory import DirectoryLock


def test_nobody_begins_to_use_a_directory_while_it_is_restored(tmp_path: Path) -> None:
    with DirectoryLock(tmp_path, is_exclusive=True), pytest.raises(StoreUnavailable, match="being restored"):
        DirectoryLock(tmp_path)


def test_a_lock_is_let_go_of_with_its_file(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        DirectoryLock(tmp_path).close()
    with DirectoryLock(tmp_path, is_exclusive=True):
        for _ in range(20):
            with pytest.raises(StoreUnavailable):
                DirectoryLock(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_directory_that_cannot_be_written_can_be_used_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse_writing(path: Any, flags: int, *more: Any) -> int:
        if flags & os.O_RDWR:  # as the system does for everybody but root
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *more)

    monkeypatch.setattr(os, "open", refuse_writing)
    DirectoryLock(tmp_path).close()
    with pytest.raises(StoreUnavailable, match="cannot be locked"):
        DirectoryLock(tmp_path, is_exclusive=True)
