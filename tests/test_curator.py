"""What a claim changes in the space it goes to, by what the reader says it does to what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from agent_fakes import ADDS, ENDS, REPLACES, SAME, UNRELATED, FixedReader, passage

from agents.base.claim_interfaces import Claim, Curation, Evidence, Status, Weighed
from agents.base.interfaces import Candidate, Relation, Verification
from agents.memory.reader_curator import ReaderCurator
from agents.models.reader import OnnxReader
from agents.models.reader_files import LARGE
from stores.base.passages import SHARED

MINE = "user:1"
OLD, NEW = "i live in porto", "new place is in gaia, way quieter"


def near(text: str, *, kind: str = "fact", space: str = MINE, number: int = 1) -> Candidate:
    return Candidate(passage(number, text, kind=kind, space=space), 0.7, 1.0, 0.0, 0.7, number)


def curated(
    claim: Claim, nearest: Sequence[Candidate], reader: FixedReader, *, status: Status = "unknown"
) -> Curation:
    return asyncio.run(ReaderCurator(reader).curate(claim, Weighed(status, 0.9), nearest))


def mine(text: str = NEW, *, is_hearsay: bool = False) -> Claim:
    return Claim(text, text, "fact", "user", is_hearsay)


def reader(does: Relation, said: str = NEW, earlier: str = OLD) -> FixedReader:
    return FixedReader(related={(said, earlier): does})


@pytest.mark.parametrize(
    ("does", "action"),
    [(SAME, "add"), (REPLACES, "modify"), (ENDS, "modify"), (ADDS, "add"), (UNRELATED, "add")],
)
def test_the_relation_decides(does: Relation, action: str) -> None:
    found = curated(mine(), [near("i like tea", number=2), near(OLD)], reader(does))
    assert found.action == action
    assert found.text == NEW
    assert found.passage is None if action == "add" else found.passage and found.passage.version_id == 1


def test_known_is_what_says_the_same_in_no_word_of_its_own() -> None:
    again = "I live in Porto!"
    found = curated(mine(again), [near(OLD)], reader(SAME, said=again))
    assert (found.action, found.text) == ("nothing", "")
    assert found.passage == near(OLD).passage


def test_what_was_said_stays_as_it_was_said_and_the_reason_names_what_it_changes() -> None:
    found = curated(mine(), [near(OLD)], reader(REPLACES))
    assert (found.text, found.reason) == (NEW, f"it replaces {OLD!r}, with a probability of 1.00")


def test_only_the_sentence_that_is_replaced_leaves_a_longer_note() -> None:
    note = near("I started in May. My place is in Porto. It is blue.", kind="note")
    found = curated(mine(), [note], reader(REPLACES, earlier="My place is in Porto."))
    assert found.text == f"I started in May. {NEW} It is blue."


@pytest.mark.parametrize("kind", ["document", "message"])
def test_documents_and_messages_keep_what_they_say(kind: str) -> None:
    assert curated(mine(), [near(OLD, kind=kind)], reader(REPLACES)).action == "add"


def test_hearsay_changes_nothing() -> None:
    assert curated(mine(is_hearsay=True), [near(OLD)], reader(REPLACES)).action == "add"


def test_the_likelier_of_two_is_changed() -> None:
    sure, unsure = Relation(0, 0.9, 0, 0, 0.1), Relation(0, 0.6, 0, 0, 0.4)
    both = FixedReader(related={(NEW, OLD): sure, (NEW, "my room is in braga"): unsure})
    found = curated(mine(), [near("my room is in braga", number=2), near(OLD)], both)
    assert found.passage is not None
    assert found.passage.version_id == 1


# The shared memory

OPENS = Claim("The room opens at ten.", "The room opens at ten.", "fact", "world")


@pytest.mark.parametrize("status", ["unknown", "incorrect"])
def test_the_shared_memory_takes_only_what_is_correct(status: Status) -> None:
    shared = near("The room is big.", space=SHARED, kind="document")
    assert curated(OPENS, [shared], FixedReader(), status=status).action == "nothing"
    assert curated(OPENS, [shared], FixedReader(), status="correct").action == "add"


def test_what_a_shared_passage_entails_is_known() -> None:
    shared = near("It opens at ten every day.", space=SHARED, kind="document")
    says = FixedReader(verified={(OPENS.text, shared.passage.text): Verification(0.95, 0.03, 0.02)})
    found = curated(OPENS, [shared], says, status="correct")
    assert (found.action, found.passage) == ("nothing", shared.passage)
    decisive = Weighed("correct", 0.9, (Evidence(shared.passage, 0.9, 0.95, 0.0),))
    found = asyncio.run(ReaderCurator(FixedReader()).curate(OPENS, decisive, [shared]))
    assert (found.action, found.passage) == ("nothing", shared.passage)


def test_what_says_the_same_but_for_a_number_takes_its_place() -> None:
    was, now = "My rent is 850 euros.", "My rent is 900 euros."
    reader = FixedReader(related={(now, was): Relation(0.7, 0.2, 0.0, 0.1, 0.0)})
    curation = curated(mine(now), [near(was)], reader)
    assert (curation.action, curation.text) == ("modify", now)


def test_the_real_reader_sees_that_a_visit_was_moved() -> None:
    moved = mine("actually Nadia can only come on the 20th")
    others = [near("My landlord is called Ann.", number=2), near("I like tea.", number=3)]
    visit = near("My sister Nadia is visiting on the 14th", number=4)
    found = asyncio.run(
        ReaderCurator(OnnxReader(LARGE, threads=1)).curate(moved, Weighed("unknown", 0.9), [*others, visit])
    )
    assert (found.action, found.passage) == ("modify", visit.passage)
