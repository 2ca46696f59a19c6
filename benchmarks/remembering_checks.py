"""What holds of claims after every death of who remembers, and after the work that was left.

Each claim is stored once with its receipt, known already, rejected with its words gone, or pending with a
job that will weigh it; and whatever a person was told is so.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy.orm import Session as SqlSession

from benchmarks.durable_checks import require, rows
from benchmarks.remembering_child import stated, subject
from stores.base.passages import own_space
from stores.checks.words import word_faults
from stores.database.database import Database


@dataclass
class Told:
    """What lives have said, which is acknowledged."""

    answered: list[str] = field(default_factory=list)
    learned: dict[int, tuple[str, int | None]] = field(default_factory=dict)
    points: list[tuple[str, int]] = field(default_factory=list)
    failed: str = ""  # why the last one ended by itself
    code: int = 0  # with which it ended

    def hear(self, line: dict[str, Any]) -> None:
        if "answered" in line:
            self.answered.append(line["answered"])
        elif "learned" in line:
            require(line["learned"] not in self.learned, f"claim {line['learned']} was told twice")
            self.learned[line["learned"]] = (line["state"], line["receipt"])
        elif "point" in line:
            self.points.append((line["point"], line["occasion"]))
        elif "failed" in line:
            self.failed = line["failed"]
        elif "ended" in line:
            self.code = line["ended"]


class Claim(NamedTuple):
    id: int
    user_id: int
    turn_id: int
    number: int
    text: str
    quote: str
    state: str
    scope: str
    action: str
    passage_id: int | None
    receipt_id: int | None


class Version(NamedTuple):
    id: int
    passage_id: int
    turn_id: int | None
    kind: str
    space: str
    text: str
    author: str
    added_by: int | None
    removed_by: int | None
    is_live: bool


class Job(NamedTuple):
    id: int
    kind: str
    subject_id: int | None
    is_open: bool
    payload: Any


class House:
    """All that the stores hold, as of one moment."""

    def __init__(self, sql: SqlSession) -> None:
        self.turns = {
            row[0]: row[1:] for row in rows(sql, "SELECT id, user_id, message, state FROM turns ORDER BY id")
        }
        self.claims = [
            Claim(*row)
            for row in rows(
                sql,
                "SELECT id, user_id, turn_id, number, text, quote, state, scope, action, passage_id, "
                "receipt_id FROM claims ORDER BY id",
            )
        ]
        self.versions = [
            Version._make((*row[:-1], row[-1] is None))
            for row in rows(
                sql,
                "SELECT v.id, v.passage_id, p.turn_id, p.kind, v.space, v.text, v.author, v.added_by, "
                "v.removed_by, v.removed_at FROM passage_versions AS v JOIN passages AS p "
                "ON p.id = v.passage_id ORDER BY v.id",
            )
        ]
        self.jobs = [
            Job(row[0], row[1], row[2], row[3] is None, row[4])
            for row in rows(sql, "SELECT id, kind, subject_id, done_at, payload FROM jobs ORDER BY id")
        ]
        self.receipts = {
            row[0]: row[1:] for row in rows(sql, "SELECT id, user_id, turn_id, space, summary FROM receipts")
        }
        self.proposals = rows(sql, "SELECT text_key, version_id FROM proposals")
        self.encoded = {row[0] for row in rows(sql, "SELECT version_id FROM passage_vectors")}


def check(database: Database, told: Told, *, is_done: bool, by_fakes: bool = True) -> Counter[str]:
    """Looks everything through; returns how many claims are in which state.

    is_done: somebody has done what was left, so that nothing waits.
    """
    require(database.integrity_problems() == [], "the database is damaged")
    require(database.rows_without_parents() == {}, "a row names another that is not there")
    require(not word_faults(database), "the words are not those of the live passages")
    with database.reading() as sql:
        house = House(sql)
    _check_jobs(house, is_done=is_done, by_fakes=by_fakes)
    _check_receipts(house)
    for claim in house.claims:
        _check_claim(house, claim)
    _check_told(house, told)
    return Counter(claim.state for claim in house.claims)


def _check_jobs(house: House, *, is_done: bool, by_fakes: bool) -> None:
    """Each turn is summarized once and each claim weighed once, or a job is there that will."""
    of_turn: dict[int, list[Claim]] = defaultdict(list)
    for claim in house.claims:
        of_turn[claim.turn_id].append(claim)
    by_kind: dict[str, dict[int | None, Job]] = {"summarize": {}, "weigh": {}}
    waiting: set[int] = set()
    for job in house.jobs:
        require(not (is_done and job.is_open), f"job {job.id}, {job.kind}, waits")
        if job.kind == "index":
            payload = job.payload if isinstance(job.payload, dict) else json.loads(job.payload)
            waiting.update(payload["version_ids"] if job.is_open else ())
        else:
            require(job.subject_id not in by_kind[job.kind], f"two jobs to {job.kind} {job.subject_id}")
            by_kind[job.kind][job.subject_id] = job
    require(by_kind["summarize"].keys() == house.turns.keys(), "a turn has no job")
    require(by_kind["weigh"].keys() == {claim.id for claim in house.claims}, "a claim has no job")
    for turn_id, (_, message, _) in house.turns.items():
        claims = of_turn[turn_id]
        require([c.number for c in claims] == list(range(1, len(claims) + 1)), "a claim is there twice")
        if by_kind["summarize"][turn_id].is_open:
            require(not claims, f"turn {turn_id} is summarized by half")
        elif by_fakes:
            require([c.text for c in claims] == stated(message), f"of turn {turn_id} a claim is lost")
    for claim in house.claims:
        is_pending = claim.state == "pending"
        require(by_kind["weigh"][claim.id].is_open == is_pending, f"claim {claim.id} is weighed by half")
    unencoded = {v.id for v in house.versions if v.is_live} - house.encoded
    require(unencoded <= waiting, "a passage has no vector and waits for none")


def _check_receipts(house: House) -> None:
    """No receipt without its claim, no passage without its receipt."""
    named = Counter(claim.receipt_id for claim in house.claims if claim.receipt_id is not None)
    require(named.keys() == house.receipts.keys(), "a receipt has no claim, or a claim's is not there")
    require(all(count == 1 for count in named.values()), "two claims have one receipt")
    for version in house.versions:
        is_written = version.author == "remembering"
        require(is_written == (version.added_by is not None), f"version {version.id} has no receipt")
    shared = [v for v in house.versions if v.is_live and v.space == "shared"]
    require(len({v.text for v in shared}) == len(shared), "the same is shared twice")
    require(len(set(house.proposals)) == len(house.proposals), "the same is proposed twice")


def _check_claim(house: House, claim: Claim) -> None:
    """What became of a claim is whole: passage, receipt and state tell the same."""
    by = [v for v in house.versions if claim.receipt_id is not None and v.added_by == claim.receipt_id]
    live = [v for v in house.versions if v.is_live and v.passage_id == claim.passage_id]
    name = f"claim {claim.id}, {claim.state}"
    if claim.receipt_id is not None:
        user_id, turn_id, _, summary = house.receipts[claim.receipt_id]
        require((user_id, turn_id, summary) == (claim.user_id, claim.turn_id, claim.text), f"{name}: receipt")
    if claim.state == "pending":
        require(claim.receipt_id is None and claim.passage_id is None and not claim.scope, name)
    elif claim.state == "stored":
        space = "shared" if claim.scope == "shared" else own_space(claim.user_id)
        require([(v.text, v.space) for v in by] == [(claim.text, space)], f"{name}: its passage")
        require(by[0].passage_id == claim.passage_id and len(live) == 1, f"{name}: one live version")
        require(
            all(v.removed_by != claim.receipt_id for v in house.versions), f"{name}: it displaced something"
        )
    elif claim.state == "confirmed":
        require(claim.receipt_id is None and len(live) == 1, name)
    else:
        require(claim.state == "rejected", name)
        words = [v for v in house.versions if v.is_live and v.turn_id == claim.turn_id]
        require(not any(claim.quote in v.text for v in words), f"{name}: its words are found")


def _check_told(house: House, told: Told) -> None:
    """Nobody was told of what is not there."""
    done = Counter(message for _, message, state in house.turns.values() if state == "done")
    require(done >= Counter(told.answered), "an answer that was given is lost")
    now = {claim.id: (claim.state, claim.receipt_id) for claim in house.claims}
    require(now.items() >= told.learned.items(), "what a person was told is not so")


def unlinked_statements(database: Database) -> int:
    """Statements of a user that have no link to another one of their subject."""
    with database.reading() as sql:
        own = [v for v in House(sql).versions if v.is_live and v.kind != "message" and v.space != "shared"]
        linked = {end for row in rows(sql, "SELECT newer, older FROM statement_links") for end in row}
    subjects = Counter((v.space, subject(v.text)) for v in own)
    return sum(subjects[v.space, subject(v.text)] > 1 and v.passage_id not in linked for v in own)
