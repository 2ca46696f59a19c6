"""Lessons: what was judged in the open, and nothing that was private, forgotten, withdrawn or echoed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from store_fixtures import Stores, document, passages_by_text

from stores.base.passages import SHARED, own_space
from stores.conversation.journal import FoundPassage, Judged, Outcome
from stores.conversation.ratings import Ratings
from stores.forgetting.forgetting import Forgetting
from stores.learning.lesson_domains import NOTHING_HELPED, OWN, domain_of, lesson_domains, place_of
from stores.learning.lessons import DOCUMENTS, TOLD, HeldOut, Lesson, LessonDocument, Lessons, Trust
from stores.memory.documents import NewDocument, NewPassage

QUESTION = "When does the room open?"


def judged(version_id: int, label: str, rank: int) -> Judged:
    return Judged(
        version_id=version_id,
        judge="test",
        label=label,
        score=0.5,
        found_rank=rank,
        tokens_in=0,
        tokens_out=0,
    )


def found_in_order(versions: Sequence[int]) -> list[FoundPassage]:
    return [
        FoundPassage(
            version_id=version, found_rank=rank, dense=0.5, lexical=1.0, lift=0.0, score=1 / rank,
            final_rank=rank, citation=rank,
        )
        for rank, version in enumerate(versions, start=1)
    ]  # fmt: skip


def ask(
    stores: Stores,
    user: int,
    verdicts: Sequence[tuple[int, str]],
    *,
    question: str = QUESTION,
    state: str = "done",
    is_private: bool = False,
    cited: Sequence[int] = (),
    unjudged: Sequence[int] = (),
    asks_nothing: bool | None = None,
    session: int | None = None,
) -> int:
    """A turn for which these versions were judged, in this order; returns its id.

    session: a new one by default.
    cited: those that its answer rests on. unjudged: found behind them, and looked at by nobody.
    """
    if session is None:
        session = stores.journal.open_session(user, is_private=is_private)
    turn = stores.journal.accept(user, session, question, parts=[question]).turn_id
    found = found_in_order([*(version for version, _ in verdicts), *unjudged])
    outcome = Outcome(
        state=state,
        answer="At ten.",
        standalone=question,
        query=question,
        encoder_version="e-1",
        found=found,
        judged=[judged(version, label, rank) for rank, (version, label) in enumerate(verdicts, start=1)],
        details={
            "cited": [each.citation for each in found if each.version_id in cited],
            **({} if asks_nothing is None else {"asks_nothing": asks_nothing}),
        },
    )
    stores.journal.finish(turn, outcome)
    return turn


def share(stores: Stores, user: int) -> tuple[int, list[int]]:
    """Two shared passages; the receipt and their versions."""
    receipt, _ = stores.add(user, document("rules", "The room opens at ten.", "The cellar floods."))
    return receipt, sorted(stores.texts())


def lessons(stores: Stores) -> list[Lesson]:
    return Lessons(stores.database).all()


def labels(lesson: Lesson) -> list[tuple[str, str]]:
    return [(document.text, document.label) for document in lesson.documents]


def test_a_lesson_is_a_question_with_all_that_was_judged_for_it(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(floods, "irrelevant"), (opens, "answer")])
    [lesson] = lessons(stores)
    assert (lesson.turn_id, lesson.question, lesson.judge, lesson.encoder_version) == (
        turn, QUESTION, "test", "e-1",
    )  # fmt: skip
    assert labels(lesson) == [("The cellar floods.", "irrelevant"), ("The room opens at ten.", "answer")]
    assert [document.rank for document in lesson.documents] == [1, 2]
    assert Lessons(stores.database).count() == 1
    assert Lessons(stores.database).count(after=turn) == 0
    assert Lessons(stores.database).all(after=turn) == []


def test_of_a_judge_that_was_probed_only_what_can_be_trusted_counts(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(floods, "irrelevant"), (opens, "answer")])  # with a score of 0.5

    def labels_by(trust: Trust, *, judge: str = "test") -> list[tuple[str, str]]:
        known = Lessons(stores.database, trusted=lambda: {judge: trust}).all()
        return [each for lesson in known for each in labels(lesson)]

    both = [("The cellar floods.", "irrelevant"), ("The room opens at ten.", "answer")]
    assert labels_by({DOCUMENTS: 0.5, TOLD: None}) == both
    assert labels_by({DOCUMENTS: 0.6, TOLD: None}) == both[:1]  # whether that answers is not known
    assert labels_by({DOCUMENTS: None, TOLD: None}) == []
    assert labels_by({DOCUMENTS: None, TOLD: None}, judge="another") == both
    stores.journal.rate(ann, turn, "good", version_id=opens)
    assert labels_by({DOCUMENTS: None, TOLD: None}) == both[1:]  # what a user says is not the judge's word


def test_private_and_unfinished_turns_teach_nothing(stores: Stores, ann: int) -> None:
    _, (opens, _) = share(stores, ann)
    ask(stores, ann, [(opens, "answer")], is_private=True)
    ask(stores, ann, [(opens, "answer")], state="stopped")
    assert lessons(stores) == []
    assert Lessons(stores.database).count() == 0


def test_a_statement_that_nothing_answered_is_no_lesson(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    ask(stores, ann, [(opens, "answer")], question="The room is cold.", asks_nothing=True)
    asked = [
        ask(stores, ann, [(floods, "relevant")], asks_nothing=asks_nothing) for asks_nothing in (False, None)
    ]
    assert [lesson.turn_id for lesson in lessons(stores)] == asked
    assert Lessons(stores.database).count() == 2


def test_what_was_undone_is_no_lesson(stores: Stores, ann: int) -> None:
    receipt, (opens, _) = share(stores, ann)
    ask(stores, ann, [(opens, "answer")])
    stores.knowledge.undo(ann, receipt)
    assert lessons(stores) == []


def test_what_was_forgotten_is_no_lesson(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "answer"), (floods, "irrelevant")])
    stores.journal.rate(ann, turn, "good", version_id=opens)
    forgetting = Forgetting(stores.database)
    forgetting.forget(ann, [passages_by_text(stores)["The room opens at ten."]])
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The cellar floods.", "irrelevant")]]
    forgetting.forget_everything(ann)  # the question, and not what is shared
    assert lessons(stores) == []
    assert Lessons(stores.database).count() == 0


def test_an_echo_of_what_was_said_is_no_lesson(stores: Stores, ann: int) -> None:
    _, (opens, _) = share(stores, ann)
    [said] = stores.say(ann, "The room opens when I say so.")
    ask(stores, ann, [(said, "answer"), (opens, "answer")])
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The room opens at ten.", "answer")]]


def test_what_a_user_says_of_a_passage_counts_more_than_the_judge(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(floods, "answer"), (opens, "irrelevant")])
    stores.journal.rate(ann, turn, "good", version_id=opens)
    stores.journal.rate(ann, turn, "bad", version_id=floods)
    [lesson] = lessons(stores)
    assert [(d.label, d.score) for d in lesson.documents] == [("irrelevant", 0.0), ("answer", 1.0)]


def test_among_others_nobody_teaches_a_false_order(stores: Stores, ann: int) -> None:
    """A hostile teacher rates what does not answer; alone they would be believed."""
    _, (opens, floods) = share(stores, ann)
    turns = [
        ask(stores, ann, [(opens, "answer"), (floods, "irrelevant")], question=f"{n}?") for n in range(9)
    ]
    honest = lessons(stores)
    for turn in turns:
        stores.journal.rate(ann, turn, "bad")
        stores.journal.rate(ann, turn, "bad", version_id=opens)
        stores.journal.rate(ann, turn, "good", version_id=floods)
    alone = lessons(stores)
    assert alone != honest
    stores.journal.user_id("ben")
    assert lessons(stores) == honest
    assert Lessons(stores.database, curators=["ben"]).all() == honest
    assert Lessons(stores.database, curators=["ann"]).all() == alone  # whom the settings trust with all


def test_a_good_answer_makes_answers_of_what_it_cites(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(floods, "answer"), (opens, "relevant")], cited=[opens])
    stores.journal.rate(ann, turn, "good")
    [lesson] = lessons(stores)
    assert [(d.label, d.score) for d in lesson.documents] == [("answer", 0.5), ("answer", 1.0)]


def test_a_good_answer_vouches_for_what_it_cites_and_no_judge_looked_at(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(floods, "irrelevant")], unjudged=[opens], cited=[opens])
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The cellar floods.", "irrelevant")]]
    stores.journal.rate(ann, turn, "good")
    [lesson] = lessons(stores)
    assert labels(lesson) == [("The cellar floods.", "irrelevant"), ("The room opens at ten.", "answer")]
    assert [document.rank for document in lesson.documents] == [1, 2]


def test_a_rating_alone_makes_no_lesson(stores: Stores, ann: int) -> None:
    _, (opens, _) = share(stores, ann)
    turn = ask(stores, ann, [], unjudged=[opens], cited=[opens])
    stores.journal.rate(ann, turn, "good")
    assert lessons(stores) == []
    assert Lessons(stores.database).count() == 0


def test_a_bad_answer_teaches_no_answer_that_it_cites(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "answer"), (floods, "irrelevant")], cited=[opens])
    stores.journal.rate(ann, turn, "bad")
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The cellar floods.", "irrelevant")]]


def test_a_bad_answer_says_nothing_of_what_it_does_not_cite(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "answer"), (floods, "answer")], cited=[floods])
    stores.journal.rate(ann, turn, "bad")
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The room opens at ten.", "answer")]]


def test_a_bad_answer_leaves_what_it_cites_about_the_question(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "relevant"), (floods, "irrelevant")], cited=[opens, floods])
    stores.journal.rate(ann, turn, "bad")
    [lesson] = lessons(stores)
    assert [document.label for document in lesson.documents] == ["relevant", "irrelevant"]


def test_a_corrected_answer_is_no_answer_whatever_it_was_rated_besides(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "answer"), (floods, "irrelevant")], cited=[opens])
    stores.journal.rate(ann, turn, "taught", correction="At nine.")
    stores.journal.rate(ann, turn, "good")
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The cellar floods.", "irrelevant")]]


def test_a_rating_of_a_passage_counts_more_than_that_of_the_answer(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "answer"), (floods, "answer")], cited=[opens, floods])
    stores.journal.rate(ann, turn, "bad")
    stores.journal.rate(ann, turn, "good", version_id=opens)
    assert [labels(lesson) for lesson in lessons(stores)] == [[("The room opens at ten.", "answer")]]
    stores.journal.rate(ann, turn, "good")
    stores.journal.rate(ann, turn, "bad", version_id=floods)
    [lesson] = lessons(stores)
    assert [document.label for document in lesson.documents] == ["answer", "irrelevant"]


def test_a_rating_that_was_taken_back_teaches_nothing(stores: Stores, ann: int) -> None:
    _, (opens, floods) = share(stores, ann)
    turn = ask(stores, ann, [(opens, "relevant"), (floods, "irrelevant")], cited=[opens])
    stores.journal.rate(ann, turn, "good")
    Ratings(stores.database).withdraw(ann, turn)
    [lesson] = lessons(stores)
    assert [document.label for document in lesson.documents] == ["relevant", "irrelevant"]


def test_a_good_answer_makes_no_lesson_of_an_echo_or_of_what_was_undone(stores: Stores, ann: int) -> None:
    receipt, (opens, floods) = share(stores, ann)
    [said] = stores.say(ann, "The room opens when I say so.")
    turn = ask(stores, ann, [(floods, "irrelevant")], unjudged=[said, opens], cited=[said, opens])
    stores.journal.rate(ann, turn, "good")
    assert [text for text, _ in labels(lessons(stores)[0])] == [
        "The cellar floods.",
        "The room opens at ten.",
    ]
    stores.knowledge.undo(ann, receipt)
    assert lessons(stores) == []


def test_of_held_out_questions_those_with_an_answer_among_the_first_ten_are_counted(
    stores: Stores, ann: int, bob: int
) -> None:
    _, (opens, floods) = share(stores, ann)
    stores.add(ann, document("many", *(f"Room {number} is blue." for number in range(10))))
    others = sorted(set(stores.texts()) - {opens, floods})
    kept = [f"when does room {n} open?" for n in range(6)]
    late = [(version, "irrelevant") for version in others]
    before = ask(stores, ann, [(opens, "answer")], question="is it open?")
    for user in (ann, ann, bob):  # asked twice by one of them
        ask(stores, user, [(opens, "answer")], question=kept[0])
    ask(stores, ann, [(opens, "relevant")], question=kept[1])
    ask(stores, ann, [*late, (opens, "answer")], question=kept[2])
    ask(stores, ann, [(opens, "answer")], question=kept[3], is_private=True)
    assert Lessons(stores.database).held_out(after=before, enough=30) == HeldOut(4, 2)
    rated = ask(stores, ann, [(opens, "irrelevant")], question=kept[4])
    stores.journal.rate(ann, rated, "good", version_id=opens)
    taken = ask(stores, ann, [(floods, "answer")], question=kept[5])
    stores.journal.rate(ann, taken, "bad", version_id=floods)
    assert Lessons(stores.database).held_out(after=before, enough=30) == HeldOut(6, 3)


def test_no_more_answered_questions_are_looked_for_than_are_enough(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.learning.lessons._COUNTED_AT_ONCE", 2)
    _, (opens, _) = share(stores, ann)
    for question in (f"when does room {n} open?" for n in range(5)):
        ask(stores, ann, [(opens, "answer")], question=question)
    assert Lessons(stores.database).held_out(after=0, enough=3) == HeldOut(5, 4)
    assert Lessons(stores.database).held_out(after=0, enough=6) == HeldOut(5, 5)


# Where a lesson is from


def labelled(version: int, label: str) -> LessonDocument:
    return LessonDocument(version, "", "text", label, 0.5, version)


@pytest.mark.parametrize(
    ("source", "external_id", "collection"),
    [
        ("/home/rules/opening.md", "", "/home/rules"),
        ("/home/songs.jsonl#s-1", "s-1", "/home/songs.jsonl"),
        ("/home/songs.jsonl#4#s-1", "4#s-1", "/home/songs.jsonl"),
        ("/home/rules/a#b.md", "", "/home/rules"),  # no record, though it has the sign
        ("minutes", "", "minutes"),
        ("minutes/of/may", "", "minutes/of/may"),  # a name that somebody gave, not a path
    ],
)
def test_a_source_stands_in_its_folder_or_its_collection(
    source: str, external_id: str, collection: str
) -> None:
    assert place_of(source, external_id) == collection


def test_the_best_label_decides_and_not_the_number_of_lesser_ones() -> None:
    documents = [
        labelled(1, "relevant"),
        labelled(2, "relevant"),
        labelled(3, "answer"),
        labelled(4, "irrelevant"),
    ]
    assert domain_of(documents, {1: "a", 2: "a", 3: "b", 4: "a"}) == "b"
    assert domain_of(documents[:2], {1: "a", 2: "a"}) == "a"


def test_most_of_the_best_decide_and_of_equals_the_one_found_first() -> None:
    documents = [labelled(n, "answer") for n in (1, 2, 3)]
    assert domain_of(documents, {1: "a", 2: "b", 3: "b"}) == "b"
    assert domain_of(documents[:2], {1: "a", 2: "b"}) == "a"


def test_where_nothing_helped_that_is_told() -> None:
    assert domain_of([labelled(1, "irrelevant")], {1: "a"}) == NOTHING_HELPED


def test_files_records_and_what_is_ones_own_each_have_their_domain(stores: Stores, ann: int) -> None:
    record = NewDocument("/home/songs.jsonl#s-1", "", "hash", (NewPassage("", "A song."),), "s-1")
    stores.add(ann, document("/home/rules/opening.md", "The room opens at ten."), record)
    stores.add(ann, document("/home/ann/secret plans.md", "A plan."), space=own_space(ann))
    texts = {**stores.texts(), **stores.texts(own_space(ann))}
    versions = {text: version for version, text in texts.items()}
    rules, song, plan = (versions[each] for each in ("The room opens at ten.", "A song.", "A plan."))
    for best in (rules, song, plan):
        others = [(rules, "relevant")] if best != rules else []
        ask(stores, ann, [*others, (best, "answer")])
    ask(stores, ann, [(song, "irrelevant")])
    found = lessons(stores)
    domains = lesson_domains(stores.database, found)
    assert [domains[lesson.turn_id] for lesson in found] == [
        "/home/rules", "/home/songs.jsonl", OWN, NOTHING_HELPED,
    ]  # fmt: skip


def test_a_collection_is_a_domain_and_ones_own_is_told_by_a_number(stores: Stores, ann: int) -> None:
    own, stored = own_space(ann), stores.stored_documents
    for space, source, collection in (
        (SHARED, "/a.md", "laws"),
        (own, "/b.md", "diary"),
        (own, "/c.md", "x"),
    ):
        stores.add(ann, document(source, source), space=space)
        stored.place(ann, space, {source: collection}, even_placed=True)
    for space in (SHARED, own):
        for version in stores.texts(space):
            ask(stores, ann, [(version, "answer")])
    found = lessons(stores)
    assert list(lesson_domains(stores.database, found).values()) == ["laws", "own 1", "own 2"]
    stores.journal.user_id("bob")
    assert list(lesson_domains(stores.database, found).values()) == ["laws", OWN, OWN]


def test_a_passage_that_is_gone_meanwhile_keeps_its_domain(stores: Stores, ann: int) -> None:
    receipt, _ = stores.add(ann, document("/home/rules/opening.md", "The room opens at ten."))
    (version,) = stores.texts()
    ask(stores, ann, [(version, "answer")])
    found = lessons(stores)
    stores.knowledge.undo(ann, receipt)
    assert list(lesson_domains(stores.database, found).values()) == ["/home/rules"]
