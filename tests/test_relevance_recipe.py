"""The order learns from use: by which pairs, when it goes live, and what takes it back."""

from __future__ import annotations

import json
import math
import random
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from agent_fakes import FixedJudge, passage
from hypothesis import given
from hypothesis import strategies as st
from test_lessons import found_in_order, judged

from agents.base.interfaces import Candidate
from agents.losses.preference import replayed
from agents.retrieval.feature_names import NAMES
from agents.retrieval.relevance import FILE, Relevance, UnknownWeights, Weights, fixed_mix
from assistant.learning.held_out import orders
from assistant.learning.held_out.orders import (
    compare,
    known_questions,
    mrr_of_known,
)
from assistant.learning.held_out.retrieval import WITH_ANSWERS
from assistant.learning.newest_block import marked
from assistant.learning.recipes.from_shipped import SERVED
from assistant.learning.recipes.relevance.from_use import (
    DPO,
    FEWEST,
    RANKNET,
    Question,
    RelevanceTraining,
    begun,
    learned,
    learned_by,
    moved,
    read_lessons,
)
from assistant.learning.recipes.relevance.recipe import RELEVANCE, rows_of, steps_behind
from assistant.learning.recipes.run import CannotTrain, Stopped, StopSignal, workplace
from assistant.learning.training_process import SETTINGS
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from assistant.wiring.parts.search import Search
from assistant.wiring.parts.trained import SHIPPED
from stores.conversation.journal import Outcome
from stores.database.tables import Round, Turn
from stores.forgetting.forgetting import Forgetting
from stores.learning.lessons import DOCUMENTS, TOLD
from stores.learning.relevance_lessons import OrderedPassage, RelevanceLesson
from stores.search.live_models import model_id

MIX = fixed_mix(0.5)
NAMED, JUDGED = NAMES.index("named"), NAMES.index("judged")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # as in a round


def row(**features: float) -> tuple[float, ...]:
    return tuple(features.get(name, 0.0) for name in NAMES)


def question(
    helps: int = 1, *, step: int = 0, is_measured: bool = False, told: bool = True, feature: str = "named"
) -> Question:
    """Three candidates that stand as they were found; the one that helps alone has a feature."""
    rows = tuple(
        row(judged=0.5 - 0.1 * i, found=1.0 - 0.1 * i, **{feature: float(i == helps)}) for i in range(3)
    )
    labels = tuple(i == helps for i in range(3))
    return Question(step, is_measured, rows, (told,) * 3, (False,) * 3, labels)


def questions(count: int = 60, **how: Any) -> list[Question]:
    return [question(1 + number % 2, is_measured=number % 6 == 0, **how) for number in range(count)]


# The training


def test_dpo_starts_at_the_logarithm_of_two_and_the_reference_stays_as_it_is() -> None:
    reference = torch.rand(len(NAMES), dtype=torch.float64)
    before, losses = reference.clone(), list[float]()
    pairs = [pair for each in questions() for pair in each.pairs(told=True, most=4, seed=0)]
    settings = RelevanceTraining(epochs=3, batch=len(pairs))
    after = moved(reference, pairs, settings, DPO, losses.append)
    assert losses[0] == pytest.approx(math.log(2))
    assert losses[2] < losses[1] < losses[0]
    assert torch.equal(reference, before)
    assert after[NAMED] > reference[NAMED]


def test_without_replay_earlier_steps_teach_nothing() -> None:
    old = [question(step=0, feature="reply") for _ in range(FEWEST)]
    new = [question(step=1) for _ in range(FEWEST)]

    def named_by(alpha: float) -> Weights:
        return learned_by(DPO, MIX, [old, new], RelevanceTraining(alpha=alpha), told=True).messages

    assert "reply" not in named_by(1.0).named
    assert named_by(0.5).named["reply"] > 0
    assert replayed(list(range(8)), [[8] * 3, [9] * 9], alpha=0.5, seed=0)[1].count(8) == 3


def test_what_never_varies_keeps_its_weight_and_documents_keep_theirs() -> None:
    made = learned_by(DPO, MIX, [questions()], RelevanceTraining(), told=True)
    assert made.messages.named["named"] > 0.05
    assert set(made.messages.named) == {"judged", "found", "named"}
    assert made.documents == MIX.documents


def test_the_best_of_a_question_stays_as_high_as_it_was() -> None:
    made = learned_by(DPO, MIX, [questions()], RelevanceTraining(), told=True)
    taught = [each for each in questions() if not each.is_measured]

    def height(relevance: Relevance) -> float:
        return sum(max(map(relevance.messages.score, each.rows)) for each in taught) / len(taught)

    assert height(made) == pytest.approx(height(MIX))


@pytest.mark.parametrize("way", [DPO, RANKNET])
def test_a_clear_signal_is_learned_and_fewer_lessons_change_nothing(way: str) -> None:
    made = learned_by(way, MIX, [questions()], RelevanceTraining(ranknet_rate=0.01), told=True)
    assert question().ndcg(MIX) < question().ndcg(made) == 1.0
    assert learned_by(way, MIX, [questions(FEWEST - 1)], RelevanceTraining(), told=True) == MIX


def test_dpo_is_taken_where_it_orders_better_than_ranknet() -> None:
    found = learned(MIX, questions(), RelevanceTraining(ranknet_rate=1e-9))
    assert (found.way, found.relevance.messages.named["named"] > 0) == (DPO, True)
    assert found.ndcg[DPO] > found.ndcg[RANKNET] == found.ndcg[""]
    same = learned(MIX, questions(), RelevanceTraining(learning_rate=1e-9, ranknet_rate=0.01))
    assert same.way == RANKNET


def test_documents_learn_only_where_they_surely_gain() -> None:
    few = [*questions(), *questions(FEWEST - 1, told=False)]
    assert learned(MIX, few, RelevanceTraining()).relevance.documents == MIX.documents
    many = [*questions(), *questions(120, told=False)]
    found = learned(MIX, many, RelevanceTraining()).relevance
    assert found.documents.named["named"] > 0
    assert learned(MIX, [*questions(), *noisy(120)], RelevanceTraining()).relevance.documents == MIX.documents


def noisy(count: int) -> list[Question]:
    """Documents of which the one found first helps, however they look otherwise."""
    draw = random.Random(1)
    return [
        Question(
            0, number % 6 == 0, tuple(row(judged=0.9 - 0.3 * i, named=draw.random()) for i in range(3)),
            (False,) * 3, (False,) * 3, (True, False, False),
        )
        for number in range(count)
    ]  # fmt: skip


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=8), st.integers(0, 99))
def test_pairs_are_of_one_kind_and_known(helps: list[bool | None], seed: int) -> None:
    draw = random.Random(seed)
    told = [draw.random() < 0.5 for _ in helps]
    rows = [row(judged=i / 10) for i in range(len(helps))]
    asks = [draw.random() < 0.2 for _ in helps]
    made = Question(0, False, tuple(rows), tuple(told), tuple(asks), tuple(helps))
    known = {row: (h, kind) for row, h, kind, ask in zip(rows, helps, told, asks, strict=True) if not ask}
    pairs = made.pairs(told=True, most=4, seed=seed)
    assert all(known[won] == (True, True) and known[lost] == (False, True) for won, lost in pairs)
    assert len(set(pairs)) == len(pairs) <= 4


def test_steps_that_are_gone_again_end_as_they_did() -> None:
    """The reference of the second round is what answers since the first."""
    first, second = questions(), questions(step=1, feature="reply")
    settings = RelevanceTraining()
    live = learned(MIX, first, settings).relevance
    way = learned(MIX, [*first, *second], settings)
    assert way.way
    assert way.relevance == learned_by(way.way, live, [first, second], settings, told=True)


def test_the_steps_are_the_rounds_that_the_live_weights_come_from() -> None:
    def promoted(version: str, live: str | None, last_turn: int) -> Round:
        return Round(
            recipe="relevance", state="promoted",
            settings={"live": live, "last_turn": last_turn}, figures={"version": version},
        )  # fmt: skip

    rows = [promoted("c", "a", 30), promoted("b", "a", 20), promoted("a", None, 10)]
    assert steps_behind(rows, "c") == [10, 30]
    rows[0].settings["judged_behind"] = 25  # those behind it judged, and taught nothing yet
    assert steps_behind(rows, "c") == [10, 25]
    assert steps_behind(rows, "b") == [10, 20]
    assert steps_behind(rows, SHIPPED) == steps_behind(rows, None) == []
    assert steps_behind([promoted("a", None, 0)], "a") == []  # something was taken back


# The program


def options(folder: Path, name: str) -> Namespace:
    lines = [MIX.as_record()] + [
        {
            "step": each.step, "measured": each.is_measured, "rows": each.rows, "told": each.told,
            "asks": each.asks, "helps": each.helps,
        }
        for each in questions()
    ]  # fmt: skip
    (folder / "lessons.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return Namespace(
        lessons=folder / "lessons.jsonl", out=folder / name, settings=RelevanceTraining(), resume=True
    )


def nothing(kind: str, **facts: Any) -> None: ...


def test_the_program_writes_weights_and_how_they_came_about(tmp_path: Path) -> None:
    given_ = options(tmp_path, "made")
    training = begun(given_, StopSignal(), nothing)
    training.train()
    training.finish()
    told = json.loads((given_.out / SETTINGS).read_text())
    assert (told["by"], told["best_epoch"], told["documents"]) == (RANKNET, 20, False) or told["by"] == DPO
    assert told["taught"] + told["measured"] == 60
    assert Relevance.read(given_.out / SERVED / FILE).messages.named["named"] > 0
    assert not workplace(given_.out).exists()


def test_a_training_that_is_stopped_ends_the_same_when_it_is_begun_again(tmp_path: Path) -> None:
    def run(name: str, *, stops: bool) -> None:
        stop = StopSignal()
        stop.came = stops
        training = begun(options(tmp_path, name), stop, nothing)
        training.train()
        training.finish()

    with pytest.raises(Stopped):
        run("stopped", stops=True)
    for name in ("stopped", "whole"):
        run(name, stops=False)
    both = [(tmp_path / name / SERVED / FILE).read_bytes() for name in ("stopped", "whole")]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    "content", ["", "no JSON", "[]", '{"messages": {"weights": {"charm": 1}, "bias": 0}}']
)
def test_what_holds_no_lessons_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "lessons.jsonl").write_text(content)
    with pytest.raises(CannotTrain, match="holds no lessons"):
        read_lessons(tmp_path / "lessons.jsonl")


@pytest.mark.parametrize("weight", ['{"charm": 1.0}', '{"judged": NaN}', '{"judged": "much"}', "[1]", "7"])
def test_weights_that_cannot_be_used_are_refused_in_plain_words(tmp_path: Path, weight: str) -> None:
    kind = f'{{"weights": {weight}, "bias": 0.0}}'
    (tmp_path / FILE).write_text(f'{{"messages": {kind}, "documents": {kind}}}')
    with pytest.raises(UnknownWeights, match="cannot be used"):
        Relevance.read(tmp_path / FILE)


# The comparison


def lesson(number: int, *, kind: str = "message") -> RelevanceLesson:
    """Ben is found first, Ann is asked for."""
    found = [
        OrderedPassage(
            kind, kind == "document", version, "", f"{who}: it is {version}.", None, version, 0.5, 1.0, 0.0,
            1 / rank, rank, 0.0, 0.5, who == "Ann",
        )
        for rank, (version, who) in enumerate([(1, "Ben"), (2, "Ann")], start=1)
    ]  # fmt: skip
    return RelevanceLesson(number, 1, f"What did Ann say of {number}?", "2026-11", tuple(found), True, False)


def test_weights_that_surely_order_better_are_promoted() -> None:
    better = Relevance(Weights({**MIX.messages.named, "named": 1.0}), MIX.documents)
    some = [lesson(number) for number in range(40)]
    found = compare(some, MIX, better, seed=1)
    assert found.promotion.is_promoted
    assert found.figures["nDCG@10"]["gain"] == pytest.approx(1 - 1 / math.log2(3), abs=1e-4)
    assert [domain["name"] for domain in found.figures["domains"]] == [TOLD]
    assert not compare(some, better, MIX, seed=1).promotion.is_promoted
    assert not compare(some[:29], MIX, better, seed=1).promotion.is_promoted
    assert not compare([], MIX, better, seed=1).promotion.is_promoted


def test_weights_that_answer_worse_what_is_known_are_refused_whatever_users_said() -> None:
    turned = Relevance(Weights({"judged": -1.0, "found": -1.0, "named": 9.0}), MIX.documents)
    found = compare([lesson(number) for number in range(200)], MIX, turned, seed=1)
    assert found.figures["nDCG@10"]["gain"] > 0.3
    assert not found.promotion.is_promoted
    assert f"points on {WITH_ANSWERS} ({len(known_questions())} questions)" in found.promotion.reason


def test_what_is_known_cannot_be_lost_little_by_little() -> None:
    """A live one that is worse than the mix lets none through that is as bad."""
    worse = Relevance(fixed_mix(0.95).messages, fixed_mix(0.95).documents)
    found = compare([lesson(number) for number in range(40)], worse, worse, seed=1)
    assert found.figures["slices"][WITH_ANSWERS]["gain"] < -0.01


def test_what_is_known_is_ordered_as_in_a_turn() -> None:
    first = known_questions()[0]
    assert first.rows.shape == (len(first.told), len(NAMES))
    assert all(each.right.any() for each in known_questions())
    assert mrr_of_known(fixed_mix(0.5)) > max(mrr_of_known(fixed_mix(0.0)), mrr_of_known(fixed_mix(1.0)))


def test_documents_may_not_lose_what_messages_gain() -> None:
    wrong = Relevance(Weights({**MIX.messages.named, "named": 1.0}), Weights({"found_first": 1.0}))
    first = [lesson(number, kind="document") for number in range(40)]
    right = Relevance(MIX.messages, Weights({"found_first": -1.0}))
    found = compare([*map(lesson, range(400)), *first], right, wrong, seed=1)
    assert not found.promotion.is_promoted
    assert f"domain {DOCUMENTS}" in found.promotion.reason


def test_a_row_holds_numbers_and_nobodys_words() -> None:
    first, *rows = rows_of(MIX, [lesson(3), lesson(7)], [5])
    assert Relevance.of_record(first) == MIX
    assert [each["step"] for each in rows] == [0, 1]
    assert "Ann" not in json.dumps(rows)
    assert [each[NAMED] for each in rows[0]["rows"]] == [0.0, 1.0]
    assert (rows[0]["told"], rows[0]["helps"]) == ([True, True], [False, True])


# In the chat


SAID = ("Ben: the boat is red.", "Ann: the boat is green.", "Ben: the key is lost.", "Ann: the key is here.")
ASKED = "What did Ann say about the boat of pier {}?"


class Pier:
    """A chat in which Ann was asked for and Ben found first, again and again."""

    def __init__(self, folder: Path, *, turns: int = 260, settings: Settings | None = None) -> None:
        """settings: with a judge of their own; None: each candidate is called relevant."""
        self.told: list[str] = []
        places = find_locations({"HOME": str(folder)})
        self.assistant = Assistant(settings or Settings(), places, offline=True, tell=self.told.append)
        if settings is None:
            self.assistant.models.__dict__["judge"] = FixedJudge(dict.fromkeys(range(1, 9), "relevant"))
        journal = self.assistant.stores.journal
        self.ann = journal.user_id("ann")
        early = journal.open_session(self.ann)
        self.versions = [journal.accept(self.ann, early, text, parts=[text]).version_ids[0] for text in SAID]
        self.turns = [self.ask(number) for number in range(turns)]

    def ask(self, number: int) -> int:
        journal, asked = self.assistant.stores.journal, ASKED.format(number)
        session = journal.open_session(self.ann)
        turn = journal.accept(self.ann, session, asked, parts=[]).turn_id
        found = found_in_order(self.versions)
        outcome = Outcome(
            state="done", answer="Green.", query=asked, found=found,
            judged=[judged(version, "relevant", rank) for rank, version in enumerate(self.versions, start=1)],
            details={"cited": [2]},
        )  # fmt: skip
        journal.finish(turn, outcome)
        journal.rate(self.ann, turn, "good")
        return turn

    def first(self) -> str:
        """What the chat puts first of a new question."""
        both = [passage(1, SAID[0], kind="message"), passage(2, SAID[1], kind="message")]
        found = [Candidate(each, 0.5, 1.0, 0.0, 1.0, rank) for rank, each in enumerate(both, start=1)]
        return self.assistant.models.reranker.rerank(ASKED.format("x"), found).order[0].passage.text

    def forget(self, turn: int) -> Sequence[str]:
        session = self.assistant.stores.journal.turn(self.ann, turn).session_id
        return Forgetting(self.assistant.stores.database).forget_sessions(self.ann, [session]).models


def trained_in_use(assistant: Assistant) -> dict[str, str]:
    """Without an encoder, which takes long to make."""
    assistant.models._search = cast(
        Search, SimpleNamespace(searching=SimpleNamespace(trained_queries="", adapters=""))
    )
    return assistant.models.trained_in_use()


@pytest.fixture
def pier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pier]:
    made = Pier(tmp_path)
    monkeypatch.setattr(orders, "mrr_of_known", lambda relevance: 0.5)  # lessons all alike lose elsewhere
    with closing(made.assistant):
        yield made


def test_a_round_changes_the_order_in_the_chat_and_what_is_forgotten_takes_it_back(pier: Pier) -> None:
    models, live = pier.assistant.models, pier.assistant.stores.live_models
    in_use = pier.assistant.models.reranker  # of a chat that is open already
    assert pier.first() == SAID[0]
    ended = pier.assistant.learning.learner_of("relevance").run()
    assert ended.state == "promoted", ended.reason
    assert pier.first() == SAID[1]
    assert in_use._relevance() == models.relevance
    assert trained_in_use(pier.assistant) == {"relevance": ended.version}
    settings = pier.assistant.stores.rounds.latest(1)[0].settings
    assert settings["turns"] == pier.turns

    assert pier.assistant.learning.step_back("relevance") == SHIPPED
    assert pier.first() == SAID[0]
    assert pier.assistant.learning.step_back("relevance") == ended.version
    assert pier.forget(pier.turns[0]) == ("relevance",)
    assert live.live("relevance") in (None, SHIPPED)
    assert pier.first() == SAID[0]
    again = pier.assistant.learning.learner_of("relevance").run()
    row = pier.assistant.stores.rounds.latest(1)[0]
    assert again.state == "promoted", again.reason
    assert pier.turns[0] not in row.settings["turns"]

    file = pier.assistant.stores.checkpoints.place("relevance", again.version) / FILE
    file.write_text("{}")
    models._relevances.clear()
    assert pier.first() == SAID[0]
    assert [line for line in pier.told if "ordered without them" in line]


def test_a_round_that_was_killed_goes_on(pier: Pier) -> None:
    rounds, learner = pier.assistant.stores.rounds, pier.assistant.learning.learner_of("relevance")
    lessons = learner.trainable.read(0)
    behind = lessons[len(lessons) // 2].turn_id
    left = rounds.begin("relevance", learner._lineage(marked(lessons, behind=behind), behind))
    rounds.leave(left, "it was killed", is_broken_off=True)
    ended = learner.run()
    assert (ended.round_id, ended.state) == (left, "promoted")


def test_a_turn_names_the_round_behind_its_order(pier: Pier) -> None:
    pier.assistant.stores.live_models.make_live("relevance", "weights")
    rounds = pier.assistant.stores.rounds
    number = rounds.begin("relevance", {})
    with pier.assistant.stores.database.writing() as sql:
        sql.get_one(Round, number).model_version_id = model_id(sql, "relevance", "weights")
        turn = sql.get_one(Turn, pier.turns[0])
        turn.details = {**turn.details, "trained": {"relevance": "weights"}}
    turn = pier.assistant.stores.journal.turn(pier.ann, pier.turns[0])
    assert pier.assistant.turns.trained_behind(pier.ann, turn) == {"relevance": number}


@pytest.mark.parametrize(("key", "value"), [("judge", "scores"), ("order", "classes")])
def test_where_nothing_is_ordered_by_weights_none_are_learned(tmp_path: Path, key: str, value: str) -> None:
    settings = Settings()
    settings = replace(settings, reranking=replace(settings.reranking, **{key: value}))
    with closing(Assistant(settings, find_locations({"HOME": str(tmp_path)}), offline=True)) as assistant:
        assert "relevance" not in assistant.learning.recipes
        assert assistant.models.relevance == MIX
        assert RELEVANCE.role not in trained_in_use(assistant)
