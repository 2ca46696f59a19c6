"""The models that are trained from use and loaded here: the recipe, and the role whose pointer names them."""

from __future__ import annotations

from typing import NamedTuple

SHIPPED = "shipped"  # in place of a version: what Vouch comes with


class TrainedModel(NamedTuple):
    """One of them."""

    recipe: str
    role: str


RETRIEVER = TrainedModel("retriever", "query encoder")  # for the vectors of the live encoder
DIALOGUE = TrainedModel("dialogue", "dialogue generator")
QUERY = TrainedModel("query", "query model")
ENTITIES = TrainedModel("entities", "entity retriever")
RELEVANCE = TrainedModel("relevance", "relevance")
COLLECTIONS = TrainedModel("collections", "collection adapters")  # for the vectors of the live encoder
JUDGE = TrainedModel("judge", "judge")
