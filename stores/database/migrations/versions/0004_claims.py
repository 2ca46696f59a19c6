"""Claims, proposals, jobs that wait, and passages whose text is gone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

from stores.database.tables import UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("subject_id", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_jobs_subject_id"), "jobs", ["subject_id"])
    op.add_column("jobs", sa.Column("not_before", UtcDateTime(), nullable=True))
    op.add_column("passage_versions", sa.Column("erased_at", UtcDateTime(), nullable=True))
    op.create_table(
        "claims",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=True),
        sa.Column("origin", AutoString(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", AutoString(), nullable=False),
        sa.Column("text_key", AutoString(), nullable=False),
        sa.Column("quote", AutoString(), nullable=False),
        sa.Column("kind", AutoString(), nullable=False),
        sa.Column("about", AutoString(), nullable=False),
        sa.Column("is_hearsay", sa.Boolean(), nullable=False),
        sa.Column("state", AutoString(), nullable=False),
        sa.Column("status", AutoString(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("scope", AutoString(), nullable=False),
        sa.Column("action", AutoString(), nullable=False),
        sa.Column("passage_id", sa.Integer(), nullable=True),
        sa.Column("receipt_id", sa.Integer(), nullable=True),
        sa.Column("grounds", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"]),
        sa.ForeignKeyConstraint(["passage_id"], ["passages.id"]),
        sa.ForeignKeyConstraint(["receipt_id"], ["receipts.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("turn_id", "origin", "number"),
    )
    op.create_index("claims_of_user", "claims", ["user_id", "id"])
    op.create_index("claims_alike", "claims", ["text_key"])
    for column in ("turn_id", "passage_id", "receipt_id"):
        op.create_index(op.f(f"ix_claims_{column}"), "claims", [column])
    op.create_table(
        "proposals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("text", AutoString(), nullable=False),
        sa.Column("text_key", AutoString(), nullable=False),
        sa.Column("reason", AutoString(), nullable=False),
        sa.Column("state", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=True),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("receipt_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["claim_id"], ["claims.id"]),
        sa.ForeignKeyConstraint(["decided_by"], ["users.id"]),
        sa.ForeignKeyConstraint(["receipt_id"], ["receipts.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    for column in ("claim_id", "text_key", "receipt_id"):
        op.create_index(op.f(f"ix_proposals_{column}"), "proposals", [column])


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
