"""What follows a turn: what the user stated becomes knowledge, once it was weighed.

    summarize -> per claim: find evidence -> discriminate -> classify -> curate -> write (one transaction)

All of it runs from durable jobs, after the answer and never while one is being given. A claim ends stored
once, with its receipt, or stays pending: a model that is down delays it and loses nothing. Here are the
jobs and the first step; `weighing.py` has what is done with one claim.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import timedelta

from agents.base.chat_interfaces import ChatModel
from agents.base.claim_interfaces import JoiningSummarizer, Said
from agents.base.interfaces import Exchange
from assistant.background.priority import AnswerBegan, AnswersFirst
from assistant.background.steps import BackgroundSteps
from assistant.process.log import fields
from assistant.remembering.lease import holding
from assistant.remembering.summing import Summing
from assistant.remembering.weighing import Agents, Weighing
from assistant.search.searching import Searching
from stores.base.errors import VouchError
from stores.claims.claims import Claims, NewClaim, ToldTurn
from stores.claims.decisions import Learned, Outdated
from stores.conversation.claim_jobs import ClaimJob, ClaimJobs
from stores.conversation.summaries import Summaries
from stores.database.tables import known_id

_log = logging.getLogger(__name__)
_LEASE = timedelta(minutes=5)  # renewed while the job is done: a model may take longer for one claim
_MOST_TOGETHER = 5  # messages in one request
_RENEWALS = 3  # of a lease before it would end


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
        summaries: Summaries | None = None,
        summing: Callable[[], ChatModel | None] = lambda: None,
        withheld: Callable[[Sequence[str]], Sequence[str]] = lambda messages: messages,
        lease: timedelta = _LEASE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """agents: made when there is first something to do. searching: what searches now.

        summaries: what sessions keep of what is not sent any more; None: nothing. summing: the model that
        writes them, None where none does. withheld: messages without their secrets.
        lease: for how long nobody else does a job of a process that was lost. sleep: waits so many seconds.
        """
        self._claims = claims
        self._jobs = jobs
        self._agents = agents
        self.answers_first = answers_first
        self._lease = lease
        self._sleep = sleep
        self._steps = BackgroundSteps(answers_first)
        self._weighing = Weighing(claims, agents, searching, self._steps)
        self._summing = Summing(summaries, summing, self._steps, withheld) if summaries is not None else None

    async def run_due(self, user_id: int, tell: Callable[[Learned], None]) -> int:
        """Does every job of this user that is due and tells what was learned; returns how many were done.

        A job that fails waits and is tried again by a later call; a defect of ours is raised when the jobs
        behind it are done, too. Cancelling gives the job that runs back.
        """
        done = 0
        defects: list[Exception] = []
        outdated: set[int] = set()
        while (job := await self._take(user_id)) is not None:
            together = [job]
            try:
                async with AsyncExitStack() as held:
                    await held.enter_async_context(self._held(job))
                    while self._may_join(together) and (more := await self._take(user_id, job.kind)):
                        together.append(more)
                        await held.enter_async_context(self._held(more))
                    learned = await self._do(user_id, together)
            except asyncio.CancelledError:
                for each in together:
                    self._jobs.release(each)
                raise
            except AnswerBegan:  # what was said meanwhile is taken with it
                for each in together:
                    await self._steps.run(self._jobs.release, each)
            except Outdated:
                if job.id in outdated:  # once more it would go in a circle
                    await self._postpone(job, "what it would change was changed meanwhile")
                else:
                    outdated.add(job.id)
                    await self._steps.run(self._jobs.release, job)
            except VouchError as error:
                for each in together:
                    await self._postpone(each, error.message)
            except Exception as error:  # noqa: BLE001 - a defect of ours: raised below, and the job waits
                for each in together:
                    await self._postpone(each, type(error).__name__)
                defects.append(error)
            else:
                done += len(together)
                if learned is not None:
                    tell(learned)
        try:
            await self._weighing.weigh_again(user_id, tell)
        except VouchError as error:  # what was kept stays; the next process looks again
            _log.warning("kept claims not weighed again: %s", error.message)
        if self._summing is not None:
            await self._summing.run_due(user_id)
        for defect in defects[1:]:
            _log.error("another job failed by a defect", exc_info=defect)
        if defects:
            raise defects[0]
        return done

    def close(self) -> None:
        self._steps.close()

    async def _take(self, user_id: int, kind: str = "") -> ClaimJob | None:
        """The next job, if it is of this kind; given back where this is cancelled while it is taken."""
        taken: list[ClaimJob | None] = []
        try:
            await self._steps.run(
                lambda: taken.append(self._jobs.take(user_id, lease=self._lease, kind=kind))
            )
        except asyncio.CancelledError:
            for job in filter(None, taken):
                self._jobs.release(job)
            raise
        return taken[0]

    def _may_join(self, jobs: Sequence[ClaimJob]) -> bool:
        """Whether another message goes with these; one that failed is tried alone."""
        if jobs[0].kind != "summarize" or jobs[-1].attempts > 1 or len(jobs) == _MOST_TOGETHER:
            return False
        return isinstance(self._agents().summarizer, JoiningSummarizer)

    def _held(self, job: ClaimJob) -> AbstractAsyncContextManager[None]:
        """While a job is done. To renew its lease is no step, and waits for no answer."""

        async def renew() -> None:
            await self._steps.run_beside_an_answer(self._jobs.renew, job, lease=self._lease)

        every_seconds = self._lease.total_seconds() / _RENEWALS
        return holding(renew, every_seconds=every_seconds, sleep=self._sleep)

    async def _do(self, user_id: int, jobs: Sequence[ClaimJob]) -> Learned | None:
        if jobs[0].kind == "summarize":
            await self._summarize(user_id, jobs)
            return None
        return await self._weighing.weigh(user_id, jobs[0])

    async def _postpone(self, job: ClaimJob, reason: str) -> None:
        moment = await self._steps.run(self._jobs.postpone, job, reason)
        _log.warning(
            "not remembered yet",
            extra=fields(job=job.id, kind=job.kind, attempts=job.attempts, again=str(moment)),
        )

    async def _summarize(self, user_id: int, jobs: Sequence[ClaimJob]) -> None:
        said = [_said(await self._steps.run(self._claims.told, user_id, job.subject_id)) for job in jobs]
        summarizer = self._agents().summarizer
        await self._steps.may_begin()
        if len(said) > 1 and isinstance(summarizer, JoiningSummarizer):
            found = await summarizer.summarize_together(said)
        else:
            found = [await summarizer.summarize(each) for each in said]
        for job, claims in zip(jobs, found, strict=True):
            new = [
                NewClaim(text=c.text, quote=c.quote, kind=c.kind, about=c.about, is_hearsay=c.is_hearsay)
                for c in claims
            ]
            await self._steps.run(self._claims.put, user_id, job.id, job.subject_id, new, by=summarizer.name)


def _said(told: ToldTurn) -> Said:
    earlier = tuple(Exchange(t.message, t.standalone, t.answer, known_id(t.id)) for t in told.earlier)
    return Said(told.message, earlier, told.recalled, told.answer)
