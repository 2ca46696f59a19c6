"""What an answer should have been, kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.claims import NewClaim

if TYPE_CHECKING:
    from assistant.wiring import Assistant


def teach(assistant: Assistant, user_id: int, turn_id: int, text: str) -> int:
    """Keeps what an answer should have been: as feedback, and as a correction in the user's own memory."""
    assistant.journal.rate(user_id, turn_id, "taught", correction=text)
    passage_id, _ = assistant.knowledge.remember(user_id, text, kind="correction", turn_id=turn_id)
    claim = NewClaim(text=text, quote=text, kind="fact", about="world")
    assistant.claims.put_one(user_id, claim, origin="taught", turn_id=turn_id, passage_id=passage_id)
    assistant.indexer.catch_up()
    return passage_id
