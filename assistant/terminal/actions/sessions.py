"""A session given another title, archived, deleted or brought back: what is told of it, and its undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.conversation.sessions import Sessions, Shelf

Change: TypeAlias = "Callable[[Sessions, int], object]"  # given the sessions and the user


@dataclass(frozen=True)
class SessionChange:
    """What is done with one session."""

    session_id: int
    told: str
    do: Change
    undo: Change


def renaming(session_id: int, old: str, title: str) -> SessionChange:
    """Another title."""
    return SessionChange(
        session_id,
        f"renamed: “{short(title, 50)}”",
        lambda sessions, user_id: sessions.rename(user_id, session_id, title),
        lambda sessions, user_id: sessions.rename(user_id, session_id, old),
    )


def putting_away(session_id: int, title: str, shelf: Shelf) -> SessionChange:
    """Into the archive; out of it, or from among the deleted ones, where it stands there."""
    name = f"“{short(title, 40)}”"
    if shelf == "deleted":
        return SessionChange(
            session_id,
            f"brought back: {name}",
            lambda sessions, user_id: sessions.bring_back(user_id, session_id),
            lambda sessions, user_id: sessions.delete(user_id, session_id),
        )
    archives = shelf != "archived"
    return SessionChange(
        session_id,
        f"{'archived' if archives else 'out of the archive'}: {name}",
        lambda sessions, user_id: sessions.archive(user_id, session_id, archived=archives),
        lambda sessions, user_id: sessions.archive(user_id, session_id, archived=not archives),
    )


def deleting(session_id: int, title: str) -> SessionChange:
    """Out of every list."""
    return SessionChange(
        session_id,
        f"deleted: “{short(title, 30)}”",
        lambda sessions, user_id: sessions.delete(user_id, session_id),
        lambda sessions, user_id: sessions.bring_back(user_id, session_id),
    )


def rename_session(assistant: Assistant, user_id: int, session_id: int, title: str) -> Iterator[str]:
    """Gives a session another title, and tells how the old one is given back. Raises `WrongUsage`."""
    sessions = assistant.stores.sessions
    old = sessions.title(user_id, session_id)
    change = renaming(session_id, old, title)
    change.do(sessions, user_id)
    yield _sentence(change.told)
    if old:
        yield f"To restore its title: /rename {one_line(old)}"


def archive_session(assistant: Assistant, user_id: int, session_id: int, typed: str) -> Iterator[str]:
    """Archives a session, or brings it back, and tells how that is undone. typed: the command.

    Raises `NotFound`.
    """
    sessions = assistant.stores.sessions
    shelf = sessions.shelf(user_id, session_id)
    change = putting_away(session_id, sessions.title(user_id, session_id), shelf)
    change.do(sessions, user_id)
    yield _sentence(change.told)
    if shelf == "open":
        yield f"{typed} brings it back; what it taught stays, and Find still shows it."
    elif shelf == "archived":
        yield f"{typed} archives it again."


def _sentence(told: str) -> str:
    return f"{told[:1].upper()}{told[1:]}."
