"""Every schema there has been, as Alembic migrations; run when a database is opened."""
