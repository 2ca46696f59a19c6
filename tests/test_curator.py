"""What a claim does to what is known, by what the reader says of each pair."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

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


def mine(text: str = NEW) -> Claim:
    return Claim(text, text, "fact", "user")


def reader(does: Relation, said: str = NEW, earlier: str = OLD) -> FixedReader:
    return FixedReader(related={(said, earlier): does})


def links(
    claim: Claim, nearest: Sequence[Candidate], reader: FixedReader, later: Collection[int] = ()
) -> set[tuple[int, bool, str, float]]:
    found = asyncio.run(ReaderCurator(reader).relate(claim, nearest, later))
    return {(link.other, link.is_newer, link.kind, link.probability) for link in found}


# One's own statements


@pytest.mark.parametrize(
    ("does", "kind"), [(SAME, "same"), (REPLACES, "replaces"), (ENDS, "ends"), (ADDS, "adds")]
)
def test_what_it_does_to_another_is_a_link_with_its_probability(does: Relation, kind: str) -> None:
    assert links(mine(), [near("i like tea", number=2), near(OLD)], reader(does)) == {(1, False, kind, 1.0)}


def test_a_link_is_the_mean_of_all_readers_and_what_is_shared_the_firsts_word() -> None:
    curator = ReaderCurator(reader(REPLACES), reader(SAME))
    found = asyncio.run(curator.relate(mine(), [near(OLD)], ()))
    assert {(link.kind, link.probability) for link in found} == {("replaces", 0.5), ("same", 0.5)}
    shared = near(OLD, space=SHARED)
    decided = asyncio.run(curator.curate(mine(), Weighed("correct", 0.9), [shared]))
    assert decided.action == "modify"


def test_unrelated_and_unlikely_is_no_link() -> None:
    assert links(mine(), [near(OLD)], reader(UNRELATED)) == set()
    assert links(mine(), [near(OLD)], reader(Relation(0.19, 0.0, 0.0, 0.0, 0.81))) == set()
    both = Relation(0.3, 0.25, 0.0, 0.0, 0.45)
    assert links(mine(), [near(OLD)], reader(both)) == {(1, False, "same", 0.3), (1, False, "replaces", 0.25)}


def test_what_was_told_later_is_read_as_the_later() -> None:
    turned = reader(REPLACES, said=OLD, earlier=NEW)
    assert links(mine(), [near(OLD)], turned, later={1}) == {(1, True, "replaces", 1.0)}


def test_equal_words_are_the_same_whatever_the_reader_says() -> None:
    assert links(mine(OLD), [near(OLD)], reader(UNRELATED, said=OLD)) == {(1, False, "same", 1.0)}


def test_of_a_longer_note_the_sentence_that_has_most_to_do_with_it_counts() -> None:
    note = near("I started in May. My place is in Porto. It is blue.", kind="note")
    found = links(mine(), [note], reader(REPLACES, earlier="My place is in Porto."))
    assert found == {(1, False, "replaces", 1.0)}


@pytest.mark.parametrize("kind", ["document", "message"])
def test_documents_and_messages_have_no_links(kind: str) -> None:
    assert links(mine(), [near(OLD, kind=kind)], reader(REPLACES)) == set()


def test_the_real_reader_sees_that_a_visit_was_moved() -> None:
    moved = mine("actually Nadia can only come on the 20th")
    others = [near("My landlord is called Ann.", number=2), near("I like tea.", number=3)]
    visit = near("My sister Nadia is visiting on the 14th", number=4)
    curator = ReaderCurator(OnnxReader(LARGE, threads=1))
    found = asyncio.run(curator.relate(moved, [*others, visit], ()))
    assert {(link.other, link.kind) for link in found if link.probability >= 0.5} == {(4, "replaces")}


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


FACT = near("The room opens at 10:00.", space=SHARED)


def relating(*relations: Relation, refutes: float = 0.0) -> FixedReader:
    """What the claim does to the shared fact, and the fact to the claim."""
    there, back = relations
    return FixedReader(
        related={(OPENS.text, FACT.passage.text): there, (FACT.passage.text, OPENS.text): back},
        verified={(OPENS.text, FACT.passage.text): Verification(1 - refutes, refutes, 0.0)},
    )


def test_known_there_is_what_says_the_same_both_ways_round_and_is_not_refuted() -> None:
    known = curated(OPENS, [FACT], relating(SAME, SAME), status="correct")
    assert (known.action, known.passage) == ("nothing", FACT.passage)
    assert curated(OPENS, [FACT], relating(SAME, ADDS, refutes=0.2), status="correct").action == "add"
    assert curated(OPENS, [FACT], relating(SAME, SAME, refutes=0.9), status="correct").action == "add"


@pytest.mark.parametrize("does", [REPLACES, ENDS])
def test_what_would_no_longer_hold_there_is_a_change(does: Relation) -> None:
    found = curated(OPENS, [FACT], relating(does, UNRELATED), status="correct")
    assert (found.action, found.text, found.passage) == ("modify", OPENS.text, FACT.passage)
    assert found.reason.endswith("with a probability of 1.00")


def test_only_the_sentence_that_is_replaced_leaves_a_longer_fact() -> None:
    fact = near("The room is blue. It opens at nine. Come in.", space=SHARED)
    found = curated(OPENS, [fact], reader(REPLACES, OPENS.text, "It opens at nine."), status="correct")
    assert found.text == f"The room is blue. {OPENS.text} Come in."
