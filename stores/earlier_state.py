"""What a database knew at an earlier moment: in a copy of it, which is made without touching the original.

original -> copy (nothing is written beside it) -> versions since taken away, versions removed since back
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlalchemy import select, update
from sqlmodel import col

from stores.changes import remove_versions, revive_versions
from stores.database import Database
from stores.records import Job, PassageVersion, Proposal, StatedClaim, now

_LEFT_TO_DO = ("summarize", "weigh")


def copy_untouched(source: Path, copy: Path) -> None:
    """Copies an SQLite database as it is at one moment, also while others write.

    Nothing is written in its folder: where nobody has it open, not even the files that SQLite puts beside one
    that is read. Raises sqlite3.Error where it cannot be read.
    """
    log = source.with_name(f"{source.name}-wal")
    is_open = log.exists() and log.stat().st_size > 0
    how = "mode=ro" if is_open else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"{source.absolute().as_uri()}?{how}", uri=True, timeout=15)) as opened:
        opened.execute("VACUUM INTO ?", (str(copy),))


def go_back_to(database: Database, moment: datetime) -> None:
    """Makes findable what was live at a moment, and nothing else; what was forgotten since stays forgotten.

    Claims and proposals since are no more, and what was left to find or weigh is not done. For a copy: turns
    stay, and what happened since cannot be brought back.
    """
    with database.writing() as sql:
        versions = select(col(PassageVersion.id)).where(col(PassageVersion.erased_at).is_(None))
        since = versions.where(
            col(PassageVersion.created_at) >= moment, col(PassageVersion.removed_at).is_(None)
        )
        gone = versions.where(
            col(PassageVersion.created_at) < moment, col(PassageVersion.removed_at) >= moment
        )
        new, removed = list(sql.scalars(since)), list(sql.scalars(gone))
        remove_versions(sql, [i for i in new if i is not None], receipt_id=None)
        revive_versions(sql, [i for i in removed if i is not None])
        is_left = col(Job.done_at).is_(None), col(Job.kind).in_(_LEFT_TO_DO)
        sql.execute(update(Job).where(*is_left).values(done_at=now()))
        sql.execute(
            update(StatedClaim).where(col(StatedClaim.created_at) >= moment).values(state="withdrawn")
        )
        sql.execute(update(Proposal).where(col(Proposal.created_at) >= moment).values(state="refused"))
