"""Runs the migrations on the connection that `stores.database.database` hands over."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

import stores.database.tables  # noqa: F401 - registers the tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
