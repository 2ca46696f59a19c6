"""Plain mode as ann types in it: lines in, the transcript out.

with assistant_in(tmp_path, counting) as assistant:
    told, session = talk(assistant, "First?", "/retry")
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agents.base.chat_interfaces import ReplyRequest
from assistant.terminal.plain.chat import PlainChat
from assistant.wiring.assistant import Assistant


async def counting(request: ReplyRequest) -> AsyncIterator[str]:
    """A reply that tells which question it answers."""
    yield f"Answer to {request.question}"


def talk(assistant: Assistant, *lines: str, session: int = 0, echoes: bool = True) -> tuple[str, int]:
    """The transcript of ann's chat in which these lines are typed, and the session that was on at its end."""
    user = assistant.stores.journal.user_id("ann")
    session = session or assistant.stores.journal.open_session(user)
    typed, said = iter(lines), list[str]()
    chat = PlainChat(assistant, user, session, ask=lambda: next(typed, None), say=said.append, echoes=echoes)
    chat.run()
    return "".join(said), chat._commands.session_id


def messages(assistant: Assistant, session: int) -> list[str]:
    """Of the branch that is on."""
    turns = assistant.stores.journal.turns(assistant.stores.journal.user_id("ann"), session)
    return [turn.message for turn in turns]


def noting(stood: list[str]) -> Callable[[str], Any]:
    """In place of a line that a text stands in to be changed: notes the text."""

    @contextmanager
    def stands(text: str) -> Iterator[None]:
        stood.append(text)
        yield

    return stands
