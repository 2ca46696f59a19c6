"""Keeping what a user says of an answer, and telling where nothing is learned from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

IS_PRIVATE = "Its session is private: nothing is learned from it."
ASKS_NOTHING = "Its message asks nothing: nothing is learned from it."
CITES_NOTHING = "It cites no passage: nothing is learned from it."
CITES_ECHOES = "It cites no passage that Vouch learns from."
OF_A_CURATOR = "You are a curator: all users' replies learn from it, with what was said before it."
OF_A_BASE = "Over a knowledge base only /good and /teach teach."
OF_CURATORS = "Nothing is learned from it: among several users only curators teach, over shared bases."
OF_ENTITIES = "It repeats the knowledge base: nothing is learned from it."
NOT_JUDGED = "No passage was judged: nothing is learned from it."


def rate(
    assistant: Assistant,
    user_id: int,
    turn_id: int,
    rating: str,
    *,
    reason: str = "",
    version_id: int | None = None,
) -> str:
    """Keeps that an answer, or a passage of it, was good or bad.

    Returns a sentence that tells why nothing is learned from that; empty where the next round of training
    counts it.
    """
    assistant.stores.journal.rate(user_id, turn_id, rating, reason=reason, version_id=version_id)
    return _why_nothing_is_learned(assistant, user_id, turn_id, rating, version_id)


def _why_nothing_is_learned(
    assistant: Assistant, user_id: int, turn_id: int, rating: str, version_id: int | None
) -> str:
    journal, turn = assistant.stores.journal, assistant.stores.journal.turn(user_id, turn_id)
    if journal.is_private(user_id, turn.session_id):
        return IS_PRIVATE
    if turn.details.get("asks_nothing"):
        return ASKS_NOTHING
    if (base := turn.details.get("knowledge_base")) is not None:
        if rating != "good" or version_id is not None:
            return OF_A_BASE
        if not base.get("is_generated"):
            return OF_ENTITIES
        return "" if _teaches(assistant, user_id, base["name"]) else OF_CURATORS
    if version_id is not None:
        rated = [version_id]
    else:
        cited = turn.details.get("cited", [])
        if not cited:
            return CITES_NOTHING
        found = journal.found_in(user_id, turn_id)
        rated = [each.version_id for each in found if each.citation in cited]
    passages = assistant.stores.catalogue.passages_of(user_id, rated)
    told = [passage for passage, _ in passages.values()]  # none: handed over, forgotten
    if not any(p.kind != "message" for p in told) and not (
        _teaches_all(assistant, user_id) and any(p.text != turn.message for p in told)
    ):
        return CITES_ECHOES
    if turn.state != "done" or not journal.judged_in(user_id, turn_id):
        return NOT_JUDGED
    return ""


def reaches_all(assistant: Assistant, user_id: int, turn_id: int) -> str:
    """That what a curator found right or wrote over a base is learned for all; empty where it is not."""
    from stores.learning.teachers import one_user

    turn = assistant.stores.journal.turn(user_id, turn_id)
    base = turn.details.get("knowledge_base")
    if base is None or one_user(assistant.stores.database):
        return ""
    if assistant.stores.journal.is_private(user_id, turn.session_id):
        return ""
    return OF_A_CURATOR if _teaches(assistant, user_id, base["name"]) else ""


def _teaches(assistant: Assistant, user_id: int, base: str) -> bool:
    """Whether models learn from this user over this knowledge base; see `teachers.py`."""
    from stores.learning.teachers import one_user

    own = {known.name for known in assistant.stores.knowledge_bases.all(user_id) if not known.is_shared}
    return one_user(assistant.stores.database) or (_teaches_all(assistant, user_id) and base not in own)


def _teaches_all(assistant: Assistant, user_id: int) -> bool:
    """Whether this user is alone, or a curator."""
    from stores.learning.teachers import one_user

    named = assistant.given.settings.memory.curators.split()
    is_curator = user_id in {assistant.stores.journal.known_user_id(name) for name in named}
    return is_curator or one_user(assistant.stores.database)
