"""The methods over the stores of a chat, and what is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_fixtures import DIMENSION, ENCODER, Stores, document, fake_encode, findable
from test_methods_learning import NotedAdapting, judged
from test_methods_writing import FixedWriter

from agents.base.interfaces import Vectors
from agents.retrieval.retriever import Fusion, Retriever
from assistant.replay.methods.method import Asked, Frozen, Method, Search
from experiments.methods.query2doc import Query2Doc
from experiments.methods.query_rewrite import QueryRewrite
from experiments.methods.rafe import Rafe
from experiments.methods.tent import Tent
from stores.learning.lessons import Lessons

FUSION = Fusion(dense_weight=0.5, document_lift=0.0, conversation_lift=0.0)
TEXTS = ("The cat sat on the mat.", "A dog ate the cake.", "An owl saw a cat and a dog.", "An elk ran.")
HOSTILE = 'NEAR("cat" "dog") OR * AND -elk {space : x} ^a\' ; DROP TABLE turns; -- \0 \ud800 [SEP] <s> 東京'


class FakeEncoder:
    """The encoder of the stores' tests."""

    version = ENCODER
    dimension = DIMENSION

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return fake_encode([text.encode("utf-8", "replace").decode() for text in texts])

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self.encode_queries(texts)


class StandingAdapting(NotedAdapting):
    """Adapts by turning the vector a little further with every step."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.roll(FakeEncoder().encode_queries(texts), len(self.steps), axis=1)


class World:
    """A store with a few passages, and searches of one user."""

    def __init__(self, folder: Path) -> None:
        self.stores = Stores.fresh(folder)
        self.ann = self.stores.journal.user_id("ann")
        self.stores.add(self.ann, document("book", *TEXTS))

    def search(self, *, keep: int = 10, user: int | None = None) -> Search:
        space = self.stores.spaces().of(user or self.ann)
        return Search(FakeEncoder(), space, keep=keep, pool=10, fusion=FUSION)

    def method(self, name: str) -> Method:
        vectors = Lessons(self.stores.database)
        made: dict[str, Callable[[], Any]] = {
            "frozen": Frozen,
            "query2doc": lambda: Query2Doc(FixedWriter("An elk ran.")),
            "query-rewrite": lambda: QueryRewrite(FixedWriter("cat", "dog")),
            "rafe": lambda: Rafe(seed=1),
            "tent": lambda: Tent(StandingAdapting(), lambda ids: vectors.vectors(ids, ENCODER)),
        }
        method: Method = made[name]()
        return method


METHODS = ("frozen", "query2doc", "query-rewrite", "rafe", "tent")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_search_orders_as_the_product_does(world: World) -> None:
    found = Frozen().retrieve(Asked("q", "what did the dog eat"), world.search())
    product = Retriever(FakeEncoder(), keep=10, pool=10, fusion=FUSION)
    space = world.stores.spaces().of(world.ann)
    assert found.candidates == product.retrieve("what did the dog eat", space).candidates


@pytest.mark.parametrize("name", METHODS)
def test_what_is_found_and_kept_is_the_same_whatever_is_asked_later(world: World, name: str) -> None:
    def played(questions: Sequence[str]) -> list[list[tuple[int, float]]]:
        method, rows = world.method(name), []
        for number, text in enumerate(questions):
            found = method.retrieve(Asked(f"q{number}", text), world.search())
            rows.append([(each.passage.version_id, each.score) for each in found.candidates])
            if number % 3 == 2:
                method.learn([judged(text, 1.0, 0.0, name=f"q{n}") for n in range(number - 2, number + 1)])
        return rows

    first = [f"who saw cat {number}?" for number in range(7)]
    assert played([*first, "what ran?", "dog"])[:7] == played([*first, "owl", "when?"])[:7] == played(first)


@pytest.mark.parametrize("name", METHODS)
def test_searching_and_learning_change_no_store(world: World, name: str) -> None:
    before, method = findable(world.stores.database), world.method(name)
    for number in range(4):
        method.retrieve(Asked(f"q{number}", "who saw the cat?"), world.search())
    method.learn([judged("who saw the cat?", 1.0, 0.0, name=f"q{number}") for number in range(4)])
    assert findable(world.stores.database) == before


@pytest.mark.parametrize("name", METHODS)
def test_hostile_words_are_words(world: World, name: str) -> None:
    method = world.method(name)
    found = method.retrieve(Asked("q", HOSTILE), world.search())
    assert {each.passage.text for each in found.candidates} <= set(TEXTS)
    assert len(found.candidates) == len(TEXTS)


@pytest.mark.parametrize(
    "method", [Query2Doc(FixedWriter(HOSTILE)), QueryRewrite(FixedWriter(HOSTILE, HOSTILE))]
)
def test_hostile_writing_is_words(world: World, method: Method) -> None:
    before = findable(world.stores.database)
    found = method.retrieve(Asked("q", "who saw the cat?"), world.search())
    assert len(found.candidates) == len(TEXTS)
    assert findable(world.stores.database) == before


@pytest.mark.parametrize("name", METHODS)
def test_what_is_somebody_elses_is_never_found(world: World, name: str) -> None:
    bob = world.stores.journal.user_id("bob")
    world.stores.say(bob, "My cat is called Rex.")
    world.stores.indexer().catch_up()
    found = world.method(name).retrieve(Asked("q", "what is the cat called?"), world.search())
    assert {each.passage.text for each in (*found.candidates, *found.dense)} <= set(TEXTS)
    own = world.method(name).retrieve(Asked("q", "what is the cat called?"), world.search(user=bob))
    assert "My cat is called Rex." in {each.passage.text for each in own.candidates}
