"""The tables of the database, all of them: the schema that there is now.

Truth is here; vectors and full-text rows are derived and can be rebuilt. A passage or document keeps
every version it had: a version is *live* while `removed_at` is null, a tombstone afterwards, and names
the receipt that added it and the one that removed it, which is all that undo needs.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    UniqueConstraint,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

REMOVAL = "removal"  # the reason of a proposal that would take a shared passage away


def known_id(value: int | None) -> int:
    """The id of a row that is stored: the database has given it one."""
    assert value is not None, "a stored row has an id"
    return value


def new_public_id() -> str:
    """An id that is the same in every database that something was exported to; 32 random hex digits."""
    return uuid4().hex


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, always in UTC, also on databases that keep no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """In UTC, on the way in."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """In UTC, on the way out."""
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)


def _moment(*, nullable: bool = False) -> Any:
    return Field(
        default=None if nullable else ...,
        sa_type=UtcDateTime,
        nullable=nullable,
    )


def _public_id() -> Any:
    return Field(default_factory=new_public_id, sa_column_kwargs={"server_default": ""})


def _only(condition: str) -> dict[str, Any]:
    """Of an index: over the rows alone for which a condition holds."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class User(SQLModel, table=True):
    """Somebody with a memory of their own."""

    __tablename__ = "users"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    created_at: datetime = _moment()


class ApiKey(SQLModel, table=True):
    """By which a program asks in a user's name. The key itself is told once and not kept."""

    __tablename__ = "api_keys"
    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="users.id", index=True)
    digest: str = Field(unique=True)  # SHA-256 of the key, hexadecimal
    ends_on: str  # its last characters, by which a person knows it again
    created_at: datetime = _moment()
    revoked_at: datetime | None = _moment(nullable=True)


class Session(SQLModel, table=True):
    """A conversation of one user."""

    __tablename__ = "sessions"
    id: int | None = Field(default=None, primary_key=True)
    public_id: str = _public_id()
    user_id: int = Field(foreign_key="users.id", index=True)
    title: str = ""
    draft: str = ""
    is_private: bool = False
    created_at: datetime = _moment()
    archived_at: datetime | None = _moment(nullable=True)
    origin: str = Field(default="", sa_column_kwargs={"server_default": ""})
    # whose export it was taken in from, such as ChatGPT; `vouch ask` of what that began; else empty
    head_id: int | None = None  # the turn the session goes on behind; null: the newest, 0: before the first
    deleted_at: datetime | None = _moment(nullable=True)
    knowledge_base_id: int | None = Field(default=None, foreign_key="knowledge_bases.id")
    system: str | None = None  # what it asks of all answers of a chat model; null: what the settings ask
    summary: str = Field(default="", sa_column_kwargs={"server_default": ""})  # of what is not sent any more
    summed_to: int = Field(default=0, sa_column_kwargs={"server_default": "0"})  # the turn that it reaches to


class Turn(SQLModel, table=True):
    """A message and what was answered.

    state: accepted (no answer yet), done, stopped or failed; imported where it was told in another
    database, and only what was said is known here. The answer of a stopped or failed turn is the part
    that had arrived.
    """

    __tablename__ = "turns"
    id: int | None = Field(default=None, primary_key=True)
    public_id: str = _public_id()
    session_id: int = Field(foreign_key="sessions.id", index=True)
    user_id: int = Field(foreign_key="users.id", index=True)
    message: str
    material: str = ""  # text handed over with the message, not the user's own words
    accepted_at: datetime = _moment()
    state: str = "accepted"
    standalone: str = ""  # the message as it was searched with
    answer: str = ""
    failure: str = ""
    model: str = ""
    answered_at: datetime | None = _moment(nullable=True)
    details: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    # milliseconds of each step, invented citations
    parent_id: int | None = None  # the turn it follows; null: the one before it in the session, 0: none


class KnowledgeBase(SQLModel, table=True):
    """A table of entities that can be talked over, under a name; its rows are passages of its own space."""

    __tablename__ = "knowledge_bases"
    __table_args__ = (UniqueConstraint("space", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    space: str  # whose it is: the shared one, or a user's own
    created_at: datetime = _moment()


class Document(SQLModel, table=True):
    """A named source of passages in one space: a file, a record of one, or a conversation."""

    __tablename__ = "documents"
    __table_args__ = (UniqueConstraint("space", "source"),)
    id: int | None = Field(default=None, primary_key=True)
    space: str
    source: str  # path, name given, or path#id of a record
    collection: str = Field(
        default="", sa_column_kwargs={"server_default": ""}
    )  # it stands in; empty: in none
    created_at: datetime = _moment()


class DocumentVersion(SQLModel, table=True):
    """One content that a document has had."""

    __tablename__ = "document_versions"
    __table_args__ = (Index("live_document_content", "space", "content_hash", **_only("removed_at IS NULL")),)
    id: int | None = Field(default=None, primary_key=True)
    document_id: int = Field(foreign_key="documents.id", index=True)
    space: str
    number: int  # 1, 2, ...
    title: str
    content_hash: str
    passage_count: int
    file_state: str | None = None  # of the file when it was read, see `FileState`; empty: not to its end
    created_at: datetime = _moment()
    added_by: int | None = Field(default=None, foreign_key="receipts.id", index=True)
    removed_at: datetime | None = _moment(nullable=True)
    removed_by: int | None = Field(default=None, foreign_key="receipts.id", index=True)


class PassageIdentity(SQLModel, table=True):
    """What stays the same over the versions of a passage."""

    __tablename__ = "passages"
    __table_args__ = (
        Index("imported_passages", "imported_by", **_only("imported_by IS NOT NULL")),
        Index("passages_of_space", "id", "space", unique=True),  # which links refer to
    )
    id: int | None = Field(default=None, primary_key=True)
    public_id: str = _public_id()
    space: str = Field(index=True)
    kind: str
    turn_id: int | None = Field(default=None, foreign_key="turns.id", index=True)
    external_id: str = ""
    created_at: datetime = _moment()
    imported_by: int | None = Field(default=None, foreign_key="receipts.id")


class PassageVersion(SQLModel, table=True):
    """One text at one place that a passage has had; live while `removed_at` is null."""

    __tablename__ = "passage_versions"
    __table_args__ = (
        UniqueConstraint("passage_id", "number"),
        Index("passage_place", "document_id", "position"),
        Index("live_passage_text", "space", "text_hash", **_only("removed_at IS NULL")),
    )
    id: int | None = Field(default=None, primary_key=True)
    passage_id: int = Field(foreign_key="passages.id", index=True)
    document_id: int | None = Field(default=None, foreign_key="documents.id")
    position: int = 0  # its place in the document or conversation, from 0
    space: str
    number: int  # 1, 2, ...
    title: str
    text: str
    text_hash: str
    author: str  # ingest, user, or the agent that wrote it
    created_at: datetime = _moment()
    added_by: int | None = Field(default=None, foreign_key="receipts.id", index=True)
    removed_at: datetime | None = _moment(nullable=True)
    removed_by: int | None = Field(default=None, foreign_key="receipts.id", index=True)
    erased_at: datetime | None = _moment(nullable=True)  # forgotten for good: its text is gone


class StatementLink(SQLModel, table=True):
    """What one statement does to another that was told before it; both of one user's own space.

    It stands while its receipt is not undone and both ends are live.
    """

    __tablename__ = "statement_links"
    __table_args__ = (
        *(
            ForeignKeyConstraint([end, "space"], ["passages.id", "passages.space"], name=f"{end}_in_space")
            for end in ("newer", "older")
        ),
        CheckConstraint("newer <> older", name="two_statements"),
        CheckConstraint("space LIKE 'user:%'", name="of_one_user"),
        Index("links_of_newer", "newer"),
        Index("links_of_older", "older"),
    )
    id: int | None = Field(default=None, primary_key=True)
    space: str
    newer: int  # a passage, as the next
    older: int
    kind: str  # same, replaces, ends, adds or unrelated
    probability: float  # 0 to 1; 1 by a user
    author: str  # the reader or chat model and its version, or user
    receipt_id: int | None = Field(default=None, foreign_key="receipts.id", index=True)


class PassageVector(SQLModel, table=True):
    """A passage version's vector by one encoder version; little-endian float32, unit length.

    Ids only grow: who has read up to an id finds everything newer behind it.
    """

    __tablename__ = "passage_vectors"
    __table_args__ = (
        UniqueConstraint("version_id", "encoder_version"),
        Index("vectors_of_space", "space", "encoder_version", "id"),
        {"sqlite_autoincrement": True},
    )
    id: int | None = Field(default=None, primary_key=True)
    version_id: int = Field(foreign_key="passage_versions.id")
    space: str
    encoder_version: str
    vector: bytes = Field(sa_type=LargeBinary)


class SpaceStatistics(SQLModel, table=True):
    """How many live passages and words a space holds: what BM25 weighs words by."""

    __tablename__ = "space_statistics"
    space: str = Field(primary_key=True)
    passages: int = 0
    words: int = 0


class WordCount(SQLModel, table=True):
    """In how many live passages of a space a token stands."""

    __tablename__ = "word_counts"
    __table_args__ = ({"sqlite_with_rowid": False},)
    space: str = Field(primary_key=True)
    token: str = Field(primary_key=True)
    passages: int


class Retrieval(SQLModel, table=True):
    """One search of one turn."""

    __tablename__ = "retrievals"
    id: int | None = Field(default=None, primary_key=True)
    turn_id: int = Field(foreign_key="turns.id", index=True)
    query: str
    strategy: str  # original, or how the query was augmented
    encoder_version: str
    created_at: datetime = _moment()


class RetrievedPassage(SQLModel, table=True):
    """A passage found in a search, with each signal's score and what became of it."""

    __tablename__ = "retrieved_passages"
    id: int | None = Field(default=None, primary_key=True)
    retrieval_id: int = Field(foreign_key="retrievals.id", index=True)
    version_id: int = Field(foreign_key="passage_versions.id", index=True)
    found_rank: int  # place in the first retrieval, from 1
    dense: float  # cosine
    lexical: float  # BM25
    lift: float  # what its neighbours, a named speaker and a told time added
    score: float  # the fused score it was ranked by; higher is better
    final_rank: int  # place after reranking, from 1
    citation: int | None = None  # number under which the model saw it


class Judgement(SQLModel, table=True):
    """What a judge said of one passage for one question."""

    __tablename__ = "judgements"
    id: int | None = Field(default=None, primary_key=True)
    turn_id: int = Field(foreign_key="turns.id", index=True)
    version_id: int = Field(foreign_key="passage_versions.id", index=True)
    judge: str
    label: str  # answer, relevant or irrelevant
    score: float  # 0 to 1
    found_rank: int  # place in the first retrieval, from 1
    tokens_in: int
    tokens_out: int
    created_at: datetime = _moment()


class Receipt(SQLModel, table=True):
    """One write of knowledge: what was done, for whom, on what grounds, and whether it was undone."""

    __tablename__ = "receipts"
    id: int | None = Field(default=None, primary_key=True)
    public_id: str = _public_id()
    user_id: int = Field(foreign_key="users.id", index=True)
    turn_id: int | None = Field(default=None, foreign_key="turns.id", index=True)
    action: str  # add, modify or delete
    space: str
    summary: str  # in a person's words
    grounds: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    created_at: datetime = _moment()
    undone_at: datetime | None = _moment(nullable=True)
    imported_by: int | None = Field(default=None, foreign_key="receipts.id")


class Feedback(SQLModel, table=True):
    """What a user said of an answer or of one of its passages."""

    __tablename__ = "feedback"
    id: int | None = Field(default=None, primary_key=True)
    turn_id: int = Field(foreign_key="turns.id", index=True)
    user_id: int = Field(foreign_key="users.id", index=True)
    version_id: int | None = Field(default=None, foreign_key="passage_versions.id")
    rating: str  # good, bad, or taught
    reason: str = ""
    correction: str = ""
    created_at: datetime = _moment()
    withdrawn_at: datetime | None = _moment(nullable=True)


class Job(SQLModel, table=True):
    """Work that must happen, once or more often without harm, after a change was committed."""

    __tablename__ = "jobs"
    __table_args__ = (Index("waiting_jobs", "kind", "id", **_only("done_at IS NULL")),)
    id: int | None = Field(default=None, primary_key=True)
    kind: str  # index, summarize, weigh or compact
    space: str
    payload: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    subject_id: int | None = Field(default=None, index=True)  # the turn to summarize, the claim to weigh
    attempts: int = 0
    error: str = ""  # why the last attempt failed
    not_before: datetime | None = _moment(nullable=True)  # somebody works at it until then, or waits
    created_at: datetime = _moment()
    done_at: datetime | None = _moment(nullable=True)


class StatedClaim(SQLModel, table=True):
    """Something a user stated, and what became of it.

    state: pending (not weighed yet), stored (a passage holds it), confirmed (a passage said so already),
    rejected (weighed as incorrect), withdrawn (undone), or forgotten.
    """

    __tablename__ = "claims"
    __table_args__ = (
        UniqueConstraint("turn_id", "origin", "number"),
        Index("claims_of_user", "user_id", "id"),
        Index("claims_alike", "text_key"),
    )
    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="users.id")
    turn_id: int | None = Field(default=None, foreign_key="turns.id", index=True)
    origin: str  # turn, taught, or share: by which door it came; or removal, which nobody stated
    number: int  # its place among those of its turn and origin, from 1
    text: str
    text_key: str  # equal for equal words: by it the same claim of another user is found
    quote: str  # the user's words it rests on
    kind: str  # fact, preference or correction
    about: str  # world or user
    is_hearsay: bool = False
    state: str = "pending"
    status: str = ""  # correct, incorrect or unknown, once it was weighed
    confidence: float = 0.0
    scope: str = ""  # shared or yours
    action: str = ""  # add, modify, delete or nothing
    passage_id: int | None = Field(default=None, foreign_key="passages.id", index=True)
    # the passage that holds it, or said so already
    receipt_id: int | None = Field(default=None, foreign_key="receipts.id", index=True)
    grounds: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    # evidence with scores, prior, reasons, models' versions
    created_at: datetime = _moment()
    decided_at: datetime | None = _moment(nullable=True)
    imported_by: int | None = Field(default=None, foreign_key="receipts.id")


class Proposal(SQLModel, table=True):
    """What somebody may do to the shared memory because of a claim, which nothing does by itself.

    state: open, accepted, refused, or withdrawn: by whom it was proposed, or for one that took its place.
    Nobody who stated it can accept it.
    """

    __tablename__ = "proposals"
    id: int | None = Field(default=None, primary_key=True)
    claim_id: int = Field(foreign_key="claims.id", index=True)
    text: str  # what would be shared; of what would be deleted by a claim, that claim
    text_key: str = Field(index=True)  # of the claim
    reason: str  # second user, new evidence, share, change: of what is shared; or removal, as a person wishes
    action: str = Field(default="add", sa_column_kwargs={"server_default": "add"})  # or modify, or delete
    passage_id: int | None = Field(default=None, foreign_key="passages.id", index=True)
    version_id: int | None = Field(default=None, foreign_key="passage_versions.id", index=True)
    # what is modified or deleted, as it was when that was proposed
    state: str = "open"
    created_at: datetime = _moment()
    decided_at: datetime | None = _moment(nullable=True)
    decided_by: int | None = Field(default=None, foreign_key="users.id")
    receipt_id: int | None = Field(default=None, foreign_key="receipts.id", index=True)


class FilledIndex(SQLModel, table=True):
    """An index of the shared space that was filled, and is kept up while its encoder version is live."""

    __tablename__ = "filled_indexes"
    name: str = Field(primary_key=True)  # of its place: a folder's or a server's
    encoder_version: str = Field(primary_key=True)
    fill_id: str  # random; the same lies in the index for as long as that is the one that was filled
    filled_at: datetime = _moment()
    missed_after: int | None = None  # the last job before the first that was done and did not change it


class ModelVersion(SQLModel, table=True):
    """A model that answers or has answered: an encoder, a judge, a query model."""

    __tablename__ = "model_versions"
    __table_args__ = (UniqueConstraint("role", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    role: str  # encoder, ...
    version: str
    description: str = ""
    details: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    created_at: datetime = _moment()


class LiveModel(SQLModel, table=True):
    """The pointer to the model of each role that answers now, and to the one before it."""

    __tablename__ = "live_models"
    role: str = Field(primary_key=True)
    model_version_id: int = Field(foreign_key="model_versions.id")
    previous_id: int | None = Field(default=None, foreign_key="model_versions.id")
    changed_at: datetime = _moment()
    declined: str = Field(default="", sa_column_kwargs={"server_default": ""})
    # the version last stepped back from, which is not taken up again by itself


class Round(SQLModel, table=True):
    """One round of training and what came of it."""

    __tablename__ = "rounds"
    id: int | None = Field(default=None, primary_key=True)
    recipe: str
    state: str  # waiting, running, promoted, refused, stopped or failed
    reason: str = ""
    settings: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    figures: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    model_version_id: int | None = Field(default=None, foreign_key="model_versions.id")
    created_at: datetime = _moment()
    ended_at: datetime | None = _moment(nullable=True)
