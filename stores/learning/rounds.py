"""Rounds of training: what was trained on what, how it went, and why it went live or did not.

One round runs at a time, whoever asks: the running row holds a lease that its learner renews, and the names
of that learner and its process. A round whose learner left it for later, or whose process is seen to be gone,
waits to be taken over by another one at once; one of which nothing is heard, when its lease ends. It waits as
well while a round of another recipe runs; a new one of its own recipe ends it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session as SqlSession
from sqlmodel import col

from stores.base.clock import has_come, now
from stores.base.errors import StoreUnavailable, TryAgain
from stores.database.database import Database
from stores.database.tables import Round, known_id
from stores.learning.seeing_rounds import live_round
from stores.search.live_models import live_version, model_id, swap

_PHASES = {
    "": "beginning",
    "reading": "reading the lessons",
    "trying": "searching for the lessons in several ways",
    "training": "training",
    "exporting": "writing the candidate down",
    "comparing": "comparing with the live model",
    "encoding": "encoding what is searched",
    "indexing": "filling the index",
    "going live": "going live",
}


def in_words(phase: str) -> str:
    """What a round does; a phase of another release is told by its name."""
    return _PHASES.get(phase, phase)


LEASE = timedelta(seconds=60)
GoLive: TypeAlias = Callable[[SqlSession], bool]  # swaps pointers in a transaction; False: it cannot
Require: TypeAlias = Callable[[SqlSession], None]  # raises where pointers may not be swapped
_MOST_DEATHS = 3  # a round that took so many learners with it waits for its lease as well
_WITHOUT_A_WORD = "its learner ended without a word"
_ENDED = ("promoted", "refused", "stopped", "failed")
_OF_THE_LEASE = ("lease_until", "owner", "process", "not_before", "is_paused", "is_broken_off")


class Rounds:
    """The rounds of one database, as one learner sees them."""

    def __init__(
        self,
        database: Database,
        *,
        has_died: Callable[[str], bool] = lambda process: False,
        process: Callable[[], str] = lambda: "",
        leaves_unended: Callable[[], None] = lambda: None,
    ) -> None:
        """has_died: whether the process of a name, as it is noted with a lease, is known to be gone.

        process: the name of this one, as in `stores.database.living_processes`. leaves_unended: is called
        where the end of a round cannot be written down, as on a full disk.
        """
        self._database = database
        self._has_died = has_died
        self._process = process
        self._leaves_unended = leaves_unended
        self._owner = secrets.token_hex(8)

    def begin(self, recipe: str, settings: Mapping[str, Any]) -> int:
        """A running round; returns its id. Raises `TryAgain` while another one runs."""
        moment = now()
        with self._database.writing() as sql:
            self._set_aside(_open(sql), moment, ends=recipe)
            row = Round(
                recipe=recipe,
                state="running",
                settings=dict(settings),
                figures=self._leased({}, moment),
                created_at=moment,
            )
            sql.add(row)
            sql.flush()
            return known_id(row.id)

    def abandoned(self, recipe: str, *, even_resting: bool = True) -> Round | None:
        """The round whose learner died or left it; None where there is none.

        even_resting: also one that is to be left alone for a while.
        """
        moment = now()
        with self._database.reading() as sql:
            found = [row for row in _open(sql) if row.recipe == recipe and self._is_abandoned(row, moment)]
        rested = [row for row in found if even_resting or has_come(_moment_of(row, "not_before"), moment)]
        return max(rested, key=lambda row: known_id(row.id), default=None)

    def take_over(self, round_id: int, figures: Mapping[str, Any] | None = None) -> int | None:
        """Goes on with an abandoned round; returns how many times that was done, None if another one did.

        figures: to be noted with it. Raises `TryAgain` while another round runs.
        """
        moment = now()
        with self._database.writing() as sql:
            row = sql.get_one(Round, round_id)
            if row.state not in ("running", "waiting") or not self._is_abandoned(row, moment):
                return None
            self._set_aside([other for other in _open(sql) if other.id != round_id], moment)
            times = int(row.figures.get("taken_over", 0)) + 1
            deaths = _deaths(row) + (row.state == "running")  # it was not left
            counted = {**(figures or {}), "taken_over": times, "deaths": deaths}
            row.figures = self._leased({**_without_lease(row), **counted}, moment)
            row.state, row.reason = "running", ""
            return times

    def drop(self, round_id: int, reason: str) -> None:
        """Ends an abandoned round, unless somebody has gone on with it."""
        with self._database.writing() as sql:
            row = sql.get_one(Round, round_id)
            if row.state in ("running", "waiting") and self._is_abandoned(row, now()):
                _close(row, "stopped", reason)

    def note(self, round_id: int, figures: Mapping[str, Any]) -> bool:
        """Adds figures and renews the lease; False where the round is to stop."""
        with self._database.writing() as sql:
            row = sql.get_one(Round, round_id)
            if not self._is_ours(row):
                return False
            row.figures = self._leased({**row.figures, **figures}, now())
            return True

    def leave(
        self, round_id: int, reason: str, *, rest: timedelta = timedelta(0), is_broken_off: bool = False
    ) -> None:
        """Leaves a round to be gone on with, at once or after a rest; unless it has ended meanwhile.

        is_broken_off: its training was killed, and nobody has meant to leave it.
        """
        with self._ending() as sql:
            row = sql.get_one(Round, round_id)
            if self._is_ours(row):
                left = {"not_before": (now() + rest).isoformat(), "is_broken_off": is_broken_off}
                row.figures = {**_without_lease(row), **left}
                row.state, row.reason = "waiting", reason

    def end(
        self,
        round_id: int,
        state: str,
        reason: str,
        *,
        figures: Mapping[str, Any] | None = None,
    ) -> None:
        """Ends a round, unless it has ended meanwhile. state: promoted, refused, stopped or failed."""
        assert state in _ENDED, "a round ends in one of these"
        with self._ending() as sql:
            self._end(sql, round_id, state, reason, figures)

    def promote(
        self,
        round_id: int,
        role: str,
        version: str,
        reason: str,
        *,
        details: Mapping[str, Any],
        figures: Mapping[str, Any],
        before_the_first: str,
        compared_with: Mapping[str, str | None],
        require: Require = lambda sql: None,
    ) -> bool:
        """Ends a round and makes its model live, both or neither; False where it was not running any more.

        before_the_first: the version to step back to from the first model of a role. details: of the model.
        compared_with: by role, what was live as it won; False where another version is by now. require:
        raises in the transaction where the model may not go live any more.
        """

        def go_live(sql: SqlSession) -> bool:
            if live_version(sql, role) is None:
                swap(sql, role, before_the_first, details={})
            swap(sql, role, version, details=details)
            return True

        return self.promote_by(
            round_id,
            role,
            version,
            reason,
            go_live=go_live,
            figures=figures,
            compared_with=compared_with,
            require=require,
        )

    def promote_by(
        self,
        round_id: int,
        role: str,
        version: str,
        reason: str,
        *,
        go_live: GoLive,
        figures: Mapping[str, Any],
        compared_with: Mapping[str, str | None],
        require: Require = lambda sql: None,
    ) -> bool:
        """The same for a model that goes live in another way; False where that was not possible either.

        go_live: swaps the pointers in the transaction that it is given, or returns False and changes nothing.
        """
        with self._database.writing() as sql:
            row = sql.get_one(Round, round_id)
            if not self._is_ours(row) or any(live_version(sql, r) != v for r, v in compared_with.items()):
                return False
            require(sql)
            if not go_live(sql):
                return False
            self._end(sql, round_id, "promoted", reason, figures)
            row.model_version_id = model_id(sql, role, version)
            return True

    def ask_to_stop(self) -> int | None:
        """Asks the round that runs, else the newest that waits, to stop; returns its id, None without one."""
        with self._database.writing() as sql:
            row = next(iter(sorted(_open(sql), key=lambda row: row.state != "running")), None)
            if row is None:
                return None
            _close(row, "stopped", "by command")
            return known_id(row.id)

    def running(self) -> Round | None:
        """The round that is said to run."""
        with self._database.reading() as sql:
            return next((row for row in _open(sql) if row.state == "running"), None)

    def waiting(self) -> list[int]:
        """The rounds that are to be gone on with, the newest first."""
        with self._database.reading() as sql:
            return [known_id(row.id) for row in _open(sql) if row.state == "waiting"]

    def why_stopped(self, round_id: int) -> str:
        """Why a round that this learner held is its own no more."""
        with self._database.reading() as sql:
            row = sql.get_one(Round, round_id)
            return row.reason if row.state == "stopped" else "another learner took its place"

    def latest(self, limit: int = 20, *, after: int = 0) -> list[Round]:
        """The last rounds, newest first. after: only those behind this one."""
        with self._database.reading() as sql:
            statement = select(Round).where(col(Round.id) > after)
            return list(sql.scalars(statement.order_by(col(Round.id).desc()).limit(limit)))

    def live(self) -> int | None:
        """The round whose model answers now; None where no trained one does."""
        with self._database.reading() as sql:
            return live_round(sql)

    def is_broken_off(self, row: Round) -> bool:
        """Whether a round has lost its learner, was not heard of for its lease, or was killed in training."""
        if row.state == "waiting":
            return bool(row.figures.get("is_broken_off"))
        return row.state == "running" and (self._lost_its_process(row) or self._is_abandoned(row, now()))

    def has_other_learner(self) -> bool:
        """Whether another learner holds a round, so that this one has lost its own."""
        with self._database.reading() as sql:
            return any(row.state == "running" and not self._is_ours(row) for row in _open(sql))

    def figures(self, round_id: int) -> dict[str, Any]:
        """What is noted of a round until now."""
        with self._database.reading() as sql:
            return dict(sql.get_one(Round, round_id).figures)

    def last_turn_learned(self, recipe: str) -> int:
        """The last turn that a judged round of this recipe was made from; 0 before the first."""
        with self._database.reading() as sql:
            rows = sql.scalars(
                select(Round).where(
                    col(Round.recipe) == recipe, col(Round.state).in_(("promoted", "refused"))
                )
            ).all()
        return max((int(row.settings.get("last_turn", 0)) for row in rows), default=0)

    def judged_until(self, recipe: str) -> int:
        """The last turn of those by which a candidate of this recipe was judged; 0 before the first."""
        with self._database.reading() as sql:
            rows = sql.scalars(select(Round).where(col(Round.recipe) == recipe)).all()
        judged = (row for row in rows if "comparison" in row.figures)
        return max((int(row.settings.get("last_turn", 0)) for row in judged), default=0)

    @contextmanager
    def _ending(self) -> Iterator[SqlSession]:
        """The last transaction of a learner; where it fails, others see that its process ended without it."""
        try:
            with self._database.writing() as sql:
                yield sql
        except StoreUnavailable:
            self._leaves_unended()
            raise

    def _is_ours(self, row: Round) -> bool:
        return row.state == "running" and row.figures.get("owner") == self._owner

    def _leased(self, figures: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
        held_by = {"owner": self._owner, "process": self._process()}
        return {**figures, **held_by, "lease_until": (moment + LEASE).isoformat()}

    def _is_abandoned(self, row: Round, moment: datetime) -> bool:
        if row.state == "waiting" or has_come(_moment_of(row, "lease_until"), moment):
            return True
        return self._lost_its_process(row) and _deaths(row) < _MOST_DEATHS

    def _lost_its_process(self, row: Round) -> bool:
        return self._has_died(str(row.figures.get("process", "")))

    def _set_aside(self, others: Sequence[Round], moment: datetime, *, ends: str = "") -> None:
        """Has abandoned rounds wait, so that another one runs; ends those of one recipe.

        Raises `TryAgain` where one of them is not abandoned.
        """
        for row in others:
            if not self._is_abandoned(row, moment):
                raise TryAgain(
                    f"round {row.id} is {'paused' if row.figures.get('is_paused') else 'being trained'}",
                    hint="`vouch train --status` shows how far it is; `vouch train --stop` ends it.",
                )
        for row in others:
            if row.recipe == ends:
                _close(row, *_how_abandoned(row))
            elif row.state == "running":
                row.figures = {**_without_lease(row), "deaths": _deaths(row) + 1, "is_broken_off": True}
                row.state, row.reason = "waiting", _WITHOUT_A_WORD

    def _end(
        self, sql: SqlSession, round_id: int, state: str, reason: str, figures: Mapping[str, Any] | None
    ) -> None:
        row = sql.get_one(Round, round_id)
        if self._is_ours(row):
            row.figures = {**row.figures, **(figures or {})}
            _close(row, state, reason)


def _open(sql: SqlSession) -> list[Round]:
    """Those that run or wait; the newest first."""
    statement = select(Round).where(col(Round.state).in_(("running", "waiting")))
    return list(sql.scalars(statement.order_by(col(Round.id).desc())))


def _how_abandoned(row: Round) -> tuple[str, str]:
    if row.state == "waiting":
        return "stopped", "another round began before it went on"
    return "failed", _WITHOUT_A_WORD


def _deaths(row: Round) -> int:
    return int(row.figures.get("deaths", 0))


def _close(row: Round, state: str, reason: str) -> None:
    row.figures = _without_lease(row)
    row.state, row.reason, row.ended_at = state, reason, now()


def _without_lease(row: Round) -> dict[str, Any]:
    return {key: value for key, value in row.figures.items() if key not in _OF_THE_LEASE}


def _moment_of(row: Round, name: str) -> datetime:
    found = row.figures.get(name)
    return datetime.fromisoformat(found) if found else row.created_at
