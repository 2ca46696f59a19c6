"""What teaches the order: the user's word on what was found, and nothing that was taken back."""

from __future__ import annotations

import pytest
from sqlalchemy import update
from sqlmodel import col
from store_fixtures import Stores, passages_by_text
from test_lessons import QUESTION, ask, found_in_order, judged, share
from test_models_taken_back import made, versions

from stores.conversation.journal import Outcome
from stores.conversation.ratings import Ratings
from stores.database.tables import Turn
from stores.forgetting.forgetting import Forgetting
from stores.learning.kept_lessons import LessonsGone
from stores.learning.relevance_lessons import RelevanceLesson, RelevanceLessons, may_order

UNSURE = "I am not sure."
ROLE = "relevance"


def known(stores: Stores, *curators: str) -> RelevanceLessons:
    return RelevanceLessons(
        stores.database, is_sure=lambda answer: not answer.startswith(UNSURE), curators=curators
    )


def answering(
    stores: Stores, user: int, *, goes_on: bool = True, answer: str = "At ten."
) -> tuple[int, int, int]:
    """A turn whose answer cites the passage that helps; and both passages."""
    opens, floods = share(stores, user)[1]
    session = stores.journal.open_session(user)
    turn = ask(stores, user, [(floods, "answer"), (opens, "irrelevant")], cited=[opens], session=session)
    if goes_on:
        stores.journal.accept(user, session, "And on Sunday?", parts=[])
    with stores.database.writing() as sql:
        sql.execute(update(Turn).where(col(Turn.id) == turn).values(answer=answer))
    return turn, opens, floods


def labels(lesson: RelevanceLesson) -> dict[int, bool | None]:
    return {each.version_id: each.helps for each in lesson.found}


def test_a_passage_that_was_rated_good_helps_and_what_else_was_seen_does_not(
    stores: Stores, ann: int
) -> None:
    turn, opens, floods = answering(stores, ann, goes_on=False)
    assert known(stores).all() == []  # cited, and not a word of its user
    stores.journal.rate(ann, turn, "good", version_id=opens)
    [lesson] = known(stores).all()
    assert (lesson.turn_id, lesson.user_id, lesson.question) == (turn, ann, QUESTION)
    assert labels(lesson) == {floods: False, opens: True}
    first = lesson.found[0]
    assert (first.text, first.is_shared, first.judged, first.found_rank) == (
        "The cellar floods.",
        True,
        0.5,
        1,
    )
    assert (known(stores).count(), known(stores).count(after=turn)) == (1, 0)


def test_what_an_answer_cites_that_was_rated_good_helps(stores: Stores, ann: int) -> None:
    turn, opens, floods = answering(stores, ann, goes_on=False)
    stores.journal.rate(ann, turn, "good")
    assert labels(known(stores).all()[0]) == {floods: False, opens: True}


def test_what_an_answer_cites_that_its_user_went_on_from_helps(stores: Stores, ann: int) -> None:
    _, opens, floods = answering(stores, ann)
    assert labels(known(stores).all()[0]) == {floods: False, opens: True}


@pytest.mark.parametrize("rating", ["bad", "taught", "useless"])
def test_a_citation_that_was_contradicted_does_not_teach(stores: Stores, ann: int, rating: str) -> None:
    turn, opens, floods = answering(stores, ann)
    of = floods if rating == "useless" else None
    stores.journal.rate(
        ann, turn, "bad" if rating == "useless" else rating, correction="At two.", version_id=of
    )
    assert known(stores).all() == []
    stores.journal.rate(ann, turn, "good", version_id=opens)
    assert labels(known(stores).all()[0]) == {floods: False, opens: True}


def test_what_is_cited_in_a_bad_answer_is_unknown(stores: Stores, ann: int) -> None:
    turn, opens, floods = answering(stores, ann)
    stores.journal.rate(ann, turn, "bad")
    stores.journal.rate(ann, turn, "good", version_id=floods)
    assert known(stores).all() == []  # nothing is left that surely does not help
    stores.journal.rate(ann, turn, "bad", version_id=opens)
    assert labels(known(stores).all()[0]) == {floods: True, opens: False}
    Ratings(stores.database).withdraw(ann, turn)
    assert labels(known(stores).all()[0]) == {floods: True, opens: False}


@pytest.mark.parametrize("why", ["not sure", "the last message", "invented citations", "asked anew"])
def test_a_citation_that_nobody_confirmed_does_not_teach(stores: Stores, ann: int, why: str) -> None:
    turn, *_ = answering(
        stores, ann, goes_on=why not in ("the last message", "asked anew"),
        answer=f"{UNSURE} At ten." if why == "not sure" else "At ten.",
    )  # fmt: skip
    with stores.database.writing() as sql:
        row = sql.get_one(Turn, turn)
        session = row.session_id
        if why == "invented citations":
            row.details = {**row.details, "invented_citations": [9]}
    if why == "asked anew":
        stores.journal.accept(ann, session, "When does the hall open?", parts=[], instead_of=turn)
    assert known(stores).all() == []


def test_what_is_given_by_rule_teaches_nothing(stores: Stores, ann: int) -> None:
    turn, opens, _ = answering(stores, ann)
    with stores.database.writing() as sql:
        row = sql.get_one(Turn, turn)
        row.details = {**row.details, "given": {str(opens): 2.0}}
    assert known(stores).all() == []


def told(stores: Stores, user: int, *, is_private: bool = False) -> tuple[int, dict[str, int]]:
    """A turn that found two messages, its question as it was asked before, and itself; and the versions."""
    early = stores.journal.open_session(user)
    for text in ("The keys are under the mat.", "I was in Porto.", QUESTION):
        stores.journal.accept(user, early, text, parts=[text])
    session = stores.journal.open_session(user, is_private=is_private)
    turn = stores.journal.accept(user, session, QUESTION, parts=[QUESTION]).turn_id
    found = versions(stores)
    outcome = Outcome(
        state="done", answer="Under the mat.", query=QUESTION, found=found_in_order(found),
        judged=[judged(version, "relevant", rank) for rank, version in enumerate(found, start=1)],
        details={"cited": [1]},
    )  # fmt: skip
    stores.journal.finish(turn, outcome)
    stores.journal.accept(user, session, "Thanks.", parts=["Thanks."])
    return turn, dict(zip(("keys", "Porto", "asked", "own"), found, strict=False))


def test_messages_teach_but_never_the_question_itself(stores: Stores, ann: int) -> None:
    _, told_of = told(stores, ann)
    [lesson] = known(stores).all()
    assert labels(lesson) == {told_of["keys"]: True, told_of["Porto"]: False}
    assert [each.is_shared for each in lesson.found] == [False, False]


@pytest.mark.parametrize("why", ["private", "forgotten", "another user's", "not done"])
def test_what_may_not_teach_does_not(stores: Stores, ann: int, why: str) -> None:
    turn, _ = told(stores, ann, is_private=why == "private")
    if why == "another user's":
        stores.journal.user_id("bob")
    elif why == "forgotten":
        with stores.database.reading() as sql:
            session = sql.get_one(Turn, turn).session_id
        Forgetting(stores.database).forget_sessions(ann, [session])
    elif why == "not done":
        with stores.database.writing() as sql:
            sql.execute(update(Turn).values(state="stopped"))
    assert known(stores).all() == []
    assert known(stores).count() == 0


def test_among_several_users_curators_teach(stores: Stores, ann: int) -> None:
    turn, _ = told(stores, ann)
    made(stores, "weights", ROLE, turns=[turn])
    assert may_order(stores.database, ROLE, "weights", curators=())
    stores.journal.user_id("bob")
    assert [lesson.turn_id for lesson in known(stores, "ann").all()] == [turn]
    assert known(stores, "bob").all() == []
    assert may_order(stores.database, ROLE, "weights", curators=["ann"])
    assert not may_order(stores.database, ROLE, "weights", curators=["bob"])
    assert not may_order(stores.database, ROLE, "of nobody's making", curators=["ann"])


@pytest.mark.parametrize("way", ["forgotten", "undone"])
def test_a_passage_that_was_taken_back_teaches_no_more(stores: Stores, ann: int, way: str) -> None:
    receipt, _ = share(stores, ann)
    stores.knowledge.remember(ann, "It smells.")
    opens, floods, smells = versions(stores)
    turn = ask(stores, ann, [(smells, "answer"), (opens, "relevant"), (floods, "relevant")], cited=[])
    stores.journal.rate(ann, turn, "good", version_id=smells)
    lessons = known(stores).all()
    assert labels(lessons[0]) == {smells: True, opens: False, floods: False}
    with stores.database.writing() as sql:
        known(stores).require_kept(sql, lessons)
    if way == "undone":
        stores.knowledge.undo(ann, receipt)
        assert known(stores).all() == []
    else:
        Forgetting(stores.database).forget(ann, [passages_by_text(stores)["The cellar floods."]])
        assert labels(known(stores).all()[0]) == {smells: True, opens: False}
    with stores.database.writing() as sql, pytest.raises(LessonsGone):
        known(stores).require_kept(sql, lessons)


def test_a_model_that_learned_from_a_turn_goes_with_it(stores: Stores, ann: int) -> None:
    turn, _ = told(stores, ann)
    made(stores, "weights", ROLE, turns=[turn])
    with stores.database.reading() as sql:
        session = sql.get_one(Turn, turn).session_id
    assert Forgetting(stores.database).forget_sessions(ann, [session]).models == (ROLE,)


def test_some_questions_are_held_out_and_some_tell_when_to_end(stores: Stores, ann: int) -> None:
    opens, floods = share(stores, ann)[1]
    for number in range(60):
        turn = ask(stores, ann, [(opens, "answer"), (floods, "answer")], question=f"When is day {number}?")
        stores.journal.rate(ann, turn, "good", version_id=opens)
    lessons = known(stores).all()
    assert known(stores).turns() == [lesson.turn_id for lesson in lessons]
    assert known(stores).held_out(after=lessons[39].turn_id, enough=1).answered == 20
    assert 0 < sum(lesson.tells_when_to_end for lesson in lessons) < 30
