"""What is done with one claim: beside what is known it gets a verdict and a place, and is written once.

    find evidence -> discriminate -> classify -> curate -> write (one transaction)

What could not be decided is weighed again when shared passages have come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agents.base.claim_interfaces import (
    Claim,
    Curation,
    Curator,
    Discriminator,
    Summarizer,
    Weighed,
)
from agents.base.interfaces import Candidate, Vector
from agents.memory.classifier import Classifier
from assistant.background.steps import BackgroundSteps
from assistant.search.searching import Searching
from stores.base.passages import STATEMENTS
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims
from stores.claims.decisions import Decision, Learned
from stores.claims.shared_changes import SharedChange
from stores.conversation.claim_jobs import ClaimJob
from stores.database.tables import StatedClaim, known_id
from stores.versions.receipts import shortened


@dataclass(frozen=True)
class Agents:
    """Who decides what becomes knowledge."""

    summarizer: Summarizer
    discriminator: Discriminator
    classifier: Classifier
    curator: Curator


_EVIDENCE = 5  # shared passages beside a claim (LUF, section 2.3)
_NEAREST = 12  # passages of the target space that the curator sees
_NEWEST = 6  # of the user's statements, that it sees as well
_WEIGHED_AGAIN = 20  # undecided claims weighed again when shared passages have come
_LOOKED_AT = 200  # nearest ones that these are taken from: messages and documents are not written to
_NOBODY = 0  # the user who owns nothing: their space is the shared one alone


class Weighing:
    """Weighs claims, one after the other."""

    def __init__(
        self,
        claims: Claims,
        agents: Callable[[], Agents],
        searching: Callable[[], Searching],
        steps: BackgroundSteps,
    ) -> None:
        """agents: made when there is first something to do. searching: what searches now."""
        self._claims = claims
        self._agents = agents
        self._searching = searching
        self._steps = steps
        self._weighed_up_to: dict[int, int] = {}  # by user: the newest shared version laid beside claims

    async def weigh(self, user_id: int, job: ClaimJob) -> Learned | None:
        """Does a job whose subject is a claim. Raises `Outdated` where what it would change was changed."""
        row = await self._steps.run(self._claims.claim, user_id, job.subject_id)
        claim = _claim(row)
        searching = await self._steps.run(self._searching)
        shared_up_to = await self._steps.run(self._claims.newest_shared)
        vector, evidence = await self._steps.run(_find_evidence, searching, claim)
        await self._steps.may_begin()
        weighed = await self._verdict(claim, evidence)
        scope = self._agents().classifier.classify(claim, weighed)
        curation, nearest = await self._curation(user_id, row, weighed, scope, searching, vector)
        proposed = _shared_change(row, curation) if scope == "shared" else None
        if proposed is not None:
            # what all rely on is changed by a person's decision alone: one passage more may be wrong,
            # one fact less or another in its place is worse
            scope = "yours"
            undecided = replace(weighed, status="unknown")
            curation, nearest = await self._curation(user_id, row, undecided, scope, searching, vector)
        links: list[NewLink] = []
        if scope == "yours" and curation.action == "add" and not row.is_hearsay:
            links = await self._links(user_id, row, nearest)
        decision = replace(
            _decision(weighed, scope, curation, nearest, shared_up_to), proposed=proposed, links=links
        )
        learned = await self._steps.run(self._claims.decide, user_id, job.id, known_id(row.id), decision)
        await self._steps.run(searching.indexer.catch_up)
        return learned

    async def weigh_again(self, user_id: int, tell: Callable[[Learned], None]) -> None:
        """What could not be decided is weighed again when shared passages have come since.

        What they bear out now is proposed for the shared memory, never put there, also where it contradicts
        another of them; what they contradict stays its user's own, who is told.
        """
        newest = await self._steps.run(self._claims.newest_shared)
        if newest == self._weighed_up_to.get(user_id, 0):
            return
        self._weighed_up_to[user_id] = newest
        for row in await self._steps.run(self._claims.undecided, user_id, newest, limit=_WEIGHED_AGAIN):
            claim = _claim(row)
            searching = await self._steps.run(self._searching)
            vector, evidence = await self._steps.run(_find_evidence, searching, claim)
            seen = int(row.grounds.get("shared_up_to", 0))
            weighed = Weighed("unknown", 1.0)
            if any(each.passage.version_id > seen for each in evidence):
                weighed = await self._verdict(claim, evidence)
            is_borne_out = self._agents().classifier.classify(claim, weighed) == "shared"
            change = None
            if is_borne_out:
                curation, _ = await self._curation(user_id, row, weighed, "shared", searching, vector)
                change = _shared_change(row, curation)
            reason = _says_otherwise(weighed) if weighed.status == "incorrect" else ""
            learned = await self._steps.run(
                self._claims.note_new_evidence,
                user_id,
                known_id(row.id),
                newest,
                status="correct" if is_borne_out else "incorrect" if reason else "unknown",
                confidence=weighed.confidence,
                reason=reason,
                change=change,
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
        nearest = await self._steps.run(_nearest, searching, user_id, vector, scope)
        if scope == "yours":  # kept whatever was said before; what somebody else says, with who says it
            return Curation("add", text=row.quote if row.is_hearsay else row.text), nearest
        await self._steps.may_begin()
        return await self._agents().curator.curate(_claim(row), weighed, nearest), nearest

    async def _links(self, user_id: int, row: StatedClaim, nearest: Sequence[Candidate]) -> list[NewLink]:
        """What the claim does to its user's statements, in whatever order they are learned."""
        ids = [candidate.passage.version_id for candidate in nearest]
        later = await self._steps.run(self._claims.told_later, user_id, known_id(row.id), ids)
        await self._steps.may_begin()
        return await self._agents().curator.relate(_claim(row), nearest, later)


def _shared_change(row: StatedClaim, curation: Curation) -> SharedChange | None:
    """What a curation for the shared memory would change there; None where it adds, or does nothing."""
    if curation.passage is None or curation.action not in ("modify", "delete"):
        return None
    return SharedChange(
        action=curation.action,
        passage_id=curation.passage.passage_id,
        version_id=curation.passage.version_id,
        text=(curation.text or row.text) if curation.action == "modify" else "",
    )


def _says_otherwise(weighed: Weighed) -> str:
    decisive = weighed.decisive
    if decisive is None:
        return f"{weighed.by} knows otherwise"
    return f"“{decisive.passage.title or shortened(decisive.passage.text)}” says otherwise"


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
    searching: Searching, user_id: int, vector: Vector, scope: Literal["shared", "yours"]
) -> list[Candidate]:
    """What the target space holds nearest to the claim; of a user's own only what was kept as memory.

    Of that also the newest: "no, the blue one" is near to nothing, and means what was said just before.
    """
    space = searching.spaces.of(user_id if scope == "yours" else _NOBODY)
    near = [
        (passage, cosine)
        for passage, cosine in space.nearest_of(vector, _LOOKED_AT, scope=scope)
        if scope == "shared" or passage.kind in STATEMENTS
    ][:_NEAREST]
    if scope == "yours":
        known = {passage.version_id for passage, _ in near}
        newest = [i for i, _ in space.statements(_NEWEST) if i not in known]
        cosines = space.similarities(vector, newest)
        near += [(passage, cosines.get(i, 0.0)) for i, passage in space.passages(newest).items()]
    return [
        Candidate(passage, cosine, 0.0, 0.0, cosine, rank)
        for rank, (passage, cosine) in enumerate(near, start=1)
    ]


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
        action="nothing" if curation.action == "nothing" else "add",
        passage_id=passage.passage_id if passage else None,
        text=curation.text,
        reason=curation.reason,
        grounds=grounds,
    )
