"""What follows a turn: what the user stated becomes knowledge, once it was weighed.

    summarize -> [per claim] find evidence -> discriminate -> classify -> curate -> write (one transaction)

All of it runs from durable jobs, after the answer and never while one is being given. A claim ends stored
once, with its receipt, or stays pending: a model that is down delays it and loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, ParamSpec, TypeVar

from agents.classifier import Classifier
from agents.curator import CHANGEABLE, is_met, persons_of
from agents.interfaces import (
    Candidate,
    Claim,
    Curation,
    Curator,
    Discriminator,
    Exchange,
    Said,
    Summarizer,
    Vector,
    Weighed,
)
from assistant.log import fields
from assistant.turns.answers_first import AnswersFirst
from assistant.turns.holding import holding
from assistant.turns.searching import Searching
from assistant.turns.told_order import Placed, ToldOrder
from stores.claim_decisions import Decision, Learned, Outdated
from stores.claim_jobs import ClaimJob, ClaimJobs
from stores.claims import Claims, NewClaim, ToldTurn
from stores.errors import VouchError
from stores.receipts import shortened
from stores.records import StatedClaim, known_id

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
_LEASE = timedelta(minutes=5)  # renewed while the job is done: a model may take longer for one claim
_RENEWALS = 3  # of a lease before it would end
_EVIDENCE = 5  # shared passages beside a claim (LUF, section 2.3)
_NEAREST = 5  # passages of the target space that the curator sees
_LOOKED_AGAIN = 20  # undecided claims weighed again when shared passages have come
_LOOKED_AT = 200  # nearest ones that these are taken from: messages and documents are not written to
_NOBODY = 0  # the user who owns nothing: their space is the shared one alone


@dataclass(frozen=True)
class Agents:
    """Who decides what becomes knowledge."""

    summarizer: Summarizer
    discriminator: Discriminator
    classifier: Classifier
    curator: Curator


class Remembering:
    """Works off what turns have left to remember."""

    def __init__(
        self,
        *,
        claims: Claims,
        jobs: ClaimJobs,
        agents: Callable[[], Agents],
        searching: Callable[[], Searching],
        answers_first: AnswersFirst,
        lease: timedelta = _LEASE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """agents: made when there is first something to do. searching: what searches now.

        lease: for how long nobody else does a job of a process that was lost. sleep: waits so many seconds.
        """
        self._claims = claims
        self._jobs = jobs
        self._agents = agents
        self._searching = searching
        self.answers_first = answers_first
        self._lease = lease
        self._sleep = sleep
        self._looked_up_to: dict[
            int, int
        ] = {}  # by user: the newest shared version that claims were laid beside
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="remembering")

    async def run_due(self, user_id: int, tell: Callable[[Learned], None]) -> int:
        """Does every job of this user that is due and tells what was learned; returns how many were done.

        A job that fails waits and is tried again by a later call. Cancelling gives the job that runs back.
        """
        done = 0
        outdated: set[int] = set()
        while (job := await self._take(user_id)) is not None:
            try:
                async with self._held(job):
                    learned = await self._do(user_id, job)
            except asyncio.CancelledError:
                self._jobs.release(job)
                raise
            except Outdated:
                if job.id in outdated:  # once more it would go in a circle
                    await self._postpone(job, "what it would change was changed meanwhile")
                else:
                    outdated.add(job.id)
                    await self._on_thread(self._jobs.release, job)
            except VouchError as error:
                await self._postpone(job, error.message)
            except Exception as error:  # a defect of ours: told by whoever awaits this, and the job waits
                await self._postpone(job, type(error).__name__)
                raise
            else:
                done += 1
                if learned is not None:
                    tell(learned)
        try:
            await self._look_again(user_id, tell)
        except VouchError as error:  # what was kept stays; the next process looks again
            _log.warning("kept claims not weighed again: %s", error.message)
        return done

    def close(self) -> None:
        """Waits for the step that runs."""
        self._thread.shutdown(wait=True)

    async def _take(self, user_id: int) -> ClaimJob | None:
        """The next job; given back where this is cancelled while it is taken."""
        taken: list[ClaimJob | None] = []
        try:
            await self._on_thread(lambda: taken.append(self._jobs.take(user_id, lease=self._lease)))
        except asyncio.CancelledError:
            for job in filter(None, taken):
                self._jobs.release(job)
            raise
        return taken[0]

    def _held(self, job: ClaimJob) -> AbstractAsyncContextManager[None]:
        """While a job is done. To renew its lease is no step, and waits for no answer."""

        async def renew() -> None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, lambda: self._jobs.renew(job, lease=self._lease))

        every_seconds = self._lease.total_seconds() / _RENEWALS
        return holding(renew, every_seconds=every_seconds, sleep=self._sleep)

    async def _do(self, user_id: int, job: ClaimJob) -> Learned | None:
        if job.kind == "summarize":
            await self._summarize(user_id, job)
            return None
        return await self._weigh(user_id, job)

    async def _postpone(self, job: ClaimJob, reason: str) -> None:
        moment = await self._on_thread(self._jobs.postpone, job, reason)
        _log.warning(
            "not remembered yet",
            extra=fields(job=job.id, kind=job.kind, attempts=job.attempts, again=str(moment)),
        )

    # The steps

    async def _summarize(self, user_id: int, job: ClaimJob) -> None:
        told = await self._on_thread(self._claims.told, user_id, job.subject_id)
        summarizer = self._agents().summarizer
        await self.answers_first.wait()
        found = await summarizer.summarize(_said(told))
        new = [
            NewClaim(text=c.text, quote=c.quote, kind=c.kind, about=c.about, is_hearsay=c.is_hearsay)
            for c in found
        ]
        await self._on_thread(self._claims.put, user_id, job.id, job.subject_id, new, by=summarizer.name)

    async def _weigh(self, user_id: int, job: ClaimJob) -> Learned | None:
        row = await self._on_thread(self._claims.claim, user_id, job.subject_id)
        claim = _claim(row)
        searching = await self._on_thread(self._searching)
        shared_up_to = await self._on_thread(self._claims.newest_shared)
        vector, evidence = await self._on_thread(_find_evidence, searching, claim)
        await self.answers_first.wait()
        weighed = await self._verdict(claim, evidence)
        scope = self._agents().classifier.classify(claim, weighed)
        curation, nearest = await self._curation(user_id, row, weighed, scope, searching, vector)
        proposed_as = ""
        if scope == "shared" and curation.action in ("modify", "delete"):
            # what all rely on is changed by a person's decision alone: one passage more may be wrong,
            # one fact less or another in its place is worse
            scope, proposed_as = "yours", "change"
            undecided = replace(weighed, status="unknown")
            curation, nearest = await self._curation(user_id, row, undecided, scope, searching, vector)
        placed = Placed(curation)
        if row.is_hearsay:
            placed = Placed(_as_heard(row, curation))
        elif scope == "yours":
            placed = await self._by_date(user_id, row, searching, vector, nearest, curation)
        decision = replace(
            _decision(weighed, scope, placed.curation, nearest, shared_up_to),
            proposed_as=proposed_as,
            is_earlier=placed.is_earlier,
            rewritten=placed.rewritten,
        )
        learned = await self._on_thread(self._claims.decide, user_id, job.id, known_id(row.id), decision)
        await self._on_thread(searching.indexer.catch_up)
        return learned

    async def _look_again(self, user_id: int, tell: Callable[[Learned], None]) -> None:
        """What could not be decided is weighed again when shared passages have come since.

        What they bear out now is proposed for the shared memory, never put there; what they contradict
        stays its user's own, who is told.
        """
        newest = await self._on_thread(self._claims.newest_shared)
        if newest == self._looked_up_to.get(user_id, 0):
            return
        self._looked_up_to[user_id] = newest
        for row in await self._on_thread(self._claims.undecided, user_id, newest, limit=_LOOKED_AGAIN):
            claim = _claim(row)
            searching = await self._on_thread(self._searching)
            _, evidence = await self._on_thread(_find_evidence, searching, claim)
            seen = int(row.grounds.get("shared_up_to", 0))
            weighed = Weighed("unknown", 1.0)
            if any(each.passage.version_id > seen for each in evidence):
                weighed = await self._verdict(claim, evidence)
            is_borne_out = self._agents().classifier.classify(claim, weighed) == "shared"
            reason = _says_otherwise(weighed) if weighed.status == "incorrect" else ""
            learned = await self._on_thread(
                self._claims.note_new_evidence,
                user_id,
                known_id(row.id),
                newest,
                status="correct" if is_borne_out else "incorrect" if reason else "unknown",
                confidence=weighed.confidence,
                reason=reason,
            )
            if learned is not None:
                tell(learned)

    async def _verdict(self, claim: Claim, evidence: Sequence[Candidate]) -> Weighed:
        """What is about the user, no shared passage can decide; what somebody else says need not be."""
        if claim.about == "user" or claim.kind == "preference":
            return Weighed("unknown", 1.0, by="rule: about the user")
        if claim.is_hearsay:
            return Weighed("unknown", 1.0, by="rule: hearsay")
        return await self._agents().discriminator.weigh(claim, evidence)

    async def _curation(
        self,
        user_id: int,
        row: StatedClaim,
        weighed: Weighed,
        scope: Literal["shared", "yours"],
        searching: Searching,
        vector: Vector,
    ) -> tuple[Curation, Sequence[Candidate]]:
        if weighed.status == "incorrect":
            return Curation("nothing", reason=_says_otherwise(weighed)), ()
        if row.passage_id is not None and scope == "yours":  # handed in, and in the user's memory already
            return Curation("nothing", reason="it is in your memory already"), ()
        nearest = await self._on_thread(_nearest, searching, user_id, row.text, vector, scope)
        return await self._curate(_claim(row), weighed, nearest), nearest

    async def _curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """What the curator decides, asked while no answer is given."""
        await self.answers_first.wait()
        return await self._agents().curator.curate(claim, weighed, nearest)

    async def _by_date(
        self,
        user_id: int,
        row: StatedClaim,
        searching: Searching,
        vector: Vector,
        nearest: Sequence[Candidate],
        curation: Curation,
    ) -> Placed:
        """What was told later stands, in whatever order they are learned."""
        ids = [candidate.passage.version_id for candidate in nearest]
        later = await self._on_thread(self._claims.told_later, user_id, known_id(row.id), ids)
        if not (later.live or later.gone):
            return Placed(curation)
        texts = later.texts
        vectors = await self._on_thread(searching.encoder.encode_passages, texts) if texts else ()
        cosines = {text: float(each @ vector) for text, each in zip(texts, vectors, strict=True)}
        order = ToldOrder(self._curate, cosines)
        return await order.place(_claim(row), nearest, later, curation)

    async def _on_thread(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """A step on the thread, begun while no answer is given; one that has begun is waited for."""
        await self.answers_first.wait()
        loop = asyncio.get_running_loop()
        step = loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))
        try:
            return await asyncio.shield(step)
        except asyncio.CancelledError:
            await asyncio.wait([step])
            raise


def _as_heard(row: StatedClaim, curation: Curation) -> Curation:
    """What somebody else said is kept with who said it, and takes the place of nothing."""
    if curation.action == "nothing":
        return curation
    return Curation("add", text=row.quote, reason=curation.reason)


def _says_otherwise(weighed: Weighed) -> str:
    decisive = weighed.decisive
    if decisive is None:
        return f"{weighed.by} knows otherwise"
    return f"“{decisive.passage.title or shortened(decisive.passage.text)}” says otherwise"


def _said(told: ToldTurn) -> Said:
    earlier = tuple(Exchange(t.message, t.standalone, t.answer, known_id(t.id)) for t in told.earlier)
    return Said(told.message, earlier, told.recalled, told.answer, told.undone, told.known)


def _claim(row: StatedClaim) -> Claim:
    return Claim(
        row.text,
        row.quote,
        "preference" if row.kind == "preference" else "fact",
        "world" if row.about == "world" else "user",
        row.is_hearsay,
    )


def _find_evidence(searching: Searching, claim: Claim) -> tuple[Vector, list[Candidate]]:
    """The claim's vector, and the shared passages that speak of it; a user's own are no evidence."""
    retrieved = searching.retriever.retrieve(claim.text, searching.spaces.of(_NOBODY))
    shared = [candidate for candidate in retrieved.candidates if candidate.passage.is_shared]
    return retrieved.vector, shared[:_EVIDENCE]


def _nearest(
    searching: Searching, user_id: int, claim: str, vector: Vector, scope: Literal["shared", "yours"]
) -> list[Candidate]:
    """What the target space holds nearest to the claim; of a user's own only what was kept as memory.

    Of that also what is further off, where the claim gives another value of the same thing or takes one back.
    """
    space = searching.spaces.of(user_id if scope == "yours" else _NOBODY)
    found = [
        Candidate(passage, cosine, 0.0, 0.0, cosine, rank)
        for rank, (passage, cosine) in enumerate(space.nearest_of(vector, _LOOKED_AT, scope=scope), start=1)
        if scope == "shared" or passage.kind in CHANGEABLE
    ]
    further = found[_NEAREST:] if scope == "yours" else ()
    persons = persons_of(claim, found if further else ())
    wanted = [*found[:_NEAREST], *(c for c in further if is_met(claim, c.passage.text, persons))]
    return [replace(each, found_rank=rank) for rank, each in enumerate(wanted[: 2 * _NEAREST], start=1)]


def _decision(
    weighed: Weighed,
    scope: Literal["shared", "yours"],
    curation: Curation,
    nearest: Sequence[Candidate],
    shared_up_to: int,
) -> Decision:
    decisive = weighed.decisive
    passage = curation.passage
    if weighed.status == "incorrect" and decisive is not None:
        passage = decisive.passage
    grounds: dict[str, Any] = {
        "evidence": [
            {
                "version": each.passage.version_id,
                "passage": each.passage.passage_id,
                "similarity": round(each.similarity, 4),
                "supports": round(each.supports, 4),
                "refutes": round(each.refutes, 4),
            }
            for each in weighed.evidence
        ],
        "decided_by": "prior" if weighed.is_decided_by_prior else (decisive and decisive.passage.version_id),
        "prior": weighed.prior,
        "mode": weighed.mode,
        "shared_up_to": shared_up_to,
        "discriminator": weighed.by,
        "nearest": [
            {"version": each.passage.version_id, "similarity": round(each.dense, 4)} for each in nearest
        ],
    }
    return Decision(
        status=weighed.status,
        confidence=weighed.confidence,
        scope=scope,
        action=curation.action,
        passage_id=passage.passage_id if passage else None,
        version_id=passage.version_id if passage else None,
        text=curation.text,
        reason=curation.reason,
        grounds=grounds,
    )
