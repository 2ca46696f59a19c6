"""What a user calls some documents together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("collection", AutoString(), nullable=False, server_default=""))


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
