"""What a message states beside what it asks: it is newest, and in no store yet."""

from __future__ import annotations

from agents.interfaces import Source
from agents.sentences import is_question, sentences
from stores.clock import now
from stores.records import Passage


def said_here(message: str) -> tuple[str, Source] | None:
    """The questions of a message, and what it states beside them as a source of its own, numbered 0.

    None unless it does both: "The key is under the mat. Where is the key?"
    """
    questions: list[str] = []
    told: list[str] = []
    for sentence in sentences(message):
        (questions if is_question(sentence.text) else told).append(sentence.text)
    if not questions or not told:
        return None
    passage = Passage(
        version_id=0,  # in no store yet
        passage_id=0,
        space="message",
        kind="message",
        title="",
        text=" ".join(told),
        document_id=None,
        position=0,
        source="this message",
        external_id="",
        created_at=now(),
    )
    return " ".join(questions), Source(0, passage)
