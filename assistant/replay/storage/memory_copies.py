"""Copies of a run's store, so that a killed run goes back to what users had said by then.

memory-N.db   the database behind N questions; only the newest is kept
"""

from __future__ import annotations

import shutil
from pathlib import Path

from stores.database.database import Database
from stores.exchange.backup import write_backup

_NAMES = "memory-*.db"


def keep_memory(database: Database, folder: Path, questions: int) -> None:
    """Copies a database as it is behind so many questions; earlier copies go."""
    copy = folder / f"memory-{questions}.db"
    write_backup(database, copy, replace=True)
    for other in folder.glob(_NAMES):
        if other != copy:
            other.unlink()


def put_memory_back(folder: Path, database_file: Path) -> int:
    """Puts the newest copy in a database's place; behind how many questions it was made, 0 without one."""
    copies = {int(file.stem.removeprefix("memory-")): file for file in folder.glob(_NAMES)}
    if not copies:
        return 0
    newest = max(copies)
    shutil.copyfile(copies[newest], database_file)
    return newest


def forget_copies(folder: Path) -> None:
    for copy in folder.glob(_NAMES):
        copy.unlink()
