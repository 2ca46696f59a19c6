"""Follow-ups that teach the query model: which they are, and what takes them back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from store_fixtures import Stores, passages_by_text
from test_lessons import ask, share

from stores.conversation.ratings import Ratings
from stores.forgetting.forgetting import Forgetting
from stores.learning.follow_ups import FollowUp, FollowUps
from stores.learning.kept_lessons import LessonsGone
from stores.learning.lessons import HeldOut

QUESTIONS = ("when does the room open?", "and the cellar?", "is it dry there?")


class Visit:
    """A conversation of three questions, the first two of which found their answer."""

    def __init__(self, stores: Stores, *, is_private: bool = False) -> None:
        self.stores, self.ann = stores, stores.journal.user_id("ann")
        self.receipt, (self.opens, self.floods) = share(stores, self.ann)
        self.session = stores.journal.open_session(self.ann, is_private=is_private)
        verdicts = [(self.opens, "answer"), (self.floods, "answer"), (self.floods, "relevant")]
        self.turns = [self.ask(*each) for each in zip(QUESTIONS, verdicts, strict=True)]

    def ask(self, question: str, verdict: tuple[int, str]) -> int:
        cited = [verdict[0]]
        return ask(self.stores, self.ann, [verdict], question=question, session=self.session, cited=cited)

    @property
    def known(self) -> FollowUps:
        return FollowUps(self.stores.database, history_turns=6)

    def require(self, follow_ups: Sequence[FollowUp]) -> None:
        with self.stores.database.writing() as sql:
            self.known.require_kept(sql, follow_ups)


@pytest.fixture
def visit(stores: Stores) -> Visit:
    return Visit(stores)


def test_a_question_behind_others_that_found_its_answer_is_one(visit: Visit) -> None:
    [found] = visit.known.all()
    assert (found.turn_id, found.question, found.passages) == (visit.turns[1], QUESTIONS[1], (visit.floods,))
    assert (found.messages, found.answers, found.earlier_turns) == (
        QUESTIONS[:1], ("At ten.",), tuple(visit.turns[:1]),
    )  # fmt: skip
    assert visit.known.count() == 1
    assert visit.known.count(after=visit.turns[1]) == 0
    visit.require([found])


def test_what_a_user_says_of_an_answer_counts(visit: Visit) -> None:
    visit.stores.journal.rate(visit.ann, visit.turns[2], "good")
    assert [each.turn_id for each in visit.known.all()] == visit.turns[1:]
    Ratings(visit.stores.database).withdraw(visit.ann, visit.turns[2])
    visit.stores.journal.rate(visit.ann, visit.turns[1], "bad")
    assert visit.known.all() == []


def test_those_of_one_session_are_held_out_together(visit: Visit) -> None:
    visit.ask("and in winter?", (visit.floods, "answer"))
    found = visit.known.all()
    assert len({each.unit for each in found}) == 1
    assert visit.known.turns() == [each.turn_id for each in found]
    assert visit.known.held_out(after=found[0].turn_id, enough=1) == HeldOut(1, 1)


def test_private_conversations_teach_nothing(stores: Stores) -> None:
    private = Visit(stores, is_private=True)
    assert (private.known.all(), private.known.count()) == ([], 0)


def test_where_there_is_another_user_nothing_is_learned(visit: Visit) -> None:
    found = visit.known.all()
    visit.stores.journal.user_id("ben")
    assert (visit.known.all(), visit.known.count()) == ([], 0)
    with pytest.raises(LessonsGone):
        visit.require(found)


@pytest.mark.parametrize("number", [0, 1])
def test_forgetting_the_question_or_one_before_it_takes_it_back(visit: Visit, number: int) -> None:
    found = visit.known.all()
    Forgetting(visit.stores.database).forget(visit.ann, [passages_by_text(visit.stores)[QUESTIONS[number]]])
    assert visit.known.all() == []
    with pytest.raises(LessonsGone):
        visit.require(found)


def test_undoing_the_passage_that_answers_takes_it_back(visit: Visit) -> None:
    visit.stores.knowledge.undo(visit.ann, visit.receipt)
    assert visit.known.all() == []
