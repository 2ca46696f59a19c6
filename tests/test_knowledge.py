"""Remembering and setting aside: each write is one receipt, and taking it back gives back what was there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_fixtures import (
    Stores,
    assert_words_are_exact,
    document,
    fake_encode,
    findable,
    fresh_database,
    passages_by_text,
    seen,
)

from stores.base.clock import now
from stores.base.errors import CannotUndo, NotFound
from stores.base.passages import SHARED, own_space
from stores.database.tables import Receipt, StatedClaim
from stores.versions.changes import NewVersion, add_versions
from stores.versions.passage_lines import PassageLine
from stores.versions.receipts import open_receipt

# Setting aside


def test_what_is_set_aside_is_found_by_no_search(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "the cat sleeps")
    stores.indexer().catch_up()
    aside = stores.knowledge.set_aside(ann, [note])
    space = stores.spaces().of(ann)
    assert [line.text for line in aside.lines] == ["the cat sleeps"]
    assert space.matching("cat", 10) == []
    assert space.nearest(fake_encode(["the cat sleeps"])[0], 10) == []
    assert stores.catalogue.lines(ann) == []
    assert_words_are_exact(stores.database)


def test_what_is_set_aside_has_the_summary_that_it_was_given(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "the cat sleeps")
    stores.knowledge.set_aside(ann, [note], summary="weighed and found wrong")
    assert stores.knowledge.receipts(ann)[0].summary == "weighed and found wrong"


def test_all_are_set_aside_or_none(stores: Stores, ann: int, bob: int) -> None:
    note, _ = stores.knowledge.remember(ann, "mine")
    foreign, _ = stores.knowledge.remember(bob, "his")
    before = findable(stores.database)
    for wrong in (foreign, 999):
        with pytest.raises(NotFound):
            stores.knowledge.set_aside(ann, [note, wrong])
    assert findable(stores.database) == before


def test_a_shared_passage_is_set_aside_only_by_who_added_it(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    note, _ = stores.knowledge.remember(bob, "his note")
    shared = passages_by_text(stores)["cat"]
    before = findable(stores.database)
    with pytest.raises(NotFound, match="was added by ann"):
        stores.knowledge.set_aside(bob, [note, shared])
    assert findable(stores.database) == before
    stores.knowledge.set_aside(ann, [shared])
    assert stores.texts() == {}


# Undo


def undo_newest(stores: Stores, user: int) -> tuple[Receipt, list[PassageLine]]:
    """Undoes the latest write by its number, as a shared one has to be."""
    newest = next(iter(stores.knowledge.receipts(user)), None)
    return stores.knowledge.undo(user, newest.id if newest else None)


def test_undoing_an_addition_gives_back_what_was_there(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.knowledge.remember(ann, "my dog")
    stores.indexer().catch_up()
    before = seen(stores, ann)
    stores.add(ann, document("b.txt", "dog", "owl"))
    _, back = undo_newest(stores, ann)
    assert back == []
    assert seen(stores, ann) == before
    stores.add(ann, document("b.txt", "dog", "owl"))  # and it can be added again
    assert sorted(stores.texts().values()) == ["cat", "dog", "owl"]


def test_undoing_a_replacement_gives_back_what_was_there(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    before = seen(stores, ann)
    receipt, _ = stores.add(ann, document("a.txt", "elk", "cat"))
    undone, back = undo_newest(stores, ann)
    assert undone.id == receipt
    assert {line.text for line in back} == {"cat", "dog", "owl"}
    assert seen(stores, ann) == before
    assert stores.stored_documents.plan(SHARED, [document("a.txt", "cat", "dog", "owl")]).changed == []


def test_undoing_a_setting_aside_gives_back_what_was_there(stores: Stores, ann: int) -> None:
    stores.say(ann, "my cat is Tom", "my dog is Rex")
    stores.knowledge.remember(ann, "a cat note")
    stores.indexer().catch_up()
    spaces = stores.spaces()
    query = fake_encode(["my cat is Tom"])[0]
    before, nearest = seen(stores, ann), spaces.of(ann).nearest(query, 10)
    aside = stores.knowledge.set_aside(ann, stores.catalogue.own_passages(ann))
    assert spaces.of(ann).nearest(query, 10) == []
    _, back = stores.knowledge.undo(ann, aside.receipt_id)
    assert len(back) == 3
    assert seen(stores, ann) == before
    assert spaces.of(ann).nearest(query, 10) == nearest  # also where the vectors were in memory


def test_undoing_everything_backwards_gives_back_each_state(stores: Stores, ann: int) -> None:
    states = [seen(stores, ann)]
    stores.add(ann, document("a.txt", "cat", "dog"))
    states.append(seen(stores, ann))
    stores.add(ann, document("a.txt", "dog", "owl", "elk"))
    states.append(seen(stores, ann))
    stores.knowledge.set_aside(ann, [passages_by_text(stores)["owl"]])
    states.append(seen(stores, ann))
    stores.add(ann, document("a.txt", "cat"))
    states.append(seen(stores, ann))
    while len(states) > 1:
        assert seen(stores, ann) == states.pop()
        undo_newest(stores, ann)
        assert_words_are_exact(stores.database)
    assert seen(stores, ann) == states.pop()
    with pytest.raises(NotFound, match="nothing to undo"):
        undo_newest(stores, ann)


def test_a_write_cannot_be_undone_before_the_one_that_replaced_it(stores: Stores, ann: int) -> None:
    first, _ = stores.add(ann, document("a.txt", "cat"))
    second, _ = stores.add(ann, document("a.txt", "dog"))
    before = findable(stores.database)
    with pytest.raises(CannotUndo) as refused:
        stores.knowledge.undo(ann, first)
    assert refused.value.hint.endswith(f"vouch memory undo {second}")
    assert findable(stores.database) == before
    stores.knowledge.undo(ann, second)
    stores.knowledge.undo(ann, first)
    assert stores.texts() == {}


def test_a_passage_set_aside_cannot_come_back_into_a_document_replaced_since(
    stores: Stores, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    aside = stores.knowledge.set_aside(ann, [passages_by_text(stores)["cat"]])
    replaced, _ = stores.add(ann, document("a.txt", "owl", "elk"))
    with pytest.raises(CannotUndo):
        stores.knowledge.undo(ann, aside.receipt_id)
    stores.knowledge.undo(ann, replaced)
    stores.knowledge.undo(ann, aside.receipt_id)
    assert set(stores.texts().values()) == {"cat", "dog"}


def test_undoing_a_setting_aside_brings_back_nothing_whose_addition_was_undone(
    stores: Stores, ann: int
) -> None:
    note, added = stores.knowledge.remember(ann, "my cat")
    aside = stores.knowledge.set_aside(ann, [note])
    stores.knowledge.undo(ann, added)
    _, back = stores.knowledge.undo(ann, aside.receipt_id)
    assert back == []
    assert stores.own_texts(ann) == set()


def test_a_replacement_whose_text_was_set_aside_never_leaves_two_versions_of_a_passage(
    stores: Stores, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat"))
    replaced, _ = stores.add(ann, document("a.txt", "dog"))
    aside = stores.knowledge.set_aside(ann, [passages_by_text(stores)["dog"]])
    stores.knowledge.undo(ann, replaced)
    stores.knowledge.undo(ann, aside.receipt_id)
    assert list(stores.texts().values()) == ["cat"]


def test_a_receipt_under_which_nothing_was_written_is_never_what_is_undone(stores: Stores, ann: int) -> None:
    stores.knowledge.remember(ann, "The cat is called Ada.")
    stores.stored_documents.open_receipt(ann, SHARED, "an ingest that was killed before its first batch")
    assert [receipt.summary for receipt in stores.knowledge.receipts(ann)] == ["The cat is called Ada."]
    undone, _ = stores.knowledge.undo(ann)
    assert undone.summary == "The cat is called Ada."


def test_a_shared_write_is_undone_only_by_its_number(stores: Stores, ann: int) -> None:
    stores.add(ann, document("rules", "The room opens at ten."))
    with pytest.raises(CannotUndo, match="shared with every user"):
        stores.knowledge.undo(ann)
    newest = stores.knowledge.receipts(ann)[0].id
    assert stores.knowledge.undo(ann, newest)[0].undone_at is not None


def said_and_learned(stores: Stores, user: int, session: int, *facts: str, shared: str = "") -> list[int]:
    """A message, with a fact, a claim and a receipt for each of its sentences; the receipts' ids."""
    turn = stores.journal.accept(user, session, " ".join(facts), parts=facts).turn_id
    receipts = []
    for number, fact in enumerate(facts, start=1):
        space = SHARED if fact == shared else own_space(user)
        with stores.database.writing() as sql:
            receipt = open_receipt(sql, user, "add", space, fact, turn_id=turn)
            add_versions(sql, space, [NewVersion(text=fact, kind="fact")], author="t", receipt_id=receipt)
            claim = {"kind": "fact", "about": "world", "state": "stored", "created_at": now()}
            sql.add(
                StatedClaim(
                    user_id=user,
                    turn_id=turn,
                    origin="turn",
                    number=number,
                    text=fact,
                    text_key=fact,
                    quote=fact,
                    receipt_id=receipt,
                    **claim,
                )
            )
        receipts.append(receipt)
    return receipts


def test_one_undo_takes_back_what_one_message_taught_newest_first(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann)
    said_and_learned(stores, ann, session, "one")
    two, three = said_and_learned(stores, ann, session, "two", "three")
    assert [receipt.id for receipt in stores.knowledge.latest(ann, session_id=session)] == [three, two]
    undone = stores.knowledge.undo_latest(ann, session_id=session)
    assert [receipt.id for receipt in undone.receipts] == [three, two]
    facts = {line.text for line in stores.catalogue.lines(ann, kind="fact")}
    assert facts == {"one"}
    assert_words_are_exact(stores.database)


def test_an_undo_of_a_session_reaches_no_other(stores: Stores, ann: int) -> None:
    there, here = stores.journal.open_session(ann), stores.journal.open_session(ann)
    said_and_learned(stores, ann, there, "there")
    _, note = stores.knowledge.remember(ann, "a note")
    assert stores.knowledge.latest(ann, session_id=here) == []
    with pytest.raises(NotFound, match="of this session"):
        stores.knowledge.undo_latest(ann, session_id=here)
    undone = stores.knowledge.undo_latest(ann, session_id=here, also=[note])
    assert [receipt.id for receipt in undone.receipts] == [note]


def test_what_a_message_taught_to_all_is_left_and_named(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann)
    own, shared = said_and_learned(stores, ann, session, "mine", "all's", shared="all's")
    undone = stores.knowledge.undo_latest(ann, session_id=session)
    assert ([r.id for r in undone.receipts], [r.id for r in undone.kept]) == ([own], [shared])
    assert "all's" in stores.texts().values()
    with pytest.raises(CannotUndo, match="shared with every user"):
        stores.knowledge.undo_latest(ann, session_id=session)


def test_what_was_changed_since_keeps_all_that_the_message_taught(stores: Stores, ann: int) -> None:
    session = stores.journal.open_session(ann)
    said_and_learned(stores, ann, session, "two", "three")
    passage = passages_by_text(stores)["two"]
    edited = stores.knowledge.edit(ann, passage, "two and a half")
    before = findable(stores.database)
    with pytest.raises(CannotUndo, match=f"since by receipt {edited}"):
        stores.knowledge.undo_latest(ann, session_id=session)
    assert findable(stores.database) == before


def test_nothing_is_undone_twice(stores: Stores, ann: int) -> None:
    _, receipt = stores.knowledge.remember(ann, "my cat")
    stores.knowledge.undo(ann, receipt)
    with pytest.raises(CannotUndo, match="already"):
        stores.knowledge.undo(ann, receipt)


ACTIONS = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"),
            st.sampled_from(["a.txt", "b.txt"]),
            st.lists(st.sampled_from(["cat", "dog", "owl", "elk"]), max_size=3),
        ),
        st.tuples(st.just("set aside"), st.integers(0, 5), st.just([])),
        st.tuples(st.just("remember"), st.sampled_from(["a cat", "a dog"]), st.just([])),
    ),
    max_size=6,
)


@given(actions=ACTIONS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_writes_are_undone_backwards_one_by_one(tmp_path: Path, actions: list[tuple[Any, ...]]) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    stores = Stores.over(fresh_database(tmp_path))
    ann = stores.journal.user_id("ann")
    states: list[tuple[int, dict[str, Any]]] = []
    for action, what, texts in actions:
        before = seen(stores, ann)
        if action == "add":
            receipt, outcome = stores.add(ann, document(what, *texts))
            assert set(outcome) <= {what}
        elif action == "remember":
            _, receipt = stores.knowledge.remember(ann, what)
            stores.indexer().catch_up()
        else:
            lines = stores.catalogue.lines(ann)
            if not lines:
                continue
            receipt = stores.knowledge.set_aside(ann, [lines[what % len(lines)].passage_id]).receipt_id
        states.append((receipt, before))
        live = [row["passage"] for row in findable(stores.database)["texts"]]
        assert len(live) == len(set(live))  # one live version a passage
    for receipt, before in reversed(states):
        stores.knowledge.undo(ann, receipt)
        assert seen(stores, ann) == before
        assert_words_are_exact(stores.database)
    stores.database.close()


# Whose it is


def test_another_users_passages_and_receipts_cannot_be_touched(stores: Stores, ann: int, bob: int) -> None:
    note, receipt = stores.knowledge.remember(ann, "ann's cat")
    before = findable(stores.database)
    for touch in (
        lambda: stores.knowledge.set_aside(bob, [note]),
        lambda: stores.knowledge.undo(bob, receipt),
        lambda: stores.knowledge.undo(bob),
    ):
        with pytest.raises(NotFound) as refused:
            touch()
        assert "cat" not in str(refused.value)
    assert stores.knowledge.receipts(bob) == []
    assert findable(stores.database) == before
