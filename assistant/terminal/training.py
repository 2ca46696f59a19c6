"""Training as a chat shows and steers it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stores.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.records import Round

_ROUNDS = 5  # shown


def steer_training(assistant: Assistant, what: str) -> Iterator[str]:
    """Does what is asked for and yields what is said of it; without a word, tells how it goes."""
    learner = assistant.background_learner
    if what == "start" and (lacks := _lacks(assistant)):
        yield f"No round was begun: {lacks}."
    elif what == "start":
        learner.begin()
        yield "A round begins in the background; a notice tells what comes of it."
    elif what == "stop":
        stopped = assistant.rounds.ask_to_stop()
        yield f"Round {stopped} stops." if stopped else "No round runs."
    elif what == "pause":
        learner.pause()
        yield "Training in this chat waits. /train continue goes on."
    elif what == "continue":
        learner.go_on()
        yield "Training in this chat goes on."
    elif what == "back":
        yield f"Search uses {assistant.step_back()} again. /train back takes this back."
    elif what:
        yield f"There is no /train {one_line(what)}: start, stop, pause, continue or back."
    else:
        yield from _status(assistant)


def _lacks(assistant: Assistant) -> str:
    """Which lessons a round lacks that would be begun now; empty where it can be, or one goes on."""
    from stores.lessons import Lessons

    latest = next(iter(assistant.rounds.latest(1)), None)
    lessons, fewest = Lessons(assistant.database), assistant.settings.learning.fewest_lessons
    if (latest is not None and latest.state in ("running", "waiting")) or lessons.count() >= fewest:
        return ""
    there = len(lessons.all())
    return f"there are {there} lessons, and a round wants {fewest}" if there < fewest else ""


def _status(assistant: Assistant) -> Iterator[str]:
    rounds = assistant.rounds.latest(_ROUNDS)
    for row in reversed(rounds):
        yield f"round {row.id}: {_state(row, is_broken_off=assistant.rounds.is_broken_off(row))}"
    new, wanted = assistant.occasions.not_learned(), assistant.occasions.begins_at()
    yield f"{new} questions were judged that no round has learned from; with {wanted} one begins."
    if not assistant.settings.learning.in_chat:
        yield "learning.in_chat is false: in this chat only /train start begins one."
    if assistant.background_learner.is_paused:
        yield "Training in this chat waits. /train continue goes on."


def _state(row: Round, *, is_broken_off: bool) -> str:
    if is_broken_off:
        return "broken off, without a word; it goes on at the next occasion"
    if row.state != "running":
        return one_line(f"{row.state}. {row.reason}")
    facts = row.figures.get("progress", {})
    waits = ", waiting" if row.figures.get("is_paused") else ""
    if "step" in facts:
        return f"step {facts['step']} of {facts['steps']}, loss {facts['loss']:.2f}{waits}"
    return f"{row.figures.get('phase', 'beginning')}{waits}"
