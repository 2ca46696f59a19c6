"""Orders to the memory in plain language: shown, with what carries them out, and never obeyed by themselves.

message -> the heads: forget, correct or undo -> the reader: which statements are meant -> a command for each

To remember something is no such order: what is to be kept is kept, as every statement is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agents.answering.memory_answers import MemoryAnswer
from agents.base.chat_interfaces import CitingText, Source
from agents.languages.signs import Languages
from stores.base.one_line import one_line, short
from stores.base.passages import STATEMENTS

_MOST = 3  # statements that may be meant
_SHARE = 0.1  # of the likeliest's probability, below which a statement is not shown beside it
UNDO = "/undo takes back the latest write of this session, and /undo 7 the write with that number."
NOTHING_MEANT = "Nothing that I remember seems to be meant. /forget and words of it list what may be."
FORGET = "Nothing is forgotten by a sentence alone. If one of these is meant:"
CORRECT = "What you told me stays as it is until you say what is wrong. If one of these is meant:"


def answered_order(
    languages: Languages | None,
    message: str,
    sources: Sequence[Source],
    read: Callable[[], Sequence[MemoryAnswer]],
) -> list[str] | None:
    """The answer to an order, a piece each; None for what is none.

    sources: of the user's own. read: how probably each of what was told answers the message, best first.
    """
    order = languages.signs([message])[0].order if languages else None
    if order == "undo":
        return [CitingText(UNDO, command="/undo")]
    if order not in ("forget", "correct"):
        return None
    meant = _meant(read(), sources)
    if order == "forget":
        return [FORGET, *map(_forgetting, meant)] if meant else [NOTHING_MEANT]
    return [CORRECT, *(_correcting(source, one_line(message)) for source in meant)] if meant else None


def _meant(told: Sequence[MemoryAnswer], sources: Sequence[Source]) -> list[Source]:
    """The statements that may be meant, the likeliest first."""
    found = {source.passage.passage_id: source for source in sources}
    likely = (one for one in told if one.probability >= _SHARE * told[0].probability)
    stated = (passage.passage_id for one in likely for passage in one.statement.statements)
    named = (found[i] for i in dict.fromkeys(stated) if i in found)
    return [s for s in named if s.passage.kind in STATEMENTS and not s.passage.is_shared][:_MOST]


def _forgetting(source: Source) -> CitingText:
    command = f"/forget {source.passage.passage_id}"
    return _line(command, "forgets", source)


def _correcting(source: Source, message: str) -> CitingText:
    command = f"/instead {source.passage.passage_id} {message}"
    return _line(command, "puts this in the place of", source)


def _line(command: str, does: str, source: Source) -> CitingText:
    text = f"\n{command} {does} “{short(source.passage.text)}” [{source.number}]"
    return CitingText(text, [source.number], counts=True, command=command)
