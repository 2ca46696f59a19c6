"""Whatever was said, noted, shared and forgotten: every job can be done again, and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect, text
from store_fixtures import Stores, findable
from test_claims import new, taken, tell
from test_remembering import Encoder, Fakes, House
from test_undo_properties import World, forget_one, kind, world

from agents.base.claim_interfaces import Claim, Curation, Said, Weighed
from agents.base.interfaces import Candidate
from agents.retrieval.retriever import Fusion, Retriever
from assistant.search.searching import Searching
from stores.base.statement_links import NewLink
from stores.claims.claims import Claims
from stores.database.tables import StatedClaim
from stores.forgetting.forgetting import Forgetting
from stores.vectors.exact import VectorIndex

__all__ = ["kind"]  # the fixture

FEW = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
EVERY_KIND = {"summarize", "weigh", "index", "compact"}
SUBJECTS = st.sampled_from(["cat", "dog", "owl"])
MANNERS = st.sampled_from(["surely", "wrongly", "perhaps", "no more"])  # correct, incorrect, unknown, an end
SENTENCE = st.tuples(SUBJECTS, MANNERS, st.sampled_from(["My", "The"]))
ACTIONS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.one_of(
            st.tuples(st.just("say"), st.lists(SENTENCE, min_size=1, max_size=2)),
            st.tuples(st.just("remember"), SUBJECTS),
            st.tuples(
                st.just("document"),
                st.sampled_from(["a.txt", "b.txt"]),
                st.lists(SUBJECTS, min_size=1, max_size=2),
                st.booleans(),
            ),
            st.tuples(st.just("forget"), st.integers(0, 50)),
            st.tuples(st.just("learn")),  # does what is due so far
        ),
    ),
    min_size=1,
    max_size=7,
)
EVERYTHING = [  # of every kind of job one at least
    (0, ("document", "a.txt", ["cat", "dog"], True)),
    (0, ("say", [("owl", "surely", "The"), ("cat", "perhaps", "My")])),
    (1, ("say", [("owl", "surely", "The")])),
    (0, ("learn",)),
    (1, ("say", [("owl", "no more", "The"), ("dog", "wrongly", "The")])),
    (0, ("say", [("cat", "no more", "My")])),
    (1, ("learn",)),
    (0, ("remember", "dog")),
    (0, ("forget", 2)),
]


class Talkers(Fakes):
    """Every sentence is a claim, and its words say what becomes of it."""

    async def summarize(self, said: Said) -> list[Claim]:
        sentences = [f"{sentence.strip(' .')}." for sentence in said.message.split(". ") if sentence.strip()]
        stated = [sentence for sentence in sentences if " is " in sentence]
        return [
            Claim(each, each, "fact", "user" if each.startswith("My ") else "world")
            for each in dict.fromkeys(stated)
        ]

    async def weigh(self, claim: Claim, candidates: Sequence[Candidate]) -> Weighed:
        found = "correct" if "surely" in claim.text or "no more" in claim.text else "unknown"
        return Weighed("incorrect" if "wrongly" in claim.text else found, 0.95, by="fake")  # type: ignore[arg-type]

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        about = claim.text.split(" is ")[0]
        met = next((c.passage for c in nearest if c.passage.text.startswith(f"{about} is ")), None)
        if met is None:
            return Curation("add", text=claim.text, reason="new")
        if met.text == claim.text:
            return Curation("nothing", met, reason="known")
        if "no more" in claim.text:
            return Curation("delete", met, reason="it holds no more")
        return Curation("modify", met, claim.text, "another value")

    async def relate(
        self, claim: Claim, nearest: Sequence[Candidate], later: Collection[int]
    ) -> list[NewLink]:
        about = claim.text.split(" is ")[0]
        met = [c.passage for c in nearest if c.passage.text.startswith(f"{about} is ")]
        return [
            NewLink(
                p.passage_id, p.version_id in later, "same" if p.text == claim.text else "replaces", 0.9, ""
            )
            for p in met
        ]


def do(the: World, who: int, action: tuple[Any, ...]) -> None:
    user = the.users[who]
    if action[0] == "say":
        the.written += 1
        mark = f"u{user} s{the.written}"  # that stands in nothing that was written
        tell(the.stores, user, " ".join(f"{whose} {what} is {how} {mark}." for what, how, whose in action[1]))
    elif action[0] == "forget":
        the.settle()
        forget_one(the, user, action[1])
    elif action[0] == "learn":
        learn(the)
    else:
        the.write(user, action)


def learn(the: World) -> None:
    """Does what is due for each user, as new processes would, and brings the indexes up to it."""

    async def run() -> None:
        house = House(the.stores, Talkers())
        house.searching = searching(the.stores, the.index)
        try:
            for _ in range(2):  # what the second user shared is laid beside the first's claims, too
                for user in the.users:
                    await house.run(user)
            house.searching.indexer.catch_up()
        finally:
            house.remembering.close()

    asyncio.run(run())
    the.settle()
    Forgetting(the.stores.database).compact()


def searching(stores: Stores, index: VectorIndex | None) -> Searching:
    encoder, exact_up_to = Encoder(), 0 if index is not None else 10_000
    return Searching(
        encoder,
        stores.spaces(index, exact_up_to=exact_up_to),
        Retriever(encoder, keep=10, pool=10, fusion=Fusion(0.5, 0.0, 0.4)),
        stores.indexer(index, exact_up_to=exact_up_to),
        stores.shared_index(index, exact_up_to=exact_up_to),
    )


def everything(the: World) -> dict[str, Any]:
    """Every row of every table but the jobs themselves, and all that a search could see."""
    with the.stores.database.reading() as sql:
        names = inspect(sql.connection()).get_table_names()
        told: dict[str, Any] = {
            name: sorted(repr(tuple(row)) for row in sql.execute(text(f"SELECT * FROM {name}")))
            for name in names
            if name != "jobs" and not name.startswith(("shared_words_", "own_words_", "turn_words_"))
        }
    return told | {"seen": the.seen(), "findable": findable(the.stores.database)}


def jobs(the: World) -> list[tuple[str, bool]]:
    """Of every job its kind, and whether it is done."""
    with the.stores.database.reading() as sql:
        rows = sql.execute(text("SELECT kind, done_at IS NOT NULL FROM jobs ORDER BY id"))
        return [(row[0], bool(row[1])) for row in rows]


def test_doing_every_job_again_changes_nothing(request: pytest.FixtureRequest, kind: str) -> None:
    met: set[str] = set()

    @given(actions=ACTIONS, opened=st.lists(st.booleans(), min_size=1, max_size=5))
    @example(actions=EVERYTHING, opened=[True])
    @FEW
    def holds(actions: list[tuple[int, tuple[Any, ...]]], opened: list[bool]) -> None:
        with world(request, kind) as the:
            for who, action in actions:
                do(the, who, action)
            learn(the)
            before, done = everything(the), jobs(the)
            assert [name for name, is_done in done if not is_done] == []
            for again in (opened, [True]):  # some of them, then all
                with the.stores.database.writing() as sql:
                    ids = sql.execute(text("SELECT id FROM jobs ORDER BY id")).scalars().all()
                    some = [i for n, i in enumerate(ids) if again[n % len(again)]]
                    for job_id in some:
                        sql.execute(
                            text("UPDATE jobs SET done_at = NULL, not_before = NULL WHERE id = :id"),
                            {"id": job_id},
                        )
                learn(the)
                assert jobs(the) == done
                assert everything(the) == before
            met.update(name for name, _ in done)

    holds()
    assert met == EVERY_KIND


def test_a_turn_that_is_read_again_keeps_its_claims_as_they_are(stores: Stores, ann: int) -> None:
    claims, turn = Claims(stores.database), tell(stores, ann, "The cat is here.")
    job = taken(stores, ann)
    assert len(claims.put(ann, job.id, turn, [new("The cat is here.")], by="test")) == 1
    with stores.database.writing() as sql:
        sql.execute(text("UPDATE jobs SET done_at = NULL WHERE kind = 'summarize'"))
    assert claims.put(ann, job.id, turn, [new("The cat was here."), new("It sat.")], by="another") == []
    with stores.database.reading() as sql:
        assert [claim.text for claim in sql.query(StatedClaim)] == ["The cat is here."]
        open_ = sql.execute(text("SELECT kind FROM jobs WHERE done_at IS NULL AND kind <> 'index'"))
        assert open_.scalars().all() == ["weigh"]
