"""What a round learns from is forgotten while it learns: its model does not go live, and is not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_fixtures import Stores, document
from test_learner import QUESTIONS, World
from test_lessons import ask

from assistant.learning.outcome import Compared
from assistant.learning.promotion import ROLE
from stores.database.tables import Judgement, PassageVersion, Turn
from stores.forgetting.forgetting import Forgetting
from stores.learning.lessons import is_held_out

MESSAGE = "Refused: a message that it learns from was forgotten meanwhile."
PASSAGE = "Refused: a passage that it learns from was forgotten or undone meanwhile."


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Stores.fresh(tmp_path), tmp_path)


def passage_of(stores: Stores, text: str) -> int:
    with stores.database.reading() as sql:
        return sql.query(PassageVersion).filter_by(text=text).one().passage_id


def ended_when(world: World, change: Callable[[], Any]) -> Any:
    """A round whose candidate wins, while this happens."""

    def compare(*given: Any) -> Compared:
        found = world.compare(*given)
        change()
        return found

    return world.learner(compare=compare).run()


def question(*, held_out: bool) -> str:
    return next(each for each in QUESTIONS if is_held_out(each) == held_out)


def forget(world: World, text: str) -> None:
    ann = world.stores.journal.user_id("ann")
    Forgetting(world.stores.database).forget(ann, [passage_of(world.stores, text)])


def test_a_message_that_was_forgotten_meanwhile_refuses_the_winner(world: World) -> None:
    ended = ended_when(world, lambda: forget(world, question(held_out=False)))
    assert (ended.state, ended.reason) == ("refused", MESSAGE)
    assert (world.last.state, world.last.reason) == ("refused", MESSAGE)
    assert world.live.live(ROLE) is None
    assert world.checkpoints.versions("retriever") == []


def test_a_passage_that_was_forgotten_meanwhile_refuses_it_too(world: World) -> None:
    ended = ended_when(world, lambda: forget(world, "The cellar floods."))
    assert (ended.reason, world.live.live(ROLE)) == (PASSAGE, None)


def test_a_passage_that_was_undone_meanwhile_refuses_it_too(world: World) -> None:
    ann = world.stores.journal.user_id("ann")
    receipt, _ = world.stores.add(ann, document("more", "It shuts at six."))
    shuts = next(version for version, text in world.stores.texts().items() if text == "It shuts at six.")
    ask(world.stores, ann, [(shuts, "answer")], question=f"{question(held_out=False)} and shut?")
    ended = ended_when(world, lambda: world.stores.knowledge.undo(ann, receipt))
    assert (ended.reason, world.live.live(ROLE)) == (PASSAGE, None)


def test_what_the_training_never_saw_may_be_forgotten(world: World) -> None:
    assert ended_when(world, lambda: forget(world, question(held_out=True))).state == "promoted"


def test_what_was_only_rated_anew_goes_live(world: World) -> None:
    def rate_anew() -> None:
        with world.stores.database.writing() as sql:
            for row in sql.query(Judgement):
                row.label = "irrelevant"

    assert ended_when(world, rate_anew).state == "promoted"


def test_the_live_model_s_files_stay_where_the_next_one_is_refused(world: World) -> None:
    first = world.run("first")
    world.training.content = "second"
    second = ended_when(world, lambda: forget(world, question(held_out=False)))
    assert second.reason == MESSAGE
    assert world.checkpoints.versions("retriever") == [first.version]
    assert world.live.live(ROLE) == first.version


def test_it_is_seen_in_the_very_transaction_of_the_swap(world: World) -> None:
    """Nobody looks before that: what is forgotten last is seen as well."""
    promote = world.rounds.promote

    def forgotten_just_before(*given: Any, **more: Any) -> bool:
        with world.stores.database.writing() as sql:
            taught = next(t for t in sql.query(Turn) if not is_held_out(t.message))
            taught.message = taught.standalone = ""
        return promote(*given, **more)

    world.rounds.promote = forgotten_just_before  # type: ignore[method-assign]
    assert world.run().reason == MESSAGE
