"""A shared passage proposed for removal: nothing changes before somebody else has accepted it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch
from store_fixtures import Stores, document, findable

from stores.base.errors import NotFound, WrongUsage
from stores.base.passages import SHARED
from stores.claims.claims import Claims, NewClaim
from stores.claims.proposals import Proposals, propose
from stores.database.tables import Proposal, StatedClaim
from stores.forgetting.forgetting import Forgetting


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
    assert proposals.action(number) == "delete"
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
    with pytest.raises(NotFound):  # it is over
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


# Taken back ------------------------------------------------------------------------------------


def test_who_proposed_takes_it_back_and_anybody_may_propose_again(stores: Stores, ann: int, bob: int) -> None:
    passage = share(stores, ann)
    proposals = Proposals(stores.database)
    number = proposals.propose_removal(bob, passage)
    assert [proposal.id for proposal in proposals.of_user(bob)] == [number]
    assert proposals.withdraw(bob, number).text == "The room opens at ten."
    assert (proposals.open(), proposals.of_user(bob)) == ([], [])
    again = proposals.propose_removal(ann, passage)
    assert again != number
    assert proposals.accept(bob, again)[0] == passage  # his own wish is over, and this is not his


def test_nobody_takes_back_what_somebody_else_proposed_or_what_was_decided(
    stores: Stores, ann: int, bob: int
) -> None:
    passage = share(stores, ann)
    proposals = Proposals(stores.database)
    number = proposals.propose_removal(bob, passage)
    proposals.propose_removal(ann, passage)  # it is his still
    assert proposals.of_user(ann) == []
    with pytest.raises(WrongUsage, match="is not one that you made"):
        proposals.withdraw(ann, number)
    proposals.refuse(ann, number)
    with pytest.raises(NotFound):
        proposals.withdraw(bob, number)


def offer(stores: Stores, user: int) -> int:
    """A claim of the user's own, offered to all and undecided; the proposal's id."""
    claim = NewClaim(text="The lift works.", quote="The lift works.", kind="fact", about="world")
    claims = Claims(stores.database)
    claim_id = claims.put_one(user, claim, origin="share")
    with stores.database.writing() as sql:
        stated = sql.get_one(StatedClaim, claim_id)
        stated.state, stated.status = "confirmed", "unknown"
        return propose(sql, stated) or 0


def test_an_offer_is_taken_back_and_can_be_made_again(stores: Stores, bob: int) -> None:
    proposals = Proposals(stores.database)
    number = offer(stores, bob)
    assert offer(stores, bob) == 0  # it is proposed already
    assert proposals.withdraw(bob, number).text == "The lift works."
    assert offer(stores, bob) > number


def test_what_a_second_user_said_is_nobodys_offer(stores: Stores, ann: int, bob: int) -> None:
    proposals = Proposals(stores.database)
    offer(stores, ann)
    with stores.database.writing() as sql:
        [proposal] = sql.query(Proposal).all()
        proposal.reason = "second user"
    assert proposals.of_user(ann) == []
    with pytest.raises(WrongUsage):
        proposals.withdraw(ann, 1)


def test_the_command_marks_ones_own_and_takes_it_back(tmp_path: Path) -> None:
    vouch = Vouch(tmp_path, tmp_path / "no-encoders")  # nothing is searched for
    vouch.data.mkdir(parents=True)
    stores = Stores.fresh(vouch.data)
    ann, bob = (stores.journal.user_id(name) for name in ("ann", "bob"))
    passage = share(stores, bob)
    Proposals(stores.database).propose_removal(ann, passage)
    offer(stores, bob)
    stores.database.close()
    listed = vouch.run("memory", "proposals").cells
    removal = ["1", "removal", "removal of: The room opens at ten.", "yours"]
    assert listed == [removal, ["2", "share", "The lift works."]]
    assert "is not one that you made" in vouch.run("memory", "proposals", "--withdraw", "2", code=2).err
    assert vouch.run("memory", "proposals", "--withdraw", "1").cells == [["1", "withdrawn"]]
    [left] = vouch.run("memory", "proposals", "--json").objects
    assert (left["proposal"], left["yours"]) == (2, False)
