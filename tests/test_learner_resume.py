"""A round that was broken off goes on as if it had not been, or is dropped where it would begin otherwise."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_learner import QUESTIONS, FakeTraining, World, candidate_in
from test_lessons import ask
from tiny_sources import tiny_berts

from assistant.learning.learner import MOST_IN_VAIN, attempted
from assistant.learning.progress import Progress
from assistant.learning.recipes.retriever.apart import train_apart
from assistant.learning.recipes.retriever.recipe import RETRIEVER, ROLE
from assistant.learning.steering import Budget, Steering
from assistant.learning.training_process import Left, TimeOver, TrainingKilled
from assistant.wiring.parts.trained import TrainedModel
from stores.database.tables import Judgement, Turn
from stores.learning.lessons import Lesson, LessonDocument


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.fresh(tmp_path)


def leave(world: World) -> int:
    """A round that is left while it trains."""
    learner = world.learner()
    world.training.on_step = learner.steering.leave

    def leaving(*given: Any, **more: Any) -> Path:
        made = world.training(*given, **more)
        (world.training.folder / "reached").write_text("step 1")
        if learner.steering.is_left:
            raise Left
        return made

    learner.trainable = world.trainable(train=leaving)
    ended = learner.run()
    world.training.on_step = lambda: None
    assert (ended.state, ended.exit_code) == ("waiting", 0)
    return ended.round_id


def go_on(world: World, **more: Any) -> tuple[Any, list[Progress], bool]:
    """What comes of the next run, what it told, and whether it found what was reached."""
    told: list[Progress] = []
    found: list[bool] = []

    def train(folder: Path, *given: Any, **rest: Any) -> Path:
        found.append((folder / "reached").is_file())
        return FakeTraining("gone on")(folder, *given, **rest)

    ended = world.learner(train=train, **more).run(tell=told.append)
    return ended, told, found == [True]


def test_a_round_that_was_left_goes_on_with_what_it_had_reached(world: World) -> None:
    round_id = leave(world)
    assert (world.last.state, world.live.live(ROLE)) == ("waiting", None)
    ann = world.stores.journal.user_id("ann")
    opens, _ = sorted(world.stores.texts())
    ask(world.stores, ann, [(opens, "answer")], question="what came later?")
    ended, _, has_reached = go_on(world)
    assert (ended.state, ended.round_id, has_reached) == ("promoted", round_id, True)
    assert {lesson.question for lesson in world.compared[0][1]} == set(QUESTIONS)  # those it began with
    assert list((world.folder / "models").glob(".work*")) == []


def test_a_round_that_was_broken_off_goes_on_after_one_of_another_recipe(world: World) -> None:
    round_id = leave(world)

    def kept_its_start(folder: Path, shown: Sequence[Lesson], **_how: Any) -> Path:
        (folder / "reached").write_text("another's")
        return candidate_in(folder, "another", best_epoch=0)

    other = replace(world.trainable(), recipe=replace(RETRIEVER, model=TrainedModel("another", "another")))
    for _ in range(2):
        learner = world.learner(fewest=0)
        learner.trainable = replace(other, train=kept_its_start)
        assert learner.run().state == "refused"
    ended, told, has_reached = go_on(world)
    assert (ended.state, ended.round_id, has_reached) == ("promoted", round_id, True)
    assert "dropped" not in [progress.phase for progress in told]


def forget_a_turn(world: World) -> None:
    with world.stores.database.writing() as sql:
        taught = next(i for i, q in enumerate(QUESTIONS) if q in {x.question for x in world.training.shown})
        sql.get_one(Turn, taught + 1).message = ""


def judge_anew(world: World) -> None:
    with world.stores.database.writing() as sql:
        for row in sql.query(Judgement):
            row.label = "irrelevant"


def another_is_live(world: World) -> None:
    world.live.make_live(ROLE, "another", details={})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (forget_a_turn, "forgotten"),
        (judge_anew, "rated anew"),
        (another_is_live, "another model is live"),
    ],
)
def test_a_round_that_would_begin_otherwise_today_is_dropped(
    world: World, change: Callable[[World], None], reason: str
) -> None:
    round_id = leave(world)
    change(world)
    ended, told, has_reached = go_on(world)
    assert told[0].phase == "dropped"
    assert reason in told[0].facts["reason"]
    assert (ended.round_id, has_reached) == (round_id + 1, False)
    dropped = world.rounds.latest()[-1]
    assert (dropped.state, dropped.reason) == ("stopped", f"dropped: {told[0].facts['reason']}")


def test_other_settings_or_another_encoder_begin_anew(world: World) -> None:
    leave(world)
    ended, told, _ = go_on(world, settings={"seed": 2})
    assert (ended.round_id, told[0].facts["reason"]) == (2, "the settings of the training have changed")


def left_at(world: World, round_id: int, step: int) -> None:
    """It is gone on with, and left at a step of its training."""
    left = world.rounds.abandoned(RETRIEVER.name)
    assert left is not None
    assert world.rounds.take_over(round_id, attempted(left.figures))
    world.rounds.note(round_id, {"phase": "training", "progress": {"step": step}})
    world.rounds.leave(round_id, "")


def test_what_gets_no_further_is_given_up(world: World) -> None:
    round_id = leave(world)
    for _ in range(MOST_IN_VAIN + 1):
        left_at(world, round_id, step=5)
    ended, told, _ = go_on(world)
    assert ended.round_id == round_id + 1
    assert "got no further" in told[0].facts["reason"]


def test_a_long_round_is_gone_on_with_by_any_number_of_short_chats(world: World) -> None:
    round_id = leave(world)
    for step in range(3 * MOST_IN_VAIN):
        left_at(world, round_id, step=5 + step // 2)  # every other one is too short for a step
    ended, _, has_reached = go_on(world)
    assert (ended.state, ended.round_id, has_reached) == ("promoted", round_id, True)


def test_a_training_that_was_killed_rests_before_it_goes_on(world: World) -> None:
    def killed() -> None:
        raise TrainingKilled(9)

    world.training.on_step = killed
    ended = world.run()
    assert (ended.state, ended.exit_code) == ("waiting", 3)
    assert ended.reason == "the training was ended by signal 9, as when memory runs out"
    assert world.rounds.is_broken_off(world.last)
    assert world.rounds.abandoned(RETRIEVER.name, even_resting=False) is None
    again, _, _ = go_on(world)
    assert (again.state, again.round_id) == ("promoted", ended.round_id)


def test_a_round_that_had_its_time_rests_and_goes_on_with_what_it_had_reached(world: World) -> None:
    def is_over() -> None:
        (world.training.folder / "reached").write_text("step 1")
        raise TimeOver

    world.training.on_step = is_over
    ended = world.run()
    assert (ended.state, ended.exit_code) == ("waiting", 4)
    assert not world.rounds.is_broken_off(world.last), "it was meant"
    assert world.rounds.abandoned(RETRIEVER.name, even_resting=False) is None
    again, _, has_reached = go_on(world)
    assert (again.state, again.round_id, has_reached) == ("promoted", ended.round_id, True)


def test_a_command_that_is_told_to_end_leaves_its_round(world: World) -> None:
    def hung_up() -> None:
        raise SystemExit(129)

    world.training.on_step = hung_up
    with pytest.raises(SystemExit):
        world.run()
    assert world.last.state == "waiting"


def test_the_comparison_can_be_left_as_well(world: World) -> None:
    learner = world.learner()
    decide = world.compare

    def left_meanwhile(served: Path, lessons: Sequence[Lesson], tell: Callable[[int, int], None]) -> Any:
        learner.steering.leave()
        tell(1, 2)
        return decide(served, lessons, tell)

    learner.trainable = replace(learner.trainable, compare=left_meanwhile)
    assert (learner.run().state, world.compared) == ("waiting", [])
    assert go_on(world)[0].state == "promoted"


# With a small network


def lessons() -> list[Lesson]:
    words = "key table blue where sun moon cat dog red green".split()
    found = []
    for number in range(24):
        right, wrong = number % 10, (number + 3) % 10
        documents = tuple(
            LessonDocument(version, "", f"the {words[version]} is on the table", label, score, rank)
            for rank, (version, label, score) in enumerate(
                [(wrong, "irrelevant", 0.1), (right, "answer", 0.9)], start=1
            )
        )
        question = f"where is the {words[right]} {number}?"
        found.append(Lesson(number, 1, question, documents, "gold", "e", "2026-11", number % 6 == 0))
    return found


class Trained(Exception):
    """What follows is the export, which would take a minute."""


def trained(
    folder: Path,
    encoder: Path,
    *,
    steering: Steering | None = None,
    tell: Any = None,
    checkpoint_seconds: float = 0.0,
) -> bytes:
    """The state after the last step: weights, the best ones, and the optimiser's moments."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(3).standard_normal((10, 32)).astype(np.float32)
    unit = random / np.linalg.norm(random, axis=1, keepdims=True)

    def until_trained(told: Any) -> None:
        if tell:
            tell(told)
        if told and told.get("phase") == "exporting":
            raise Trained

    with suppress(Trained):
        train_apart(
            folder,
            lessons(),
            {version: unit[version].tobytes() for version in range(10)},
            dimension=32,
            settings={"epochs": 4, "patience": 4, "batch_questions": 4, "learning_rate": 1e-3},
            threads=1,
            encoder=encoder,
            checkpoint_seconds=checkpoint_seconds,
            steering=steering,
            tell=until_trained,
        )
    return (folder / "candidate.training" / "checkpoint.safetensors").read_bytes()


@pytest.fixture
def tiny() -> Path:
    return tiny_berts() / "mean"


def test_a_training_broken_off_twice_ends_with_the_same_weights(tiny: Path, tmp_path: Path) -> None:
    """Once killed, once left; bit for bit, with one thread of the processor."""
    steering = Steering()
    steps: list[int] = []

    def kill(told: Any) -> None:
        if told and told["kind"] == "step" and told["step"] == 7:
            os.kill(steering._group or 0, signal.SIGKILL)

    def leave(told: Any) -> None:
        if told and told["kind"] in ("step", "resumed"):
            steps.append(told["step"])
        if told and told["kind"] == "step" and told["step"] == 13:
            assert list(folder.glob("*.jsonl")) == list(folder.glob("*.npz")) == []  # what was asked
            steering.leave()

    folder = tmp_path / "broken off"
    with pytest.raises(TrainingKilled):
        trained(folder, tiny, steering=steering, tell=kill)
    with pytest.raises(Left):
        trained(folder, tiny, steering=steering, tell=leave)
    assert 6 <= steps[0] <= 8  # it went on from there
    resumed: list[int] = []
    broken_off = trained(
        folder, tiny, tell=lambda told: resumed.append(told["step"]) if told and "step" in told else None
    )
    assert resumed[0] >= 12
    assert broken_off == trained(tmp_path / "uninterrupted", tiny)


def test_a_training_whose_time_is_over_writes_down_what_it_has_reached_and_goes_on_from_there(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []

    def steps_of(told: Any) -> None:
        steps.extend([told["step"]] if told and "step" in told else [])

    with monkeypatch.context() as until_the_fourth:  # step; a checkpoint is not due by then
        until_the_fourth.setattr(Budget, "is_over", lambda budget: len(steps) >= 4)
        with pytest.raises(TimeOver, match="the time given to it was over"):
            trained(tmp_path, tiny, tell=steps_of, checkpoint_seconds=600.0)
    steps.clear()
    trained(tmp_path, tiny, tell=steps_of)
    assert steps[0] >= 4


def test_a_halted_training_goes_on_and_ends_with_its_learner(tiny: Path, tmp_path: Path) -> None:
    """Halted, no step is taken; and nothing stays behind halted."""
    steering = Steering()
    silences = 0
    at: list[int] = []

    def halt(told: Any) -> None:
        nonlocal silences
        if told and told["kind"] == "step":
            at.append(told["step"])
            if len(at) == 3:
                steering.pause("answering")
        elif told is None and steering.is_paused:
            silences += 1
            if silences == 4:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "halted", tiny, steering=steering, tell=halt)
    assert len(at) <= 5  # a step or two were told already
    assert steering._group is None
