"""Rounds of the dialogue generator: what goes live, what is refused, and what forgetting does to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from hypothesis import given
from hypothesis import strategies as st
from store_fixtures import Stores
from test_dialogue_from_use import SHIPS
from test_knowledge_bases import add
from test_lessons import found_in_order

from agents.models.dialogue_generator import WEIGHTS
from assistant.learning.held_out.bootstrap import Promotion
from assistant.learning.held_out.replies import (
    BLEU,
    ENTITY_F1,
    SCORE,
    ScoredReply,
    Side,
    WantedReply,
    compare,
    decided,
    is_sound_lesson,
    wanted_reply,
)
from assistant.learning.learner import Learner
from assistant.learning.newest_block import begins_behind, marked
from assistant.learning.outcome import Compared
from assistant.learning.recipe import Trainable
from assistant.learning.recipes.dialogue.recipe import DIALOGUE, trained_further
from assistant.learning.training_process import Further
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.terminal.chat.training_actions import _newest
from assistant.terminal.comparison.training_commands import steer_training
from assistant.terminal.facts.training import training_facts
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.trained import SHIPPED
from stores.conversation.journal import Journal, Outcome
from stores.forgetting.forgetting import Forgetting
from stores.learning.checkpoints import Checkpoints
from stores.learning.dialogue_lessons import DialogueLesson, DialogueLessons
from stores.learning.rounds import Rounds
from stores.search.knowledge_bases import KnowledgeBases
from stores.search.live_models import LiveModels

DIALOGUES = 40


def tell(journal: Journal, user: int, versions: Sequence[int], number: int) -> int:
    """A question over ships, in a session of its own, and how it should have been answered."""
    ship = SHIPS[number % len(SHIPS)]
    asked = [f"where does {ship.name} lie?", f"which berth has {ship.name}?"][number // 5 % 2]
    first = number % len(SHIPS)
    order = [versions[first], *(v for i, v in enumerate(versions) if i != first)]
    wanted = f"Ahoy, {ship.name} is moored at berth {ship.values['berth']}."
    return corrected(
        journal, user, order, asked, answer=f"{ship.name}: deck {ship.values['deck']} [1]", wanted=wanted
    )


def corrected(
    journal: Journal, user: int, versions: Sequence[int], asked: str, *, answer: str, wanted: str
) -> int:
    """A question over ships for which these were found, and how it should have been answered."""
    turn = journal.accept(user, journal.open_session(user), asked, parts=[asked]).turn_id
    told = {"name": "ships", "entities": 5, "meeting": 0, "constraints": {}, "is_generated": False}
    outcome = Outcome(
        state="done",
        answer=answer,
        query=asked,
        encoder_version="e-1",
        found=found_in_order(versions),
        details={"cited": [1], "knowledge_base": told},
    )
    journal.finish(turn, outcome)
    journal.rate(user, turn, "taught", correction=wanted)
    return turn


class Harbour:
    """A learner over corrected replies, whose training and comparison are told what comes of them."""

    def __init__(self, stores: Stores, folder: Path) -> None:
        self.stores, self.ann = stores, stores.journal.user_id("ann")
        add(stores, self.ann, "ships", *SHIPS, shared=True)
        bases = KnowledgeBases(stores.database)
        versions = [version for version, _ in bases.entities(bases.named(self.ann, "ships"))]
        self.turns = [tell(stores.journal, self.ann, versions, number) for number in range(DIALOGUES)]
        self.rounds, self.live = Rounds(stores.database), LiveModels(stores.database)
        self.checkpoints = Checkpoints(folder / "models")
        self.lessons = DialogueLessons(stores.database, history_turns=6)
        self.shown: list[dict[str, Any]] = []
        self.decision = Promotion(True, "Promoted: it wins.")
        self.content, self.best_epoch = "better", 3
        self.meanwhile: Callable[[], object] = lambda: None

    def train(
        self, folder: Path, module: str, shown: Sequence[Path], options: Sequence[str], **more: Any
    ) -> Path:
        assert module.endswith("from_use")
        self.shown = [json.loads(line) for line in shown[0].read_text().splitlines()]
        more["tell"]({"kind": "phase", "phase": "training"})
        made = folder / "candidate"
        (made / "served").mkdir(parents=True)
        (made / "served" / "memory.onnx").write_text(self.content)
        (made / WEIGHTS).write_text(self.content)
        (made / "settings.json").write_text(json.dumps({"best_epoch": self.best_epoch}))
        self.meanwhile()
        return made

    def compare(
        self, folder: Path, lessons: Sequence[DialogueLesson], tell: Callable[[int, int], None]
    ) -> Compared:
        assert (folder / "memory.onnx").read_text() == self.content
        tell(1, 1)
        return Compared(self.decision, {"questions": 1})

    def learner(self, *, fewest: int = 10) -> Learner[DialogueLesson]:
        further = Further("from_use", {"seed": 1}, 1, ("--encoder", "mini-1"), self.train)
        trained = Trainable(
            DIALOGUE,
            lambda after: [each for each in self.lessons.all(after=after) if is_sound_lesson(each)],
            further.settings,
            partial(trained_further, further=further),
            self.compare,
            require=lambda some: partial(self.lessons.require_kept, lessons=some),
            encoder_version="mini-1",
        )
        return Learner(
            trained,
            rounds=self.rounds,
            live_models=self.live,
            checkpoints=self.checkpoints,
            fewest=fewest,
        )


@pytest.fixture
def harbour(stores: Stores, tmp_path: Path) -> Harbour:
    return Harbour(stores, tmp_path)


def test_a_winner_goes_live_and_can_be_stepped_back_from(harbour: Harbour) -> None:
    ended = harbour.learner().run()
    assert (ended.state, harbour.live.live(DIALOGUE.role)) == ("promoted", ended.version)
    lessons = harbour.lessons.all()
    behind = begins_behind([lesson.turn_id for lesson in lessons], judged_until=0)
    held_out = [lesson for lesson in marked(lessons, behind=behind) if lesson.is_held_out]
    assert held_out
    assert len(harbour.shown) == DIALOGUES - len(held_out)
    assert {row["dialogue"] for row in harbour.shown}.isdisjoint(each.dialogue for each in held_out)
    ends = {lesson.dialogue: lesson.tells_when_to_end for lesson in lessons}
    assert all(row["measured"] == ends[row["dialogue"]] for row in harbour.shown)
    row = harbour.rounds.latest(1)[0]
    assert (row.recipe, row.settings["turns"]) == (DIALOGUE.name, harbour.turns)
    assert harbour.live.step_back(DIALOGUE.role) == SHIPPED


@pytest.mark.parametrize(
    ("decision", "best_epoch", "why"),
    [
        (Promotion(False, "Refused: it does not win."), 3, "does not win"),
        (Promotion(True, "Promoted: it wins."), 0, "no epoch was better"),
    ],
)
def test_what_does_not_win_changes_nothing(
    harbour: Harbour, decision: Promotion, best_epoch: int, why: str
) -> None:
    harbour.decision, harbour.best_epoch = decision, best_epoch
    ended = harbour.learner().run()
    assert (ended.state, harbour.live.live(DIALOGUE.role)) == ("refused", None)
    assert why in ended.reason


def test_a_model_that_saw_what_is_withdrawn_meanwhile_never_goes_live(harbour: Harbour) -> None:
    taught = [lesson for lesson in harbour.lessons.all() if not lesson.is_held_out]
    session = harbour.stores.journal.turn(harbour.ann, taught[0].turn_id).session_id
    harbour.meanwhile = lambda: Forgetting(harbour.stores.database).forget_sessions(harbour.ann, [session])
    ended = harbour.learner().run()
    assert ended.state == "refused"
    assert "forgotten, undone or rated anew" in ended.reason
    assert harbour.checkpoints.versions(DIALOGUE.name) == []


def test_a_round_that_was_left_is_what_who_asks_for_one_goes_on_with(tmp_path: Path) -> None:
    assistant = Assistant(Settings(), find_locations({"HOME": str(tmp_path)}), offline=True)
    try:
        assert assistant.learning.recipe_wanted() == "retriever"
        left = assistant.stores.rounds.begin(DIALOGUE.name, {})
        assistant.stores.rounds.leave(left, "its time was over", rest=timedelta(minutes=10))
        assert (assistant.learning.recipe_due(), assistant.learning.recipe_wanted()) == ("", DIALOGUE.name)
    finally:
        assistant.close()


def test_a_round_that_waits_behind_another_one_is_shown_and_goes_on(tmp_path: Path) -> None:
    assistant = Assistant(Settings(), find_locations({"HOME": str(tmp_path)}), offline=True)
    try:
        rounds = assistant.stores.rounds
        left = rounds.begin(DIALOGUE.name, {})
        rounds.leave(left, "killed", is_broken_off=True)
        rounds.end(ended := rounds.begin("retriever", {}), "refused", "")
        assert _newest(assistant, 0)[0].id == ended
        assert "A round begins" in next(steer_training(assistant, "start")), "it needs no new lessons"
        facts = training_facts(assistant)
        assert (facts.current.id, facts.state_of(facts.current)) == (left, "broken off")
        rounds.leave(rounds.begin("query", {}), "")
        rounds.take_over(left)
        running, is_broken_off = _newest(assistant, ended)
        assert (running.id, is_broken_off, training_facts(assistant, facts).current.id) == (left, False, left)
    finally:
        assistant.close()


# The comparison


def sides(live: float, candidate: float, *, count: int = 40, base: str = "ships") -> list[ScoredReply]:
    return [ScoredReply(base, Side(live, live), Side(candidate, candidate)) for _ in range(count)]


def test_one_that_surely_replies_better_is_promoted() -> None:
    assert decided(sides(0.4, 0.6), seed=1).promotion.is_promoted
    assert not decided(sides(0.4, 0.6, count=29), seed=1).promotion.is_promoted
    assert not decided(sides(0.5, 0.5), seed=1).promotion.is_promoted
    assert not decided([], seed=1).promotion.is_promoted


def test_more_of_one_measure_does_not_buy_a_loss_of_the_other() -> None:
    scored = [ScoredReply("ships", Side(0.2, 0.8), Side(0.9, 0.7)) for _ in range(40)]
    found = decided(scored, seed=1)
    assert not found.promotion.is_promoted
    assert "it lost 10.00 points on Entity-F1" in found.promotion.reason
    assert found.figures[BLEU]["gain"] == pytest.approx(0.7)


def test_one_that_tells_what_is_not_so_is_refused_whatever_its_corrections_say() -> None:
    scored = [ScoredReply("ships", Side(0.2, 0.2), Side(0.9, 0.9, sound=0.5)) for _ in range(40)]
    found = decided(scored, seed=1)
    assert not found.promotion.is_promoted
    assert "it lost 50.00 points on sound" in found.promotion.reason


def test_corrections_that_prefer_another_entity_than_was_found_are_not_believed() -> None:
    def scored(of_live: int, of_candidate: int) -> list[ScoredReply]:
        return [
            ScoredReply(
                "ships",
                Side(0.2, 0.2, is_of_first=number < of_live),
                Side(0.9, 0.9, is_of_first=number < of_candidate),
            )
            for number in range(40)
        ]

    assert decided(scored(36, 18), seed=1).promotion.is_promoted
    found = decided(scored(36, 17), seed=1).promotion
    assert not found.is_promoted
    assert "42 % of its replies that tell something are of the entity that was found first" in found.reason
    assert "of the live generator's 90 %" in found.reason


def test_corrections_that_seldom_tell_anything_are_believed_unless_nearly_none_does() -> None:
    def scored(telling: int) -> list[ScoredReply]:
        live, candidate = Side(0.2, 0.2, is_of_first=True), Side(0.9, 0.9, is_of_first=True)
        silent = replace(candidate, is_of_first=None)
        return [ScoredReply("ships", live, candidate if n < telling else silent) for n in range(40)]

    assert decided(scored(4), seed=1).promotion.is_promoted
    found = decided(scored(3), seed=1).promotion
    assert not found.is_promoted
    assert "3 of its replies tell what an entity holds, of the live generator's 40" in found.reason
    assert decided(sides(0.4, 0.6), seed=1).promotion.is_promoted  # nothing is told by either


def test_a_correction_that_tells_what_is_not_so_teaches_nothing(harbour: Harbour) -> None:
    lesson = harbour.lessons.all()[0]
    assert is_sound_lesson(lesson)
    assert not is_sound_lesson(replace(lesson, reply="Ahoy, The Heron is moored at berth 12."))
    assert not is_sound_lesson(replace(lesson, reply="Ahoy, The Heron is moored at berth 99."))
    harbour.stores.journal.rate(harbour.ann, harbour.turns[0], "taught", correction="The Heron: berth 99.")
    harbour.learner().run()
    assert len(harbour.rounds.latest(1)[0].settings["turns"]) == DIALOGUES - 1


def test_no_knowledge_base_may_lose_what_another_gains() -> None:
    found = decided([*sides(0.2, 0.9, count=80), *sides(0.8, 0.7, base="cafes")], seed=1)
    assert not found.promotion.is_promoted
    assert "knowledge base cafes" in found.promotion.reason


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40), st.integers(0, 5))
def test_the_score_is_the_mean_of_both_measures(pairs: list[tuple[float, float]], seed: int) -> None:
    scored = [ScoredReply("a", Side(0.0, 0.0), Side(*pair)) for pair in pairs]
    figures = decided(scored, seed=seed).figures
    both = (figures[BLEU]["candidate"] + figures[ENTITY_F1]["candidate"]) / 2
    assert figures[SCORE]["candidate"] == pytest.approx(both)


def test_a_reply_is_measured_by_its_words_and_its_values(harbour: Harbour) -> None:
    wanted: WantedReply = wanted_reply(harbour.lessons.all()[0])
    assert wanted.words == ("ahoy", ",", "the_heron", "is", "moored", "at", "berth", "11", ".")
    other = "ahoy , the_otter is moored at berth 12 .".split()
    figures = compare([wanted], lambda _: other, lambda _: wanted.words, seed=1).figures
    assert (figures[ENTITY_F1]["live"], figures[ENTITY_F1]["candidate"]) == (0.0, 1.0)
    assert figures[BLEU]["live"] < figures[BLEU]["candidate"] == 1.0


@pytest.mark.slow
def test_what_is_corrected_is_said_otherwise_after_a_round(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    rows = "".join(json.dumps({"name": ship.name, **ship.values}) + "\n" for ship in SHIPS)
    vouch.run("kb", "add", "ships", vouch.write("ships.jsonl", rows))
    with vouch.database() as database:
        journal, bases = Journal(database), KnowledgeBases(database)
        user = journal.user_id("ann")
        versions = [version for version, _ in bases.entities(bases.named(user, "ships"))]
        for number in range(220):
            tell(journal, user, versions, number)
    training = vouch.start(
        "train", "--recipe", "dialogue", "--json", environment={"PYTHONWARNINGS": "default"}
    )
    out, err = training.communicate(timeout=500)
    told = json.loads(out.splitlines()[-1])
    assert (told["state"], told["recipe"]) == ("promoted", "dialogue"), err
    assert told["figures"]["comparison"][SCORE]["gain"] > 0.3
    asked = "ask", "--kb", "ships", "which berth has The Wren?"
    assert "moored at berth 14" in vouch.run(*asked).out
    vouch.run("train", "--back", "--recipe", "dialogue")
    assert "moored" not in vouch.run(*asked).out
