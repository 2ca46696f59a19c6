"""What a large memory of one's own costs: python -m benchmarks.own_statements_cost [--facts N ...]

A made-up user has told so many things, one in eight of which was replaced since and one in ten ended, and as
many messages; another user has half as many. Milliseconds of the steps that read what is one's own: those of
a question, before its first word, and those of remembering, behind an answer. Each is the least of several
tries. First: by what has read nothing yet; again: the same once more; one new: with one statement more.
Beside each stands how many times as long it takes as at the first size, and above the table what a fixed
piece of work of this machine took in the same minute.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from agents.base.interfaces import Encoder, Vector
from agents.retrieval.own_statements import OwnStatements
from agents.retrieval.retriever import Retrieved
from assistant.remembering import weighing
from assistant.search.searching import Searching
from stores.base.clock import now
from stores.base.passages import own_space
from stores.base.statement_links import LinkKind, NewLink
from stores.claims.claims import Claims, text_key
from stores.claims.decisions import Decision, carry_out
from stores.conversation.journal import Journal
from stores.database.database import Database
from stores.database.tables import PassageVector, PassageVersion, Session, StatedClaim, Turn, known_id
from stores.search.indexer import Indexer
from stores.search.shared_index import SharedIndex
from stores.search.spaces import Spaces
from stores.vectors.exact import vector_bytes
from stores.versions.changes import NewVersion, add_versions

DIMENSION = 384
ENCODER = "made-up"
_AT_ONCE = 500  # statements written in a transaction
_TRIES = 5
_LONG_SECONDS = 3.0
_NAMES = "Anna Ben Carla David Elif Farid Greta Hugo Ines Jonas Kemal Lena Milan Nora Oskar Petra".split()
_TOWNS = "Aachen Bonn Cottbus Dresden Essen Fulda Ghent Hasselt Jena Kiel Leipzig Mainz Namur Ulm".split()
_THINGS = "lamp desk kettle bicycle ladder scanner canoe drill tent piano kiln radio stove shelf".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_TOLD = (
    "My {thing} in {town} has the number {number}.",
    "{name} from {town} is coming on {day}.",
    "I met {name} at the market in {town} {number} days ago.",
    "My colleague {name} lives in {town} and works at the library.",
    "I like the {thing} that {name} gave me.",
    "Our {thing} was repaired by {name} for {number} euros.",
    "I left the {thing} at {name}'s place in {town}.",
    "The code of the {thing} of {name} is {number}.",
    "I live for the {day} evenings with {name} in {town}.",
    "We moved the {thing} to {town} on {day}.",
    "My neighbour {name} has a dog called {other}.",
    "I work on the {thing} with {name} every {day}.",
    "{name}'s birthday is on {number} May.",
    "The meeting about the {thing} is on {day} at {hour}.",
    "I gave {name} my {thing} number {number}.",
    "I prefer the {thing} of {town} to that of {other}.",
)
_ONCE = (
    "I live in Bruges.",
    "I work at the harbour office.",
    "My dog is called Rex.",
    "My phone number is 222 333.",
    "My pin is 4711.",
)
QUESTIONS = (
    "Where do I live?",
    "Where do I work?",
    "What is my dog called?",
    "What is my phone number?",
    "What is my middle name?",
    "Where did I live before?",
)
CLAIMS = (
    "I live in Antwerp.",
    "My kettle in Ulm has the number 99.",
    "I no longer have a locker in Ulm.",
    "I swapped my canoe for a kayak.",
)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--facts", type=int, nargs="+", default=[1_000, 5_000, 10_000])
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--work", type=Path, help="a folder where the memories are kept, once made")
    given = options.parse_args()
    print(f"a fixed piece of work: {least(_fixed_work):.1f} ms")
    measured: list[dict[str, float]] = []
    for facts in given.facts:
        with tempfile.TemporaryDirectory() as folder:
            copied = shutil.copy(made(given.work or Path(folder, "made"), facts, given.seed), folder)
            database = Database.at(Path(copied).parent)
            measured.append(dict(Costs(database).steps()))
            database.close()
    print("\n".join(table(given.facts, measured)))
    print(f"a fixed piece of work: {least(_fixed_work):.1f} ms")


def table(sizes: Sequence[int], measured: Sequence[dict[str, float]]) -> Iterator[str]:
    """A row a step; behind the first size, with how many times as long as there."""
    yield f"{'ms':<58}{sizes[0]:>9}" + "".join(f"{size:>16}" for size in sizes[1:])
    for step, least_ms in measured[0].items():
        rest = (f"{m[step]:>9.2f} {m[step] / max(least_ms, 0.001):>5.1f}x" for m in measured[1:])
        yield f"{step:<58}{least_ms:>9.2f}" + "".join(rest)


def least(work: Callable[[], object], *, tries: int = _TRIES) -> float:
    """Milliseconds of the quickest try: the others shared the processor. What takes long is tried less."""
    spent: list[float] = []
    while len(spent) < tries and sum(spent) < _LONG_SECONDS:
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return min(spent) * 1000


def _fixed_work() -> int:
    return sum(number * number for number in range(200_000))


@dataclass(frozen=True)
class PlacedEncoder:
    """Gives each text a vector by its hash: encoding is not what is measured."""

    version: str = ENCODER
    dimension: int = DIMENSION

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([drawn(text) for text in texts], dtype=np.float32)

    encode_passages = encode_queries


def drawn(text: str) -> Vector:
    """(D,), unit length; the same for the same text."""
    vector = np.random.default_rng(list(text.encode())).standard_normal(DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class Costs:
    """The steps over one memory of so many statements."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._claims = Claims(database)
        self._user = Journal(database).user_id("ann")
        self._encoder: Encoder = PlacedEncoder()

    def steps(self) -> Iterator[tuple[str, float]]:
        """Each step's name and its milliseconds."""
        yield from self._of_questions()
        yield from self._of_remembering()

    def _spaces(self) -> Spaces:
        return Spaces(
            self._database, encoder_version=ENCODER, dimension=DIMENSION, shared_index=self._shared_index()
        )

    def _shared_index(self) -> SharedIndex:
        return SharedIndex(
            self._database,
            name="none",
            encoder_version=ENCODER,
            dimension=DIMENSION,
            exact_up_to=10_000_000,
            open_index=lambda _writes: None,
        )

    def _of_questions(self) -> Iterator[tuple[str, float]]:
        space = self._spaces().of(self._user)
        yield "the newest 10,000 statements read", least(lambda: space.statements(10_000))
        for question in (*QUESTIONS, "What does the house cost?"):
            found = Retrieved(question, drawn(question), ENCODER, ())
            seen = self._spaces()

            def fresh(found: Retrieved = found) -> None:
                OwnStatements().put_first(found, self._spaces().of(self._user), [found.vector])

            yield f"{question} first", least(fresh)
            kept = OwnStatements()

            def again(
                found: Retrieved = found,
                kept: OwnStatements = kept,
                seen: Spaces = seen,
            ) -> None:
                kept.put_first(found, seen.of(self._user), [found.vector])

            again()
            yield f"{question} again", least(again)
            yield f"{question} one new", self._with_one_more(again)

    def _with_one_more(self, work: Callable[[], object]) -> float:
        spent: list[float] = []
        while len(spent) < _TRIES and sum(spent) < _LONG_SECONDS * 1000:
            number = len(spent)
            with self._database.writing() as sql:
                new = NewVersion(text=f"My parcel has the number {number}.", kind="fact")
                add_versions(sql, own_space(self._user), [new], author="user", receipt_id=None)
            spent.append(least(work, tries=1))
        return min(spent)

    def _of_remembering(self) -> Iterator[tuple[str, float]]:
        claims = {days: self._told(days) for days in (0, 4_000)}
        turn_id = self._claims.claim(self._user, claims[0]).turn_id or 0
        yield "a turn as the summarizer needs it", least(lambda: self._claims.told(self._user, turn_id))
        ids = [i for i, _ in self._spaces().of(self._user).statements(10)]
        for name, claim_id in (("told now", claims[0]), ("told years ago", claims[4_000])):
            yield (
                f"told_later, claim {name}",
                least(lambda c=claim_id: self._claims.told_later(self._user, c, ids)),  # type: ignore[misc]
            )
        for text in CLAIMS:
            yield f"nearest: {text} first", least(lambda t=text: self._nearest(self._searching(), t))  # type: ignore[misc]
            searching = self._searching()
            self._nearest(searching, text)
            yield f"nearest: {text} again", least(lambda t=text, s=searching: self._nearest(s, t))  # type: ignore[misc]
            yield (
                f"nearest: {text} one new",
                self._with_one_more(lambda t=text, s=searching: self._nearest(s, t)),  # type: ignore[misc]
            )

    def _searching(self) -> Searching:
        spaces = self._spaces()
        encode = self._encoder.encode_passages
        shared = self._shared_index()
        indexer = Indexer(self._database, encoder_version=ENCODER, encode=encode, shared_index=shared)
        return Searching(self._encoder, spaces, None, indexer, shared)  # type: ignore[arg-type]

    def _nearest(self, searching: Searching, claim: str) -> None:
        weighing._nearest(searching, self._user, drawn(claim), "yours")

    def _told(self, days_ago: int) -> int:
        """A claim that was told so long ago, and is found now."""
        with self._database.writing() as sql:
            claim = _stated(sql, self._user, "I live in Lille.", days_ago=days_ago)
        return known_id(claim.id)


def made(folder: Path, facts: int, seed: int) -> Path:
    """The file of a memory of so many statements; it is made where it is not there yet."""
    kept = folder / f"{facts}-{seed}"
    if not (kept / "done").exists():
        kept.mkdir(parents=True, exist_ok=True)
        database = Database.at(kept)
        journal = Journal(database)
        for user_id, count in ((journal.user_id("bob"), facts // 2), (journal.user_id("ann"), facts)):
            fill(database, user_id, count, random.Random(seed + user_id))
        database.close()  # the last connection's end empties the log into the file
        (kept / "done").touch()
    return kept / "vouch.db"


def fill(database: Database, user_id: int, facts: int, chance: random.Random) -> None:
    """A memory of so many statements, and the changes of some."""
    texts = [*_ONCE, *(made_up(chance) for _ in range(facts - len(_ONCE)))]
    chance.shuffle(texts)
    kept: list[int] = []  # passages
    for start in range(0, facts, _AT_ONCE):
        with database.writing() as sql:
            some = texts[start : start + _AT_ONCE]
            for text in some:
                claim = _stated(sql, user_id, text)
                carry_out(sql, claim, _decision())
                if text not in _ONCE:
                    kept.append(claim.passage_id or 0)
            changed = chance.sample(kept, min(len(kept), len(some) // 8 + len(some) // 10))
            for number, passage_id in enumerate(changed):
                kind: LinkKind = "replaces" if number < len(some) // 8 else "ends"
                link = NewLink(passage_id, False, kind, 0.9, "made up")
                carry_out(sql, _stated(sql, user_id, made_up(chance)), _decision(link))
            kept = [each for each in kept if each not in changed]
    with database.writing() as sql:
        _place(sql, user_id)


def made_up(chance: random.Random) -> str:
    return chance.choice(_TOLD).format(
        name=chance.choice(_NAMES),
        other=chance.choice(_NAMES),
        town=chance.choice(_TOWNS),
        thing=chance.choice(_THINGS),
        day=chance.choice(_DAYS),
        hour=chance.randint(8, 18),
        number=chance.randint(1, 5_000),
    )


def _stated(sql: SqlSession, user_id: int, text: str, *, days_ago: int = 0) -> StatedClaim:
    """A message of one statement, searchable as such, and the claim that was found in it."""
    told = datetime.now(UTC) - timedelta(days=days_ago)
    session = sql.scalars(select(Session).where(col(Session.user_id) == user_id)).first()
    if session is None:
        session = Session(user_id=user_id, created_at=now())
        sql.add(session)
        sql.flush()
    turn = Turn(
        session_id=known_id(session.id), user_id=user_id, message=text, accepted_at=told, state="done"
    )
    sql.add(turn)
    sql.flush()
    message = NewVersion(text=text, kind="message", turn_id=turn.id)
    add_versions(sql, own_space(user_id), [message], author="user", receipt_id=None)
    claim = StatedClaim(
        user_id=user_id,
        turn_id=turn.id,
        origin="turn",
        number=1,
        text=text,
        text_key=text_key(text),
        quote=text,
        kind="fact",
        about="user",
        created_at=now(),
    )
    sql.add(claim)
    sql.flush()
    return claim


def _decision(*links: NewLink) -> Decision:
    return Decision(status="unknown", confidence=1.0, scope="yours", action="add", links=links)


def _place(sql: SqlSession, user_id: int) -> None:
    """A vector for each text of a user's, as the indexer would have made it."""
    space = own_space(user_id)
    texts = sql.execute(
        select(col(PassageVersion.id), col(PassageVersion.text)).where(col(PassageVersion.space) == space)
    )
    sql.execute(
        insert(PassageVector),
        [
            {
                "version_id": version_id,
                "space": space,
                "encoder_version": ENCODER,
                "vector": vector_bytes(drawn(text)),
            }
            for version_id, text in texts
        ],
    )


if __name__ == "__main__":
    main()
