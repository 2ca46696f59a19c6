"""What Find costs: python -m benchmarks.turn_search [--turns N] [--queries N] [--seed N]

Made-up sessions of two users in turn, each with that many turns, whose words are as unevenly common as
those of a language (by rank r with a share of about 1/r). One user looks for rare words, common words, two
words, the beginning of a word, longer words as they are typed, and words that stand nowhere, in SQLite and,
where its programs are, in PostgreSQL.
Beside each median and 95th percentile stands how many times as long the same search by LIKE takes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

from sqlalchemy import text

from stores.base.clock import now
from stores.conversation.journal import Journal
from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database
from stores.database.tables import Session, Turn, known_id
from stores.words.turn_words import note_turns
from tests.postgres_server import MISSING, find_programs, running_server

VOCABULARY = 20_000
_IN_A_SESSION = 200
_SHOWN = 100
_LIKE_QUERIES = 5  # of each kind: it takes long


def main() -> None:
    """Prints a table a database."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=100_000)
    options.add_argument("--queries", type=int, default=50)
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report("SQLite", Database.at(Path(folder)), given)
    programs = find_programs()
    if programs is None:
        print(MISSING)
        return
    with running_server(programs) as server:
        report("PostgreSQL", Database(server.new_database()), given)


def report(name: str, database: Database, given: argparse.Namespace) -> None:
    chance = random.Random(given.seed)
    words = made_up_words(chance)
    began = time.perf_counter()
    users = [Journal(database).user_id(user) for user in ("ann", "bob")]
    for _ in range(given.turns // _IN_A_SESSION):
        for user_id in users:
            fill(database, user_id, words, chance)
    print(f"\n{name}: {2 * given.turns} turns written in {time.perf_counter() - began:.0f} s")
    if database.is_postgresql:
        with database.writing() as sql:
            sql.execute(text("ANALYZE"))
    search = TurnSearch(database)
    print(f"{'looked for':<24}{'hits':>6}{'median ms':>11}{'p95 ms':>9}{'LIKE ms':>9}{'ratio':>7}")
    for kind, queries in kinds(words.words, chance, given.queries):
        times = [timed(partial(search.find, users[0], query)) for query in queries]
        hits = statistics.median(len(search.find(users[0], query)) for query in queries)
        plain = statistics.median(
            timed(partial(by_like, database, users[0], query)) for query in queries[:_LIKE_QUERIES]
        )
        median, worst = statistics.median(times), sorted(times)[int(0.95 * (len(times) - 1))]
        print(f"{kind:<24}{hits:>6.0f}{median:>11.1f}{worst:>9.1f}{plain:>9.0f}{plain / median:>7.0f}")
    database.close()


@dataclass(frozen=True)
class Words:
    """A made-up language."""

    words: Sequence[str]  # the most common first
    shares: Sequence[float]  # of all that is said, of each word and those before it


def made_up_words(chance: random.Random) -> Words:
    """Different words of two to four syllables."""
    syllables = [first + second for first in "bdfgklmnprstv" for second in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chance.choices(syllables, k=chance.randint(2, 4)))] = None
    return Words(list(found), list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1))))


def fill(database: Database, user_id: int, words: Words, chance: random.Random) -> None:
    """One session."""

    def written(count: int) -> str:
        return " ".join(chance.choices(words.words, cum_weights=words.shares, k=count))

    with database.writing() as sql:
        session = Session(user_id=user_id, title=written(5), created_at=now())
        sql.add(session)
        sql.flush()
        turns = [
            Turn(
                session_id=known_id(session.id),
                user_id=user_id,
                message=written(12),
                answer=written(60),
                state="done",
                accepted_at=now(),
            )
            for _ in range(_IN_A_SESSION)
        ]
        sql.add_all(turns)
        sql.flush()
        note_turns(sql, turns)


def kinds(words: Sequence[str], chance: random.Random, count: int) -> Iterator[tuple[str, list[str]]]:
    """What is looked for, by what it is."""

    def some(first: int, last: int) -> str:
        return words[chance.randint(first, last - 1)]

    yield "a rare word", [some(5_000, VOCABULARY) for _ in range(count)]
    yield "a common word", [some(0, 50) for _ in range(count)]
    yield "two common words", [f"{some(0, 50)} {some(0, 50)}" for _ in range(count)]
    yield "a common and a rare one", [f"{some(0, 50)} {some(5_000, VOCABULARY)}" for _ in range(count)]
    for kind, first, last in (("typed, common", 0, 50), ("typed, rare", 5_000, VOCABULARY)):
        typed = [f"{some(first, last)}i{'n' * (number % 2)}" for number in range(count)]
        yield kind, typed  # "word" stands there, "wording" is being typed
    yield "three letters", [some(0, VOCABULARY)[:3] for _ in range(count)]
    yield "words that are nowhere", [f"{some(0, 50)} zzyzx{number}" for number in range(count)]


def by_like(database: Database, user_id: int, words: str) -> list[int]:
    """The same without an index of words."""
    values = {f"w{number}": f"%{word}%" for number, word in enumerate(words.split())}
    every = " AND ".join(f"lower(t.message || ' ' || t.answer) LIKE :{name}" for name in values)
    with database.reading() as sql:
        read = sql.execute(
            text(
                "SELECT t.id, t.message, t.answer FROM turns AS t JOIN sessions AS s ON s.id = t.session_id "
                f"WHERE t.user_id = :user AND NOT s.is_private AND {every} ORDER BY t.id DESC LIMIT {_SHOWN}"
            ),
            {"user": user_id, **values},
        )
        return [row[0] for row in read]


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
