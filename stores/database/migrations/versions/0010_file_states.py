"""What a file was like when a document was read from it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("document_versions", sa.Column("file_state", AutoString(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
