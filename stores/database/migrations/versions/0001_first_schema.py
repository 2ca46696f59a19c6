"""The first schema: conversations, knowledge with its versions, jobs, models, the words searched."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString

from stores.database.tables import UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("source", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("space", "source"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", AutoString(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("done_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(
            "waiting_jobs",
            ["kind", "id"],
            unique=False,
            sqlite_where=sa.text("done_at IS NULL"),
            postgresql_where=sa.text("done_at IS NULL"),
        )

    op.create_table(
        "model_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("role", AutoString(), nullable=False),
        sa.Column("version", AutoString(), nullable=False),
        sa.Column("description", AutoString(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("role", "version"),
    )
    op.create_table(
        "space_statistics",
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space"),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "live_models",
        sa.Column("role", AutoString(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("previous_id", sa.Integer(), nullable=True),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_version_id"],
            ["model_versions.id"],
        ),
        sa.ForeignKeyConstraint(
            ["previous_id"],
            ["model_versions.id"],
        ),
        sa.PrimaryKeyConstraint("role"),
    )
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recipe", AutoString(), nullable=False),
        sa.Column("state", AutoString(), nullable=False),
        sa.Column("reason", AutoString(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_version_id"],
            ["model_versions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("title", AutoString(), nullable=False),
        sa.Column("draft", AutoString(), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("archived_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "turns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("message", AutoString(), nullable=False),
        sa.Column("material", AutoString(), nullable=False),
        sa.Column("accepted_at", UtcDateTime(), nullable=False),
        sa.Column("state", AutoString(), nullable=False),
        sa.Column("standalone", AutoString(), nullable=False),
        sa.Column("answer", AutoString(), nullable=False),
        sa.Column("failure", AutoString(), nullable=False),
        sa.Column("model", AutoString(), nullable=False),
        sa.Column("answered_at", UtcDateTime(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("turns", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_turns_session_id"), ["session_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_turns_user_id"), ["user_id"], unique=False)

    op.create_table(
        "passages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("kind", AutoString(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=True),
        sa.Column("external_id", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turns.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("passages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_passages_space"), ["space"], unique=False)
        batch_op.create_index(batch_op.f("ix_passages_turn_id"), ["turn_id"], unique=False)

    op.create_table(
        "receipts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=True),
        sa.Column("action", AutoString(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("summary", AutoString(), nullable=False),
        sa.Column("grounds", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("undone_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turns.id"],
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("receipts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_receipts_turn_id"), ["turn_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_receipts_user_id"), ["user_id"], unique=False)

    op.create_table(
        "retrievals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=False),
        sa.Column("query", AutoString(), nullable=False),
        sa.Column("strategy", AutoString(), nullable=False),
        sa.Column("encoder_version", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turns.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("retrievals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_retrievals_turn_id"), ["turn_id"], unique=False)

    op.create_table(
        "document_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", AutoString(), nullable=False),
        sa.Column("content_hash", AutoString(), nullable=False),
        sa.Column("passage_count", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("added_by", sa.Integer(), nullable=True),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("removed_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["added_by"],
            ["receipts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
        ),
        sa.ForeignKeyConstraint(
            ["removed_by"],
            ["receipts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("document_versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_document_versions_added_by"), ["added_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_document_versions_document_id"), ["document_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_document_versions_removed_by"), ["removed_by"], unique=False)
        batch_op.create_index(
            "live_document_content",
            ["space", "content_hash"],
            unique=False,
            sqlite_where=sa.text("removed_at IS NULL"),
            postgresql_where=sa.text("removed_at IS NULL"),
        )

    op.create_table(
        "passage_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", AutoString(), nullable=False),
        sa.Column("text", AutoString(), nullable=False),
        sa.Column("text_hash", AutoString(), nullable=False),
        sa.Column("author", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("added_by", sa.Integer(), nullable=True),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("removed_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["added_by"],
            ["receipts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
        ),
        sa.ForeignKeyConstraint(
            ["passage_id"],
            ["passages.id"],
        ),
        sa.ForeignKeyConstraint(
            ["removed_by"],
            ["receipts.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("passage_id", "number"),
    )
    with op.batch_alter_table("passage_versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_passage_versions_added_by"), ["added_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_passage_versions_passage_id"), ["passage_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_passage_versions_removed_by"), ["removed_by"], unique=False)
        batch_op.create_index(
            "live_passage_text",
            ["space", "text_hash"],
            unique=False,
            sqlite_where=sa.text("removed_at IS NULL"),
            postgresql_where=sa.text("removed_at IS NULL"),
        )
        batch_op.create_index("passage_place", ["document_id", "position"], unique=False)

    op.create_table(
        "feedback",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=True),
        sa.Column("rating", AutoString(), nullable=False),
        sa.Column("reason", AutoString(), nullable=False),
        sa.Column("correction", AutoString(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turns.id"],
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["passage_versions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_feedback_turn_id"), ["turn_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_feedback_user_id"), ["user_id"], unique=False)

    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("judge", AutoString(), nullable=False),
        sa.Column("label", AutoString(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("found_rank", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"],
            ["turns.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["passage_versions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("judgements", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_judgements_turn_id"), ["turn_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgements_version_id"), ["version_id"], unique=False)

    op.create_table(
        "passage_vectors",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("space", AutoString(), nullable=False),
        sa.Column("encoder_version", AutoString(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["passage_versions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("version_id", "encoder_version"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("passage_vectors", schema=None) as batch_op:
        batch_op.create_index("vectors_of_space", ["space", "encoder_version", "id"], unique=False)

    op.create_table(
        "retrieved_passages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("retrieval_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("found_rank", sa.Integer(), nullable=False),
        sa.Column("dense", sa.Float(), nullable=False),
        sa.Column("lexical", sa.Float(), nullable=False),
        sa.Column("lift", sa.Float(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("final_rank", sa.Integer(), nullable=False),
        sa.Column("citation", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["retrieval_id"],
            ["retrievals.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["passage_versions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("retrieved_passages", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_retrieved_passages_retrieval_id"), ["retrieval_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_retrieved_passages_version_id"), ["version_id"], unique=False)

    # Tokens are made by stores.words.lexical; the full-text index only has to split at spaces.
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE TABLE passage_words (version_id INTEGER PRIMARY KEY, "
            "space VARCHAR NOT NULL, words TEXT NOT NULL, length INTEGER NOT NULL, lexemes TSVECTOR NOT NULL)"
        )
        op.execute("CREATE INDEX passages_by_lexeme ON passage_words USING gin (lexemes)")
    else:
        op.execute("CREATE VIRTUAL TABLE shared_words USING fts5(words, tokenize = 'unicode61')")
        op.execute("CREATE VIRTUAL TABLE own_words USING fts5(space, words, tokenize = 'unicode61')")
        op.execute("CREATE VIRTUAL TABLE shared_vocabulary USING fts5vocab(shared_words, 'row')")


def downgrade() -> None:
    raise NotImplementedError("there is no schema before the first")
