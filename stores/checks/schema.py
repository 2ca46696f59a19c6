"""Whether the database has the tables, columns and indexes that this release works with."""

from __future__ import annotations

from sqlalchemy import inspect
from sqlalchemy.engine import Inspector
from sqlmodel import SQLModel

from stores.database import tables as records
from stores.database.database import Database

_WORD_TABLES = {
    "sqlite": ("shared_words", "own_words", "turn_words"),
    "postgresql": ("passage_words", "turn_words"),
}


def schema_faults(database: Database) -> list[str]:
    """What is not there, in words; empty when all is."""
    assert records.User.metadata is SQLModel.metadata, "the records have declared their tables"
    faults: list[str] = []
    with database.reading() as sql:
        found: Inspector = inspect(sql.connection())
        tables = set(found.get_table_names())
        for name in _WORD_TABLES[sql.get_bind().dialect.name]:
            if name not in tables:
                faults.append(f"there is no table {name}")
        for table in SQLModel.metadata.sorted_tables:
            if table.name not in tables:
                faults.append(f"there is no table {table.name}")
                continue
            columns = {column["name"] for column in found.get_columns(table.name)}
            faults += [f"{table.name} has no column {c.name}" for c in table.columns if c.name not in columns]
            indexes = {index["name"] for index in found.get_indexes(table.name)}
            wanted = sorted(str(index.name) for index in table.indexes)
            faults += [f"{table.name} has no index {name}" for name in wanted if name not in indexes]
    return sorted(faults)
