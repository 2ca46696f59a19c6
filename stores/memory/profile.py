"""What always holds of a user and goes with each question: which of their memories are among it."""

from __future__ import annotations

from sqlalchemy import update
from sqlmodel import col

from stores.base.errors import WrongUsage
from stores.base.passages import STANDING, STATEMENTS
from stores.database.database import Database
from stores.database.tables import PassageIdentity
from stores.versions.passage_lines import PassageLine, visible_line

_OTHERWISE = "fact"  # the kind of what does not always hold


class Profile:
    """The profiles of users, each seen and changed by its user alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, user_id: int, passage_id: int, *, pinned: bool) -> PassageLine:
        """Puts one of the user's memories into it, or takes it out. Raises `WrongUsage` for what is none."""
        with self._database.writing() as sql:
            line = visible_line(sql, user_id, passage_id)
            if line.scope == "shared" or line.kind not in STATEMENTS:
                raise WrongUsage(
                    f"passage {passage_id} is no memory of yours that could always hold",
                    hint="/memory lists yours with their numbers; /profile TEXT adds a new one.",
                )
            sql.execute(
                update(PassageIdentity)
                .where(col(PassageIdentity.id) == passage_id)
                .values(kind=STANDING if pinned else _OTHERWISE)
            )
            return line
