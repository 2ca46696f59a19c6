"""kill -9 at any moment: what was acknowledged is there, and nothing is there by half.

Each test kills a process (durability_child.py) that works on one store, again and again, at moments spread
over its whole run; the next one goes on with the same store. After each kill the store is opened here.
The seed is printed and can be set with VOUCH_TEST_SEED; the operating system's timing cannot.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from durability_child import QuickAssistant
from sqlalchemy.orm import Session as SqlSession

from stores.records import own_space, searchable_text

KILLS = 22
RUN_SECONDS = 0.9  # a process is killed within so long after it began to open the store
CHILD = Path(__file__).with_name("durability_child.py")


@pytest.fixture
def moments(request: pytest.FixtureRequest) -> list[float]:
    """When to kill: one moment in each equal part of the run, in random order."""
    seed = int(os.environ.get("VOUCH_TEST_SEED") or random.randrange(10**6))
    print(f"VOUCH_TEST_SEED={seed} {request.node.name}")
    chance = random.Random(seed)
    found = [(part + chance.random()) / KILLS * RUN_SECONDS for part in range(KILLS)]
    chance.shuffle(found)
    return found


class Worker:
    """A process that has imported everything and waits for the word to begin."""

    def __init__(self, work: str, folder: Path, first: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(CHILD), work, str(folder), str(first)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def work_until(self, seconds: float) -> str:
        """Lets it work for so long, kills it, and returns what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"
        self._process.stdin.write("begin\n")
        self._process.stdin.flush()
        time.sleep(seconds)
        said, complaints = self.kill()
        assert complaints == ""
        return said

    def kill(self) -> tuple[str, str]:
        self._process.kill()
        return self._process.communicate(timeout=60)


def killed(work: str, folder: Callable[[int], Path], moments: list[float]) -> Iterator[str]:
    """What each of the processes had said when it was killed. The next one imports meanwhile."""
    waiting = Worker(work, folder(0), 0)
    try:
        for number, moment in enumerate(moments):
            working, waiting = waiting, Worker(work, folder(number + 1), 1_000 * (number + 1))
            yield working.work_until(moment)
    finally:
        waiting.kill()


@contextmanager
def opened(folder: Path) -> Iterator[QuickAssistant]:
    assistant = QuickAssistant(folder)
    try:
        yield assistant
    finally:
        assistant.close()


# What holds in every store ----------------------------------------------------------------------


def assert_whole(assistant: QuickAssistant, *, is_indexed: bool) -> None:
    """Nothing is there by half. is_indexed: everything has a vector, and no job waits."""
    with assistant.database.reading() as sql:
        assert rows(sql, "PRAGMA integrity_check") == [("ok",)]
        assert rows(sql, "PRAGMA foreign_key_check") == []
        assert_documents_are_whole(sql)
        assert_words_are_those_of_the_live(sql)
        assert_vectors_are_there_or_on_their_way(sql, is_indexed=is_indexed)
        assert_turns_are_whole(sql)


def assert_documents_are_whole(sql: SqlSession) -> None:
    expected = dict(
        rows(sql, "SELECT document_id, passage_count FROM document_versions WHERE removed_at IS NULL")
    )
    live = rows(sql, "SELECT count(*) FROM document_versions WHERE removed_at IS NULL")
    assert live == [(len(expected),)], "a document has two live versions"
    places: dict[int, list[int]] = defaultdict(list)
    for document_id, position in rows(
        sql,
        "SELECT v.document_id, v.position FROM passage_versions AS v "
        "JOIN passages AS p ON p.id = v.passage_id "
        "WHERE v.removed_at IS NULL AND p.kind = 'document' ORDER BY v.document_id, v.position",
    ):
        places[document_id].append(position)
    assert places == {document_id: list(range(count)) for document_id, count in expected.items()}


def assert_words_are_those_of_the_live(sql: SqlSession) -> None:
    live = set(rows(sql, "SELECT id, space FROM passage_versions WHERE removed_at IS NULL"))
    indexed = {
        *rows(sql, "SELECT rowid, 'shared' FROM shared_words"),
        *(
            (i, space.replace("user", "user:"))
            for i, space in rows(sql, "SELECT rowid, space FROM own_words")
        ),
    }
    assert indexed == live
    counted = dict(
        rows(sql, "SELECT space, count(*) FROM passage_versions WHERE removed_at IS NULL GROUP BY space")
    )
    for space, passages in rows(sql, "SELECT space, passages FROM space_statistics"):
        assert counted.pop(space, 0) == passages
    assert counted == {}


def assert_vectors_are_there_or_on_their_way(sql: SqlSession, *, is_indexed: bool) -> None:
    without = {
        i
        for (i,) in rows(
            sql,
            "SELECT id FROM passage_versions WHERE removed_at IS NULL "
            "AND id NOT IN (SELECT version_id FROM passage_vectors WHERE encoder_version = 'quick-1')",
        )
    }
    waiting = rows(sql, "SELECT payload FROM jobs WHERE done_at IS NULL")
    assert without <= {i for (payload,) in waiting for i in json.loads(payload)["version_ids"]}
    if is_indexed:
        assert (without, waiting) == (set(), [])


def assert_turns_are_whole(sql: SqlSession) -> None:
    told: dict[int, str] = {}
    for turn_id, text in rows(
        sql,
        "SELECT p.turn_id, v.text FROM passages AS p JOIN passage_versions AS v ON v.passage_id = p.id "
        "WHERE p.kind = 'message' ORDER BY v.position",
    ):
        told[turn_id] = f"{told[turn_id]} {text}" if turn_id in told else text
    searched = {turn_id for (turn_id,) in rows(sql, "SELECT turn_id FROM retrievals")}
    turns = rows(sql, "SELECT id, state, message, answer, answered_at FROM turns")
    assert told == {turn_id: message for turn_id, _, message, _, _ in turns}
    for turn_id, state, _, answer, answered_at in turns:
        assert state in ("accepted", "done")
        assert (state == "done") == bool(answer) == bool(answered_at) == (turn_id in searched)


def rows(sql: SqlSession, statement: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in sql.connection().exec_driver_sql(statement)]


def assert_found(assistant: QuickAssistant, user_id: int, text: str, title: str = "") -> None:
    """Search by meaning and by words finds a passage by its own text."""
    space = assistant.spaces.of(user_id)
    nearest = space.nearest(assistant.encoder.encode_queries([searchable_text(title, text)])[0], 1)
    assert [p.text for p in space.passages([i for i, _ in nearest]).values()] == [text]
    words = space.matching(text, 50)
    assert text in [p.text for p in space.passages(words).values()]


# The kills --------------------------------------------------------------------------------------


def test_killed_while_it_ingests(tmp_path: Path, moments: list[float]) -> None:
    revisions: dict[tuple[str, str], int] = {}  # of each paper, as it must at least be
    acknowledged = 0
    for said in killed("ingest", lambda _: tmp_path, moments):
        for line in whole_lines(said):
            told = json.loads(line)
            revisions[told["space"], told["source"]] = told["revision"]
            acknowledged += 1
        with opened(tmp_path) as assistant:
            assert_whole(assistant, is_indexed=False)
            live = live_revisions(assistant)
            for paper, revision in revisions.items():
                assert live[paper] >= revision, f"{paper} was acknowledged and is lost"
            assistant.catch_up()
            assert_whole(assistant, is_indexed=True)

            user_id = assistant.journal.user_id("ann")
            if receipts := assistant.knowledge.receipts(user_id):
                undone, _ = assistant.knowledge.undo(user_id, receipts[0].id)
                assistant.indexer.catch_up()
                assert_whole(assistant, is_indexed=True)
                live = live_revisions(assistant)
                assert undone.summary not in {f"revision {revision}" for revision in live.values()}
            if lines := assistant.catalogue.lines(user_id, limit=1):
                assert_found(assistant, user_id, lines[0].text, lines[0].title)
            revisions = live
    assert acknowledged > KILLS, "killed before anything was done"


def live_revisions(assistant: QuickAssistant) -> dict[tuple[str, str], int]:
    """Which revision each live paper is of; all of its passages have to be of the same."""
    with assistant.database.reading() as sql:
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for space, source, text in rows(
            sql,
            "SELECT d.space, d.source, v.text FROM passage_versions AS v "
            "JOIN documents AS d ON d.id = v.document_id WHERE v.removed_at IS NULL",
        ):
            found[space, source].add(int(text.split()[3]))
    assert all(len(revisions) == 1 for revisions in found.values()), "a paper is mixed from two revisions"
    return {paper: revisions.pop() for paper, revisions in found.items()}


def test_killed_while_it_chats(tmp_path: Path, moments: list[float]) -> None:
    answers: dict[str, str] = {}  # by message: all that was ever acknowledged
    for processes, said in enumerate(killed("chat", lambda _: tmp_path, moments), start=1):
        for message, reply in exchanges(said):
            answer = reply.removeprefix("Assistant: ").partition("\nSource ")[0]
            answers[message] = answer
        with opened(tmp_path) as assistant:
            assert_whole(assistant, is_indexed=False)
            with assistant.database.reading() as sql:
                stored = rows(sql, "SELECT message, state, answer FROM turns")
            done = {message: answer for message, state, answer in stored if state == "done"}
            assert done.items() >= answers.items()
            assert len(stored) <= len(answers) + processes  # one of each may not have been acknowledged
            assert len({message for message, _, _ in stored}) == len(stored)
            assistant.catch_up()
            assert_whole(assistant, is_indexed=True)
            if stored:
                assert_found(assistant, assistant.journal.user_id("ann"), stored[-1][0])
    assert len(answers) > KILLS, "killed before anything was done"


ANSWERS = {
    "/remember": "Remembered, yours, as ",
    "/undo": "Undone: add “note ",
    "/forget": "Forgotten: “note ",
}


def test_killed_while_it_writes_memory(tmp_path: Path, moments: list[float]) -> None:
    live: set[str] = set()
    acknowledged = 0
    for said in killed("remember", lambda _: tmp_path, moments):
        note = typed = ""  # typed: what has not been answered yet
        for line in whole_lines(said):
            if line.startswith("You: "):
                typed = line.removeprefix("You: ")
                note = typed.removeprefix("/remember ") if typed.startswith("/remember ") else note
            elif typed:
                assert line.startswith(ANSWERS[typed.split()[0]])
                if typed.startswith("/remember "):
                    live.add(note)
                else:
                    live.remove(note)
                typed = ""
                acknowledged += 1
        unsure = {note} if typed else set()
        with opened(tmp_path) as assistant:
            assert_whole(assistant, is_indexed=False)
            user_id = assistant.journal.user_id("ann")
            assert notes_of(assistant, user_id) ^ live <= unsure
            assert_each_note_has_its_receipt(assistant)
            assistant.catch_up()
            assert_whole(assistant, is_indexed=True)

            before = notes_of(assistant, user_id)
            if assistant.knowledge.receipts(user_id):
                undone, back = assistant.knowledge.undo(user_id)
                assistant.indexer.catch_up()
                changed = {undone.summary}
                assert notes_of(assistant, user_id) == (
                    before - changed if undone.action == "add" else before | changed
                )
                assert {line.text for line in back} == (set() if undone.action == "add" else changed)
                assert_whole(assistant, is_indexed=True)
            live = notes_of(assistant, user_id)
            if live:
                assert_found(assistant, user_id, max(live))
    assert acknowledged > KILLS, "killed before anything was done"


def notes_of(assistant: QuickAssistant, user_id: int) -> set[str]:
    return {line.text for line in assistant.catalogue.lines(user_id, scope="yours", kind="note")}


def assert_each_note_has_its_receipt(assistant: QuickAssistant) -> None:
    with assistant.database.reading() as sql:
        notes = rows(sql, "SELECT added_by, text FROM passage_versions ORDER BY id")
        receipts = rows(sql, "SELECT id, summary FROM receipts WHERE action = 'add' ORDER BY id")
    assert notes == receipts


def test_killed_while_it_makes_the_store(tmp_path: Path, moments: list[float]) -> None:
    def folder(number: int) -> Path:
        return tmp_path / str(number)

    for number, _ in enumerate(killed("remember", folder, moments)):
        with opened(folder(number)) as assistant:
            user_id = assistant.journal.user_id("ann")
            assistant.catch_up()
            assistant.knowledge.remember(user_id, "all is well")
            assistant.indexer.catch_up()
            assert_whole(assistant, is_indexed=True)
            assert "all is well" in notes_of(assistant, user_id)
            assert own_space(user_id) == "user:1"


# What was said ----------------------------------------------------------------------------------


def whole_lines(said: str) -> list[str]:
    return said.rpartition("\n")[0].splitlines()


def exchanges(said: str) -> Iterator[tuple[str, str]]:
    """What was typed and what was answered, as far as the answer was finished by its empty line."""
    for block in said.split("\n\n")[:-1]:
        typed, _, reply = block.partition("\n")
        assert typed.startswith("You: ")
        yield typed.removeprefix("You: "), reply
