"""What was stated beside a question and is in no store: in the same message, or in a private session before.

"The key is under the mat. Where is the key?"          newest of all that is known
in a private session: "My locker is 12." ... "What is my locker?"    its transcript alone has it
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from agents.asked_for import asked_for, how_it_gives
from agents.chat_interfaces import Source
from agents.sentences import is_question, sentences
from stores.clock import now
from stores.lexical import tokens
from stores.passages import Passage

SESSION = "session"  # the space of what was said before in a session of which nothing is kept elsewhere
_MOST_SAID = 8  # messages of a private session that may answer


class Said(NamedTuple):
    """An earlier message of a session."""

    turn_id: int
    message: str
    at: datetime


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
    return " ".join(questions), Source(0, _passage(0, "message", " ".join(told), "this message", now()))


def said_before_here(question: str, earlier: Iterable[Said], *, all_of_it: bool = False) -> list[Passage]:
    """What was stated before in a private session and may answer a question; what answers best comes first.

    earlier: in any order. all_of_it: everything that was told is asked for. It gives what is asked for, or
    shares a word with the question; nothing is encoded, and nothing is stored.
    """
    asking, wanted = asked_for(question), set(tokens(question))
    speaks: list[tuple[bool, int, datetime, int, str]] = []
    for turn_id, message, at in earlier:
        told = [one.text for one in sentences(message) if not is_question(one.text)]
        text = " ".join(told)
        gives = any(how_it_gives(each, asking) is not None for each in told) if asking else False
        shared = len(wanted & set(tokens(text)))
        if told and (gives or shared or all_of_it):
            speaks.append((gives, shared, at, turn_id, text))
    return [
        _passage(-turn_id, SESSION, text, "this session", at)
        for _, _, at, turn_id, text in sorted(speaks, reverse=True)[:_MOST_SAID]
    ]


def _passage(version_id: int, space: str, text: str, source: str, at: datetime) -> Passage:
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
