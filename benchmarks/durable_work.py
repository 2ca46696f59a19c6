"""What each kind of work acknowledges, and what of that must be there after a kill."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from benchmarks.durable_checks import check_found, require, rows
from benchmarks.durable_worker import QuickAssistant


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
        receipts = assistant.stores.knowledge.receipts(user_id)
        if receipts and receipts[0].id is not None and receipts[0].id % 4 == 0:
            assistant.stores.knowledge.undo(user_id, receipts[0].id)
            assistant.search.indexer.catch_up()
        if lines := assistant.stores.catalogue.lines(user_id, limit=1):
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
        with assistant.stores.database.reading() as sql:
            own = f"SELECT id FROM users WHERE name = '{self._user}'"
            stored = rows(
                sql, f"SELECT message, state, answer FROM turns WHERE user_id IN ({own}) ORDER BY id"
            )
        done = {message: answer for message, state, answer in stored if state == "done"}
        require(done.items() >= self._answers.items(), "an answer that was given is lost")
        require(len(stored) <= len(self._answers) + self._processes, "a turn was kept twice")
        require(len({message for message, _, _ in stored}) == len(stored), "a message was kept twice")

    def go_on(self, assistant: QuickAssistant, user_id: int) -> None:
        with assistant.stores.database.reading() as sql:
            last = rows(sql, "SELECT message FROM turns ORDER BY id DESC LIMIT 1")
        if last:
            check_found(assistant, user_id, last[0][0])


_MEMORY_ANSWERS = {
    "/remember": "Remembered, yours, as ",
    "/undo": "Undone: added “note ",
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
        with assistant.stores.database.reading() as sql:
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
        if assistant.stores.knowledge.receipts(user_id):
            undone, _ = assistant.stores.knowledge.undo(user_id)
            assistant.search.indexer.catch_up()
            changed = {undone.summary}
            expected = before - changed if undone.action == "add" else before | changed
            require(notes_of(assistant, user_id) == expected, "undo did something else")
        self._live = notes_of(assistant, user_id)
        if self._live:
            check_found(assistant, user_id, max(self._live))


def notes_of(assistant: QuickAssistant, user_id: int) -> set[str]:
    """The notes of a user that live."""
    return {line.text for line in assistant.stores.catalogue.lines(user_id, scope="yours", kind="note")}


def live_revisions(assistant: QuickAssistant) -> dict[tuple[str, str], int]:
    """Which revision each live paper is of; all of its passages have to be of the same."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    with assistant.stores.database.reading() as sql:
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
