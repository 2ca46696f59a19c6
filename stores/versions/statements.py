"""What a user told: the passages of their own that are statements in their words.

Read without an index of words or meanings: by a question such a statement is often not found.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy.orm import Session as SqlSession

from stores.database.rows import in_parts, rows

_FEW = 2_000  # changed versions, up to which they are looked up one by one
_STATEMENTS = "('note', 'fact', 'preference', 'correction')"  # kinds of passages


def newest_statements(sql: SqlSession, space: str, most: int) -> list[tuple[int, str]]:
    """The `most` newest live statements of a user's own space, newest first: version ids and texts."""
    return [(version_id, text) for _, version_id, text in _newest(sql, space, most)]


def _newest(sql: SqlSession, space: str, most: int) -> list[tuple[int, int, str]]:
    """Passage, version and text of each."""
    read = rows(
        sql,
        # The empty string keeps SQLite from walking all live texts of the space for each of its passages.
        "SELECT p.id, v.id, v.text FROM passages AS p "
        "JOIN passage_versions AS v ON v.passage_id = p.id AND v.removed_at IS NULL "
        f"WHERE v.space || '' = p.space AND p.space = ? AND p.kind IN {_STATEMENTS} "
        "ORDER BY p.id DESC LIMIT ?",
        [space, most],
    )
    return [(passage_id, version_id, text) for passage_id, version_id, text in read]


class KeptStatements:
    """The newest live statements of one space, read once; after that only what was changed since.

    Every change of what is live leaves a job for the indexes in its own transaction
    (`stores/versions/changes.py`), whichever process makes it. Jobs become visible in the order of their ids
    and stay, so what is kept is at each look what the database holds at that moment.
    """

    def __init__(self, space: str, most: int) -> None:
        """most: statements that are kept, the newest."""
        self.most = most
        self._space = space
        self._by_passage: dict[int, tuple[int, str]] = {}  # version and text, the newest passage first
        self._is_cut = False  # there are, or may be, older ones beyond those that are kept
        self._seen = -1  # the newest job whose change is known; -1: nothing was read

    def newest(self, sql: SqlSession) -> list[tuple[int, str]]:
        """Version ids and texts, the newest first."""
        newest_job = int(rows(sql, "SELECT coalesce(max(id), 0) FROM jobs")[0][0])
        if newest_job != self._seen and not (0 <= self._seen < newest_job and self._take_in(sql)):
            read = _newest(sql, self._space, self.most)
            self._by_passage = {passage_id: (version_id, text) for passage_id, version_id, text in read}
            self._is_cut = len(read) == self.most
        self._seen = newest_job
        return list(self._by_passage.values())

    def _take_in(self, sql: SqlSession) -> bool:
        """Takes in what was changed since; False where all has to be read anew."""
        payloads = rows(
            sql,
            "SELECT payload FROM jobs WHERE id > ? AND kind = 'index' AND space = ?",
            [self._seen, self._space],
        )
        changed = [i for (each,) in payloads for i in _version_ids(each)]
        if len(changed) > _FEW:
            return False
        live: dict[int, tuple[int, str]] = {}
        for some in in_parts(set(changed)):
            read = rows(
                sql,
                "SELECT v.id, v.passage_id, v.text, v.removed_at IS NULL FROM passage_versions AS v "
                f"JOIN passages AS p ON p.id = v.passage_id WHERE v.id IN ({','.join(map(str, some))}) "
                f"AND v.space || '' = ? AND p.kind IN {_STATEMENTS}",
                [self._space],
            )
            for version_id, passage_id, text, is_live in read:
                if is_live:
                    live[passage_id] = (version_id, text)
                elif self._by_passage.get(passage_id, (0, ""))[0] == version_id:
                    del self._by_passage[passage_id]
                    if self._is_cut:
                        return False  # an older one takes its place
        if self._is_cut:
            oldest = min(self._by_passage, default=0)
            live = {passage_id: each for passage_id, each in live.items() if passage_id >= oldest}
        if live:
            both = sorted((self._by_passage | live).items(), reverse=True)
            self._by_passage = dict(both[: self.most])
            self._is_cut = self._is_cut or len(both) >= self.most
        return True


def _version_ids(payload: Any) -> list[int]:
    """Of a job, as a driver gives its payload."""
    read = payload if isinstance(payload, dict) else json.loads(payload)
    return [int(i) for i in read["version_ids"]]
