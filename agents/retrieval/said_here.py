"""What was said in a private session before: it is in no store, and its transcript alone has it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from stores.base.passages import Passage

SESSION = "session"  # the space of what was said before in a session of which nothing is kept elsewhere
_MOST_SAID = 8  # messages of a private session that may answer


class Said(NamedTuple):
    """An earlier message of a session."""

    turn_id: int
    message: str
    at: datetime


def said_before_here(earlier: Iterable[Said]) -> list[Passage]:
    """The newest messages as passages, newest first; nothing is encoded, and nothing is stored."""
    newest_first = sorted(earlier, key=lambda said: (said.at, said.turn_id), reverse=True)
    return [
        message_passage(-said.turn_id, SESSION, said.message, "this session", said.at)
        for said in newest_first[:_MOST_SAID]
    ]


def message_passage(version_id: int, space: str, text: str, source: str, at: datetime) -> Passage:
    """A message as a passage. version_id: 0 or less, as it is in no store."""
    return Passage(
        version_id=version_id,
        passage_id=0,
        space=space,
        kind="message",
        title="",
        text=text,
        document_id=None,
        position=0,
        source=source,
        external_id="",
        created_at=at,
    )
