"""Ids that an export keeps, and the receipt of the import that something came by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_RANDOM_ID = {
    "sqlite": "lower(hex(randomblob(16)))",
    "postgresql": "replace(gen_random_uuid()::text, '-', '')",
}


def upgrade() -> None:
    random_id = _RANDOM_ID[op.get_bind().dialect.name]
    for table in ("sessions", "turns", "passages", "receipts"):
        op.add_column(table, sa.Column("public_id", AutoString(), server_default="", nullable=False))
        op.execute(f"UPDATE {table} SET public_id = {random_id}")
    for table in ("passages", "receipts", "claims"):
        # written out: SQLite cannot add a reference to a table, but with a column
        op.execute(f"ALTER TABLE {table} ADD COLUMN imported_by INTEGER REFERENCES receipts (id)")
    op.create_index(
        "imported_passages",
        "passages",
        ["imported_by"],
        sqlite_where=sa.text("imported_by IS NOT NULL"),
        postgresql_where=sa.text("imported_by IS NOT NULL"),
    )


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
