"""Knowledge bases: tables of entities that can be talked over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "knowledge_bases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("space", "name"),
    )
    # written out: SQLite cannot add a reference to a table, but with a column
    op.execute("ALTER TABLE sessions ADD COLUMN knowledge_base_id INTEGER REFERENCES knowledge_bases (id)")


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
