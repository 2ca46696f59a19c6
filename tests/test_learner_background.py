"""The learner of a chat: when it begins, that it gives way to answers, and leaving without waiting."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from test_learner import JUDGE, WORSE, FakeTraining, World, expire
from test_lessons import ask

from assistant.background.priority import AnswersFirst
from assistant.learning import background
from assistant.learning.background import BackgroundLearner
from assistant.learning.recipe import Trainable
from assistant.learning.recipes.retriever.recipe import ROLE
from assistant.learning.schedule import Occasions
from assistant.learning.steering import ANSWERING, ASKED, Budget, Steering
from assistant.wiring.recipes import RECIPES
from stores.base.clock import now
from stores.base.errors import EncoderUnavailable
from stores.database.tables import Round
from stores.learning.lessons import HeldOut, Lesson, Lessons, TooFewHeldOut
from stores.learning.rounds import Rounds

LED = """
import json, sys, time
from assistant.learning.background import follow
from assistant.learning.steering import Steering
def tell(**facts): print(json.dumps({"schema": 1, "round": 4, **facts}), flush=True)
steering = Steering()
follow(0, steering)
"""
UNTIL_LEFT = """
tell(phase="reading")
was = None
while not steering.is_left:
    if steering.is_paused != was:
        was = steering.is_paused
        tell(phase="waiting" if was else "training")
    time.sleep(0.01)
tell(state="waiting", reason="it goes on at the next occasion")
"""


class Chat:
    """A learner whose process is a script."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        self.notices: list[str] = []
        self.is_due = False
        self.in_vain = 0
        self.heard = folder / "heard"
        code = LED + script
        if "tell(" in script:
            code = code.replace(
                "flush=True)", f"flush=True); open({str(self.heard)!r}, 'a').write(json.dumps(facts) + '\\n')"
            )
        self.learner = BackgroundLearner(
            [sys.executable, "-c", code],
            folder=Path(__file__).parents[1],
            is_due=lambda: self.is_due,
            came_to_nothing=self._came_to_nothing,
            gains={name: recipe.gains for name, recipe in RECIPES.items()},
            looks_every=0.05,
        )

    def _came_to_nothing(self) -> None:
        self.in_vain += 1

    def phases(self) -> list[str]:
        lines = self.heard.read_text().splitlines() if self.heard.exists() else []
        return [json.loads(line).get("phase", "") for line in lines]

    def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 90
        while not holds():
            assert time.monotonic() < deadline, (self.phases(), self.notices)
            time.sleep(0.01)


@pytest.fixture
def chat_with(tmp_path: Path) -> Iterator[Callable[[str], Chat]]:
    made: list[Chat] = []

    def chat(script: str, *, by_itself: bool = False) -> Chat:
        made.append(Chat(tmp_path, script))
        made[-1].learner.start(made[-1].notices.append, by_itself=by_itself)
        return made[-1]

    yield chat
    for each in made:
        each.learner.close()


END = 'tell(phase="training", step=3, steps=9); tell(state={!r}, reason={!r})'


@pytest.mark.parametrize(
    ("script", "notice"),
    [
        (
            END.format("refused", "Refused: it does not win."),
            "Round 4 is over, and the model in use stays. /training tells why.",
        ),
        (
            END.format("failed", "the loss is nan") + "; sys.exit(1)",
            "Round 4 broke off at step 3 of 9: the loss is nan. The model in use is untouched; "
            "training starts again at the next occasion.",
        ),
    ],
)
def test_what_came_of_a_round_is_told_once(
    chat_with: Callable[[str], Chat], script: str, notice: str
) -> None:
    chat = chat_with(script)
    chat.learner.begin()
    chat.until(lambda: bool(chat.notices))
    time.sleep(0.2)
    assert chat.notices == [notice]


def test_a_round_that_began_by_itself_and_was_refused_is_told_to_the_log_alone(
    chat_with: Callable[..., Chat], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    chat = chat_with(END.format("refused", "Refused: it does not win."), by_itself=True)
    chat.is_due = True
    chat.until(lambda: "round 4 was refused" in caplog.text)
    chat.is_due = False
    chat.until(lambda: not chat.learner.is_leading)
    assert chat.notices == []
    chat.learner.begin()  # who asked for it is told
    chat.until(lambda: len(chat.notices) == 1)


def test_a_process_that_begins_no_round_is_told_of_and_waits_for_another_occasion(
    chat_with: Callable[..., Chat],
) -> None:
    said = "print(json.dumps({'error': 'it cannot be'}), file=sys.stderr); sys.exit(70)"
    chat = chat_with(said, by_itself=True)
    chat.is_due = True
    chat.until(lambda: chat.in_vain > 0)
    chat.is_due = False
    chat.until(lambda: bool(chat.notices))
    assert set(chat.notices) == {"No round was begun: it cannot be."}


def test_a_round_begins_on_occasion_and_not_in_a_pause(chat_with: Callable[..., Chat]) -> None:
    chat = chat_with(END.format("promoted", "Promoted."), by_itself=True)
    chat.learner.pause()
    chat.is_due = True
    time.sleep(0.3)
    assert chat.phases() == []
    chat.learner.go_on()
    chat.until(lambda: bool(chat.notices))


def test_a_chat_that_does_not_learn_by_itself_learns_when_asked(chat_with: Callable[..., Chat]) -> None:
    chat = chat_with(END.format("refused", "Refused."))
    chat.is_due = True
    time.sleep(0.3)
    assert chat.phases() == []
    chat.learner.begin()
    chat.until(lambda: bool(chat.notices))


def test_who_asks_for_a_round_that_is_led_is_told_of_it_and_gets_no_second_one(
    chat_with: Callable[..., Chat], tmp_path: Path
) -> None:
    """Only who asks when it is over."""
    over, gone = tmp_path / "over", tmp_path / "gone"
    chat = chat_with(f"""
import os
def wait_for(file):
    while not os.path.exists(file):
        time.sleep(0.01)
tell(phase="reading")
wait_for({str(over)!r})
tell(state="refused", reason="Refused.")
wait_for({str(gone)!r})
""")
    chat.learner.begin()
    chat.until(lambda: chat.phases() == ["reading"])
    chat.learner.begin()  # that key was pressed twice
    over.touch()
    chat.until(lambda: not chat.learner._goes_on)
    gone.touch()
    chat.until(lambda: len(chat.notices) == 1 and not chat.learner.is_leading)
    assert not chat.learner._is_asked
    gone.unlink()
    chat.learner.begin()
    chat.until(lambda: chat.phases().count("") == 2 and not chat.learner._goes_on)
    chat.learner.begin()
    gone.touch()
    chat.until(lambda: len(chat.notices) == 3)
    assert chat.phases().count("reading") == 3


def test_a_round_waits_while_an_answer_is_written(chat_with: Callable[[str], Chat]) -> None:
    chat = chat_with(UNTIL_LEFT)
    first = AnswersFirst()
    first.watch(chat.learner.answering)
    chat.learner.begin()
    chat.until(lambda: chat.phases() == ["reading", "training"])
    with first.answering():
        chat.until(lambda: chat.phases()[-1] == "waiting")
        with first.answering():  # of another session
            pass
        time.sleep(0.1)
        assert chat.phases()[-1] == "waiting"
    chat.until(lambda: chat.phases()[-1] == "training")


def test_who_leaves_leaves_the_round(
    chat_with: Callable[[str], Chat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_LEAVES_WITHIN", 60.0)
    chat = chat_with(UNTIL_LEFT)
    chat.learner.begin()
    chat.until(lambda: chat.phases() == ["reading", "training"])
    chat.learner.close()
    assert json.loads(chat.heard.read_text().splitlines()[-1])["state"] == "waiting"
    assert chat.notices == []


def test_who_is_slow_to_leave_is_not_waited_for(chat_with: Callable[[str], Chat], tmp_path: Path) -> None:
    assert background._LEAVES_WITHIN < 1  # seconds
    may_end = tmp_path / "may end"
    chat = chat_with(f"""
import os
tell(phase="reading")
while not os.path.exists({str(may_end)!r}):
    time.sleep(0.01)
""")
    chat.learner.begin()
    chat.until(lambda: chat.phases() == ["reading"])
    chat.learner.close()
    assert chat.learner.is_leading
    may_end.touch()
    assert chat.learner._thread is not None
    chat.learner._thread.join()
    assert chat.notices == []


def test_a_round_whose_chat_was_killed_is_left_too(tmp_path: Path) -> None:
    """Its input ends with the chat, however that ended."""
    with subprocess.Popen(
        [sys.executable, "-c", LED + UNTIL_LEFT],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as led:
        assert led.stdout is not None
        assert led.stdin is not None
        led.stdout.readline()
        led.stdin.close()
        assert json.loads(led.stdout.read().splitlines()[-1])["state"] == "waiting"


# Occasions


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.fresh(tmp_path)  # with 20 lessons


def occasions(world: World, **more: Any) -> Occasions:
    given = {"fewest": 10, "new_lessons": 5, "hours": 24.0, "deciding": 1, "limits": {"margin": 0.01}, **more}
    given.setdefault("now_trained", world.trainable)
    lessons, rounds = Lessons(world.stores.database), Rounds(world.stores.database)
    return Occasions("retriever", lessons, rounds, world.live, **given)


def judge_more(world: World, count: int) -> None:
    ann = world.stores.journal.user_id("ann")
    opens, _ = sorted(world.stores.texts())
    for number in range(count):
        ask(world.stores, ann, [(opens, "answer")], question=f"and then {number}?")


def yesterday(world: World) -> None:
    with world.stores.database.writing() as sql:
        for row in sql.query(Round):
            row.ended_at = now() - timedelta(hours=25)


def test_no_round_begins_by_itself_that_could_not_be_decided(world: World) -> None:
    kept = len(JUDGE)
    assert occasions(world, deciding=kept).is_due()
    assert occasions(world, deciding=kept).awaited().lack is None
    assert occasions(world, deciding=kept).warning() == ""
    some = occasions(world, deciding=kept + 3)
    assert not some.is_due()
    assert some.awaited().lack == TooFewHeldOut(20, HeldOut(kept, kept), kept + 3, 2)
    assert some.warning().startswith(f"This round cannot go live: {kept} questions are held out, and")
    assert some.warning().endswith(f"{kept + 3} are needed, about 6 more lessons.")
    fewer = occasions(world, deciding=kept + 3, fewest=1000)
    assert fewer.awaited().lack is None  # the others are waited for longer
    assert fewer.warning() == ""  # none can be begun


def test_what_a_round_would_repeat_is_told_and_not_begun_by_itself(world: World) -> None:
    assert occasions(world).repeated() is None
    world.decision = WORSE
    world.run()
    some = occasions(world)
    assert some.warning() == "Nothing was judged since round 1; it would end the same."
    ann = world.stores.journal.user_id("ann")
    [own] = world.stores.say(ann, "The garden is green.")
    for number in range(5):  # from what somebody merely said nothing is learned
        ask(world.stores, ann, [(own, "answer")], question=f"what did I say, {number}?")
    assert some.not_learned() == 5
    assert not some.is_due()
    assert some.awaited().lack == TooFewHeldOut(25, HeldOut(5, 0), 1)
    judge_more(world, 1)
    assert some.is_due()
    assert some.warning() == ""


def test_a_round_by_other_settings_repeats_none(world: World) -> None:
    world.decision = WORSE
    world.run()
    with world.stores.database.writing() as sql:
        row = sql.get_one(Round, 1)
        row.figures = {**row.figures, "comparison": {"limits": {"margin": 0.01}}}
    assert occasions(world).repeated() is not None
    seeded = world.trainable(settings={"seed": 2})
    assert occasions(world, now_trained=lambda: seeded).repeated() is None
    encoded = replace(world.trainable(), encoder_version="another")
    assert occasions(world, now_trained=lambda: encoded).repeated() is None
    assert occasions(world, limits={"margin": 0.02}).repeated() is None
    world.live.make_live(ROLE, "another", details={})
    assert occasions(world).repeated() is None


def test_one_whose_model_went_live_would_make_it_again(world: World) -> None:
    world.run()
    told = "Nothing was judged since round 1; it would make the same model again."
    assert occasions(world).warning() == told
    world.live.step_back(ROLE)
    assert occasions(world).warning().startswith("This round cannot go live: 0 questions are held out")


def test_what_would_be_repeated_is_not_known_without_the_encoder(world: World) -> None:
    def gone() -> Trainable[Lesson]:
        raise EncoderUnavailable("it is gone")

    world.run()
    assert occasions(world, now_trained=gone).repeated() is None


def test_the_first_round_is_due_with_the_fewest_lessons(world: World) -> None:
    assert occasions(world, fewest=20).is_due()
    assert not occasions(world, fewest=21).is_due()
    assert occasions(world, fewest=21).awaited().missing == 1


def test_the_next_one_is_due_with_so_many_new_ones_or_after_a_time(world: World) -> None:
    world.run()
    assert (occasions(world).is_due(), occasions(world).not_learned()) == (False, 0)
    yesterday(world)
    assert not occasions(world).is_due()  # nothing new
    judge_more(world, 4)
    assert (occasions(world).is_due(), occasions(world).not_learned()) == (True, 4)
    assert not occasions(world, hours=0.0).is_due()
    judge_more(world, 1)
    assert occasions(world, hours=0.0).is_due()


def test_a_round_that_failed_is_due_again_later(world: World) -> None:
    world.training.start = "another"
    assert world.run().state == "failed"
    assert not occasions(world).is_due()
    assert (occasions(world).not_learned(), occasions(world).awaited().missing) == (20, 5)
    judge_more(world, 5)
    assert occasions(world).is_due()


def test_a_round_that_runs_is_no_occasion_and_one_that_was_left_is(world: World) -> None:
    seen: list[bool] = []
    world.training.on_step = lambda: seen.append(occasions(world).is_due())
    world.run()
    assert seen == [False]
    judge_more(world, 5)
    round_id = world.rounds.begin("retriever", {"last_turn": 20})
    assert not occasions(world).is_due()
    expire(world.stores)
    assert occasions(world).is_due()
    world.rounds.take_over(round_id)
    world.rounds.leave(round_id, "", rest=timedelta(minutes=1))
    assert not occasions(world).is_due()


def test_what_came_to_nothing_is_due_when_more_was_judged(world: World) -> None:
    some = occasions(world)
    some.came_to_nothing()
    assert not some.is_due()
    judge_more(world, 1)
    assert some.is_due()


# Steering


def test_a_pause_holds_for_as_long_as_one_of_its_reasons() -> None:
    steering = Steering()
    steering.pause(ANSWERING)
    steering.pause(ASKED)
    steering.go_on(ASKED)
    assert steering.is_paused
    steering.computes_on("cuda")  # an answer is in nobody's way there
    assert not steering.is_paused
    steering.pause(ASKED)
    assert steering.is_paused


def test_time_does_not_pass_in_a_pause() -> None:
    steering = Steering()
    budget = Budget(0.05, steering)
    steering.pause(ASKED)
    time.sleep(0.1)
    assert not budget.is_over()
    steering.go_on(ASKED)
    time.sleep(0.1)
    assert budget.is_over()
    assert not Budget(None, steering).is_over()


def test_a_comparison_waits_until_it_may_go_on(world: World) -> None:
    learner = world.learner()
    waited: list[bool] = []

    def compare(*given: Any) -> Any:
        learner.steering.pause(ANSWERING)
        beats = 0

        def beat() -> None:
            nonlocal beats
            beats += 1
            if beats == 3:
                waited.append(learner.steering.is_paused)
                learner.steering.go_on(ANSWERING)

        learner.steering.hold(beat, at_once=0.01)
        return world.compare(*given)

    learner.trainable = replace(learner.trainable, compare=compare)
    learner._train = FakeTraining()
    assert (learner.run().state, waited) == ("promoted", [True])
