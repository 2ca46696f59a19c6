"""Words are counted as they come and go; filled indexes and steps back to earlier models are remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

from stores.database.tables import UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ROWS_AT_ONCE = 10_000


def upgrade() -> None:
    word_counts = op.create_table(
        "word_counts",
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("token", AutoString(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space", "token"),
        sqlite_with_rowid=False,
    )
    counts: Counter[tuple[str, str]] = Counter()
    for space, words in _stored_words():
        counts.update((space, token) for token in set(words.split()))
    rows = [
        {"space": space, "token": token, "passages": passages}
        for (space, token), passages in sorted(counts.items())
    ]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        op.bulk_insert(word_counts, rows[start : start + _ROWS_AT_ONCE])
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE shared_vocabulary")
    op.create_table(
        "filled_indexes",
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("encoder_version", AutoString(), nullable=False),
        sa.Column("filled_at", UtcDateTime(), nullable=False),
        sa.Column("known_job", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", "encoder_version"),
    )
    with op.batch_alter_table("live_models", schema=None) as batch_op:
        batch_op.add_column(sa.Column("declined", AutoString(), nullable=False, server_default=""))


def _stored_words() -> Iterator[tuple[str, str]]:
    """The space and words of each findable passage."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        queries = ["SELECT space, words FROM passage_words"]
    else:
        queries = [
            "SELECT 'shared', words FROM shared_words",
            "SELECT 'user:' || substr(space, 5), words FROM own_words",
        ]
    for query in queries:
        for row in connection.execute(sa.text(query)):
            yield row[0], row[1]


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
