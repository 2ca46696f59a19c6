"""The recipes by which models are trained from use, a line each; the first that is due comes first."""

from __future__ import annotations

from assistant.learning.recipe import Recipe
from assistant.learning.recipes.collections.recipe import COLLECTIONS
from assistant.learning.recipes.dialogue.recipe import DIALOGUE
from assistant.learning.recipes.entities.recipe import ENTITIES
from assistant.learning.recipes.judge.recipe import JUDGE
from assistant.learning.recipes.query.recipe import QUERY
from assistant.learning.recipes.relevance.recipe import RELEVANCE
from assistant.learning.recipes.retriever.recipe import RETRIEVER

RECIPES: dict[str, Recipe] = {
    each.name: each for each in (RETRIEVER, COLLECTIONS, RELEVANCE, JUDGE, DIALOGUE, QUERY, ENTITIES)
}
