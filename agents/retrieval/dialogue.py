"""What the form of a talk tells: who speaks, what is asked and so answered next, and who tells when.

    "Ada: Did you get a pet?"      asks; the next line, by somebody else, replies
    "Ben: Yes, a cat, last week."  Ben speaks, and tells a time

A talk that was pasted or imported names who speaks at the beginning of each message. What a user says to
the assistant names nobody: its next message is the user's own again and replies to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from stores.words.lexical import tokens

_LABEL = re.compile(
    r"\s*([^\W\d_][\w.'’-]{0,30}"  # one word, or up to three with capitals
    r"|[A-Z\u00c0-\u00de][\w.'’-]{0,30}(?: [A-Z\u00c0-\u00de][\w.'’-]{0,30}){1,2}):\s"
)
_QUESTION_MARK = re.compile("[?？؟]")
_ASKS_WHEN = re.compile(
    r"\s*(?:(?:and|so|but) )?(?:since |until )?"
    r"(?:when|how long|(?:in |on )?(?:what|which) (?:year|month|day|date))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_TIMES = frozenset(
    "yesterday today tonight tomorrow ago last next since recently just morning mornings night nights day "
    "days week weeks weekend weekends month months year years spring summer autumn fall winter "
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december".split()  # not May: mostly a verb
)


def speaker(text: str) -> str:
    """Who speaks, where a message opens with their name and a colon; empty otherwise."""
    label = _LABEL.match(text)
    return label[1] if label else ""


def is_named(who: str, asked: Collection[str]) -> bool:
    """Whether any word of a speaker's name stands in a query. asked: the query's tokens."""
    return any(token in asked for token in tokens(who))


def replies(text: str, *, to: str) -> bool:
    """Whether a message answers the one before it: that one asks something, and somebody else speaks now."""
    if not _QUESTION_MARK.search(to):
        return False
    now, before = speaker(text), speaker(to)
    return bool(now and before) and now != before


def asks_when(query: str) -> bool:
    """Whether a query wants to know a time."""
    return _ASKS_WHEN.match(query) is not None


def tells_time(text: str) -> bool:
    """Whether a text holds words of time: a day, a season, a year from 1000 to 2999, "last", "ago"."""
    return any(word in _TIMES or _is_year(word) for word in _WORD.findall(text.lower()))


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word[0] in "12"
