"""Stored documents: the same content is one document, and a changed one keeps what did not change."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from store_fixtures import (
    ENCODER,
    Stores,
    assert_words_are_exact,
    document,
    fake_encode,
    findable,
    passages_by_text,
    seen,
)

from stores.base.errors import CannotUndo, NotFound
from stores.base.passages import SHARED, own_space
from stores.database.database import Database
from stores.memory.documents import Stored


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
    assert stores.catalogue.counts(ann) == (0, 2)


def test_the_same_content_twice_is_one_document(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "a cat"))
    before = findable(stores.database)
    plan = stores.stored_documents.plan(SHARED, [document("a.txt", "a cat"), document("copy.txt", "a cat")])
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
    assert stores.catalogue.counts(ann) == (1, 1)


def test_a_changed_document_keeps_the_passage_ids_of_unchanged_texts(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", "owl"))
    before = passages_by_text(stores)
    _, outcome = stores.add(ann, document("a.txt", "elk", "owl", "cat"))
    after = passages_by_text(stores)
    assert outcome == {"a.txt": Stored(1, "replaced", 3)}
    assert after["owl"] == before["owl"]
    assert after["cat"] == before["cat"]
    assert after["elk"] == before["dog"]  # the one that is left over
    assert [v.number for v in stores.catalogue.history(ann, before["dog"]).versions] == [1, 2]


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
        stores.catalogue.line(ann, gone)
    history = stores.catalogue.history(ann, gone)
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
    plan = stores.stored_documents.plan(SHARED, [document("a.txt", "dog"), document("b.txt", "owl", "elk")])
    receipt = stores.stored_documents.open_receipt(ann, SHARED, "torn")
    with pytest.raises(IndexError):  # one vector too few
        stores.stored_documents.store(
            plan, fake_encode(["dog", "owl"]), encoder_version=ENCODER, receipt_id=receipt
        )
    assert findable(stores.database) == before


def test_one_plan_stored_by_two_at_once_is_stored_once(tmp_path: Path) -> None:
    first = Stores.fresh(tmp_path)
    ann = first.journal.user_id("ann")
    first.add(ann, document("a.txt", "old"))
    both = [first, Stores.over(Database.at(tmp_path))]
    documents = [document("a.txt", "cat", "dog"), document("b.txt", "owl")]
    plans = [each.stored_documents.plan(SHARED, documents) for each in both]
    receipts = [each.stored_documents.open_receipt(ann, SHARED, "raced") for each in both]
    vectors = fake_encode(plans[0].texts_to_encode())
    outcomes: list[dict[str, Stored]] = []
    barrier = threading.Barrier(2)

    def store(number: int) -> None:
        barrier.wait()
        outcomes.append(
            both[number].stored_documents.store(
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


def test_a_document_of_which_everything_was_forgotten_can_be_read_again(stores: Stores, ann: int) -> None:
    stores.add(ann, document("rules", "The room opens at ten."))
    stores.knowledge.set_aside(ann, [line.passage_id for line in stores.catalogue.lines(ann)])
    stores.add(ann, document("rules", "The room opens at ten."))
    assert list(stores.texts().values()) == ["The room opens at ten."]


def test_an_ingest_that_was_undone_while_it_ran_stores_nothing_more(stores: Stores, ann: int) -> None:
    receipt, _ = stores.add(ann, document("a", "One."))
    stores.knowledge.undo(ann, receipt)
    plan = stores.stored_documents.plan(SHARED, [document("b", "Two.")])
    with pytest.raises(CannotUndo, match="was undone"):
        stores.stored_documents.store(
            plan, fake_encode(plan.texts_to_encode()), encoder_version="fake", receipt_id=receipt
        )
    assert stores.texts() == {}
