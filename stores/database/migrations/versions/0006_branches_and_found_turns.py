"""Sessions that branch, are deleted or came from elsewhere, and turns that are found by their words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

from stores.database.migrations.words_of_0006 import lexemes

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TURNS_AT_ONCE = 1_000


def upgrade() -> None:
    op.add_column("sessions", sa.Column("origin", AutoString(), server_default="", nullable=False))
    op.add_column("sessions", sa.Column("head_id", sa.Integer(), nullable=True))
    op.add_column("sessions", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("turns", sa.Column("parent_id", sa.Integer(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE TABLE turn_words (turn_id INTEGER PRIMARY KEY, lexemes TSVECTOR NOT NULL)")
        op.execute("CREATE INDEX turns_by_lexeme ON turn_words USING gin (lexemes)")
    else:
        op.execute("CREATE VIRTUAL TABLE turn_words USING fts5(words, tokenize = 'ascii', detail = 'none')")
    _note_all_turns()


def _note_all_turns() -> None:
    connection = op.get_bind()
    is_postgresql = connection.dialect.name == "postgresql"
    insert = (
        "INSERT INTO turn_words(turn_id, lexemes) VALUES (:id, array_to_tsvector(CAST(:found AS text[])))"
        if is_postgresql
        else "INSERT INTO turn_words(rowid, words) VALUES (:id, :found)"
    )
    after = 0
    while True:
        read = connection.execute(
            sa.text(
                "SELECT t.id, t.user_id, t.session_id, t.message, t.answer FROM turns AS t "
                "JOIN sessions AS s ON s.id = t.session_id "
                "WHERE t.id > :after AND NOT s.is_private ORDER BY t.id LIMIT :limit"
            ),
            {"after": after, "limit": _TURNS_AT_ONCE},
        ).all()
        if not read:
            return
        after = read[-1][0]
        found = {row[0]: lexemes(row[1], row[2], f"{row[3]}\n{row[4]}") for row in read}
        values = [
            {"id": turn_id, "found": written if is_postgresql else " ".join(written)}
            for turn_id, written in found.items()
            if written
        ]
        if values:
            connection.execute(sa.text(insert), values)


def downgrade() -> None:
    raise NotImplementedError("an earlier release cannot read what this one wrote; restore a backup")
