"""What a turn was found by when schema 0006 came: a part of its migration, and never changed.

What is written today is `stores.words.turn_words`. Where that becomes another, a new migration writes all
turns anew, and this one stays as it is.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

import Stemmer

_MOST_BYTES = 1_000_000
_LONGEST_LEXEME = 200
_UNSPACED = r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_STOP_WORDS = frozenset(
    """a about after again all am an and any are as at be because been before being but by can could did do
    does doing don done down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just ll me more most my no nor not now of off on once only or other our
    ours out over own re s same she should so some such t than that the their theirs them then there these
    they this those through to too under until up ve very was we were what when where which while who whom
    why will with would you your yours""".split()
)
_stem = Stemmer.Stemmer("english").stemWord


def lexemes(user_id: int, session_id: int, written: str) -> list[str]:
    """The words of a turn under its user's number, and its session; without words none."""
    kept: list[str] = []
    left = _MOST_BYTES
    for lexeme in dict.fromkeys(_lexeme(user_id, token) for token in _tokens(written)):
        left -= len(lexeme)
        if left < 0:
            break
        kept.append(lexeme)
    return [f"s{session_id}", *sorted(kept)] if kept else []


def _tokens(written: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", written).casefold())
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    found: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFC", plain)):
        word = match[0]
        if match[1]:
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            found.append(_stem(word) if word.isascii() else word)
    return found


def _lexeme(user_id: int, token: str) -> str:
    written = f"u{token}" if token.isascii() else f"x{token.encode().hex()}"
    if len(written) > _LONGEST_LEXEME:
        written = f"h{hashlib.sha256(token.encode()).hexdigest()}"
    return f"{user_id}{written}"
