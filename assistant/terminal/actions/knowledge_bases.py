"""Which knowledge base a session is about: told, chosen and left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stores.base.errors import NotFound
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

OFF = "off"
_TURNS = 200  # of the session, the newest, that what is wanted is read from


def talk_over(assistant: Assistant, user_id: int, session_id: int, name: str) -> Iterator[str]:
    """Makes a session one about the knowledge base of this name; without one, tells what it has come to."""
    if name == OFF:
        assistant.stores.sessions.talk_over(user_id, session_id, None)
        yield "From now on answers come from your documents and what you told, as before."
    elif name:
        base = assistant.stores.knowledge_bases.named(user_id, name)
        assistant.stores.sessions.talk_over(user_id, session_id, base.id)
        yield f"This session is about {one_line(base.name)} now: {base.entities:,} entities. /kb off ends it."
    else:
        yield from _told(assistant, user_id, session_id)


def _told(assistant: Assistant, user_id: int, session_id: int) -> Iterator[str]:
    base = None
    try:
        base = assistant.turns.knowledge_talk.base_of(user_id, session_id)
    except NotFound as error:
        yield f"{error.message}."
    if base is None:
        names = ", ".join(one_line(known.name) for known in assistant.stores.knowledge_bases.all(user_id))
        yield (
            f"There are: {names}. /kb NAME takes one."
            if names
            else "There is no knowledge base yet: vouch kb add NAME FILE makes one."
        )
        return
    turns = assistant.stores.journal.turns(user_id, session_id, limit=_TURNS)
    state = assistant.turns.knowledge_talk.state_of(base, turns)
    wanted = f"Wanted: {one_line(state.told)} ({state.meeting} of {state.entities})." if state.told else ""
    yield f"This session is about {one_line(base.name)}. {wanted}".rstrip()
    shown = assistant.turns.knowledge_talk.shown(base, turns)
    if shown:
        yield f"Shown: {', '.join(map(one_line, shown))}."
