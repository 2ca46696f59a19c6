"""What a user can see of what is known: the shared passages and their own, and nobody else's."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from store_fixtures import Stores, document, passages_by_text

from stores.base.errors import NotFound
from stores.base.passages import own_space
from stores.conversation.journal import FoundPassage, Judged, Outcome


def test_lines_are_filtered_by_scope_kind_words_and_time_newest_first(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "a shared cat", title="T"))
    stores.say(ann, "my cat, 100% mine")
    stores.knowledge.remember(ann, "a note of dogs")
    lines = stores.catalogue.lines

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


def test_words_are_looked_for_in_either_case_in_every_script(stores: Stores, ann: int) -> None:
    for note in ("Äpfel und ÖL", "яблоки", "nul\0 caf\udce9"):
        stores.knowledge.remember(ann, note)

    def texts(query: str) -> list[str]:
        return [line.text for line in stores.catalogue.lines(ann, query=query)]

    assert texts("äpfel öl") == texts("ÄPFEL") == ["Äpfel und ÖL"]
    assert texts("ЯБЛОКИ") == ["яблоки"]
    assert texts("nul\0") == texts("caf\udce9") == ["nul\ufffd caf?"]


def test_a_version_is_shown_live_or_not(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    stores.add(ann, document("a.txt", "dog"))
    found = stores.catalogue.passages_of(ann, [1, 2, 3])
    assert {i: (passage.text, is_live) for i, (passage, is_live) in found.items()} == {
        1: ("cat", False),
        2: ("dog", True),
    }
    assert found[1][0].source == "a.txt"


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
    mine, his = (stores.catalogue.history(user, passage) for user in (ann, bob))
    assert (mine.answers, mine.judged_helpful, mine.judged_useless) == (1, 1, 0)
    assert [r.id for r in mine.receipts] == [receipt]
    assert (his.answers, his.judged_helpful, his.receipts) == (0, 0, ())


def test_another_users_passages_are_not_there(stores: Stores, ann: int, bob: int) -> None:
    note, _ = stores.knowledge.remember(ann, "ann's cat")
    [version] = stores.texts(own_space(ann))
    for look in (
        lambda: stores.catalogue.line(bob, note),
        lambda: stores.catalogue.history(bob, note),
    ):
        with pytest.raises(NotFound) as refused:
            look()
        assert "cat" not in str(refused.value)
    assert stores.catalogue.lines(bob) == []
    assert stores.catalogue.own_passages(bob) == []
    assert stores.catalogue.passages_of(bob, [version]) == {}
    assert stores.catalogue.counts(bob) == (0, 0)
    assert stores.exported(bob, "all") == []


def test_what_was_only_said_does_not_count_as_a_memory(stores: Stores, ann: int) -> None:
    stores.knowledge.remember(ann, "ann's cat")
    stores.journal.accept(ann, stores.journal.open_session(ann), "Hello there", parts=["Hello there"])
    assert stores.catalogue.counts(ann) == (1, 0)
