"""What a session asks of all answers in it, and a summary of what is not sent any more."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("system", AutoString(), nullable=True))
    op.add_column("sessions", sa.Column("summary", AutoString(), nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("summed_to", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
