"""What is told beside memories: origins, uses, marks, rounds, what is gone; and nothing of other users."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text
from store_fixtures import Stores, document

from stores.base.clock import now
from stores.claims.claims import Claims, NewClaim
from stores.conversation.journal import FoundPassage, Outcome
from stores.database.tables import LiveModel, ModelVersion, Round, Turn
from stores.forgetting.forgetting import Forgetting
from stores.memory.memory_rows import Beside, MemoryRows
from stores.memory.memory_uses import MemoryUses, Sent, Uses


@pytest.fixture
def rows(stores: Stores) -> MemoryRows:
    return MemoryRows(stores.database)


@pytest.fixture
def uses(stores: Stores) -> MemoryUses:
    return MemoryUses(stores.database)


def answered(
    stores: Stores, user: int, *versions: int, model: str = "m", details: dict[str, Any] | None = None
) -> int:
    """A turn that put these versions before the model, and found another one that it did not."""
    turn = stores.journal.accept(user, stores.journal.open_session(user), "why?", parts=[]).turn_id
    found = [
        FoundPassage(
            version_id=version,
            found_rank=rank,
            dense=0.5,
            lexical=1.0,
            lift=0.0,
            score=1.0,
            final_rank=rank,
            citation=rank,
        )
        for rank, version in enumerate(versions, start=1)
    ]
    outcome = Outcome(
        state="done",
        answer="So.",
        model=model,
        query="why?",
        encoder_version="e",
        found=found,
        details=details or {},
    )
    stores.journal.finish(turn, outcome)
    return turn


def version_of(stores: Stores, user: int, passage_id: int) -> int:
    return stores.catalogue.history(user, passage_id).versions[-1].id or 0


# Rows


def test_where_a_memory_is_from(stores: Stores, ann: int, bob: int, rows: MemoryRows) -> None:
    stores.add(ann, document("a.txt", "a shared cat"))
    session = stores.journal.open_session(ann)
    turn = stores.journal.accept(ann, session, "I like tea", parts=["I like tea"]).turn_id
    note, _ = stores.knowledge.remember(ann, "a note")
    fact, _ = stores.knowledge.remember(ann, "likes tea", kind="fact", turn_id=turn)
    stores.import_notes(ann, "from a file")
    imported = stores.catalogue.lines(ann, limit=1)[0].passage_id
    shared = stores.catalogue.lines(ann, scope="shared")[0].passage_id
    told = rows.beside(ann, [note, fact, imported, shared])
    assert told[note] == Beside(None, True, False, False, 0)
    assert told[fact] == Beside(turn, True, False, False, 0)
    assert told[imported].turn_id is None
    assert told[shared] == Beside(None, False, False, False, 0)
    assert rows.beside(bob, [note, fact, imported]) == {}
    assert set(rows.beside(bob, [shared])) == {shared}


def test_answers_are_turns_of_this_user_before_whose_model_any_version_was_put(
    stores: Stores, ann: int, bob: int, rows: MemoryRows
) -> None:
    stores.add(ann, document("a.txt", "a shared cat", "another"))
    cat, other = (line.passage_id for line in reversed(stores.catalogue.lines(ann)))
    cat_version = version_of(stores, ann, cat)
    note, _ = stores.knowledge.remember(ann, "tea")
    old = version_of(stores, ann, note)
    stores.knowledge.edit(ann, note, "milk")
    answered(stores, ann, cat_version, old)
    answered(stores, ann, cat_version, version_of(stores, ann, note))
    answered(stores, bob, cat_version)
    assert {i: told.answers for i, told in rows.beside(ann, [cat, note, other]).items()} == {
        cat: 2,
        note: 2,
        other: 0,
    }
    assert rows.beside(bob, [cat])[cat].answers == 1


def test_found_and_not_put_before_the_model_is_no_answer(stores: Stores, ann: int, rows: MemoryRows) -> None:
    note, _ = stores.knowledge.remember(ann, "tea")
    turn = stores.journal.accept(ann, stores.journal.open_session(ann), "why?", parts=[]).turn_id
    found = FoundPassage(
        version_id=version_of(stores, ann, note),
        found_rank=1,
        dense=0.5,
        lexical=1.0,
        lift=0.0,
        score=1.0,
        final_rank=1,
        citation=None,
    )
    stores.journal.finish(turn, Outcome(state="done", query="why?", encoder_version="e", found=[found]))
    assert rows.beside(ann, [note])[note].answers == 0


def test_what_waits_is_marked_for_its_user(stores: Stores, ann: int, rows: MemoryRows) -> None:
    note, _ = stores.knowledge.remember(ann, "tea")
    other, _ = stores.knowledge.remember(ann, "milk")
    claim = NewClaim(text="tea", quote="tea", kind="fact", about="world")
    Claims(stores.database).put_one(ann, claim, origin="share", passage_id=note)
    assert [rows.beside(ann, [note, other])[i].is_waiting for i in (note, other)] == [True, False]


def test_the_gone_ones_are_told_with_what_became_of_them(
    stores: Stores, ann: int, bob: int, rows: MemoryRows
) -> None:
    aside, _ = stores.knowledge.remember(ann, "set aside")
    undone, receipt = stores.knowledge.remember(ann, "undone")
    kept, _ = stores.knowledge.remember(ann, "kept")
    lost, _ = stores.knowledge.remember(ann, "lost")
    stores.knowledge.edit(ann, kept, "kept on")
    stores.knowledge.set_aside(ann, [aside])
    stores.knowledge.undo(ann, receipt)
    Forgetting(stores.database).forget(ann, [lost])
    told = [(gone.line.passage_id, gone.line.text, gone.state) for gone in rows.gone(ann)]
    assert told == [(lost, "", "forgotten"), (undone, "undone", "undone"), (aside, "set aside", "withdrawn")]
    assert rows.count_gone(ann) == 3
    assert [gone.line.passage_id for gone in rows.gone(ann, limit=1)] == [lost]
    assert [gone.line.passage_id for gone in rows.gone(ann, before=undone)] == [aside]
    assert [gone.line.passage_id for gone in rows.gone(ann, query="SET as")] == [aside]
    assert rows.count_gone(ann, query="set") == 1
    assert rows.gone(bob) == []
    assert rows.count_gone(bob) == 0


def test_of_the_shared_that_is_gone_a_user_sees_what_they_brought(
    stores: Stores, ann: int, bob: int, rows: MemoryRows
) -> None:
    receipt, _ = stores.add(ann, document("a.txt", "a shared cat"))
    stores.knowledge.undo(ann, receipt)
    assert [gone.line.text for gone in rows.gone(ann)] == ["a shared cat"]
    assert rows.gone(ann, memories_only=True) == []
    assert rows.gone(bob) == []


def test_which_receipts_are_undone_is_told_of_ones_own(
    stores: Stores, ann: int, bob: int, rows: MemoryRows
) -> None:
    _, first = stores.knowledge.remember(ann, "one")
    _, second = stores.knowledge.remember(ann, "two")
    stores.knowledge.undo(ann, first)
    assert rows.undone(ann, [first, second]) == {first}
    assert rows.undone(bob, [second]) == {second}
    assert rows.passages_of(second) == 1


def test_a_write_is_not_to_undo_where_a_later_one_changed_what_it_wrote(
    stores: Stores, ann: int, rows: MemoryRows
) -> None:
    passage, first = stores.knowledge.remember(ann, "one")
    _, second = stores.knowledge.remember(ann, "two")
    assert rows.not_to_undo(ann, [first, second]) == set()
    later = stores.knowledge.edit(ann, passage, "one and a half")
    assert rows.not_to_undo(ann, [first, second, later]) == {first}
    stores.knowledge.undo(ann, later)
    assert rows.not_to_undo(ann, [first, second]) == set()
    stores.knowledge.undo(ann, second)
    assert rows.not_to_undo(ann, [first, second]) == {second}


def test_beside_a_shared_memory_stands_nothing_of_another_users_turns(
    stores: Stores, ann: int, bob: int, rows: MemoryRows, uses: MemoryUses
) -> None:
    stores.add(ann, document("a.txt", "a shared cat"))
    cat = stores.catalogue.lines(ann)[0].passage_id
    turn = answered(stores, bob, version_of(stores, bob, cat), details={"sent_to": "b.example"})
    claim = NewClaim(text="a cat", quote="a cat", kind="fact", about="world")
    Claims(stores.database).put_one(bob, claim, origin="share", passage_id=cat)
    with stores.database.writing() as sql:  # as where it was learned from bob
        sql.execute(text(f"UPDATE passages SET turn_id = {turn} WHERE id = {cat}"))
        sql.add(Round(recipe="r", state="refused", settings={"turns": [turn]}, created_at=now()))
    assert rows.beside(bob, [cat])[cat] == Beside(turn, False, False, True, 1)
    assert rows.beside(ann, [cat])[cat] == Beside(None, False, False, False, 0)
    his, hers = uses.uses(bob, cat), uses.uses(ann, cat)
    assert (his.answers, [sent.server for sent in his.sent], his.rounds) == (1, ["b.example"], (1,))
    assert (hers.answers, hers.sent, hers.rounds) == (0, (), ())


# Uses


def test_of_what_a_user_may_not_see_no_use_is_told(
    stores: Stores, ann: int, bob: int, uses: MemoryUses
) -> None:
    note, _ = stores.knowledge.remember(ann, "tea")
    version = version_of(stores, ann, note)
    turn = answered(stores, ann, version, details={"sent_to": "a.example"})
    stores.journal.rate(ann, turn, "good", version_id=version)
    with stores.database.writing() as sql:
        sql.add(Round(recipe="r", state="refused", settings={"passages": [version]}, created_at=now()))
    told = uses.uses(ann, note)
    assert (told.answers, told.helped, told.rounds, len(told.sent)) == (1, 1, (1,), 1)
    assert uses.uses(bob, note) == uses.uses(bob, 999) == Uses(0, None, 0, 0, (), None, ())


def test_marks_are_the_latest_of_each_turn(stores: Stores, ann: int, bob: int, uses: MemoryUses) -> None:
    stores.add(ann, document("a.txt", "a shared cat"))
    cat = stores.catalogue.lines(ann)[0].passage_id
    version = version_of(stores, ann, cat)
    first, second = answered(stores, ann, version), answered(stores, ann, version)
    for turn, rating in ((first, "bad"), (first, "good"), (second, "bad")):
        stores.journal.rate(ann, turn, rating, version_id=version)
    told = uses.uses(ann, cat)
    assert (told.answers, told.helped, told.not_helped) == (2, 1, 1)
    assert told.last == stores.journal.turn(ann, second).accepted_at
    others = uses.uses(bob, cat)
    assert (others.answers, others.last, others.helped, others.not_helped) == (0, None, 0, 0)


def test_rounds_are_told_by_the_versions_and_the_turn_that_they_saw(
    stores: Stores, ann: int, uses: MemoryUses
) -> None:
    turn = answered(stores, ann)
    other, _ = stores.knowledge.remember(ann, "other")
    note, _ = stores.knowledge.remember(ann, "tea", turn_id=turn)
    stores.knowledge.edit(ann, note, "milk")  # from here on versions are counted apart from passages
    third, _ = stores.knowledge.remember(ann, "third")
    version = version_of(stores, ann, third)
    assert version != third
    with stores.database.writing() as sql:
        model = ModelVersion(role="query", version="v", created_at=now())
        sql.add(model)
        sql.flush()
        sql.add(LiveModel(role="query", model_version_id=model.id or 0, changed_at=now()))
        for given in ({"passages": [version]}, {"turns": [turn]}, {"passages": [third]}):
            state = "promoted" if "turns" in given else "refused"
            made = model.id if state == "promoted" else None
            sql.add(Round(recipe="r", state=state, settings=given, model_version_id=made, created_at=now()))
    assert uses.uses(ann, third).rounds == (1,)
    assert version_of(stores, ann, note) == third  # which a round names as a version
    assert uses.uses(ann, note).rounds == (2, 3)
    assert uses.uses(ann, other).rounds == ()
    assert uses.uses(ann, other).live_round == 2
    forgotten = Forgetting(stores.database).forget(ann, [third])
    assert forgotten.rounds == (1,)


def test_where_a_memory_went_is_told_by_server_and_model(stores: Stores, ann: int, uses: MemoryUses) -> None:
    note, _ = stores.knowledge.remember(ann, "tea")
    version = version_of(stores, ann, note)
    here = answered(stores, ann, version, model="small", details={"sent_to": ""})
    answered(stores, ann, version, model="big", details={"sent_to": "a.example"})
    last = answered(stores, ann, version, model="big", details={"sent_to": "a.example"})
    old = answered(stores, ann, version, model="older")
    elsewhere = answered(stores, ann, model="big", details={"sent_to": "b.example"})

    def at(turn: int) -> datetime:
        return stores.journal.turn(ann, turn).accepted_at

    assert set(uses.uses(ann, note).sent) == {
        Sent("", "small", 1, at(here)),
        Sent("a.example", "big", 2, at(last)),
        Sent(None, "older", 1, at(old)),
    }
    assert Sent("b.example", "big", 1, at(elsewhere)) in uses.kept(ann).sent


def test_where_it_went_is_told_also_when_it_was_forgotten(stores: Stores, ann: int, uses: MemoryUses) -> None:
    note, _ = stores.knowledge.remember(ann, "tea")
    answered(stores, ann, version_of(stores, ann, note), details={"sent_to": "a.example", "said": "tea"})
    Forgetting(stores.database).forget(ann, [note])
    assert [(sent.server, sent.turns) for sent in uses.uses(ann, note).sent] == [("a.example", 1)]
    with stores.database.reading() as sql:
        assert sql.get_one(Turn, 1).details == {"sent_to": "a.example", "said": ""}


def test_what_is_kept_of_a_user_is_counted(stores: Stores, ann: int, bob: int, uses: MemoryUses) -> None:
    stores.add(ann, document("a.txt", "a shared cat"))
    stores.say(ann, "my cat")
    note, _ = stores.knowledge.remember(ann, "tea")
    stores.knowledge.edit(ann, note, "milk")
    lost, _ = stores.knowledge.remember(ann, "lost")
    Forgetting(stores.database).forget(ann, [lost])
    stores.journal.open_session(ann, is_private=True)
    kept = uses.kept(ann)
    assert kept.live == {"message": 1, "note": 1}
    assert (kept.old_texts, kept.erased, kept.shared) == (1, 1, 1)
    assert (kept.sessions, kept.private_sessions, kept.turns) == (1, 1, 1)
    assert (kept.marks, kept.waiting, kept.rounds, kept.sent) == (0, 0, (), ())
    nobody = uses.kept(bob)
    assert (nobody.live, nobody.shared, nobody.turns) == ({}, 0, 0)
    assert datetime.now(UTC) > stores.journal.turn(ann, 1).accepted_at
