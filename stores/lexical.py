"""Words: how text becomes tokens, how BM25 weighs them, and which passages hold them.

Tokens are made here and not by the database (lower case, without accents, stop words removed,
English stems), so that every database searches the same ones. The database's full-text index finds the
passages that share a token; their BM25 is then computed from the statistics of the spaces searched
and of no others: what one user says never moves another user's scores.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import Stemmer
from sqlalchemy import text
from sqlalchemy.orm import Session as SqlSession

from stores.records import SHARED

SATURATION = 1.2  # k1: how soon a repeated word stops counting
LENGTH_SHARE = 0.75  # b: how much a long passage is marked down

# the letters of Japanese, Chinese and Korean, without the punctuation among them
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
_stem = lru_cache(maxsize=200_000)(Stemmer.Stemmer("english").stemWord)


def tokens(written: str) -> list[str]:
    """The words that are searched, in order, repeated as often as they stand there.

    Scripts without spaces between words become overlapping pairs of characters.
    """
    # twice: taking ℃ apart gives a capital letter, and folding a capital may give an accent
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", written).casefold())
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    found: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFC", plain)):  # Korean syllables whole again
        word = match[0]
        if match[1]:
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            found.append(_stem(word) if word.isascii() else word)
    return found


@dataclass(frozen=True)
class WordStatistics:
    """What BM25 knows of the passages searched."""

    passages: int
    words: int
    passages_with: Mapping[str, int]  # by token

    def rarity(self, token: str) -> float:
        """idf = ln(1 + (N - n + 1/2) / (n + 1/2)): above 0, larger for rarer words."""
        holding = min(self.passages_with.get(token, 0), self.passages)
        return math.log(1 + (self.passages - holding + 0.5) / (holding + 0.5))


def bm25(
    query: Iterable[str],
    passage: Sequence[str],
    statistics: WordStatistics,
    *,
    saturation: float = SATURATION,
    length_share: float = LENGTH_SHARE,
) -> float:
    """How much of the query's rarer words a passage holds (Robertson and Zaragoza 2009, section 3).

        Σ over tokens t of the query: idf(t) · f(t) (k1 + 1) / (f(t) + k1 (1 - b + b · length / mean length))

    query, passage: tokens; one repeated in the query counts once. At least 0, and 0 without a shared one.
    """
    mean_length = statistics.words / statistics.passages if statistics.passages else 1.0
    counts = Counter(passage)
    damping = saturation * (1 - length_share + length_share * len(passage) / max(mean_length, 1.0))
    return sum(
        statistics.rarity(token) * counts[token] * (saturation + 1) / (counts[token] + damping)
        for token in set(query)
        if token in counts
    )


def add_words(sql: SqlSession, space: str, texts: Mapping[int, str]) -> None:
    """Makes texts findable by their words, in the caller's transaction. texts: by version id."""
    if not texts:
        return
    words = {version_id: tokens(written) for version_id, written in texts.items()}
    rows = [{"id": i, "space": _space_token(space), "words": " ".join(w)} for i, w in words.items()]
    if space == SHARED:
        sql.execute(text("INSERT INTO shared_words(rowid, words) VALUES (:id, :words)"), rows)
    else:
        sql.execute(text("INSERT INTO own_words(rowid, space, words) VALUES (:id, :space, :words)"), rows)
    _count(sql, space, passages=len(words), words=sum(map(len, words.values())))


def remove_words(sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
    """Makes versions unfindable by their words, in the caller's transaction. Unknown ids are passed over."""
    known = _stored_words(sql, space, version_ids)
    table = _table(space)
    if known:
        sql.execute(text(f"DELETE FROM {table} WHERE rowid = :id"), [{"id": i} for i in known])
        _count(sql, space, passages=-len(known), words=-sum(map(len, known.values())))


def holding_words(sql: SqlSession, space: str, query: Sequence[str], k: int) -> list[int]:
    """Version ids of at most k passages of one space that hold some token of the query, likely best first."""
    if not query or k <= 0:
        return []
    any_word = " OR ".join(f'"{token}"' for token in dict.fromkeys(query))
    if space == SHARED:
        statement = "SELECT rowid FROM shared_words WHERE shared_words MATCH :match ORDER BY rank LIMIT :k"
        match = any_word
    else:
        statement = (
            "SELECT rowid FROM own_words WHERE own_words MATCH :match ORDER BY bm25(own_words, 0, 1) LIMIT :k"
        )
        match = f'space : "{_space_token(space)}" AND words : ({any_word})'
    return [row[0] for row in sql.execute(text(statement), {"match": match, "k": k})]


def statistics_of(sql: SqlSession, spaces: Sequence[str], query: Iterable[str]) -> WordStatistics:
    """How often the query's tokens stand in these spaces, taken together."""
    passages = words = 0
    holding: Counter[str] = Counter()
    wanted = list(dict.fromkeys(query))
    for space in spaces:
        row = sql.execute(
            text("SELECT passages, words FROM space_statistics WHERE space = :space"), {"space": space}
        ).one_or_none()
        if row is None:
            continue
        passages, words = passages + row[0], words + row[1]
        for token in wanted:
            holding[token] += _passages_with(sql, space, token)
    return WordStatistics(passages, words, holding)


def word_scores(
    sql: SqlSession,
    spaces: Sequence[str],
    query: str,
    version_ids: Sequence[int],
    statistics: WordStatistics | None = None,
) -> dict[int, float]:
    """BM25 of each version for a query; 0 for a version that is in none of the spaces.

    statistics: of the query's tokens in these spaces, when they are known already.
    """
    wanted = tokens(query)
    statistics = statistics or statistics_of(sql, spaces, wanted)
    scores = dict.fromkeys(version_ids, 0.0)
    for space in spaces:
        for version_id, words in _stored_words(sql, space, version_ids).items():
            scores[version_id] = bm25(wanted, words, statistics)
    return scores


def _passages_with(sql: SqlSession, space: str, token: str) -> int:
    if space == SHARED:
        statement = "SELECT doc FROM shared_vocabulary WHERE term = :token"
        found = sql.execute(text(statement), {"token": token}).scalar()
    else:
        statement = "SELECT count(*) FROM own_words WHERE own_words MATCH :match"
        match = f'space : "{_space_token(space)}" AND words : "{token}"'
        found = sql.execute(text(statement), {"match": match}).scalar()
    return int(found or 0)


def _stored_words(sql: SqlSession, space: str, version_ids: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    ids = [int(i) for i in version_ids]
    for start in range(0, len(ids), 5_000):
        some = ",".join(map(str, ids[start : start + 5_000]))
        if space == SHARED:
            rows = sql.execute(text(f"SELECT rowid, words FROM shared_words WHERE rowid IN ({some})"))
        else:
            rows = sql.execute(
                text(f"SELECT rowid, words FROM own_words WHERE rowid IN ({some}) AND space = :space"),
                {"space": _space_token(space)},
            )
        found.update((row[0], row[1].split()) for row in rows)
    return found


def _table(space: str) -> str:
    return "shared_words" if space == SHARED else "own_words"


def _space_token(space: str) -> str:
    return space.replace(":", "")  # one word to the full-text index


def _count(sql: SqlSession, space: str, *, passages: int, words: int) -> None:
    sql.execute(
        text(
            "INSERT INTO space_statistics(space, passages, words) VALUES (:space, :passages, :words) "
            "ON CONFLICT(space) DO UPDATE SET passages = space_statistics.passages + excluded.passages, "
            "words = space_statistics.words + excluded.words"
        ),
        {"space": space, "passages": passages, "words": words},
    )
