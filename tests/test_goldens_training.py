"""Training, a round, what is asked there, and Before/After, in each size and look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from golden_screens import LOOKS, Scene, check_scene
from round_rows import FakeLearner, keep, of, promoted, refused, running
from screen_fixtures import QUESTION, ChatOnScreen
from test_terminal_compare import ALIKE, ASKED, ASKED_AGAIN, playing

from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question

REPLIES = [["It opens at 10:00 on Saturdays [1]."], ["No."]]


async def training(chat: ChatOnScreen) -> None:
    await chat.presses("f4")
    await chat.until(lambda: isinstance(chat.screen, TrainingScreen))
    await chat.shows("live model")


async def one_runs(chat: ChatOnScreen) -> None:
    keep(of(chat), refused(), promoted(), running())


async def one_went_live(chat: ChatOnScreen) -> None:
    keep(of(chat), refused(), promoted())


async def one_is_led_here(chat: ChatOnScreen) -> None:
    is_led_here(chat)
    keep(of(chat), running(1))


async def one_is_paused_here(chat: ChatOnScreen) -> None:
    is_led_here(chat).is_paused = True
    keep(of(chat), refused(1), running(2, phase="reading", progress={}, curve=[], measured=[]))


def is_led_here(chat: ChatOnScreen) -> FakeLearner:
    """A round is, by a learner in place of the chat's own."""
    learner = FakeLearner()
    learner.is_leading = True
    of(chat).__dict__["background_learner"].close()
    of(chat).__dict__["background_learner"] = learner
    return learner


async def a_round(chat: ChatOnScreen) -> None:
    await training(chat)
    await chat.presses("enter")
    await chat.until(lambda: isinstance(chat.screen, PageScreen))


async def ends_one(chat: ChatOnScreen) -> None:
    await training(chat)
    await chat.presses("s")
    await chat.until(lambda: isinstance(chat.screen, Question))


async def two_answers(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)
    await chat.asks("Is there a locker?")
    keep(of(chat), promoted(12))


async def compare(chat: ChatOnScreen) -> None:
    await chat.sends("/compare")
    await chat.shows("It is closed.")


async def compare_with_names(chat: ChatOnScreen) -> None:
    await compare(chat)
    await chat.presses("v")
    await chat.shows("previous")


SCENES = [
    Scene("training-first", training),
    Scene("training", training, one_runs),
    Scene("training-paused", training, one_is_paused_here),
    Scene("training-between-rounds", training, one_went_live),
    Scene("training-round", a_round, one_went_live),
    Scene("training-question", ends_one, one_is_led_here),
    Scene("compare", compare, two_answers, replies=REPLIES),
    Scene("compare-names", compare_with_names, two_answers, replies=REPLIES),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_a_scene_of_training_is_its_golden_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: Scene, look: str
) -> None:
    def compared(*_: Any, **__: Any) -> ComparisonChild:
        return playing(ASKED, ASKED_AGAIN, ALIKE)

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(compared))
    await check_scene(scene, look, tmp_path, monkeypatch)
