"""A claim that contradicts what is shared: a person decides, and accepting does exactly what was proposed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from sqlalchemy import text
from store_fixtures import Stores, document, findable
from test_claims import new, taken, tell
from test_forgetting import tables_holding

from assistant.terminal.actions.sharing import shared_line
from assistant.turns.notices import learned_line
from stores.base.errors import CannotAccept, NotFound, WrongUsage
from stores.base.passages import SHARED
from stores.claims.claims import Claims
from stores.claims.decisions import Decision, Learned, Outdated
from stores.claims.proposals import Proposals
from stores.claims.shared_changes import SharedChange
from stores.database.tables import PassageVersion
from stores.forgetting.forgetting import Forgetting
from stores.versions.changes import NewVersion, add_versions, remove_versions
from stores.versions.receipts import open_receipt

NINE, TEN = "The room opens at nine.", "The room opens at ten."
GONE = "The room is closed for good."
ACTIONS = ("modify", "delete")


def share(stores: Stores, user: int, fact: str = NINE) -> int:
    """A shared fact that this user added; its passage."""
    with stores.database.writing() as sql:
        receipt = open_receipt(sql, user, "add", SHARED, fact)
        [version] = add_versions(
            sql, SHARED, [NewVersion(text=fact, kind="fact")], author="test", receipt_id=receipt
        )
        return sql.get_one(PassageVersion, version).passage_id


def shared(stores: Stores) -> dict[int, str]:
    """The live shared texts by passage."""
    texts = findable(stores.database)["texts"]
    return {row["passage"]: row["text"] for row in texts if row["space"] == SHARED}


def version_of(stores: Stores, passage: int) -> int:
    [found] = [row["version"] for row in findable(stores.database)["texts"] if row["passage"] == passage]
    return int(found)


def rewrite(stores: Stores, user: int, passage: int, to: str) -> int:
    """Gives a shared passage another text, as an accepted proposal does; the receipt."""
    old = version_of(stores, passage)
    with stores.database.writing() as sql:
        receipt = open_receipt(sql, user, "modify", SHARED, to)
        remove_versions(sql, [old], receipt_id=receipt)
        add_versions(
            sql, SHARED, [NewVersion(text=to, passage_id=passage)], author="test", receipt_id=receipt
        )
    return receipt


def change(stores: Stores, action: str, passage: int, to: str = TEN) -> SharedChange:
    return SharedChange(
        action=action,  # type: ignore[arg-type]
        passage_id=passage,
        version_id=version_of(stores, passage),
        text=to if action == "modify" else "",
    )


def contradict(stores: Stores, user: int, action: str, passage: int, **given: Any) -> Learned:
    """A claim found correct that changes a shared passage, from its turn to its end."""
    words = given.pop("words", TEN if action == "modify" else GONE)
    claims, turn = Claims(stores.database), tell(stores, user, words)
    claims.put(user, taken(stores, user).id, turn, [new(words, about="world")], by="test")
    job = taken(stores, user)
    decision = Decision(
        status="correct",
        confidence=0.9,
        scope="yours",
        action="add",
        proposed=change(stores, action, passage, **given),
    )
    learned = claims.decide(user, job.id, job.subject_id, decision)
    assert learned is not None
    return learned


def proposed(stores: Stores, user: int, action: str, passage: int, **given: Any) -> int:
    return contradict(stores, user, action, passage, **given).proposal_id or 0


def tombstones(stores: Stores) -> list[tuple[str, int | None]]:
    """The shared texts that hold no more, and the receipt that took each away."""
    with stores.database.reading() as sql:
        rows = sql.execute(
            text(
                "SELECT text, removed_by FROM passage_versions "
                "WHERE space = 'shared' AND removed_at IS NOT NULL ORDER BY id"
            )
        )
        return [(row[0], row[1]) for row in rows]


@pytest.fixture
def eve(stores: Stores) -> int:
    """She decides."""
    return stores.journal.user_id("eve")


@pytest.mark.parametrize("action", ACTIONS)
def test_a_proposal_says_what_it_would_do_to_which_passage_and_changes_nothing(
    stores: Stores, ann: int, bob: int, action: str
) -> None:
    passage = share(stores, ann)
    before = stores.texts(SHARED)
    learned = contradict(stores, bob, action, passage)
    assert (learned.scope, learned.proposed_action) == ("yours", action)
    assert stores.texts(SHARED) == before
    [told] = Proposals(stores.database).open()
    assert (told.id, told.reason, told.action) == (learned.proposal_id, "change", action)
    assert (told.text, told.replaces, told.because) == (
        (TEN, NINE, "") if action == "modify" else (NINE, "", GONE)
    )


def test_accepting_a_change_puts_the_new_version_in_the_place_of_the_old(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    passage = share(stores, ann)
    other = share(stores, ann, "The lift works.")
    number = proposed(stores, bob, "modify", passage)
    before = findable(stores.database)
    changed, receipt = Proposals(stores.database).accept(eve, number)
    assert changed == passage
    live = {
        row["passage"]: row["text"] for row in findable(stores.database)["texts"] if row["space"] == SHARED
    }
    assert live == {passage: TEN, other: "The lift works."}
    assert tombstones(stores) == [(NINE, receipt)]
    stores.knowledge.undo(eve, receipt)
    assert findable(stores.database) == before
    assert Proposals(stores.database).open() == []


def test_accepting_a_removal_takes_the_passage_and_adds_nothing(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    passage = share(stores, ann)
    number = proposed(stores, bob, "delete", passage)
    before = findable(stores.database)
    changed, receipt = Proposals(stores.database).accept(eve, number)
    assert (changed, stores.texts(SHARED)) == (passage, {})
    assert tombstones(stores) == [(NINE, receipt)]
    stores.knowledge.undo(eve, receipt)
    assert findable(stores.database) == before


def test_a_passage_of_a_document_stays_in_its_place_there(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    stores.add(ann, document("rules", "The lift works.", NINE, title="House"))
    [passage] = [row["passage"] for row in findable(stores.database)["texts"] if row["text"] == NINE]
    [before] = [row for row in findable(stores.database)["texts"] if row["text"] == NINE]
    Proposals(stores.database).accept(eve, proposed(stores, bob, "modify", passage))
    [after] = [row for row in findable(stores.database)["texts"] if row["passage"] == passage]
    assert after == before | {"text": TEN, "version": after["version"]}
    stores.add(ann, document("rules", "The lift works.", "It opens at eight.", title="House"))
    assert set(stores.texts(SHARED).values()) == {"The lift works.", "It opens at eight."}


def test_what_is_shared_already_is_not_shared_twice(stores: Stores, ann: int, bob: int, eve: int) -> None:
    passage = share(stores, ann)
    number = proposed(stores, bob, "modify", passage)
    share(stores, ann, TEN)
    before = findable(stores.database)
    _, receipt = Proposals(stores.database).accept(eve, number)
    assert list(stores.texts(SHARED).values()) == [TEN]
    stores.knowledge.undo(eve, receipt)
    assert findable(stores.database) == before


@pytest.mark.parametrize("action", ACTIONS)
def test_two_users_who_agree_change_nothing_and_neither_accepts(
    stores: Stores, ann: int, bob: int, eve: int, action: str
) -> None:
    passage = share(stores, eve)
    rest = share(stores, eve, "The lift works.")
    number = proposed(stores, ann, action, passage)
    assert contradict(stores, bob, action, passage).proposal_id is None  # it is proposed already
    for user in (ann, bob):
        with pytest.raises(WrongUsage, match="you stated yourself"):
            Proposals(stores.database).accept(user, number)
    assert set(stores.texts(SHARED).values()) == {NINE, "The lift works."}
    Proposals(stores.database).accept(eve, number)  # a person's act, on this passage alone
    assert shared(stores).keys() == ({passage, rest} if action == "modify" else {rest})


# What changed since -----------------------------------------------------------------------------


def refuses(stores: Stores, user: int, number: int, match: str) -> None:
    """Accepting fails, says why and what to do, and leaves all as it was."""
    before = findable(stores.database), rows(stores)
    with pytest.raises(CannotAccept, match=match) as refused:
        Proposals(stores.database).accept(user, number)
    assert f"--refuse {number}" in refused.value.hint
    assert (findable(stores.database), rows(stores)) == before
    Proposals(stores.database).refuse(user, number)


def rows(stores: Stores) -> list[Any]:
    with stores.database.reading() as sql:
        return [
            [tuple(row) for row in sql.execute(text(f"SELECT * FROM {table} ORDER BY id"))]
            for table in ("proposals", "receipts", "claims", "jobs")
        ]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_passage_that_was_changed_since_is_not_changed_again(
    stores: Stores, ann: int, bob: int, eve: int, action: str
) -> None:
    passage = share(stores, ann)
    number = proposed(stores, bob, action, passage)
    receipt = rewrite(stores, ann, passage, "The room opens at eight.")
    [told] = Proposals(stores.database).open()
    assert told.is_outdated
    assert NINE in (told.text, told.replaces)  # what it was about
    refuses(stores, eve, number, "has changed since")
    assert list(stores.texts(SHARED).values()) == ["The room opens at eight."]
    stores.knowledge.undo(ann, receipt)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("how", ["set aside", "undone", "forgotten"])
def test_a_passage_that_is_gone_is_not_changed(
    stores: Stores, ann: int, bob: int, eve: int, action: str, how: str
) -> None:
    passage = share(stores, ann)
    number = proposed(stores, bob, action, passage)
    if how == "set aside":
        stores.knowledge.set_aside(ann, [passage])
    elif how == "undone":
        stores.knowledge.undo(ann, stores.knowledge.receipts(ann)[-1].id)
    else:
        Forgetting(stores.database).forget(ann, [passage])
    assert Proposals(stores.database).open() == []
    if how == "forgotten":
        with pytest.raises(NotFound, match="no open proposal"):
            Proposals(stores.database).accept(eve, number)
    else:
        refuses(stores, eve, number, "is gone")
    assert stores.texts(SHARED) == {}


def test_a_passage_that_came_back_can_be_changed_as_proposed(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    passage = share(stores, ann)
    number = proposed(stores, bob, "modify", passage)
    receipt = stores.knowledge.set_aside(ann, [passage]).receipt_id
    stores.knowledge.undo(ann, receipt)
    Proposals(stores.database).accept(eve, number)
    assert list(stores.texts(SHARED).values()) == [TEN]


def test_a_removal_that_a_user_wished_is_of_what_they_read(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    passage, proposals = share(stores, ann), Proposals(stores.database)
    number = proposals.propose_removal(bob, passage)
    rewrite(stores, ann, passage, "The room opens at eight.")
    with pytest.raises(CannotAccept, match="has changed since"):
        proposals.accept(eve, number)
    assert proposals.propose_removal(bob, passage) == number  # wished again, of what stands there now
    [told] = proposals.open()
    assert (told.text, told.is_outdated) == ("The room opens at eight.", False)
    proposals.accept(eve, number)
    assert stores.texts(SHARED) == {}


def test_what_the_claim_was_decided_on_must_be_what_is_shared_when_it_is_proposed(
    stores: Stores, ann: int, bob: int
) -> None:
    passage = share(stores, ann)
    claims, turn = Claims(stores.database), tell(stores, bob, TEN)
    claims.put(bob, taken(stores, bob).id, turn, [new(TEN, about="world")], by="test")
    job, wanted = taken(stores, bob), change(stores, "modify", passage)
    rewrite(stores, ann, passage, "The room opens at eight.")
    decision = Decision(status="correct", confidence=0.9, scope="yours", action="add", proposed=wanted)
    with pytest.raises(Outdated):
        claims.decide(bob, job.id, job.subject_id, decision)
    assert (Proposals(stores.database).open(), stores.own_texts(bob)) == ([], {TEN})  # the message alone


# Proposed once, again, and taken back -------------------------------------------------------------


def test_the_same_change_is_proposed_once_and_not_again_once_refused(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    passage, proposals = share(stores, ann), Proposals(stores.database)
    number = proposed(stores, bob, "modify", passage)
    assert contradict(stores, ann, "modify", passage).proposal_id is None
    proposals.refuse(eve, number)
    assert contradict(stores, ann, "modify", passage).proposal_id is None
    assert proposals.open() == []


def test_of_a_passage_that_was_changed_since_the_claim_is_proposed_anew(
    stores: Stores, ann: int, bob: int, eve: int
) -> None:
    passage, proposals = share(stores, ann), Proposals(stores.database)
    first = proposed(stores, bob, "modify", passage)
    rewrite(stores, ann, passage, "The room opens at eight.")
    second = proposed(stores, ann, "modify", passage)
    assert second > first
    [told] = proposals.open()  # the first could be accepted no more
    assert (told.id, told.replaces) == (second, "The room opens at eight.")
    proposals.accept(eve, second)
    assert list(stores.texts(SHARED).values()) == [TEN]


def test_a_claim_that_was_proposed_to_be_added_can_be_proposed_as_a_change(
    stores: Stores, ann: int, bob: int
) -> None:
    from test_claims import state

    for user in (ann, bob):
        state(stores, user, TEN, about="world")
    passage = share(stores, ann)
    assert proposed(stores, bob, "modify", passage)
    assert [told.action for told in Proposals(stores.database).open()] == ["add", "modify"]


def test_who_takes_the_statement_back_takes_the_proposal_back(stores: Stores, ann: int, bob: int) -> None:
    passage = share(stores, ann)
    learned = contradict(stores, bob, "modify", passage)
    stores.knowledge.undo(bob, learned.receipt_id)
    assert Proposals(stores.database).open() == []


def test_an_offer_that_would_change_what_is_shared_is_taken_back_by_who_made_it(
    stores: Stores, ann: int, bob: int
) -> None:
    passage, claims, proposals = share(stores, ann), Claims(stores.database), Proposals(stores.database)
    claims.put_one(bob, new(TEN, about="world"), origin="share")
    job = taken(stores, bob)
    wanted = change(stores, "modify", passage)
    decision = Decision(status="correct", confidence=0.9, scope="yours", action="add", proposed=wanted)
    learned = claims.decide(bob, job.id, job.subject_id, decision)
    assert learned is not None
    assert shared_line(learned) == (
        "The shared memory says otherwise: the change is proposal 1 now, and somebody else decides. "
        "It stays yours."
    )
    [told] = proposals.of_user(bob)
    assert (told.reason, told.action) == ("share", "modify")
    assert proposals.withdraw(bob, told.id).text == TEN
    assert proposals.open() == []


# Forgetting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_accepted", [False, True])
@pytest.mark.parametrize("action", ACTIONS)
def test_no_proposal_keeps_the_words_of_a_passage_that_was_forgotten(
    stores: Stores, ann: int, bob: int, eve: int, action: str, is_accepted: bool
) -> None:
    canary = "Zq5f1e2d3c4b5a69788796a5b4"
    passage, proposals = share(stores, ann, f"{NINE} Ask {canary}."), Proposals(stores.database)
    number = proposed(stores, bob, action, passage, to=f"{TEN} Ask {canary}.")
    left, forgetting = [], Forgetting(stores.database)
    if is_accepted:
        proposals.accept(eve, number)
    if is_accepted and action == "modify":  # the version of now is eve's
        forgetting.forget(eve, [passage])
        left = ["passage_versions", "receipts"]  # what ann wrote is hers
    else:
        forgetting.forget(ann, [passage])
    forgetting.compact()
    assert sorted(set(tables_holding(stores.database, canary)) - {"pg_stats"}) == left
    assert proposals.open() == []


def test_forgetting_the_claim_ends_its_proposal(stores: Stores, ann: int, bob: int, eve: int) -> None:
    passage = share(stores, ann)
    proposed(stores, bob, "modify", passage)
    Forgetting(stores.database).forget_everything(bob)
    assert Proposals(stores.database).open() == []
    assert list(stores.texts(SHARED).values()) == [NINE]


# As it is told ------------------------------------------------------------------------------------


def test_the_commands_tell_what_would_change_and_do_it(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.data.mkdir(parents=True)
    stores = Stores.fresh(vouch.data)
    name = "ann"  # as whom the command runs
    stores.journal.user_id(name)
    bob, eve = (stores.journal.user_id(each) for each in ("bob", "eve"))
    opens, lift = share(stores, eve), share(stores, eve, "The lift works.")
    proposed(stores, bob, "modify", opens)
    proposed(stores, bob, "delete", lift, words="There is no lift any more.")
    stores.database.close()
    vouch.set(f'[memory]\ncurators = "{name}"\n')
    change, removal = vouch.run("memory", "proposals").cells
    assert change == ["1", "change", f"change of: {NINE} → {TEN}"]
    why = "There is no lift any more."
    assert removal == ["2", "change", f"removal of: The lift works., because of: {why}"]
    [as_object, _] = vouch.run("memory", "proposals", "--json").objects
    told = {key: as_object[key] for key in ("action", "text", "replaces", "because", "changed_since")}
    assert told == {
        "action": "modify",
        "text": TEN,
        "replaces": NINE,
        "because": "",
        "changed_since": False,
    }
    done = vouch.run("memory", "proposals", "--accept", "1").cells
    assert done == [["1", "accepted", f"changed shared passage {opens}"]]
    assert vouch.run("memory", "proposals", "--accept", "2").cells[0][2] == f"removed shared passage {lift}"
    assert vouch.run("memory", "proposals", code=1).cells == []


def test_a_notice_tells_what_was_proposed(stores: Stores, ann: int, bob: int) -> None:
    passage, lift = share(stores, ann), share(stores, ann, "The lift works.")
    line = learned_line(contradict(stores, bob, "modify", passage), "/undo")
    assert line.endswith("A change of the shared memory is proposed, as proposal 1.")
    line = learned_line(contradict(stores, bob, "delete", lift), "/undo")
    assert line.endswith("A removal from the shared memory is proposed, as proposal 2.")
