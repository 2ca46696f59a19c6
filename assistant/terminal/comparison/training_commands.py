"""Training as a chat shows and steers it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assistant.terminal.facts.training import without_state
from stores.base.errors import VouchError, WrongUsage
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.database.tables import Round

_ROUNDS = 5  # shown
_PAUSED = "Training in this chat is paused. /train continue goes on."
_ENDS = "No round was begun: it would need a chat that stays open, and this one ends with its input."


def steer_training(assistant: Assistant, what: str, *, stays: bool = True) -> Iterator[str]:
    """Does what is asked for and yields what is said of it; without a word, tells how it goes.

    stays: the chat goes on until a person leaves it, and a round behind it. Raises `VouchError`.
    """
    learner = assistant.learning.background_learner
    if what == "start":
        if lacks := _lacks(assistant):
            raise VouchError(f"No round was begun: {lacks}.")
        if not stays:
            raise VouchError(_ENDS, hint="`vouch train` trains a round now.")
        warning = assistant.learning.occasions_of(assistant.learning.recipe_wanted()).warning()
        begins = "The pause ends, and a round begins" if learner.is_paused else "A round begins"
        learner.begin()
        yield f"{warning} {begins} in the background; a notice tells what comes of it.".lstrip()
    elif what == "stop":
        stopped = assistant.stores.rounds.ask_to_stop()
        if not stopped:
            raise VouchError("No round runs.")
        yield f"Round {stopped} stops."
    elif what == "pause":
        learner.pause()
        yield _PAUSED
    elif what == "continue":
        learner.go_on()
        yield "Training in this chat goes on."
    elif what == "back":
        yield f"Vouch uses {assistant.learning.step_back()} again. /train back takes this back."
    elif what:
        raise WrongUsage(f"There is no /train {one_line(what)}: start, stop, pause, continue or back.")
    else:
        yield from _status(assistant)


def _lacks(assistant: Assistant) -> str:
    """Which lessons a round lacks that would be begun now; empty where it can be, or one goes on."""
    from stores.learning.lessons import Lessons, what_is_lacking

    lessons, fewest = Lessons(assistant.stores.database), assistant.given.settings.learning.fewest_lessons
    rounds = assistant.stores.rounds
    if rounds.running() is not None or rounds.waiting() or lessons.count() >= fewest:
        return ""
    if any(assistant.learning.occasions_of(recipe).has_enough() for recipe in assistant.learning.recipes):
        return ""
    there = len(lessons.all())
    return what_is_lacking(there, fewest) if there < fewest else ""


def _status(assistant: Assistant) -> Iterator[str]:
    from assistant.wiring.recipes import RECIPES

    rounds = assistant.stores.rounds.latest(_ROUNDS)
    for row in rounds:
        yield f"round {row.id}: {_state(assistant, row)}"
    occasions = assistant.learning.occasions_of("retriever")
    awaited, new = occasions.awaited(), occasions.not_learned()
    if awaited.lack is not None:
        yield f"{awaited.lack.sentence}."
    else:
        judged = "1 question was" if new == 1 else f"{new} questions were"
        wanted = new + awaited.missing
        yield f"{judged} judged that no round has learned from; with {wanted} a round begins."
    for recipe in assistant.learning.recipes:
        if recipe != "retriever" and assistant.learning.occasions_of(recipe).not_learned():
            yield f"{RECIPES[recipe].about}: {_awaited(assistant, recipe)}."
    if not assistant.given.settings.learning.in_chat:
        yield "learning.in_chat is false: in this chat only /train start begins one."
    if assistant.learning.background_learner.is_paused:
        yield _PAUSED


def _awaited(assistant: Assistant, recipe: str) -> str:
    occasions = assistant.learning.occasions_of(recipe)
    awaited, new = occasions.awaited(), occasions.not_learned()
    if awaited.lack is not None:
        return awaited.lack.sentence
    return f"{new} new lessons; with {new + awaited.missing} a round begins"


def _state(assistant: Assistant, row: Round) -> str:
    from assistant.terminal.facts.training_lines import running_line

    reason = without_state(row.reason)
    if assistant.stores.rounds.is_broken_off(row):
        return f"broken off, {reason or 'without a word'}; it goes on at the next occasion"
    if row.state != "running":
        return ", ".join(filter(None, (row.state, reason)))
    learner = assistant.learning.background_learner
    is_held_up = bool(row.figures.get("is_paused")) or (learner.is_leading and learner.is_paused)
    return running_line(row, is_paused=is_held_up)
