"""A shared passage proposed for removal: nothing changes before somebody else has accepted it."""

from __future__ import annotations

import pytest
from store_fixtures import Stores, document, findable

from stores.claims import Claims
from stores.errors import NotFound, WrongUsage
from stores.forgetting import Forgetting
from stores.proposals import Proposals
from stores.records import SHARED


def share(stores: Stores, user: int) -> int:
    """A shared passage that this user added; its id."""
    stores.add(user, document("rules", "The room opens at ten."))
    [line] = stores.catalogue.lines(user, scope="shared")
    return line.passage_id


def test_a_proposal_tells_the_passage_and_changes_nothing(stores: Stores, ann: int, bob: int) -> None:
    passage = share(stores, ann)
    before = findable(stores.database)
    proposals = Proposals(stores.database)
    number = proposals.propose_removal(bob, passage)
    assert findable(stores.database) == before
    [proposal] = proposals.open()
    assert (proposal.id, proposal.reason, proposal.text) == (number, "removal", "The room opens at ten.")
    assert proposals.removes(number) == passage
    assert proposals.propose_removal(ann, passage) == number  # once, whoever else wants it


def test_another_than_the_proposer_accepts_and_an_undo_brings_it_back(
    stores: Stores, ann: int, bob: int
) -> None:
    passage = share(stores, ann)
    proposals = Proposals(stores.database)
    number = proposals.propose_removal(bob, passage)
    with pytest.raises(WrongUsage):
        proposals.accept(bob, number)
    assert stores.texts(SHARED)
    eve = stores.journal.user_id("eve")
    removed, receipt = proposals.accept(eve, number)
    assert (removed, stores.texts(SHARED), proposals.open()) == (passage, {}, [])
    stores.knowledge.undo(eve, receipt)
    assert list(stores.texts(SHARED).values()) == ["The room opens at ten."]


def test_what_was_refused_is_not_proposed_again(stores: Stores, ann: int, bob: int) -> None:
    passage = share(stores, ann)
    proposals = Proposals(stores.database)
    proposals.refuse(ann, proposals.propose_removal(bob, passage))
    with pytest.raises(WrongUsage, match="was proposed for removal before"):
        proposals.propose_removal(bob, passage)
    assert stores.texts(SHARED)


def test_only_a_live_shared_passage_can_be_proposed(stores: Stores, ann: int, bob: int) -> None:
    own, _ = stores.knowledge.remember(ann, "I take tea.")
    proposals = Proposals(stores.database)
    with pytest.raises(WrongUsage, match="is your own"):
        proposals.propose_removal(ann, own)
    with pytest.raises(NotFound):
        proposals.propose_removal(bob, own)  # of another user: there is no such passage
    with pytest.raises(NotFound):
        proposals.propose_removal(ann, 999)


def test_a_passage_that_is_gone_is_proposed_no_more(stores: Stores, ann: int, bob: int) -> None:
    passage = share(stores, ann)
    proposals = Proposals(stores.database)
    number = proposals.propose_removal(bob, passage)
    Forgetting(stores.database).forget(ann, [passage])
    assert proposals.open() == []
    with pytest.raises(NotFound):
        proposals.accept(stores.journal.user_id("eve"), number)


def test_a_proposal_says_nothing_that_its_user_stated(stores: Stores, ann: int, bob: int) -> None:
    passage = share(stores, ann)
    Proposals(stores.database).propose_removal(bob, passage)
    assert Claims(stores.database).of_passage(bob, passage) == []
    assert Claims(stores.database).pending(bob) == []
    assert stores.exported(bob) == []
    assert not any("removal" in line for line in stores.exported(bob, "shared"))


def test_forgetting_everything_of_the_proposer_leaves_the_passage_and_ends_the_proposal(
    stores: Stores, ann: int, bob: int
) -> None:
    passage = share(stores, ann)
    proposals = Proposals(stores.database)
    proposals.propose_removal(bob, passage)
    forgotten = Forgetting(stores.database).forget_everything(bob)
    assert forgotten.still_in == ()
    assert list(stores.texts(SHARED).values()) == ["The room opens at ten."]
    assert proposals.open() == []
