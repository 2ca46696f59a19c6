"""The sessions of an export in parts, none of which holds up other writers for long.

A part is one transaction: about a second of the one write lock, by the turns and characters that it may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stores.base.errors import UnreadableDocument
from stores.conversation.imported_sessions import ToldSession, ToldTurn

MOST_TURNS = 200
MOST_CHARACTERS = 1_000_000  # a longer turn is a part by itself


def in_batches(sessions: Iterable[ToldSession]) -> Iterator[list[ToldSession]]:
    """The sessions in their order; a long one is told in several, each behind the turns before it.

    What was read before a file turned out to be damaged comes before the `UnreadableDocument` is raised.
    """
    batch = _Batch()
    try:
        for session in sessions:
            for turn in session.turns:
                if not batch.has_room_for(turn):
                    yield batch.sessions
                    batch = _Batch()
                batch.add(session, turn)
    except UnreadableDocument:
        if batch.sessions:
            yield batch.sessions
        raise
    if batch.sessions:
        yield batch.sessions


class _Batch:
    """Sessions, the last of which may go on."""

    def __init__(self) -> None:
        self._parts: list[tuple[ToldSession, list[ToldTurn]]] = []
        self._turns = self._characters = 0

    def has_room_for(self, turn: ToldTurn) -> bool:
        characters = self._characters + len(turn.message) + len(turn.answer)
        return not self._turns or (self._turns < MOST_TURNS and characters <= MOST_CHARACTERS)

    def add(self, session: ToldSession, turn: ToldTurn) -> None:
        if not self._parts or self._parts[-1][0] is not session:
            self._parts.append((session, []))
        self._parts[-1][1].append(turn)
        self._turns += 1
        self._characters += len(turn.message) + len(turn.answer)

    @property
    def sessions(self) -> list[ToldSession]:
        return [replace(session, turns=turns) for session, turns in self._parts]
