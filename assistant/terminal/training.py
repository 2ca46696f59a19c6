"""Training as a chat shows and steers it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assistant.terminal.screens.training_facts import without_state
from stores.errors import VouchError, WrongUsage
from stores.one_line import one_line
from stores.round_phases import in_words

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.records import Round

_ROUNDS = 5  # shown
_ENDS = "No round was begun: it would need a chat that stays open, and this one ends with its input."


def steer_training(assistant: Assistant, what: str, *, stays: bool = True) -> Iterator[str]:
    """Does what is asked for and yields what is said of it; without a word, tells how it goes.

    stays: the chat goes on until a person leaves it, and a round behind it. Raises `VouchError`.
    """
    learner = assistant.background_learner
    if what == "start":
        if lacks := _lacks(assistant):
            raise VouchError(f"No round was begun: {lacks}.")
        if not stays:
            raise VouchError(_ENDS, hint="`vouch train` trains a round now.")
        learner.begin()
        yield "A round begins in the background; a notice tells what comes of it."
    elif what == "stop":
        stopped = assistant.rounds.ask_to_stop()
        if not stopped:
            raise VouchError("No round runs.")
        yield f"Round {stopped} stops."
    elif what == "pause":
        learner.pause()
        yield "Training in this chat waits. /train continue goes on."
    elif what == "continue":
        learner.go_on()
        yield "Training in this chat goes on."
    elif what == "back":
        yield f"Search uses {assistant.step_back()} again. /train back takes this back."
    elif what:
        raise WrongUsage(f"There is no /train {one_line(what)}: start, stop, pause, continue or back.")
    else:
        yield from _status(assistant)


def _lacks(assistant: Assistant) -> str:
    """Which lessons a round lacks that would be begun now; empty where it can be, or one goes on."""
    from stores.lessons import Lessons, what_is_lacking

    latest = next(iter(assistant.rounds.latest(1)), None)
    lessons, fewest = Lessons(assistant.database), assistant.settings.learning.fewest_lessons
    if (latest is not None and latest.state in ("running", "waiting")) or lessons.count() >= fewest:
        return ""
    there = len(lessons.all())
    return what_is_lacking(there, fewest) if there < fewest else ""


def _status(assistant: Assistant) -> Iterator[str]:
    rounds = assistant.rounds.latest(_ROUNDS)
    for row in reversed(rounds):
        yield f"round {row.id}: {_state(row, is_broken_off=assistant.rounds.is_broken_off(row))}"
    new, wanted = assistant.occasions.not_learned(), assistant.occasions.begins_at()
    judged = "1 question was" if new == 1 else f"{new} questions were"
    yield f"{judged} judged that no round has learned from; with {wanted} a round begins."
    if not assistant.settings.learning.in_chat:
        yield "learning.in_chat is false: in this chat only /train start begins one."
    if assistant.background_learner.is_paused:
        yield "Training in this chat waits. /train continue goes on."


def _state(row: Round, *, is_broken_off: bool) -> str:
    if is_broken_off:
        return "broken off, without a word; it goes on at the next occasion"
    if row.state != "running":
        return ", ".join(filter(None, (row.state, without_state(row.reason))))
    facts = row.figures.get("progress", {})
    waits = ", waiting" if row.figures.get("is_paused") else ""
    if "step" in facts:
        return f"step {facts['step']} of {facts['steps']}, loss {facts['loss']:.2f}{waits}"
    return f"{one_line(in_words(str(row.figures.get('phase', ''))))}{waits}"
