"""The domain of a lesson is where its best passages come from, as the store knows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_fixtures import Stores, document
from test_lessons import ask, lessons

from stores.base.passages import own_space
from stores.learning.lesson_domains import NOTHING_HELPED, OWN, collection_of, domain_of, lesson_domains
from stores.learning.lessons import LessonDocument
from stores.memory.documents import NewDocument, NewPassage


def judged(version: int, label: str) -> LessonDocument:
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
    assert collection_of(source, external_id) == collection


def test_the_best_label_decides_and_not_the_number_of_lesser_ones() -> None:
    documents = [judged(1, "relevant"), judged(2, "relevant"), judged(3, "answer"), judged(4, "irrelevant")]
    assert domain_of(documents, {1: "a", 2: "a", 3: "b", 4: "a"}) == "b"
    assert domain_of(documents[:2], {1: "a", 2: "a"}) == "a"


def test_most_of_the_best_decide_and_of_equals_the_one_found_first() -> None:
    documents = [judged(n, "answer") for n in (1, 2, 3)]
    assert domain_of(documents, {1: "a", 2: "b", 3: "b"}) == "b"
    assert domain_of(documents[:2], {1: "a", 2: "b"}) == "a"


def test_where_nothing_helped_that_is_told() -> None:
    assert domain_of([judged(1, "irrelevant")], {1: "a"}) == NOTHING_HELPED


@given(st.lists(st.tuples(st.sampled_from(["answer", "relevant", "irrelevant"]), st.sampled_from("abc"))))
def test_a_domain_is_that_of_a_passage_of_the_best_label(found: list[tuple[str, str]]) -> None:
    documents = [judged(n, label) for n, (label, _) in enumerate(found)]
    domain = domain_of(documents, {n: origin for n, (_, origin) in enumerate(found)})
    of_label = {label: {origin for each, origin in found if each == label} for label, _ in found}
    best = of_label.get("answer") or of_label.get("relevant") or {NOTHING_HELPED}
    assert domain in best


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


def test_a_passage_that_is_gone_meanwhile_keeps_its_domain(stores: Stores, ann: int) -> None:
    receipt, _ = stores.add(ann, document("/home/rules/opening.md", "The room opens at ten."))
    (version,) = stores.texts()
    ask(stores, ann, [(version, "answer")])
    found = lessons(stores)
    stores.knowledge.undo(ann, receipt)
    assert list(lesson_domains(stores.database, found).values()) == ["/home/rules"]
