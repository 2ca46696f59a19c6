"""Plays attack cases through a whole assistant, in a house where the world is the shared memory.

    house = House.built(folder, cache, suite)           # once
    with house.copied_to(other) as copy:                # a fresh one, in a moment
        played = copy.play(case)                        # its users are fresh, their names begin with its id

All is the product's: accept, retrieve, finish, and then remembering, by whatever agents are wired. Only the
reply is a fixed one where the case says what the assistant said, and nothing is judged to find it.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import text

from agents.base.chat_interfaces import ReplyRequest
from assistant.library.documents import PreparedDocument, PreparedPassage
from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.terminal.actions.sharing import share_memory
from assistant.terminal.actions.teaching import teach
from assistant.wiring.assistant import Assistant
from stores.base.errors import VouchError
from stores.base.passages import SHARED, own_space
from stores.claims.decisions import Learned
from stores.database.database import Database
from stores.versions.changes import NewVersion, add_versions
from stores.versions.claim_passages import AUTHOR
from stores.versions.receipts import open_receipt
from tests.attack_cases import Case, Step, Suite, holds

WRITTEN = ("note", "fact", "preference", "correction")  # kinds of passages that hold what was remembered
_NOTHING_SAID = "All right."


class FixedChat:
    """Says what it is told to say next, whatever it is asked."""

    name = "fixed"
    can_score = False
    context_tokens = None
    says = ""

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        yield self.says or _NOTHING_SAID

    async def aclose(self) -> None:
        pass


class PlayedAssistant(Assistant):
    """Remembers as the product does; finds and replies at the least cost."""

    def __init__(self, folder: Path, cache: Path) -> None:
        settings = replace(
            Settings(),
            reranking=replace(Settings().reranking, judge="scores"),
            answer=replace(Settings().answer, reader=False),
        )
        where = Locations(
            data=folder / "data", settings=folder / "settings.toml", cache=cache, state=folder / "state"
        )
        super().__init__(settings, where, offline=True)
        self.models.__dict__["chat_model"] = FixedChat()


@dataclass
class Played:
    """What came of a case."""

    case: Case
    breaches: list[str] = field(default_factory=list)  # what must never be; told in a line each
    learned: list[Learned] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # texts kept as a memory of those who took part
    kept_wrongly: list[str] = field(default_factory=list)  # of these, what the case says must not be kept
    believed: list[str] = field(default_factory=list)  # false claims that were found correct
    proposals: int = 0  # raised for a person to decide
    is_own_reached: bool = False  # a needle stands in the memory of somebody who took part
    missing: list[str] = field(default_factory=list)  # of what a benign case should have left
    cpu_seconds: float = 0.0

    @property
    def statuses(self) -> list[str]:
        """What each claim was found to be, in order."""
        return [learned.status for learned in self.learned]


class House:
    """An assistant over a shared memory, for case after case."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._folder, self._cache = folder, cache
        self.assistant = PlayedAssistant(folder, cache)

    @classmethod
    def built(cls, folder: Path, cache: Path, suite: Suite) -> House:
        """A closed house whose shared memory is the world, and what was accepted into it."""
        house = cls(folder, cache)
        founder = house.assistant.stores.journal.user_id("founder")
        house.assistant.catch_up()
        house.read(founder, SHARED, [document(page.title, page.text) for page in suite.world])
        house.accept(founder, suite.accepted)
        house.assistant.close()
        return house

    @contextmanager
    def copied_to(self, folder: Path, *, reader: Any = None) -> Iterator[House]:
        """Another house with the same memory, open for a while. reader: one that was loaded before."""
        shutil.copytree(self._folder, folder)
        copy = House(folder, self._cache)
        if reader is not None:
            copy.assistant.models.__dict__["reader"] = reader
        copy.assistant.catch_up()
        try:
            yield copy
        finally:
            copy.assistant.close()

    def read(self, user_id: int, space: str, documents: Sequence[PreparedDocument]) -> None:
        """Takes documents in."""
        for _ in self.assistant.turns.ingest.run(user_id, space, documents, summary="attack suite"):
            pass

    def accept(self, user_id: int, facts: Sequence[str]) -> None:
        """Shares facts as they are when a proposal was accepted."""
        with self.assistant.stores.database.writing() as sql:
            receipt_id = open_receipt(sql, user_id, "add", SHARED, "accepted")
            new = [NewVersion(text=fact, kind="fact") for fact in facts]
            add_versions(sql, SHARED, new, author=AUTHOR, receipt_id=receipt_id)
        self.assistant.search.indexer.catch_up()

    def play(self, case: Case) -> Played:
        """Plays a case to its end, and looks at what came of it."""
        played = Played(case)
        began, before = time.process_time(), self.shared_memory()
        users = {name: self.assistant.stores.journal.user_id(f"{case.id} {name}") for name in case.users}
        sessions: dict[tuple[str, int], int] = {}
        try:
            for step in case.steps:
                self._take(step, users[step.user], sessions, played)
        except Exception as error:  # noqa: BLE001 - whatever it is, the case tells it
            played.breaches.append(f"raised {type(error).__name__}: {error}")
        self._look(played, users, before)
        played.cpu_seconds = time.process_time() - began
        return played

    def _take(self, step: Step, user_id: int, sessions: dict[tuple[str, int], int], played: Played) -> None:
        assistant = self.assistant
        key = (step.user, step.session)
        if key not in sessions:
            sessions[key] = assistant.stores.journal.open_session(user_id)
        if step.reads:
            self.read(user_id, own_space(user_id), [document(step.name, step.reads)])
        elif step.teaches:
            turn_id = assistant.stores.journal.last_turn(user_id).id
            assert turn_id is not None
            teach(assistant, user_id, turn_id, step.teaches)
        else:
            assistant.models.chat_model.says = step.answer
            assistant.turns.host.play(
                user_id, sessions[key], step.says, watch=lambda event: None, material=step.material
            )
        self._settle(user_id, played)
        if step.shares:  # as a note, which is kept unasked, and then offered to all
            passage_id, _ = assistant.stores.knowledge.remember(user_id, step.says)
            if (learned := share_memory(assistant, user_id, passage_id)) is not None:
                played.learned.append(learned)

    def _settle(self, user_id: int, played: Played) -> None:
        self.assistant.turns.host.remember(user_id, played.learned.append)
        self.assistant.turns.host.settle()

    # What came of it

    def shared_memory(self) -> str:
        """A hash of all that is live in the shared memory."""
        return hashlib.sha256(repr(live_texts(self.assistant.stores.database, SHARED)).encode()).hexdigest()

    def _look(self, played: Played, users: dict[str, int], before: str) -> None:
        case, note = played.case, played.breaches.append
        if case.is_hostile and self.shared_memory() != before:
            note("the shared memory changed")
        for _, title, words in live_texts(self.assistant.stores.database, SHARED):
            written = f"{title}\n{words}"
            if needle := holds(written, case.never_shared):
                note(f"shared: {needle!r} in {written!r}")
        for user_id in users.values():
            self._look_at_own(played, user_id)
        self._look_at_proposals(played, users)
        played.is_own_reached = any(holds(written, case.never_shared) for written in played.own)
        played.believed = [
            learned.text
            for learned in played.learned
            if learned.status == "correct" and holds(learned.text, case.never_shared)
        ]
        played.missing = [n for n in case.kept if not any(holds(written, [n]) for written in played.own)]
        if case.is_recognised and "correct" not in played.statuses:
            played.missing.append("not recognised as correct")
        if not case.is_hostile and "incorrect" in played.statuses:
            played.missing.append("taken for incorrect")
        if case.asks and case.is_hostile:
            self._look_as_bystander(played)

    def _look_at_own(self, played: Played, user_id: int) -> None:
        case, note = played.case, played.breaches.append
        rows = self._rows(
            "SELECT p.kind, v.text, t.user_id FROM passage_versions AS v "
            "JOIN passages AS p ON p.id = v.passage_id LEFT JOIN turns AS t ON t.id = p.turn_id "
            "WHERE v.space = :space AND v.removed_at IS NULL",
            space=own_space(user_id),
        )
        for kind, written, spoken_by in rows:
            if spoken_by not in (None, user_id):
                note(f"mixed: {written!r} is of another user's turn")
            if kind in WRITTEN:
                played.own.append(written)
                if needle := holds(written, case.never_own):
                    played.kept_wrongly.append(f"own: {needle!r} was kept as {written!r}")
        for claim in self.assistant.stores.claims.pending(user_id):
            note(f"pending: {claim.text!r}")

    def _look_at_proposals(self, played: Played, users: dict[str, int]) -> None:
        """Counts those that are open, has those who stated them try to accept them, and puts them away."""
        open_ids = [row[0] for row in self._rows("SELECT id FROM proposals WHERE state = 'open'")]
        played.proposals = len(open_ids)
        for proposal_id in open_ids:
            stated_by = self._stated_by(proposal_id)
            for user_id in stated_by & set(users.values()):
                try:
                    self.assistant.stores.proposals.accept(user_id, proposal_id)
                except VouchError:
                    continue
                played.breaches.append("a proposal was accepted by one who stated it")
            self.assistant.stores.proposals.refuse(
                self.assistant.stores.journal.user_id("founder"), proposal_id
            )
        accepted = self._rows("SELECT text FROM proposals WHERE state = 'accepted'")
        played.breaches += [f"accepted: {row[0]!r}" for row in accepted]

    def _stated_by(self, proposal_id: int) -> set[int]:
        rows = self._rows(
            "SELECT c.user_id FROM claims AS c JOIN proposals AS p ON p.text_key = c.text_key "
            "WHERE p.id = :id",
            id=proposal_id,
        )
        return {row[0] for row in rows}

    def _look_as_bystander(self, played: Played) -> None:
        """Whatever somebody else's question finds is shared, and free of the needles."""
        assistant = self.assistant
        nobody = assistant.stores.journal.user_id("bystander")
        searching = assistant.search.searching
        found = searching.retriever.retrieve(played.case.asks, searching.spaces.of(nobody)).candidates
        for candidate in found:
            if not candidate.passage.is_shared:
                played.breaches.append(f"mixed: a bystander found {candidate.passage.text!r}")
            if needle := holds(candidate.passage.text, played.case.never_shared):
                played.breaches.append(f"a bystander found {needle!r}")

    def _rows(self, statement: str, **values: object) -> list[Any]:
        with self.assistant.stores.database.reading() as sql:
            return list(sql.execute(text(statement), values).all())


def live_texts(database: Database, space: str) -> list[tuple[int, str, str]]:
    """Version id, title and text of all that is live in a space."""
    with database.reading() as sql:
        rows = sql.execute(
            text(
                "SELECT id, title, text FROM passage_versions WHERE space = :space AND removed_at IS NULL "
                "ORDER BY id"
            ),
            {"space": space},
        )
        return [(row[0], row[1], row[2]) for row in rows]


def document(title: str, written: str) -> PreparedDocument:
    """A document of one passage."""
    content = hashlib.sha256(f"{title}\0{written}".encode()).hexdigest()
    return PreparedDocument(title, title, content, (PreparedPassage(title, written),))
