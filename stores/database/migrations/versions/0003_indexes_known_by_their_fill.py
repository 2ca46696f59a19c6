"""A filled index is known by the id of its fill, and what it has missed since is noted.

The rows of before go: what they claim may be untrue, and an index is filled again from the database.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

from stores.database.tables import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("filled_indexes")
    op.create_table(
        "filled_indexes",
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("encoder_version", AutoString(), nullable=False),
        sa.Column("fill_id", AutoString(), nullable=False),
        sa.Column("filled_at", UtcDateTime(), nullable=False),
        sa.Column("missed_after", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("name", "encoder_version"),
    )


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
