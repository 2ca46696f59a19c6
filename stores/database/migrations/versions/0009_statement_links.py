"""Statements stay, and links say what they do to each other: versions that replaced become passages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.orm import Session as SqlSession
from sqlmodel.sql.sqltypes import AutoString

from stores.versions.splitting import split_statements

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("passages_of_space", "passages", ["id", "space"], unique=True)
    op.create_table(
        "statement_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("newer", sa.Integer(), nullable=False),
        sa.Column("older", sa.Integer(), nullable=False),
        sa.Column("kind", AutoString(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("author", AutoString(), nullable=False),
        sa.Column("receipt_id", sa.Integer(), nullable=True),
        sa.CheckConstraint("newer <> older", name="two_statements"),
        sa.CheckConstraint("space LIKE 'user:%'", name="of_one_user"),
        sa.ForeignKeyConstraint(["newer", "space"], ["passages.id", "passages.space"], name="newer_in_space"),
        sa.ForeignKeyConstraint(["older", "space"], ["passages.id", "passages.space"], name="older_in_space"),
        sa.ForeignKeyConstraint(["receipt_id"], ["receipts.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("links_of_newer", "statement_links", ["newer"])
    op.create_index("links_of_older", "statement_links", ["older"])
    op.create_index(op.f("ix_statement_links_receipt_id"), "statement_links", ["receipt_id"])
    split_statements(SqlSession(op.get_bind()))


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
