"""Keys by which programs ask in a user's name: told once, kept as a digest, taken back at any time."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from stores.base.clock import now
from stores.base.errors import NotFound
from stores.database.database import Database
from stores.database.tables import ApiKey, User, known_id

_BEGINS = "vouch-"
_SHOWN = 4  # characters of a key


@dataclass(frozen=True)
class KeyLine:
    """A key in a list."""

    key_id: int
    user: str
    ends_on: str
    created_at: datetime
    revoked_at: datetime | None


class ApiKeys:
    """All keys; who can reach the database may give and take them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def give(self, user_id: int) -> str:
        """A new key of this user; it is not kept, so it cannot be told again."""
        key = f"{_BEGINS}{secrets.token_urlsafe(32)}"
        with self._database.writing() as sql:
            sql.add(ApiKey(user_id=user_id, digest=_digest(key), ends_on=key[-_SHOWN:], created_at=now()))
        return key

    def user_of(self, key: str) -> str | None:
        """In whose name this key asks; None where it is none, or was taken back."""
        with self._database.reading() as sql:
            return sql.scalar(
                select(col(User.name))
                .join(ApiKey, col(ApiKey.user_id) == col(User.id))
                .where(col(ApiKey.digest) == _digest(key), col(ApiKey.revoked_at).is_(None))
            )

    def lines(self) -> list[KeyLine]:
        """Every key, the oldest first."""
        with self._database.reading() as sql:
            rows = sql.execute(
                select(ApiKey, col(User.name))
                .join(User, col(ApiKey.user_id) == col(User.id))
                .order_by(col(ApiKey.id))
            )
            return [
                KeyLine(known_id(key.id), name, key.ends_on, key.created_at, key.revoked_at)
                for key, name in rows
            ]

    def revoke(self, key_id: int) -> None:
        """Takes a key back, for every request from now on. Raises `NotFound`."""
        with self._database.writing() as sql:
            key = sql.get(ApiKey, key_id)
            if key is None or key.revoked_at is not None:
                raise NotFound(f"there is no key {key_id}", hint="`vouch keys list` shows those there are.")
            key.revoked_at = now()


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
