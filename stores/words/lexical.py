"""Words: how text becomes tokens, how BM25 weighs them, and which passages hold them.

Tokens are made here and not by the database (lower case, without accents, stop words removed,
English stems), so that every database searches the same ones. The database's full-text index finds the
passages that share one of the query's rarer tokens; their BM25 is then computed over all tokens, from the
statistics of the spaces searched and of no others: what one user says never moves another user's scores.
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

from stores.database.rows import rows
from stores.words.full_text import word_index

SATURATION = 1.2  # k1: how soon a repeated word stops counting
LENGTH_SHARE = 0.75  # b: how much a long passage is marked down
ASKED_PASSAGES = 2_000  # the full-text index is asked for tokens that stand in so many passages together
_TOKENS_AT_ONCE = 500  # in one statement

# the letters of Japanese, Chinese, Korean and Thai, without the punctuation among them
_UNSPACED = (
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    r"\u0e01-\u0e3a\u0e40-\u0e4e"
)
_WORD = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_STOP_WORDS = frozenset(
    """a about after again all am an and any are as at be because been before being but by can could did do
    does doing don done down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just ll me more most my no nor not now of off on once only or other our
    ours out over own re s same she should so some such t than that the their theirs them then there these
    they this those through to too under until up ve very was we were what when where which while who whom
    why will with would you your yours""".split()
)
_OPTION = re.compile(r"(?<![\w/.-])--?[A-Za-z0-9][A-Za-z0-9_-]*")
_stem = lru_cache(maxsize=200_000)(Stemmer.Stemmer("english").stemWord)


def tokens(written: str, *, all_words: bool = False) -> list[str]:
    """The words that are searched, in order, repeated as often as they stand there.

    Scripts without spaces between words become overlapping pairs of characters. all_words: also those that
    stand in nearly every text.
    """
    found: list[str] = []
    for match in _WORD.finditer(written.lower() if written.isascii() else _plain(written)):
        word = match[0]
        if match[1]:
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif all_words or word not in _STOP_WORDS:
            found.append(_stem(word) if word.isascii() else word)
    return found


def _plain(written: str) -> str:
    """In lower case and without accents."""
    # twice: taking ℃ apart gives a capital letter, and folding a capital may give an accent
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", written).casefold())
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", plain)  # Korean syllables whole again


def searched(written: str) -> list[str]:
    """The tokens that passages are found by: the words, and behind them each option letter for letter.

    An option ("-C", "--capath") keeps its dashes and its case, and counts though its letter is a stop word.
    """
    return [*tokens(written), *options(written)]


def options(written: str) -> list[str]:
    """The options that a text names, letter for letter."""
    return [option.rstrip("-") for option in _OPTION.findall(written)] if "-" in written else []


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
    return _Weighing(query, statistics, saturation, length_share).score(" ".join(passage))


class _Weighing:
    """What BM25 needs of one query, worked out once for all passages."""

    def __init__(
        self, query: Iterable[str], statistics: WordStatistics, saturation: float, length_share: float
    ) -> None:
        mean_length = statistics.words / statistics.passages if statistics.passages else 1.0
        self._fixed = saturation * (1 - length_share)
        self._by_length = saturation * length_share / max(mean_length, 1.0)
        # in one order, so that sums are equal to the last bit
        self._weights = [(t, statistics.rarity(t) * (saturation + 1)) for t in sorted(set(query))]

    def score(self, passage: str) -> float:
        """passage: its tokens, joined by spaces; split only where it may hold a token of the query."""
        held = [(token, weight) for token, weight in self._weights if token in passage]
        words = passage.split() if held else []
        damping = self._fixed + self._by_length * len(words)
        found = 0.0
        for token, weight in held:
            if count := words.count(token):
                found += weight * count / (count + damping)
        return found


def worth_asking(passages_with: Mapping[str, int], *, budget: int) -> list[str]:
    """The tokens by which passages are looked for: the rarest first, while their passages fit the budget.

    passages_with: by token, in how many passages it stands; those in none are left out. The rarest is
    always among them, however common. A passage without any of these can only hold common words.
    """
    chosen: list[str] = []
    total = 0
    for token in sorted((t for t, n in passages_with.items() if n > 0), key=lambda t: (passages_with[t], t)):
        total += passages_with[token]
        if chosen and total > budget:
            break
        chosen.append(token)
    return chosen


def add_words(sql: SqlSession, space: str, texts: Mapping[int, str]) -> None:
    """Makes texts findable by their words, in the caller's transaction. texts: by version id."""
    if texts:
        words = {version_id: searched(written) for version_id, written in texts.items()}
        word_index(sql).add(sql, space, words)
        _count(sql, space, words.values(), sign=1)


def remove_words(sql: SqlSession, space: str, version_ids: Sequence[int]) -> None:
    """Makes versions unfindable by their words, in the caller's transaction. Unknown ids are passed over."""
    index = word_index(sql)
    known = index.stored(sql, space, version_ids)
    if known:
        index.remove(sql, space, list(known))
        _count(sql, space, [words.split() for words in known.values()], sign=-1)


def passages_with(sql: SqlSession, spaces: Sequence[str], query: Iterable[str]) -> dict[str, dict[str, int]]:
    """In how many passages of each space each token of the query stands; by space and token."""
    found: dict[str, dict[str, int]] = {space: {} for space in spaces}
    wanted = list(dict.fromkeys(query))
    places = ", ".join("?" * len(spaces))
    for start in range(0, len(wanted), _TOKENS_AT_ONCE):
        some = wanted[start : start + _TOKENS_AT_ONCE]
        read = rows(
            sql,
            "SELECT space, token, passages FROM word_counts "
            f"WHERE space IN ({places}) AND token IN ({', '.join('?' * len(some))})",
            [*spaces, *some],
        )
        for space, token, passages in read:
            found[space][token] = passages
    return found


def holding_words(
    sql: SqlSession,
    space: str,
    query: Iterable[str],
    k: int,
    counts: Mapping[str, int] | None = None,
) -> list[int]:
    """Version ids of some k passages of one space, or more, that hold rarer tokens of a query.

    counts: in how many passages of this space each token stands, when that is known already.
    """
    counts = passages_with(sql, [space], query)[space] if counts is None else counts
    asked = worth_asking(counts, budget=ASKED_PASSAGES)
    if not asked or k <= 0:
        return []
    statistics = WordStatistics(_sizes(sql, [space])[0], 0, counts)
    return word_index(sql).holding(sql, space, {token: statistics.rarity(token) for token in asked}, k)


def statistics_of(
    sql: SqlSession,
    spaces: Sequence[str],
    query: Iterable[str],
    counts: Mapping[str, Mapping[str, int]] | None = None,
) -> WordStatistics:
    """How often the query's tokens stand in these spaces, taken together.

    counts: of `passages_with`, when they are known already.
    """
    counts = counts or passages_with(sql, spaces, query)
    holding: Counter[str] = Counter()
    for space in spaces:
        holding.update(counts[space])
    return WordStatistics(*_sizes(sql, spaces), holding)


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
    wanted = searched(query)
    statistics = statistics or statistics_of(sql, spaces, wanted)
    scores = dict.fromkeys(version_ids, 0.0)
    for space in spaces:
        scores |= _weighed_in(sql, space, version_ids, wanted, statistics)
    return scores


def weighed(
    sql: SqlSession, space_of: Mapping[int, str], query: Iterable[str], statistics: WordStatistics
) -> dict[int, float]:
    """BM25 of each version for the tokens of a query.

    space_of: of each version. statistics: of these tokens in all spaces that are searched.
    """
    scores = dict.fromkeys(space_of, 0.0)
    wanted = list(query)
    for space in set(space_of.values()):
        ids = [i for i, lies_in in space_of.items() if lies_in == space]
        scores |= _weighed_in(sql, space, ids, wanted, statistics)
    return scores


def _weighed_in(
    sql: SqlSession, space: str, version_ids: Sequence[int], query: Sequence[str], statistics: WordStatistics
) -> dict[int, float]:
    """Of those that are in this space."""
    # a token that stands nowhere weighs nothing: none is looked for in vain
    held = [token for token in query if statistics.passages_with.get(token)]
    weighing = _Weighing(held, statistics, SATURATION, LENGTH_SHARE)
    stored = word_index(sql).stored(sql, space, version_ids)
    return {version_id: weighing.score(words) for version_id, words in stored.items()}


def _sizes(sql: SqlSession, spaces: Sequence[str]) -> tuple[int, int]:
    """How many passages and words these spaces hold together."""
    places = ", ".join("?" * len(spaces))
    found = rows(sql, f"SELECT passages, words FROM space_statistics WHERE space IN ({places})", spaces)
    return sum(row[0] for row in found), sum(row[1] for row in found)


def _count(sql: SqlSession, space: str, texts: Iterable[Sequence[str]], *, sign: int) -> None:
    """Keeps the statistics of a space: sign +1 for tokens that came, -1 for tokens that go."""
    passages = words = 0
    holding: Counter[str] = Counter()
    for found in texts:
        passages, words = passages + 1, words + len(found)
        holding.update(set(found))
    sql.execute(
        text(
            "INSERT INTO space_statistics(space, passages, words) VALUES (:space, :passages, :words) "
            "ON CONFLICT(space) DO UPDATE SET passages = space_statistics.passages + excluded.passages, "
            "words = space_statistics.words + excluded.words"
        ),
        {"space": space, "passages": sign * passages, "words": sign * words},
    )
    changed = [{"space": space, "token": t, "passages": sign * n} for t, n in sorted(holding.items())]
    if changed:
        sql.execute(
            text(
                "INSERT INTO word_counts(space, token, passages) VALUES (:space, :token, :passages) "
                "ON CONFLICT(space, token) DO UPDATE SET passages = word_counts.passages + excluded.passages"
            ),
            changed,
        )
    if changed and sign < 0:  # a word that nobody uses any more leaves no trace
        sql.execute(
            text("DELETE FROM word_counts WHERE space = :space AND token = :token AND passages <= 0"),
            [{"space": space, "token": row["token"]} for row in changed],
        )
