"""What else of a user's own holds a number, a code or a name of what is to be forgotten.

    "My pin is 4711-XYZ."  is forgotten;  "is my pin 4711-XYZ?"  says it, too

It is found for whoever forgets to decide: the same name may be of something that is to stay. What many of
their passages hold tells nobody apart and is no such value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.passages import own_space
from stores.database.rows import AT_ONCE
from stores.database.tables import PassageIdentity, PassageVersion, Turn, known_id
from stores.forgetting.erasure_scope import Chosen, unerased
from stores.words.word_overlap import Pieces

_MOST = 10  # passages, from which a value is nothing special
_VALUES = 20  # looked for, the longest
_READ = 4_000  # characters of each text in which values are looked for
_NUMBER = re.compile(r"(?<!\w)\+?\d[\d ()/.-]{3,30}\d(?!\w)")  # "222 333": one value
_WORD = re.compile(r"[^\W_](?:[\w@.:/+'’-]{0,60}[^\W_])?")
_COMMON = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december christmas easter vouch english".split()
)
_KINDS = ("message", "note", "fact", "preference", "correction")


@dataclass(frozen=True)
class Found:
    """What holds such a value beside what is chosen."""

    values: tuple[str, ...]  # all that are to stand nowhere
    met: tuple[str, ...]  # those that stand elsewhere
    passages: tuple[int, ...]
    turns: tuple[int, ...]  # further ones, of which no passage holds it: said in private, or answered


def values_of(texts: Iterable[str]) -> list[str]:
    """Numbers of three digits or more, codes, and words in capitals within a sentence; the longest first."""
    found = {value for text in texts for value in _values(text[:_READ])}
    return sorted(found, key=lambda value: (-len(value), value))[:_VALUES]


def _values(text: str) -> Iterator[str]:
    for number in _NUMBER.finditer(text):
        yield number[0].strip(" ()/.-")
    rest = _NUMBER.sub(" ", text)
    for word in _WORD.finditer(rest):
        if _is_distinctive(word[0], opens=_opens_a_sentence(rest[: word.start()])):
            yield word[0].removesuffix("'s").removesuffix("’s")


def _is_distinctive(word: str, *, opens: bool) -> bool:
    if len(word) < 3 or word.casefold() in _COMMON:
        return False
    if any(character.isdigit() for character in word):
        return re.fullmatch(r"\d{1,2}[:.]\d\d|\d{1,2}[a-z]{2}", word) is None  # a time of day, "3rd"
    if "@" in word or word.isupper() or not (word.islower() or word.istitle()):
        return len(word) > 3 or not opens or word.isupper()
    return word[0].isupper() and not opens and len(word) > 3


def _opens_a_sentence(before: str) -> bool:
    return before.rstrip(" \t\"'“”‘’([*_-")[-1:] in ("", ".", "!", "?", "\n", ":", "…")


def find_mentions(sql: SqlSession, chosen: Chosen, named: Sequence[int]) -> Found:
    """Of the passages that are named; beside all that is chosen with them."""
    values = values_of(each.text for each in chosen.versions.values() if each.passage_id in named)
    holding: dict[str, list[int]] = {value: [] for value in values}
    pieces = {value: Pieces([value]) for value in holding}
    for passage_id, text in _own_texts(sql, chosen) if pieces else ():
        for value, piece in pieces.items():
            if len(holding[value]) <= _MOST and _holds(piece, text) and passage_id not in holding[value]:
                holding[value].append(passage_id)
    kept = {value: passages for value, passages in holding.items() if len(passages) <= _MOST}
    passages = {passage_id for some in kept.values() for passage_id in some}
    said = _turns_of(sql, passages)
    met = {value for value, some in kept.items() if some}
    turns: set[int] = set()
    for turn_id, texts in _turn_texts(sql, chosen) if kept else ():
        held = [value for value in kept if any(_holds(pieces[value], text) for text in texts)]
        if held and turn_id not in said:
            turns.add(turn_id)
            met.update(held)
    shown = tuple(value for value in kept if value in met)
    return Found(tuple(kept), shown, tuple(sorted(passages)), tuple(sorted(turns)))


def _holds(piece: Pieces, text: str) -> bool:
    return piece.cut(text) != text


def _own_texts(sql: SqlSession, chosen: Chosen) -> Iterator[tuple[int, str]]:
    """Of passages of the user's own that are not chosen; documents are not the user's words."""
    after = 0
    while True:
        rows = sql.execute(
            select(col(PassageVersion.id), col(PassageVersion.passage_id), col(PassageVersion.text))
            .join(PassageIdentity, col(PassageIdentity.id) == col(PassageVersion.passage_id))
            .where(
                col(PassageVersion.space) == own_space(chosen.user_id),
                col(PassageIdentity.kind).in_(_KINDS),
                *unerased(),
                col(PassageVersion.id) > after,
            )
            .order_by(col(PassageVersion.id))
            .limit(AT_ONCE)
        ).all()
        yield from ((passage_id, text) for _, passage_id, text in rows if passage_id not in chosen.lines)
        if not rows:
            return
        after = known_id(rows[-1][0])


def _turn_texts(sql: SqlSession, chosen: Chosen) -> Iterator[tuple[int, tuple[str, ...]]]:
    """What was said and handed over in the user's turns that are not chosen, and answered there."""
    after = 0
    while True:
        rows = sql.execute(
            select(col(Turn.id), col(Turn.message), col(Turn.material), col(Turn.answer))
            .where(col(Turn.user_id) == chosen.user_id, col(Turn.id) > after)
            .order_by(col(Turn.id))
            .limit(AT_ONCE)
        ).all()
        yield from ((known_id(i), tuple(texts)) for i, *texts in rows if i not in chosen.turns)
        if not rows:
            return
        after = known_id(rows[-1][0])


def _turns_of(sql: SqlSession, passage_ids: Iterable[int]) -> set[int]:
    """The turns in which messages among these passages were said."""
    said = select(col(PassageIdentity.turn_id)).where(
        col(PassageIdentity.id).in_(sorted(passage_ids)), col(PassageIdentity.kind) == "message"
    )
    return {turn_id for turn_id in sql.scalars(said) if turn_id is not None}
