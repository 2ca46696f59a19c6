"""kill -9 at any point: what was acknowledged is there, nothing is there by half, the indexes agree.

    python -m benchmarks.durability --kills 300 --seed 7
    python -m benchmarks.durability --kills 300 --seed 7 --store postgresql://vouch@127.0.0.1:5432/empty
    python -m benchmarks.durability --seed 7 --replay swap:41

A process (durable_worker.py) works on one store and is killed, again and again; the next one goes on with the
same store. Every second death is at a step that the seed names (a statement, a commit, a write to an
index) and comes again with the same seed; the others come at a random moment after a random number of
acknowledgements. After each one the store is opened here and looked through. --replay repeats the deaths of
one kind of work up to the named one, and says what is found after each.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session as SqlSession

from benchmarks.durable_worker import QuickAssistant, Specification
from stores.records import searchable_text

WORKS = ("ingest", "chat", "memory", "swap")
_LONGEST_PAUSE_SECONDS = 0.08
_MOST_ACKNOWLEDGED = 12
_LONGEST_LIFE_SECONDS = 120.0  # of a process whose step does not come: it is killed all the same
_MOST_STEPS = 1_200


class NotDurable(AssertionError):
    """Something acknowledged is lost, or something is there by half."""


def require(holds: bool, otherwise: str) -> None:
    """Raises `NotDurable` unless it holds."""
    if not holds:
        raise NotDurable(otherwise)


@dataclass(frozen=True)
class Death:
    """When a process dies: at a step of its own, or so long after so many acknowledgements."""

    step: int = 0
    after_its_effect: bool = False
    acknowledged: int = 0
    pause_seconds: float = 0.0

    @classmethod
    def of(cls, seed: int, work: str, number: int) -> Death:
        """The death of one process: the same for the same seed, work and number."""
        chance = random.Random(f"{seed} {work} {number}")
        if number % 2 == 0:  # as often early in its life as late
            return cls(step=int(_MOST_STEPS ** chance.random()), after_its_effect=chance.random() < 0.5)
        return cls(
            acknowledged=chance.randint(0, _MOST_ACKNOWLEDGED),
            pause_seconds=chance.random() * _LONGEST_PAUSE_SECONDS,
        )


class Worker:
    """A process that has imported everything and waits for the word to begin."""

    def __init__(self, specification: Specification, death: Death) -> None:
        self._death = death
        specification = replace(specification, dies_at=death.step, dies_after=death.after_its_effect)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.durable_worker", specification.write()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )

    def live(self) -> str:
        """Lets it work until it dies, and returns what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            raise NotDurable(f"the worker did not start: {self._complaints()}")
        self._process.stdin.write("begin\n")
        self._process.stdin.flush()
        said: list[str] = []
        if self._death.step:
            late = threading.Timer(_LONGEST_LIFE_SECONDS, self._process.kill)
            late.start()
            said.append(self._process.stdout.read())
            late.cancel()
        else:
            for _ in range(self._death.acknowledged):
                said.append(self._process.stdout.readline())
            time.sleep(self._death.pause_seconds)
            self._process.kill()
            said.append(self._process.stdout.read())
        complaints = self._complaints()
        require(self._process.returncode == -9, f"the worker ended by itself: {complaints}")
        return "".join(said)

    def end(self) -> None:
        """Kills it before it began."""
        self._process.kill()
        self._complaints()

    def _complaints(self) -> str:
        _, complaints = self._process.communicate(timeout=600)
        return complaints.strip()[-2_000:]


@contextmanager
def opened(specification: Specification) -> Iterator[QuickAssistant]:
    """The store that a process left behind."""
    assistant = QuickAssistant(specification)
    try:
        yield assistant
    finally:
        assistant.close()


# What holds in every store


def check_whole(assistant: QuickAssistant, *, is_caught_up: bool) -> None:
    """Nothing is there by half. is_caught_up: everything has a vector, no job waits, the index agrees."""
    with assistant.database.reading() as sql:
        require(assistant.database.integrity_problems() == [], "the database is damaged")
        if not assistant.database.is_postgresql:
            require(rows(sql, "PRAGMA foreign_key_check") == [], "a row names another that is not there")
        _check_documents(sql)
        _check_words(sql, is_postgresql=assistant.database.is_postgresql)
        _check_vectors(sql, assistant.encoder_versions.live(), is_caught_up=is_caught_up)
        _check_turns(sql)
        is_indexed = assistant.searching.shared_index.is_wanted(sql)
    if is_caught_up:
        differences = assistant.searching.shared_index.differences()
        require(differences is not None or not is_indexed, "the index is not filled")
        require(differences in (None, (set(), set())), f"the index differs: {differences}")


def _check_documents(sql: SqlSession) -> None:
    live = rows(sql, "SELECT document_id, passage_count FROM document_versions WHERE removed_at IS NULL")
    expected = dict(live)
    require(len(live) == len(expected), "a document has two live versions")
    places: dict[int, list[int]] = defaultdict(list)
    for document_id, position in rows(
        sql,
        "SELECT v.document_id, v.position FROM passage_versions AS v "
        "JOIN passages AS p ON p.id = v.passage_id "
        "WHERE v.removed_at IS NULL AND p.kind = 'document' ORDER BY v.document_id, v.position",
    ):
        places[document_id].append(position)
    require(places == {i: list(range(count)) for i, count in expected.items()}, "a document is not whole")


def _check_words(sql: SqlSession, *, is_postgresql: bool) -> None:
    live = set(rows(sql, "SELECT id, space FROM passage_versions WHERE removed_at IS NULL"))
    if is_postgresql:
        stored = rows(sql, "SELECT version_id, space, words FROM passage_words")
    else:
        own = rows(sql, "SELECT rowid, space, words FROM own_words")
        stored = rows(sql, "SELECT rowid, 'shared', words FROM shared_words")
        stored += [(i, space.replace("user", "user:"), words) for i, space, words in own]
    require({row[:2] for row in stored} == live, "the words are not those of the live passages")
    counts = Counter((space, token) for _, space, words in stored for token in set(words.split()))
    kept = {row[:2]: row[2] for row in rows(sql, "SELECT space, token, passages FROM word_counts")}
    require(kept == counts, "words are counted wrongly")
    sizes = Counter(space for _, space, _ in stored)
    known = rows(sql, "SELECT space, passages FROM space_statistics WHERE passages <> 0")
    require(dict(known) == sizes, "passages are counted wrongly")


def _check_vectors(sql: SqlSession, live: Any, *, is_caught_up: bool) -> None:
    if live is None:
        return
    without = {
        row[0]
        for row in rows(
            sql,
            "SELECT id FROM passage_versions WHERE removed_at IS NULL AND id NOT IN "
            f"(SELECT version_id FROM passage_vectors WHERE encoder_version = '{live.version}')",
        )
    }
    payloads = [
        row[0] for row in rows(sql, "SELECT payload FROM jobs WHERE kind = 'index' AND done_at IS NULL")
    ]
    waiting = {i for p in payloads for i in (p if isinstance(p, dict) else json.loads(p))["version_ids"]}
    require(without <= waiting, "a passage has no vector and waits for none")
    if is_caught_up:
        require(not without and not waiting, "jobs wait although the start has caught up")


def _check_turns(sql: SqlSession) -> None:
    told: dict[int, str] = {}
    for turn_id, text in rows(
        sql,
        "SELECT p.turn_id, v.text FROM passages AS p JOIN passage_versions AS v ON v.passage_id = p.id "
        "WHERE p.kind = 'message' ORDER BY v.position",
    ):
        told[turn_id] = f"{told[turn_id]} {text}" if turn_id in told else text
    searched = {row[0] for row in rows(sql, "SELECT turn_id FROM retrievals")}
    turns = rows(sql, "SELECT id, state, message, answer, answered_at FROM turns")
    require(told == {turn[0]: turn[2] for turn in turns}, "a message and its passages do not agree")
    for turn_id, state, _, answer, answered_at in turns:
        require(state in ("accepted", "done"), f"turn {turn_id} is {state}")
        is_done = state == "done"
        require(
            is_done == bool(answer) == bool(answered_at) == (turn_id in searched),
            f"turn {turn_id} is answered by half",
        )


def check_found(assistant: QuickAssistant, user_id: int, text: str, title: str = "") -> None:
    """Search by meaning and by words finds a passage by its own text."""
    searching = assistant.searching
    space = searching.spaces.of(user_id)
    query = searching.encoder.encode_queries([searchable_text(title, text)])[0]
    near = space.passages([i for i, _ in space.nearest(query, 1)])
    require([p.text for p in near.values()] == [text], f"not found by meaning: {text}")
    matching = space.passages(space.matching(text, 50))
    require(text in [p.text for p in matching.values()], f"not found by words: {text}")


def rows(sql: SqlSession, statement: str) -> list[tuple[Any, ...]]:
    """What a statement gives."""
    return [tuple(row) for row in sql.connection().exec_driver_sql(statement)]


# What each kind of work acknowledged


class Papers:
    """Of ingest and swap: which revision of each paper was acknowledged."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self._revisions: dict[tuple[str, str], int] = {}

    def hear(self, said: str) -> None:
        for line in whole_lines(said):
            told = json.loads(line)
            self.acknowledged += 1
            if "revision" in told:
                self._revisions[told["space"], told["source"]] = told["revision"]

    def check(self, assistant: QuickAssistant, user_id: int) -> None:
        live = live_revisions(assistant)
        for paper, revision in self._revisions.items():
            require(live.get(paper, -1) >= revision, f"{paper} revision {revision} was acknowledged, is lost")

    def go_on(self, assistant: QuickAssistant, user_id: int) -> None:
        receipts = assistant.knowledge.receipts(user_id)
        if receipts and receipts[0].id is not None and receipts[0].id % 4 == 0:
            assistant.knowledge.undo(user_id, receipts[0].id)
            assistant.indexer.catch_up()
        if lines := assistant.catalogue.lines(user_id, limit=1):
            check_found(assistant, user_id, lines[0].text, lines[0].title)
        self._revisions = live_revisions(assistant)


class Answers:
    """Of chat: each message and its whole answer."""

    def __init__(self, user: str = "ann") -> None:
        self._user = user
        self._processes = 0
        self._answers: dict[str, str] = {}

    @property
    def acknowledged(self) -> int:
        return len(self._answers)

    def hear(self, said: str) -> None:
        self._processes += 1
        for message, reply in exchanges(said):
            self._answers[message] = reply.removeprefix("Assistant: ").partition("\nSource ")[0]

    def check(self, assistant: QuickAssistant, user_id: int) -> None:
        with assistant.database.reading() as sql:
            own = f"SELECT id FROM users WHERE name = '{self._user}'"
            stored = rows(
                sql, f"SELECT message, state, answer FROM turns WHERE user_id IN ({own}) ORDER BY id"
            )
        done = {message: answer for message, state, answer in stored if state == "done"}
        require(done.items() >= self._answers.items(), "an answer that was given is lost")
        require(len(stored) <= len(self._answers) + self._processes, "a turn was kept twice")
        require(len({message for message, _, _ in stored}) == len(stored), "a message was kept twice")

    def go_on(self, assistant: QuickAssistant, user_id: int) -> None:
        with assistant.database.reading() as sql:
            last = rows(sql, "SELECT message FROM turns ORDER BY id DESC LIMIT 1")
        if last:
            check_found(assistant, user_id, last[0][0])


_MEMORY_ANSWERS = {
    "/remember": "Remembered, yours, as ",
    "/undo": "Undone: add “note ",
    "/forget": "Forgotten: “note ",
}


class Notes:
    """Of memory: which notes live."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self._live: set[str] = set()
        self._unsure: set[str] = set()

    def hear(self, said: str) -> None:
        note = typed = ""  # typed: what has not been answered yet
        for line in whole_lines(said):
            if line.startswith("You: "):
                typed = line.removeprefix("You: ")
                note = typed.removeprefix("/remember ") if typed.startswith("/remember ") else note
            elif typed:
                require(line.startswith(_MEMORY_ANSWERS[typed.split()[0]]), f"{typed} was answered {line}")
                if typed.startswith("/remember "):
                    self._live.add(note)
                else:
                    self._live.remove(note)
                typed = ""
                self.acknowledged += 1
        self._unsure = {note} if typed else set()

    def check(self, assistant: QuickAssistant, user_id: int) -> None:
        differing = notes_of(assistant, user_id) ^ self._live
        require(differing <= self._unsure, f"lost or back: {sorted(differing - self._unsure)}")
        with assistant.database.reading() as sql:
            notes = rows(
                sql, "SELECT added_by, text FROM passage_versions WHERE erased_at IS NULL ORDER BY id"
            )
            receipts = rows(
                sql,
                "SELECT id, summary FROM receipts "
                "WHERE action = 'add' AND summary <> '[forgotten]' ORDER BY id",
            )
        require(notes == receipts, "a note has no receipt, or a receipt no note")

    def go_on(self, assistant: QuickAssistant, user_id: int) -> None:
        before = notes_of(assistant, user_id)
        if assistant.knowledge.receipts(user_id):
            undone, _ = assistant.knowledge.undo(user_id)
            assistant.indexer.catch_up()
            changed = {undone.summary}
            expected = before - changed if undone.action == "add" else before | changed
            require(notes_of(assistant, user_id) == expected, "undo did something else")
        self._live = notes_of(assistant, user_id)
        if self._live:
            check_found(assistant, user_id, max(self._live))


def notes_of(assistant: QuickAssistant, user_id: int) -> set[str]:
    """The notes of a user that live."""
    return {line.text for line in assistant.catalogue.lines(user_id, scope="yours", kind="note")}


def live_revisions(assistant: QuickAssistant) -> dict[tuple[str, str], int]:
    """Which revision each live paper is of; all of its passages have to be of the same."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    with assistant.database.reading() as sql:
        for space, source, text in rows(
            sql,
            "SELECT d.space, d.source, v.text FROM passage_versions AS v "
            "JOIN documents AS d ON d.id = v.document_id "
            "WHERE v.removed_at IS NULL AND substr(d.source, 1, 6) = 'paper-'",
        ):
            found[space, source].add(int(text.split()[3]))
    require(all(len(revisions) == 1 for revisions in found.values()), "a paper is mixed from two revisions")
    return {paper: revisions.pop() for paper, revisions in found.items()}


def whole_lines(said: str) -> list[str]:
    """The lines that ended."""
    return said.rpartition("\n")[0].splitlines()


_NOTICES = ("Learned, ", "Taken out, ", "Not taken in: ")  # of what was remembered, in blocks of their own


def exchanges(said: str) -> Iterator[tuple[str, str]]:
    """What was typed and what was answered, as far as the answer was finished by its empty line."""
    for block in said.split("\n\n")[:-1]:
        typed, _, reply = block.partition("\n")
        if typed.startswith(_NOTICES):
            continue
        require(typed.startswith("You: "), f"not a line that was typed: {typed}")
        yield typed.removeprefix("You: "), reply


_ACCOUNTS: dict[str, Callable[[], Papers | Answers | Notes]] = {
    "ingest": Papers,
    "swap": Papers,
    "chat": Answers,
    "memory": Notes,
}


def kill_again_and_again(
    specification: Specification, *, kills: int, seed: int, tell: Callable[[str], None] = lambda line: None
) -> int:
    """Kills so many processes of one kind of work on one store; returns how much they had acknowledged.

    Raises `NotDurable`, naming the death by which it can be replayed.
    """
    work = specification.work
    account = _ACCOUNTS[work]()

    def started(number: int) -> Worker:
        return Worker(replace(specification, first=1_000 * number), Death.of(seed, work, number))

    waiting = started(0)
    try:
        for number in range(kills):
            working, waiting = waiting, started(number + 1)
            death = Death.of(seed, work, number)
            try:
                said = working.live()
                account.hear(said)
                with opened(specification) as assistant:
                    user_id = assistant.journal.user_id(specification.user)
                    check_whole(assistant, is_caught_up=False)
                    account.check(assistant, user_id)
                    assistant.catch_up()
                    check_whole(assistant, is_caught_up=True)
                    account.go_on(assistant, user_id)
                    check_whole(assistant, is_caught_up=True)
            except NotDurable as problem:
                raise NotDurable(f"seed {seed}, {work}:{number}, {death}: {problem}") from problem
            tell(f"{work}:{number} {death} {len(whole_lines(said))} lines acknowledged, whole")
    finally:
        waiting.end()
    return account.acknowledged


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=300, help="in all; shared by the kinds of work")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--store", default="", help="an empty PostgreSQL database; SQLite without it")
    parser.add_argument("--index", default="", help="exact, chroma or faiss")
    parser.add_argument("--index-url", default="", help="of a Chroma server")
    parser.add_argument("--replay", default="", metavar="WORK:NUMBER")
    arguments = parser.parse_args()
    kind = arguments.index or ("exact" if arguments.store and not arguments.index_url else "faiss")
    kind = "chroma" if arguments.index_url else kind
    works = [arguments.replay.partition(":")[0]] if arguments.replay else list(WORKS)
    each = int(arguments.replay.partition(":")[2]) + 1 if arguments.replay else arguments.kills // len(works)
    print(f"seed {arguments.seed}, {arguments.store or 'SQLite'}, index {kind}", flush=True)
    total = 0
    for work in works:
        with tempfile.TemporaryDirectory() as folder:
            specification = Specification(
                work=work,
                folder=folder,
                store_url=arguments.store and fresh_database(arguments.store, work),
                index_kind=kind,
                index_url=arguments.index_url,
            )
            tell = print if arguments.replay else lambda line: None
            began = time.monotonic()
            acknowledged = kill_again_and_again(specification, kills=each, seed=arguments.seed, tell=tell)
            total += each
            print(
                f"{work:<8} {each} kills, {acknowledged} acknowledged, none lost, "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
    print(f"{total} SIGKILLs, nothing acknowledged lost, nothing half-written, indexes agree")


def fresh_database(url: str, work: str) -> str:
    """A database of its own for each kind of work, beside the one that is named."""
    from sqlalchemy import create_engine, make_url

    address = make_url(url).set(drivername="postgresql+psycopg")
    name = f"{address.database}_{work}_{random.randrange(10**9)}"
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f'CREATE DATABASE "{name}"')
    engine.dispose()
    return address.set(database=name).render_as_string(hide_password=False)


if __name__ == "__main__":
    main()
