"""What Training tells of lessons: how many there are, what is lacking, and from which a round learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from round_rows import keep, refused, running
from test_train_command import locations

from assistant.learning.schedule import Awaited
from assistant.settings.config import Settings
from assistant.terminal.facts.training import learned_from, training_facts
from assistant.wiring.assistant import Assistant
from stores.learning.lessons import HeldOut, TooFewHeldOut

LACK = TooFewHeldOut(128, HeldOut(25, 25), 30)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Assistant]:
    assistant = Assistant(Settings(), locations(tmp_path))
    assert not assistant.learning.background_learner.is_leading  # it is made with the real occasions
    yield assistant
    assistant.close()


def counts(assistant: Assistant, new: int, awaited: Awaited) -> None:
    told = SimpleNamespace(not_learned=lambda: new, awaited=lambda: awaited)
    assistant.learning._occasions["retriever"] = told  # type: ignore[assignment]


def test_lessons_are_counted_again_when_a_round_ends(chat: Assistant) -> None:
    keep(chat, running(1))
    counts(chat, 128, Awaited(128, 100, round_id=1))
    known = training_facts(chat)
    assert (known.new_lessons, known.begins_at) == (128, 100)
    counts(chat, 0, Awaited(0, 100, is_later=True))
    assert training_facts(chat, known).new_lessons == 128  # counting takes long
    keep(chat, refused(1))
    assert training_facts(chat, known).new_lessons == 0


def test_what_is_lacking_and_when_a_round_begins_are_told_as_they_are(chat: Assistant) -> None:
    counts(chat, 128, Awaited(0, 100, is_later=True, lack=LACK))
    facts = training_facts(chat)
    assert (facts.lack, facts.begins_at) == (LACK, 228)  # so many were judged when a round failed
    assert training_facts(chat, facts).lack == LACK
    counts(chat, 100, Awaited(100, 100, is_later=True, came_to_nothing=True))
    assert (training_facts(chat).lack, training_facts(chat).begins_at) == (None, 101)


def test_where_nobody_judged_anything_a_round_needs_its_lessons(chat: Assistant) -> None:
    facts = training_facts(chat)
    assert facts.lack is None  # half of so many are more than have to judge
    assert (facts.new_lessons, facts.begins_at) == (0, 100)


@pytest.mark.parametrize(
    ("held_out", "told"), [(0, "119 lessons"), (1, "118 lessons; 1 more is"), (22, "97 lessons; 22 more are")]
)
def test_lessons_that_are_held_out_are_told_beside_the_others(
    chat: Assistant, held_out: int, told: str
) -> None:
    made = running(1)
    made.settings = {**made.settings, "held_out": held_out}
    facts = replace(training_facts(chat), rounds=(made,))
    assert learned_from(facts, made) == f"from {told}{' held out' if held_out else ''}"
