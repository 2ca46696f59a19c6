"""Orders to the memory in plain language: shown, with what carries them out, and never obeyed by themselves.

message -> the heads: forget, or undo -> the user's statements nearest to it -> the command for each
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.chat_interfaces import CitingText, Source
from agents.languages.signs import Languages
from stores.base.one_line import short
from stores.base.passages import STATEMENTS

ORDER_FROM = 0.5  # p(forget) or p(undo); on dev 67 % of these orders, and no statement of data/everyday
_MOST = 3  # statements that may be meant
UNDO = (
    "Type /undo to take back the latest write of this session. /undo 7 takes back the write with that number."
)
NOTHING_MEANT = "Nothing that I remember seems to be meant. /forget and words of it list what may be."
FORGET = "Nothing is forgotten by a sentence alone. If one of these is meant:"


def answered_order(languages: Languages | None, message: str, sources: Sequence[Source]) -> list[str] | None:
    """The answer to an order, a piece each; None for what is none. sources: as found, the nearest first."""
    if languages is None:
        return None
    (signs,) = languages.signs([message])
    if signs.labels["undo"] >= ORDER_FROM:
        return [UNDO]
    if signs.labels["forget"] < ORDER_FROM:
        return None
    meant = [s for s in sources if s.passage.kind in STATEMENTS and not s.passage.is_shared][:_MOST]
    if not meant:
        return [NOTHING_MEANT]
    return [FORGET, *(CitingText(_line(source), [source.number], counts=True) for source in meant)]


def _line(source: Source) -> str:
    passage = source.passage
    return f"\n/forget {passage.passage_id} forgets “{short(passage.text)}” [{source.number}]"
