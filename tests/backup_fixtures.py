"""A small store to back up, and what is found where one was restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store_fixtures import Stores, document, findable

from stores.database.database import Database


def small_stores(folder: Path) -> Stores:
    """A note of Ann's and a shared document of two passages."""
    folder.mkdir(mode=0o700)
    made = Stores.fresh(folder)
    ann = made.journal.user_id("ann")
    made.knowledge.remember(ann, "Ann likes cats.")
    made.add(ann, document("a.txt", "cat", "dog"))
    return made


def found_in(folder: Path) -> dict[str, Any]:
    database = Database.at(folder)
    try:
        return findable(database)
    finally:
        database.close()


def names_in(folder: Path) -> set[str]:
    return {place.name for place in folder.iterdir()}
