"""What a database knew at an earlier moment: in a copy of it, which is made without touching the original.

original -> copy (nothing is written beside it) -> other users and private sessions gone from it
         -> versions since taken away, versions removed since back
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlalchemy import or_, select, update
from sqlmodel import col

from stores.base.clock import now
from stores.base.well_formed import well_formed
from stores.database.database import Database
from stores.database.tables import Job, PassageIdentity, PassageVersion, Proposal, Receipt, StatedClaim
from stores.versions.changes import remove_versions, revive_versions

_LEFT_TO_DO = ("summarize", "weigh")
_MOST_TRIES = 3  # without a lock, of a database that is written meanwhile

# What goes from a copy of one user, each chosen with the ones before it.
_GOES = {
    "gone_users": "SELECT id FROM users WHERE name <> :user",
    "gone_bases": "SELECT id FROM knowledge_bases WHERE space IN (SELECT 'user:' || id FROM gone_users)",
    "gone_spaces": "SELECT 'user:' || id FROM gone_users UNION SELECT 'kb:' || id FROM gone_bases",
    "gone_sessions": (
        "SELECT id FROM sessions WHERE user_id IN gone_users OR (is_private AND id <> :session)"
    ),
    "gone_turns": "SELECT id FROM turns WHERE session_id IN gone_sessions",
    "gone_passages": (
        "SELECT id FROM passages WHERE space IN gone_spaces OR (space <> 'shared' AND turn_id IN gone_turns)"
    ),
    "gone_versions": "SELECT id FROM passage_versions WHERE passage_id IN gone_passages",
    "gone_claims": "SELECT id FROM claims WHERE user_id IN gone_users OR turn_id IN gone_turns",
}
_GO = (
    "UPDATE passages SET turn_id = NULL WHERE turn_id IN gone_turns",
    "UPDATE receipts SET summary = '', grounds = '{}', turn_id = NULL"
    " WHERE user_id IN gone_users OR turn_id IN gone_turns",
    "UPDATE users SET name = 'other ' || id || hex(randomblob(8)) WHERE id IN gone_users",  # nobody's name
    "DELETE FROM retrieved_passages WHERE version_id IN gone_versions"
    " OR retrieval_id IN (SELECT id FROM retrievals WHERE turn_id IN gone_turns)",
    *(
        f"DELETE FROM {table} WHERE turn_id IN gone_turns"
        for table in ("retrievals", "judgements", "feedback")
    ),
    "DELETE FROM judgements WHERE version_id IN gone_versions",
    "DELETE FROM feedback WHERE version_id IN gone_versions",
    "DELETE FROM proposals WHERE claim_id IN gone_claims",
    "DELETE FROM claims WHERE id IN gone_claims",
    "DELETE FROM jobs WHERE space IN gone_spaces OR kind IN ('summarize', 'weigh')",
    "DELETE FROM statement_links WHERE newer IN gone_passages OR older IN gone_passages",
    "DELETE FROM passage_vectors WHERE version_id IN gone_versions",
    "DELETE FROM own_words WHERE rowid IN gone_versions",
    "DELETE FROM turn_words WHERE rowid IN gone_turns",
    "DELETE FROM passage_versions WHERE id IN gone_versions",
    "DELETE FROM passages WHERE id IN gone_passages",
    *(
        f"DELETE FROM {table} WHERE space IN gone_spaces"
        for table in ("document_versions", "documents", "knowledge_bases", "space_statistics", "word_counts")
    ),
    "DELETE FROM turns WHERE id IN gone_turns",
    "DELETE FROM sessions WHERE id IN gone_sessions",
)


def copy_untouched(source: Path, copy: Path) -> None:
    """Copies an SQLite database as it is at one moment, also while others write.

    Nothing is written in its folder: where nobody has it open, not even the files that SQLite puts beside one
    that is read. Raises sqlite3.Error where it cannot be read.
    """
    for _ in range(_MOST_TRIES):
        if _is_open(source):
            break
        before = _stamp(source)
        copied = _copied_unlocked(source, copy)
        if copied and not _is_open(source) and _stamp(source) == before:
            return
        copy.unlink(missing_ok=True)  # somebody wrote meanwhile: it may be of two moments
    _copy_by(source, copy, "mode=ro")


def _is_open(source: Path) -> bool:
    """Whether a process has it open, or left it without closing: its files are there to read by."""
    return any(source.with_name(source.name + ending).exists() for ending in ("-wal", "-shm"))


def _stamp(source: Path) -> tuple[int, int, int]:
    """Differs when the file was written."""
    found = source.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _copied_unlocked(source: Path, copy: Path) -> bool:
    """Copies without a lock; False where what it read made no sense, as when it is written meanwhile."""
    before = _stamp(source)
    try:
        _copy_by(source, copy, "mode=ro&immutable=1")
    except sqlite3.Error:
        if _stamp(source) == before and not _is_open(source):
            raise
        return False
    return True


def _copy_by(source: Path, copy: Path, how: str) -> None:
    address = f"{source.absolute().as_uri()}?{how}"
    with closing(sqlite3.connect(address, uri=True, timeout=15)) as opened:
        opened.execute("VACUUM INTO ?", (str(copy),))


def keep_one_user(copy: Path, user: str, session_id: int | None = None) -> None:
    """Leaves in a copy what one user can see, and no private session but one that is named.

    What others shared stays. No page of the file holds what went. The copy is of this release's schema, and
    nobody has it open.
    """
    given = {"user": well_formed(user), "session": session_id or 0}
    with closing(sqlite3.connect(copy, isolation_level=None)) as opened:
        opened.execute("PRAGMA temp_store = MEMORY")  # what goes stands in no other file either
        opened.execute("BEGIN")
        for name, chosen in _GOES.items():
            opened.execute(f"CREATE TEMP TABLE {name} (id PRIMARY KEY)")
            opened.execute(f"INSERT INTO {name} {chosen}", given)
        for statement in _GO:
            opened.execute(statement)
        opened.execute("COMMIT")
        for words in ("own_words", "turn_words"):  # a full-text index keeps what was deleted until then
            opened.execute(f"INSERT INTO {words}({words}) VALUES ('optimize')")
        opened.execute("VACUUM")


def go_back_to(database: Database, moment: datetime) -> None:
    """Makes findable what was live at a moment, and nothing else; what was forgotten since stays forgotten.

    Claims and proposals since are no more, and what was left to find or weigh is not done. For a copy: turns
    stay, and what happened since cannot be brought back.
    """
    with database.writing() as sql:
        versions = select(col(PassageVersion.id)).where(col(PassageVersion.erased_at).is_(None))
        imports = select(col(Receipt.id)).where(col(Receipt.created_at) >= moment)
        # what is imported brings its own times, which tell nothing of when it came
        of_imports = col(PassageVersion.passage_id).in_(
            select(col(PassageIdentity.id)).where(col(PassageIdentity.imported_by).in_(imports))
        )
        is_new = or_(col(PassageVersion.created_at) >= moment, of_imports)
        since = versions.where(is_new, col(PassageVersion.removed_at).is_(None))
        gone = versions.where(~is_new, col(PassageVersion.removed_at) >= moment)
        new, removed = list(sql.scalars(since)), list(sql.scalars(gone))
        remove_versions(sql, [i for i in new if i is not None], receipt_id=None)
        revive_versions(sql, [i for i in removed if i is not None])
        is_left = col(Job.done_at).is_(None), col(Job.kind).in_(_LEFT_TO_DO)
        sql.execute(update(Job).where(*is_left).values(done_at=now()))
        claimed = or_(col(StatedClaim.created_at) >= moment, col(StatedClaim.imported_by).in_(imports))
        sql.execute(
            update(StatedClaim)
            .where(claimed, col(StatedClaim.state) != "forgotten")
            .values(state="withdrawn")
            .execution_options(synchronize_session=False)
        )
        sql.execute(update(Proposal).where(col(Proposal.created_at) >= moment).values(state="refused"))
