"""Passages and documents: each write is one receipt, and taking it back gives back what was there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_fixtures import (
    ENCODER,
    Stores,
    assert_words_are_exact,
    document,
    fake_encode,
    findable,
    fresh_database,
)

from stores.database import Database
from stores.errors import CannotUndo, NotFound
from stores.journal import FoundPassage, Judged, Outcome
from stores.knowledge import Stored
from stores.records import SHARED, own_space


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = Stores.fresh(tmp_path)
    yield opened
    opened.database.close()


@pytest.fixture
def ann(stores: Stores) -> int:
    return stores.journal.user_id("ann")


@pytest.fixture
def bob(stores: Stores) -> int:
    return stores.journal.user_id("bob")


def seen(stores: Stores, user: int) -> dict[str, Any]:
    """All that can be found, and what searches by words and by meaning answer."""
    space = stores.spaces().of(user)
    query = fake_encode(["cat"])[0]
    found = findable(stores.database)
    vectors = sorted(row[:1] + row[1:] for row in found.pop("vectors"))
    return found | {
        "vectors": vectors,
        "nearest": space.nearest(query, 100),
        "matching": space.matching("cat dog owl elk", 100),
        "scores": space.word_scores("cat dog owl elk", list(range(1, 30))),
    }


def passages_by_text(stores: Stores) -> dict[str, int]:
    return {row["text"]: row["passage"] for row in findable(stores.database)["texts"]}


# Documents


def test_a_new_document_is_found_with_its_words_vectors_and_place(stores: Stores, ann: int) -> None:
    receipt, outcome = stores.add(ann, document("a.txt", "a cat", "a dog", title="Pets"))
    assert outcome == {"a.txt": Stored(1, "new", 2)}
    found = findable(stores.database)
    assert [(row["title"], row["text"], row["position"]) for row in found["texts"]] == [
        ("Pets", "a cat", 0),
        ("Pets", "a dog", 1),
    ]
    assert found["vectors"][1][3] == fake_encode(["Pets\na dog"]).tobytes()
    assert [(r.id, r.action, r.space) for r in stores.knowledge.receipts(ann)] == [(receipt, "add", SHARED)]
    assert stores.knowledge.counts(ann) == (0, 2)


def test_the_same_content_twice_is_one_document(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "a cat"))
    before = findable(stores.database)
    plan = stores.knowledge.plan(SHARED, [document("a.txt", "a cat"), document("copy.txt", "a cat")])
    assert plan.changed == []
    assert plan.same == {"a.txt": 1, "copy.txt": 1}
    assert stores.add(ann, document("copy.txt", "a cat"))[1] == {}
    assert findable(stores.database) == before


def test_the_same_content_twice_in_one_list_is_one_document(stores: Stores, ann: int) -> None:
    _, outcome = stores.add(ann, document("a.txt", "a cat"), document("copy.txt", "a cat"))
    assert outcome == {"a.txt": Stored(1, "new", 1)}


def test_the_same_content_in_two_spaces_is_two_documents(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "a cat"))
    _, outcome = stores.add(ann, document("a.txt", "a cat"), space=own_space(ann))
    assert outcome["a.txt"].change == "new"
    assert stores.knowledge.counts(ann) == (1, 1)


def test_a_changed_document_keeps_the_passage_ids_of_unchanged_texts(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    before = passages_by_text(stores)
    _, outcome = stores.add(ann, document("a.txt", "elk", "owl", "cat"))
    after = passages_by_text(stores)
    assert outcome == {"a.txt": Stored(1, "replaced", 3)}
    assert after["owl"] == before["owl"]
    assert after["cat"] == before["cat"]
    assert after["elk"] == before["dog"]  # the one that is left over
    assert [v.number for v in stores.knowledge.history(ann, before["dog"]).versions] == [1, 2]


def test_equal_texts_of_one_document_are_matched_one_to_one(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "cat"))
    before = [row["passage"] for row in findable(stores.database)["texts"]]
    stores.add(ann, document("a.txt", "cat", "cat", "cat"))
    after = [row["passage"] for row in findable(stores.database)["texts"]]
    assert after[:2] == before
    assert len(set(after)) == 3


def test_passages_that_a_shorter_document_no_longer_has_are_tombstones(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    gone = passages_by_text(stores)["owl"]
    stores.add(ann, document("a.txt", "cat", "dog"))
    assert set(stores.texts().values()) == {"cat", "dog"}
    with pytest.raises(NotFound):
        stores.knowledge.line(ann, gone)
    history = stores.knowledge.history(ann, gone)
    assert history.is_forgotten
    assert history.passage.text == "owl"
    assert_words_are_exact(stores.database)


def test_a_document_that_becomes_the_copy_of_another_loses_what_it_held(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"), document("b.txt", "dog"), document("c.txt", "owl"))
    before = seen(stores, ann)
    receipt, outcome = stores.add(ann, document("a.txt", "dog"))
    assert outcome == {"a.txt": Stored(2, "same", 1)}
    assert set(stores.texts().values()) == {"dog", "owl"}
    stores.knowledge.undo(ann, receipt)
    assert seen(stores, ann) == before
    stores.add(ann, document("a.txt", "elk"), document("c.txt", "elk"))  # both at once
    assert sorted(stores.texts().values()) == ["dog", "elk"]


def test_a_document_without_passages_is_known(stores: Stores, ann: int) -> None:
    assert stores.add(ann, document("empty.txt"))[1] == {"empty.txt": Stored(1, "new", 0)}
    assert stores.add(ann, document("empty.txt"))[1] == {}


def test_storing_a_plan_is_all_or_nothing(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    before = findable(stores.database)
    plan = stores.knowledge.plan(SHARED, [document("a.txt", "dog"), document("b.txt", "owl", "elk")])
    receipt = stores.knowledge.open_receipt(ann, SHARED, "torn")
    with pytest.raises(IndexError):  # one vector too few
        stores.knowledge.store(plan, fake_encode(["dog", "owl"]), encoder_version=ENCODER, receipt_id=receipt)
    assert findable(stores.database) == before


def test_one_plan_stored_by_two_at_once_is_stored_once(tmp_path: Path) -> None:
    first = Stores.fresh(tmp_path)
    ann = first.journal.user_id("ann")
    first.add(ann, document("a.txt", "old"))
    both = [first, Stores.over(Database.at(tmp_path))]
    documents = [document("a.txt", "cat", "dog"), document("b.txt", "owl")]
    plans = [each.knowledge.plan(SHARED, documents) for each in both]
    receipts = [each.knowledge.open_receipt(ann, SHARED, "raced") for each in both]
    vectors = fake_encode(plans[0].texts_to_encode())
    outcomes: list[dict[str, Stored]] = []
    barrier = threading.Barrier(2)

    def store(number: int) -> None:
        barrier.wait()
        outcomes.append(
            both[number].knowledge.store(
                plans[number], vectors, encoder_version=ENCODER, receipt_id=receipts[number]
            )
        )

    threads = [threading.Thread(target=store, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome["a.txt"].change for outcome in outcomes) == ["replaced", "same"]
    assert sorted(outcome["b.txt"].change for outcome in outcomes) == ["new", "same"]
    assert sorted(first.texts().values()) == ["cat", "dog", "owl"]
    assert_words_are_exact(first.database)
    for each in both:
        each.database.close()


# Forgetting


def test_what_is_forgotten_is_found_by_no_search(stores: Stores, ann: int) -> None:
    note, _ = stores.knowledge.remember(ann, "the cat sleeps")
    stores.indexer().catch_up()
    forgotten = stores.knowledge.forget(ann, [note])
    space = stores.spaces().of(ann)
    assert [line.text for line in forgotten.lines] == ["the cat sleeps"]
    assert space.matching("cat", 10) == []
    assert space.nearest(fake_encode(["the cat sleeps"])[0], 10) == []
    assert stores.knowledge.lines(ann) == []
    assert_words_are_exact(stores.database)


def test_forgetting_names_the_turns_that_still_show_the_words(stores: Stores, ann: int) -> None:
    stores.say(ann, "my cat is Tom")
    note, _ = stores.knowledge.remember(ann, "a note of no turn")
    [said] = [line.passage_id for line in stores.knowledge.lines(ann, kind="message")]
    assert stores.knowledge.forget(ann, [said, note]).turns == (stores.journal.last_turn(ann).id,)


def test_all_are_forgotten_or_none(stores: Stores, ann: int, bob: int) -> None:
    note, _ = stores.knowledge.remember(ann, "mine")
    foreign, _ = stores.knowledge.remember(bob, "his")
    before = findable(stores.database)
    for wrong in (foreign, 999):
        with pytest.raises(NotFound):
            stores.knowledge.forget(ann, [note, wrong])
    assert findable(stores.database) == before


def test_a_shared_passage_is_forgotten_only_by_who_added_it(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    note, _ = stores.knowledge.remember(bob, "his note")
    shared = passages_by_text(stores)["cat"]
    before = findable(stores.database)
    with pytest.raises(NotFound, match="was added by ann"):
        stores.knowledge.forget(bob, [note, shared])
    assert findable(stores.database) == before
    stores.knowledge.forget(ann, [shared])
    assert stores.texts() == {}


# Undo


def test_undoing_an_addition_gives_back_what_was_there(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.knowledge.remember(ann, "my dog")
    stores.indexer().catch_up()
    before = seen(stores, ann)
    stores.add(ann, document("b.txt", "dog", "owl"))
    _, back = stores.knowledge.undo(ann)
    assert back == []
    assert seen(stores, ann) == before
    stores.add(ann, document("b.txt", "dog", "owl"))  # and it can be added again
    assert sorted(stores.texts().values()) == ["cat", "dog", "owl"]


def test_undoing_a_replacement_gives_back_what_was_there(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    before = seen(stores, ann)
    receipt, _ = stores.add(ann, document("a.txt", "elk", "cat"))
    undone, back = stores.knowledge.undo(ann)
    assert undone.id == receipt
    assert {line.text for line in back} == {"cat", "dog", "owl"}
    assert seen(stores, ann) == before
    assert stores.knowledge.plan(SHARED, [document("a.txt", "cat", "dog", "owl")]).changed == []


def test_undoing_a_forgetting_gives_back_what_was_there(stores: Stores, ann: int) -> None:
    stores.say(ann, "my cat is Tom", "my dog is Rex")
    stores.knowledge.remember(ann, "a cat note")
    stores.indexer().catch_up()
    spaces = stores.spaces()
    query = fake_encode(["my cat is Tom"])[0]
    before, nearest = seen(stores, ann), spaces.of(ann).nearest(query, 10)
    forgotten = stores.knowledge.forget(ann, stores.knowledge.own_passages(ann))
    assert spaces.of(ann).nearest(query, 10) == []
    _, back = stores.knowledge.undo(ann, forgotten.receipt_id)
    assert len(back) == 3
    assert seen(stores, ann) == before
    assert spaces.of(ann).nearest(query, 10) == nearest  # also where the vectors were in memory


def test_undoing_everything_backwards_gives_back_each_state(stores: Stores, ann: int) -> None:
    states = [seen(stores, ann)]
    stores.add(ann, document("a.txt", "cat", "dog"))
    states.append(seen(stores, ann))
    stores.add(ann, document("a.txt", "dog", "owl", "elk"))
    states.append(seen(stores, ann))
    stores.knowledge.forget(ann, [passages_by_text(stores)["owl"]])
    states.append(seen(stores, ann))
    stores.add(ann, document("a.txt", "cat"))
    states.append(seen(stores, ann))
    while len(states) > 1:
        assert seen(stores, ann) == states.pop()
        stores.knowledge.undo(ann)
        assert_words_are_exact(stores.database)
    assert seen(stores, ann) == states.pop()
    with pytest.raises(NotFound, match="nothing to undo"):
        stores.knowledge.undo(ann)


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


def test_a_forgotten_passage_cannot_come_back_into_a_document_replaced_since(
    stores: Stores, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    forgotten = stores.knowledge.forget(ann, [passages_by_text(stores)["cat"]])
    replaced, _ = stores.add(ann, document("a.txt", "owl", "elk"))
    with pytest.raises(CannotUndo):
        stores.knowledge.undo(ann, forgotten.receipt_id)
    stores.knowledge.undo(ann, replaced)
    stores.knowledge.undo(ann, forgotten.receipt_id)
    assert set(stores.texts().values()) == {"cat", "dog"}


def test_undoing_a_forgetting_brings_back_nothing_whose_addition_was_undone(stores: Stores, ann: int) -> None:
    note, added = stores.knowledge.remember(ann, "my cat")
    forgotten = stores.knowledge.forget(ann, [note])
    stores.knowledge.undo(ann, added)
    _, back = stores.knowledge.undo(ann, forgotten.receipt_id)
    assert back == []
    assert stores.own_texts(ann) == set()


def test_a_replacement_whose_text_was_forgotten_never_leaves_two_versions_of_a_passage(
    stores: Stores, ann: int
) -> None:
    stores.add(ann, document("a.txt", "cat"))
    replaced, _ = stores.add(ann, document("a.txt", "dog"))
    forgotten = stores.knowledge.forget(ann, [passages_by_text(stores)["dog"]])
    stores.knowledge.undo(ann, replaced)
    stores.knowledge.undo(ann, forgotten.receipt_id)
    assert list(stores.texts().values()) == ["cat"]


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
        st.tuples(st.just("forget"), st.integers(0, 5), st.just([])),
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
            lines = stores.knowledge.lines(ann)
            if not lines:
                continue
            receipt = stores.knowledge.forget(ann, [lines[what % len(lines)].passage_id]).receipt_id
        states.append((receipt, before))
        live = [row["passage"] for row in findable(stores.database)["texts"]]
        assert len(live) == len(set(live))  # one live version a passage
    for receipt, before in reversed(states):
        stores.knowledge.undo(ann, receipt)
        assert seen(stores, ann) == before
        assert_words_are_exact(stores.database)
    stores.database.close()


# Whose it is


def test_another_users_receipts_and_passages_are_not_there(stores: Stores, ann: int, bob: int) -> None:
    note, receipt = stores.knowledge.remember(ann, "ann's cat")
    [version] = stores.texts(own_space(ann))
    before = findable(stores.database)
    for look in (
        lambda: stores.knowledge.line(bob, note),
        lambda: stores.knowledge.history(bob, note),
        lambda: stores.knowledge.forget(bob, [note]),
        lambda: stores.knowledge.undo(bob, receipt),
        lambda: stores.knowledge.undo(bob),
    ):
        with pytest.raises(NotFound) as refused:
            look()
        assert "cat" not in str(refused.value)
    assert stores.knowledge.lines(bob) == []
    assert stores.knowledge.own_passages(bob) == []
    assert stores.knowledge.receipts(bob) == []
    assert stores.knowledge.passages_of(bob, [version]) == {}
    assert stores.knowledge.counts(bob) == (0, 0)
    assert list(stores.knowledge.export(bob, scope="all")) == []
    assert findable(stores.database) == before


def test_history_counts_only_the_uses_and_shows_only_the_receipts_of_its_reader(
    stores: Stores, ann: int, bob: int
) -> None:
    receipt, _ = stores.add(ann, document("a.txt", "cat"))
    [version] = stores.texts()
    session = stores.journal.open_session(ann)
    turn = stores.journal.accept(ann, session, "cats?", parts=["cats?"]).turn_id
    found = FoundPassage(
        version_id=version,
        found_rank=1,
        dense=0.5,
        lexical=1.0,
        lift=0.0,
        score=0.7,
        final_rank=1,
        citation=1,
    )
    judged = Judged(
        version_id=version, judge="j", label="answer", score=1, found_rank=1, tokens_in=1, tokens_out=1
    )
    stores.journal.finish(turn, Outcome(state="done", query="cats?", found=[found], judged=[judged]))
    passage = passages_by_text(stores)["cat"]
    mine, his = (stores.knowledge.history(user, passage) for user in (ann, bob))
    assert (mine.answers, mine.judged_helpful, mine.judged_useless) == (1, 1, 0)
    assert [r.id for r in mine.receipts] == [receipt]
    assert (his.answers, his.judged_helpful, his.receipts) == (0, 0, ())


# Looking


def test_lines_are_filtered_by_scope_kind_words_and_time_newest_first(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "a shared cat", title="T"))
    stores.say(ann, "my cat, 100% mine")
    stores.knowledge.remember(ann, "a note of dogs")
    lines = stores.knowledge.lines

    def texts(**how: Any) -> list[str]:
        return [line.text for line in lines(ann, **how)]

    assert texts() == ["a note of dogs", "my cat, 100% mine", "a shared cat"]
    assert texts(limit=1) == ["a note of dogs"]
    assert texts(scope="shared") == ["a shared cat"]
    assert texts(scope="yours") == ["a note of dogs", "my cat, 100% mine"]
    assert texts(kind="note") == ["a note of dogs"]
    assert texts(query="MINE cat") == ["my cat, 100% mine"]
    assert texts(query="100%") == ["my cat, 100% mine"]
    assert texts(query="%") == ["my cat, 100% mine"]  # a character as others, no pattern
    assert texts(query="_") == []
    newest = lines(ann)[0].created_at
    assert texts(since=newest) == ["a note of dogs"]
    assert texts(since=newest + timedelta(seconds=1)) == []


def test_a_version_is_shown_live_or_not(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.add(ann, document("a.txt", "dog"))
    found = stores.knowledge.passages_of(ann, [1, 2, 3])
    assert {i: (passage.text, is_live) for i, (passage, is_live) in found.items()} == {
        1: ("cat", False),
        2: ("dog", True),
    }
    assert found[1][0].source == "a.txt"


# Export and import


def test_what_is_exported_can_be_imported_whole(stores: Stores, ann: int, bob: int) -> None:
    stores.say(ann, "my cat is Tom", 'ünï 東京 "quoted"\nnew line')
    stores.knowledge.remember(ann, "a note")
    exported = list(stores.knowledge.export(ann))
    entries = [(entry["kind"], entry["title"], entry["text"]) for entry in exported]
    assert stores.knowledge.import_own(bob, entries) == (3, 0)
    again = [(entry["kind"], entry["title"], entry["text"]) for entry in stores.knowledge.export(bob)]
    assert again == entries
    assert stores.spaces().of(bob).matching("tom", 10)
    assert_words_are_exact(stores.database)


def test_importing_again_adds_nothing_and_one_undo_takes_it_all_back(stores: Stores, ann: int) -> None:
    entries = [("note", "", "cat"), ("note", "", "dog"), ("note", "", "cat"), ("note", "T", "cat")]
    before = findable(stores.database)
    assert stores.knowledge.import_own(ann, entries) == (3, 1)
    assert stores.knowledge.import_own(ann, entries) == (0, 4)
    assert len(stores.knowledge.receipts(ann)) == 1
    stores.knowledge.undo(ann)
    assert findable(stores.database) == before
    assert stores.knowledge.import_own(ann, entries) == (3, 1)  # what is forgotten is not known
