"""The models that are trained from use, each by a recipe of its own."""

from __future__ import annotations

from dataclasses import dataclass

SHIPPED = "shipped"  # in place of a version: what Vouch comes with
# What one of several users taught would reach the others.
_ALONE = "as long as the database has one user"
_ACCEPTED = "among several users only a curator's over a shared one"


@dataclass(frozen=True)
class Trained:
    """One of them."""

    recipe: str
    role: str
    module: str  # the program that trains it
    gains: str  # what Vouch does better with it, in words
    what_is_a_lesson: str  # a sentence, for who has too few


RETRIEVER = Trained(
    "retriever",
    "query encoder",
    "assistant.learning.recipes.retriever.train",
    "find better",
    "Every question whose passages were judged is a lesson.",
)
DIALOGUE = Trained(
    "dialogue",
    "dialogue generator",
    "assistant.learning.recipes.dialogue.from_use",
    "reply better over knowledge bases",
    f"Every reply over a knowledge base that was rated good or corrected is a lesson, {_ACCEPTED}.",
)
QUERY = Trained(
    "query",
    "query model",
    "assistant.learning.recipes.query.from_use",
    "understand follow-up questions better",
    f"Every question behind others for which an answering passage was found is a lesson, {_ALONE}.",
)
ENTITIES = Trained(
    "entities",
    "entity retriever",
    "assistant.learning.recipes.dialogue.entities_from_use",
    "find what you mean in knowledge bases better",
    f"Every reply over a knowledge base that tells of an entity and was rated good or corrected is a lesson, "
    f"{_ACCEPTED}.",
)
# The first that is due comes first.
TRAINED = {each.recipe: each for each in (RETRIEVER, DIALOGUE, QUERY, ENTITIES)}
