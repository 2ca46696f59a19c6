"""Replies over a knowledge base that teach the generator: which they are, and what takes them back."""

from __future__ import annotations

import pytest
from store_fixtures import Stores
from test_knowledge_bases import add
from test_lessons import found_in_order
from test_models_taken_back import made

from assistant.learning.recipes.dialogue.lessons import lesson_of
from stores.base.entities import Entity
from stores.conversation.journal import Outcome
from stores.conversation.ratings import Ratings
from stores.forgetting.forgetting import Forgetting
from stores.learning.dialogue_lessons import DialogueLesson, DialogueLessons, may_answer
from stores.learning.kept_lessons import LessonsGone
from stores.search.knowledge_bases import KnowledgeBases
from stores.search.live_models import LiveModels

PLACES = (
    Entity("Kiku Bar", {"food": "japanese", "phone": "0122"}),
    Entity("Pho Lan", {"food": "vietnamese", "phone": "0133"}),
)
MESSAGES = ("japanese please", "what is their phone ?")
REPLIES = ("Kiku Bar serves japanese food [1].\n\n1 more meets food: japanese: Pho Lan [2]", "Call 0122 [1].")


class Cafes:
    """A conversation over a knowledge base of two places, which the generator has answered."""

    def __init__(self, stores: Stores, *, shared: bool = True, is_private: bool = False) -> None:
        self.stores = stores
        self.ann = stores.journal.user_id("ann")
        add(stores, self.ann, "cafes", *PLACES, shared=shared)
        bases = KnowledgeBases(stores.database)
        self.versions = [version for version, _ in bases.entities(bases.named(self.ann, "cafes"))]
        self.session = stores.journal.open_session(self.ann, is_private=is_private)
        self.turns = [self.ask(*pair) for pair in zip(MESSAGES, REPLIES, strict=True)]

    def ask(self, message: str, answer: str, *, is_generated: bool = True) -> int:
        accepted = self.stores.journal.accept(self.ann, self.session, message, parts=[message])
        told = {"name": "cafes", "entities": 2, "meeting": 1, "constraints": {"food": "japanese"}}
        outcome = Outcome(
            state="done",
            answer=answer,
            query=message,
            encoder_version="e-1",
            found=found_in_order(self.versions),
            details={"cited": [1], "knowledge_base": told | {"is_generated": is_generated}},
        )
        self.stores.journal.finish(accepted.turn_id, outcome)
        return accepted.turn_id

    def rate(self, turn: int, rating: str, correction: str = "") -> None:
        self.stores.journal.rate(self.ann, turn, rating, correction=correction)

    @property
    def lessons(self) -> list[DialogueLesson]:
        return DialogueLessons(self.stores.database, history_turns=6).all()


@pytest.fixture
def cafes(stores: Stores) -> Cafes:
    return Cafes(stores)


def test_a_reply_that_is_good_or_corrected_is_a_lesson_with_all_that_was_said_before(cafes: Cafes) -> None:
    cafes.rate(cafes.turns[0], "good")
    cafes.rate(cafes.turns[1], "taught", "Their number is 0122.")
    first, second = cafes.lessons
    assert (first.messages, first.answers, first.reply) == (
        MESSAGES[:1],
        (),
        "Kiku Bar serves japanese food [1].",
    )
    assert (second.messages, second.answers, second.reply) == (
        MESSAGES,
        REPLIES[:1],
        "Their number is 0122.",
    )
    assert [(one.name, one.version_id) for one in second.entities] == [
        ("Kiku Bar", cafes.versions[0]),
        ("Pho Lan", cafes.versions[1]),
    ]
    assert (second.constraints, second.meeting, second.base) == ({"food": "japanese"}, 1, "cafes")
    known = DialogueLessons(cafes.stores.database, history_turns=6)
    assert (known.count(), known.count(after=cafes.turns[0])) == (2, 1)


def test_as_the_generator_reads_it_values_are_one_word(cafes: Cafes) -> None:
    cafes.rate(cafes.turns[0], "good")
    lesson = lesson_of(cafes.lessons[0])
    assert lesson.reply == ("kiku_bar", "serves", "japanese", "food", ".")
    assert lesson.entities == ("kiku_bar", "japanese")
    assert lesson.inputs.words == ("japanese", "please")
    assert [row[0].value for row in lesson.inputs.rows] == ["kiku_bar", "pho_lan"]


@pytest.mark.parametrize("rating", ["", "bad"])
def test_what_nobody_found_good_teaches_nothing(cafes: Cafes, rating: str) -> None:
    if rating:
        cafes.rate(cafes.turns[0], "good")
        cafes.rate(cafes.turns[0], rating)
    assert cafes.lessons == []


def test_the_words_of_entities_teach_only_where_they_are_corrected(cafes: Cafes) -> None:
    turn = cafes.ask("sushi", "1 of 2 meet food: japanese:\nKiku Bar", is_generated=False)
    cafes.rate(turn, "good")
    assert cafes.lessons == []
    cafes.rate(turn, "taught", "Kiku Bar has sushi.")
    assert [lesson.reply for lesson in cafes.lessons] == ["Kiku Bar has sushi."]


def test_a_private_session_teaches_nothing(stores: Stores) -> None:
    cafes = Cafes(stores, is_private=True)
    cafes.rate(cafes.turns[0], "good")
    assert cafes.lessons == []


@pytest.mark.parametrize("shared", [False, True])
def test_nothing_is_learned_where_there_is_another_user(stores: Stores, shared: bool) -> None:
    cafes = Cafes(stores, shared=shared)
    cafes.rate(cafes.turns[0], "good")
    assert [lesson.is_of_own for lesson in cafes.lessons] == [not shared]
    stores.journal.user_id("bob")
    assert cafes.lessons == []
    of_curator = DialogueLessons(stores.database, history_turns=6, curators=["ann"]).all()
    assert [lesson.turn_id for lesson in of_curator] == cafes.turns[:1] * shared  # none over one's own
    assert DialogueLessons(stores.database, history_turns=6, curators=["bob"]).all() == []


def test_a_model_answers_others_where_curators_taught_all_of_it(cafes: Cafes) -> None:
    for turn in cafes.turns:
        cafes.rate(turn, "good")
    database = cafes.stores.database
    role = "dialogue generator"

    def answers(*curators: str) -> bool:
        return may_answer(database, role, "taught", curators=curators)

    made(cafes.stores, "taught", turns=cafes.turns)
    assert answers()
    cafes.stores.journal.user_id("bob")
    assert answers("ann")
    assert not answers()
    assert not answers("bob")
    Ratings(database).withdraw(cafes.ann, cafes.turns[0])
    assert not answers("ann")
    LiveModels(database).make_live(role, "of nobody's making")
    assert not may_answer(database, role, "of nobody's making", curators=["ann"])


@pytest.mark.parametrize("way", ["forgotten", "rated anew", "withdrawn"])
def test_what_is_taken_back_is_no_lesson_and_no_model_that_saw_it_goes_live(cafes: Cafes, way: str) -> None:
    cafes.rate(cafes.turns[0], "good")
    known = DialogueLessons(cafes.stores.database, history_turns=6)
    taught = known.all()
    with cafes.stores.database.writing() as sql:
        known.require_kept(sql, taught)
    if way == "forgotten":
        Forgetting(cafes.stores.database).forget_sessions(cafes.ann, [cafes.session])
    elif way == "rated anew":
        cafes.rate(cafes.turns[0], "bad")
    else:
        Ratings(cafes.stores.database).withdraw(cafes.ann, cafes.turns[0])
    assert cafes.lessons == []
    with cafes.stores.database.writing() as sql, pytest.raises(LessonsGone):
        known.require_kept(sql, taught)


def test_lessons_of_one_dialogue_are_held_out_together(cafes: Cafes) -> None:
    for turn in cafes.turns:
        cafes.rate(turn, "good")
    first, second = cafes.lessons
    assert (first.is_held_out, first.tells_when_to_end) == (second.is_held_out, second.tells_when_to_end)
    assert not (first.is_held_out and first.tells_when_to_end)
