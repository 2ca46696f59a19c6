"""The entity retriever learns from replies which entity a message is about."""

from __future__ import annotations

import json
from argparse import Namespace
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_helpers import Vouch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_dialogue_from_use import SHIPS
from test_dialogue_learner import corrected

from agents.base.interfaces import Vector
from agents.models.entity_map import EntityMap, turned
from assistant.learning.held_out.entities import ToldReply, decided
from assistant.learning.recipes.entities.from_use import (
    EntityTraining,
    begun,
    read_lessons,
    vector_of,
)
from assistant.learning.recipes.entities.lessons import EntityLessons
from assistant.learning.recipes.from_shipped import SERVED, STATE
from assistant.learning.recipes.run import CannotTrain, Stopped, StopSignal, workplace
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.conversation.journal import Journal
from stores.learning.dialogue_lessons import DialogueLessons
from stores.search.knowledge_bases import KnowledgeBases

NICKNAMES = ("grey lady", "night mail", "old bucket", "tin can", "sea snake")  # of the ships, in their order
ASKED = ("where does the {} lie?", "which berth has the {}?", "how do I get to the {}?", "is the {} in?")

numbers = st.floats(-2, 2, width=32)


@given(arrays(np.float32, 6, elements=numbers), arrays(np.float32, (2, 6, 3), elements=numbers))
def test_a_vector_is_turned_and_never_longer_than_one(vector: Vector, both: Vector) -> None:
    down, up = both
    moved = turned(vector, down, up)
    assert float(np.linalg.norm(moved)) == pytest.approx(1, abs=1e-5) or float(np.linalg.norm(moved)) < 1
    wanted = vector + up @ (down.T @ vector)
    assert np.allclose(moved * np.linalg.norm(wanted), wanted, atol=1e-4)


@given(arrays(np.float32, 6, elements=numbers).filter(lambda v: np.linalg.norm(v) > 0.1))
def test_what_learned_nothing_changes_nothing(vector: Vector) -> None:
    vector = vector / np.linalg.norm(vector)
    assert np.allclose(turned(vector, np.ones((6, 3), np.float32), np.zeros((6, 3), np.float32)), vector)


def test_only_what_it_learned_is_turned() -> None:
    vector, ones = np.eye(4, dtype=np.float32)[0], np.ones((4, 2), np.float32)
    learned = EntityMap("e-1", {"ships": (ones, ones)})
    assert not np.array_equal(learned.turned("ships", "e-1", vector), vector)
    assert np.array_equal(learned.turned("cafes", "e-1", vector), vector)
    assert np.array_equal(learned.turned("ships", "e-2", vector), vector)  # by another encoder
    assert np.array_equal(EntityMap().turned("ships", "", vector), vector)


# The training


def options(folder: Path, name: str, **settings: Any) -> Namespace:
    """Lessons in which each message is about the entity that lies across from its vector."""
    draw = np.random.default_rng(0)
    entities = np.linalg.qr(draw.normal(size=(16, 16)))[0].astype(np.float32)
    rows: list[dict[str, Any]] = [{"base": "ships", "entities": [*map(text, entities)]}]
    for number in range(80):
        right = number % 16
        query = entities[(right + 1) % 16] + 0.02 * draw.normal(size=16)
        query = (query / np.linalg.norm(query)).astype(np.float32)
        rows.append({"measured": number % 5 == 0, "query": text(query), "right": [right]})
    (folder / "lessons.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return Namespace(
        lessons=folder / "lessons.jsonl",
        out=folder / name,
        encoder="e-1",
        settings=EntityTraining(rank=16, **settings),
        threads=1,
        resume=True,
        parent=None,
    )


def text(vector: Any) -> str:
    return b64encode(np.asarray(vector, "<f4").tobytes()).decode()


def nothing(kind: str, **facts: Any) -> None: ...


def test_it_learns_what_messages_are_about(tmp_path: Path) -> None:
    given = options(tmp_path, "made", learning_rate=3e-2)
    training = begun(given, StopSignal(), nothing)
    training.train()
    training.finish()
    told = json.loads((given.out / "settings.json").read_text())
    assert told["likelihoods"][0] < -10 < -1 < max(told["likelihoods"])
    entities, lessons = read_lessons(given.lessons)
    learned = EntityMap.read(given.out / SERVED)
    for _, lesson in lessons:
        query = vector_of(lesson.query).numpy()
        order = entities["ships"].numpy() @ learned.turned("ships", "e-1", query)
        assert int(order.argmax()) in lesson.right


def test_a_training_that_is_stopped_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    def run(name: str, *, stops_after: int | None) -> None:
        stop = StopSignal()

        def tell(kind: str, **facts: Any) -> None:
            if kind == "held_out" and facts["epoch"] == stops_after:
                stop.came = True

        begun(options(tmp_path, name, epochs=4), stop, tell).train()

    with pytest.raises(Stopped):
        run("stopped", stops_after=2)
    run("stopped", stops_after=None)
    run("whole", stops_after=None)
    states = [workplace(tmp_path / name) / STATE for name in ("stopped", "whole")]
    assert states[0].read_bytes() == states[1].read_bytes()


@pytest.mark.parametrize("content", ["no JSON", '{"query": "", "measured": false, "right": [0]}'])
def test_what_holds_no_lessons_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "lessons.jsonl").write_text(content)
    with pytest.raises(CannotTrain, match="holds no lessons"):
        read_lessons(tmp_path / "lessons.jsonl")


# The comparison


def told(right: Sequence[int], live: Sequence[int], candidate: Sequence[int]) -> list[ToldReply]:
    """Replies, each with the place of its entity among five by both; the others follow in their order."""

    def order(first: int, place: int) -> list[int]:
        others = [i for i in range(5) if i != first]
        return [*others[: place - 1], first, *others[place - 1 :]]

    return [
        ToldReply("ships", frozenset([one]), order(one, old), order(one, new))
        for one, old, new in zip(right, live, candidate, strict=True)
    ]


def test_one_that_finds_what_messages_are_about_is_promoted() -> None:
    right = [number % 5 for number in range(40)]
    assert decided(told(right, [3] * 40, [1] * 40), seed=1).promotion.is_promoted
    assert not decided(told(right, [3] * 40, [3] * 40), seed=1).promotion.is_promoted
    assert not decided(told(right[:29], [3] * 29, [1] * 29), seed=1).promotion.is_promoted
    assert not decided([], seed=1).promotion.is_promoted


def test_one_that_puts_the_same_entities_first_whatever_is_asked_is_refused() -> None:
    often = [4, 4, 4, 3] * 15
    both = [0, 1, 2, 3, 4], [4, 3, 0, 1, 2]
    replies = [ToldReply("ships", frozenset([one]), *both) for one in often]
    found = decided(replies, seed=1)
    assert found.figures["MRR"]["gain"] > 0.5
    assert not found.promotion.is_promoted
    assert "not surely learned what a message is about" in found.promotion.reason
    alone = [replace(reply, right=frozenset([4])) for reply in replies]
    assert not decided(alone, seed=1).promotion.is_promoted  # of all replies the same: nothing to tell it by


# In use


def tell_of(journal: Journal, user: int, versions: Sequence[int], number: int) -> int:
    """A question after a ship by its nickname, in a session of its own, and how it should be answered."""
    at = number % len(SHIPS)
    asked = ASKED[number // len(SHIPS) % len(ASKED)].format(NICKNAMES[at])
    wanted = f"{SHIPS[at].name} is at berth {SHIPS[at].values['berth']}."
    return corrected(journal, user, versions, asked, answer="The Heron [1]", wanted=wanted)


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path, minilm_folder.parent)
    rows = "".join(json.dumps({"name": ship.name, **ship.values}) + "\n" for ship in SHIPS)
    made.run("kb", "add", "ships", made.write("ships.jsonl", rows))
    return made


def taught(vouch: Vouch, turns: int) -> list[int]:
    """So many corrected turns; the versions of the ships."""
    with vouch.database() as database:
        journal, bases = Journal(database), KnowledgeBases(database)
        user = journal.user_id("ann")
        versions = [version for version, _ in bases.entities(bases.named(user, "ships"))]
        for number in range(turns):
            tell_of(journal, user, versions, number)
    return versions


@contextmanager
def assistant_of(vouch: Vouch) -> Iterator[Assistant]:
    with closing(Assistant(Settings(), find_locations(vouch.environment), offline=True)) as assistant:
        yield assistant


def test_a_lesson_is_a_message_and_the_entity_that_its_reply_tells_of(vouch: Vouch) -> None:
    versions = taught(vouch, 20)
    with assistant_of(vouch) as assistant:
        lessons = DialogueLessons(assistant.stores.database, history_turns=6).all()
        entities = EntityLessons(
            assistant.stores.knowledge_bases, assistant.models.entity_search, assistant.search.searching
        )
        assert [entities.right(each) for each in lessons] == 4 * [[each] for each in versions]
        others = ("Ahoy!", "The Heron and The Eel are here.", "It is on the upper deck.", "At berth 12.")
        found = [entities.right(replace(lessons[0], reply=reply)) for reply in others]
        assert found == [[], [versions[0], versions[4]], [], [versions[1]]]  # three of five are on that deck
        assert entities.right(replace(lessons[0], is_of_own=False)) == []  # of a shared one with that name
        first, *rows = entities.rows([*lessons, replace(lessons[0], reply="Ahoy!")], lambda done, of: None)
        assert (first["base"], len(first["entities"])) == ("kb:1", 5)
        assert [row["right"] for row in rows] == 4 * [[0], [1], [2], [3], [4]]
        assert [row["measured"] for row in rows] == [each.tells_when_to_end for each in lessons]

        def turned(base: str, encoder: str, _vector: Vector) -> Vector:
            assert (base, encoder) == ("kb:1", assistant.search.searching.version)
            vector: Vector = assistant.search.searching.encoder.encode_passages(["The Eel\ndeck: upper"])[0]
            return vector

        assert entities.found(lessons[3], turned)[0] == versions[4]
        vouch.run("kb", "remove", "ships")
        entities = EntityLessons(
            assistant.stores.knowledge_bases, assistant.models.entity_search, assistant.search.searching
        )
        assert entities.right(lessons[0]) == []
        assert list(entities.rows(lessons, lambda done, of: None)) == []
        assert entities.found(lessons[0], turned) == []


@pytest.mark.slow
def test_what_people_call_an_entity_is_found_after_a_round(vouch: Vouch) -> None:
    taught(vouch, 220)
    asked = "ask", "--kb", "ships", "who knows where the night mail is?"
    assert "The nearest in ships:\nThe Otter" not in vouch.run(*asked).out
    out, err = vouch.start("train", "--recipe", "entities", "--json").communicate(timeout=300)
    told = json.loads(out.splitlines()[-1])
    assert (told["state"], told["recipe"]) == ("promoted", "entities"), err
    assert "The nearest in ships:\nThe Otter" in vouch.run(*asked).out
    assert f"Trained by use: entity retriever of round {told['round']}" in vouch.run("why").out
    vouch.run("train", "--back", "--recipe", "entities")
    assert "The nearest in ships:\nThe Otter" not in vouch.run(*asked).out
