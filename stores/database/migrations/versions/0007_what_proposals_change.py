"""What a proposal does once it is accepted: adds, or modifies or deletes a version of a shared passage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("proposals", sa.Column("action", AutoString(), server_default="add", nullable=False))
    for column, table in (("passage_id", "passages"), ("version_id", "passage_versions")):
        # written out: SQLite cannot add a reference to a table, but with a column
        op.execute(f"ALTER TABLE proposals ADD COLUMN {column} INTEGER REFERENCES {table} (id)")
        op.create_index(op.f(f"ix_proposals_{column}"), "proposals", [column])
    op.execute(
        "UPDATE proposals SET action = 'delete', "
        "passage_id = (SELECT c.passage_id FROM claims AS c WHERE c.id = proposals.claim_id) "
        "WHERE reason = 'removal'"
    )
    op.execute(
        "UPDATE proposals SET version_id = (SELECT max(v.id) FROM passage_versions AS v "
        "WHERE v.passage_id = proposals.passage_id AND v.removed_at IS NULL) "
        "WHERE reason = 'removal' AND state = 'open'"
    )
    # of a change nobody knows any more what it would change: stated again, it is proposed whole
    op.execute("UPDATE proposals SET state = 'withdrawn' WHERE reason = 'change' AND state = 'open'")


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
