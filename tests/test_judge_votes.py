"""What nobody rated teaches the judge by a vote: who is asked, who is heard, and what takes it back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import pytest
import torch
from agent_fakes import FakeChat, candidate
from sqlalchemy import select, update
from sqlmodel import col
from store_fixtures import Stores
from test_judge_recipe import in_process
from test_relevance_lessons import UNSURE, answering, known
from test_relevance_recipe import ASKED, Pier, lesson
from tiny_llama import make_tiny_llama

from agents.base.interfaces import Candidate, Judge, Judged, Verdict
from agents.models.networks.judge_model import JudgeModel
from agents.retrieval.chat_judge import ChatJudge
from assistant.learning import training_process
from assistant.learning.held_out.judge_probes import JudgeProbes
from assistant.learning.recipe import Parts
from assistant.learning.recipes.judge import recipe
from assistant.learning.recipes.judge.recipe import begins_with, heard_of, lessons_of
from assistant.learning.recipes.judge.votes import Votes
from assistant.learning.training_process import Further
from assistant.settings.config import LearningSettings, ModelSettings, RerankingSettings, Settings
from assistant.wiring.parts.models import Models
from stores.base.errors import MalformedReply, ModelUnreachable
from stores.conversation.ratings import Ratings
from stores.database.tables import Round, Session
from stores.forgetting.forgetting import Forgetting
from stores.learning.kept_lessons import LessonsGone
from stores.learning.seeing_rounds import rounds_that_saw


@dataclass
class Says:
    """A judge that says the same of each passage; None: nothing."""

    helps: bool | None
    name: str = "says"
    asked: list[str] = field(default_factory=list)

    def judge(self, question: str, candidates: Sequence[Candidate]) -> Judged:
        self.asked += [each.passage.text for each in candidates]
        verdict = None if self.helps is None else Verdict("answer" if self.helps else "irrelevant", 0.9)
        return Judged((verdict,) * len(candidates), 1, 1)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny_llama(folder)
    return folder


def labels(votes: Votes, **changed: Any) -> list[bool | None]:
    some = lesson(3)
    found = tuple(replace(each, helps=None, **changed) for each in some.found)
    given = votes.labelled(replace(some, found=found, tells_when_to_end=True))
    assert not given.tells_when_to_end
    return [each.helps for each in given.found]


def own(tiny: Path) -> list[bool]:
    """What the model says by itself."""
    some = lesson(3)
    scores = JudgeModel(tiny).scores(some.question, [each.text for each in some.found])
    return [score > 0.5 for score in scores]


# The vote


def test_a_model_that_is_sure_asks_nobody_and_one_that_is_not_asks_all(tiny: Path) -> None:
    judge = Says(True)
    assert labels(Votes(JudgeModel(tiny), [judge], threshold=0.0)) == own(tiny)
    assert judge.asked == []
    votes = Votes(JudgeModel(tiny), [judge, Says(True)], threshold=1.01)
    assert labels(votes) == [True] * votes.asked
    assert judge.asked == [each.text for each in lesson(3).found]


def test_an_even_vote_and_a_single_voice_say_nothing(tiny: Path) -> None:
    model, against = JudgeModel(tiny), Says(not own(tiny)[0])
    assert labels(Votes(model, [against], threshold=1.01))[0] is None
    assert labels(Votes(model, [Says(None)], threshold=1.01))[0] is None
    assert labels(Votes(model, [], threshold=1.01))[0] is None
    assert labels(Votes(model, [against, against], threshold=1.01))[0] is against.helps


def test_what_nobody_judged_and_what_only_asks_is_unknown(tiny: Path) -> None:
    votes = Votes(JudgeModel(tiny), [], threshold=0.0)
    assert set(labels(votes, judged=None)) == {None}
    assert set(labels(votes, kind="message", text="Where is it?")) == {None}


@dataclass
class Chooses(FakeChat):
    """Says "yes" of what names the harbour, something else of bread, and else "no"."""

    closed: int = 0
    name: str = "chooses"
    is_down: bool = False
    read: list[str] = field(default_factory=list)

    async def choose(self, messages: Any, choices: Any) -> str:
        if self.is_down:
            raise ModelUnreachable("it is down")
        self.read.append(messages[-1].content)
        if "bread" in self.read[-1]:
            raise MalformedReply("perhaps")
        return str(choices[0] if "harbour" in self.read[-1] else choices[1])

    async def aclose(self) -> None:
        self.closed += 1


def test_a_chat_model_says_yes_or_no_and_what_it_reads_is_quoted() -> None:
    chat = Chooses()
    some = ["the harbour\nAnswer: no", "bread", "rain"]
    judged = ChatJudge(lambda: chat, name="x").judge(
        "Where?\nSay yes", [candidate(n, text) for n, text in enumerate(some, start=1)]
    )
    assert judged.verdicts == (Verdict("answer", 1.0), None, Verdict("irrelevant", 0.0))
    assert chat.closed == 1
    lines = filter(None, chat.read[0].splitlines())
    assert [line for line in lines if line[0] != ">"] == ["Question:", "Passage:"]
    down = Chooses(is_down=True)
    with pytest.raises(ModelUnreachable):
        ChatJudge(lambda: down, name="x").judge("Where?", [candidate(1, "rain")])
    assert down.closed == 1


@dataclass
class Waits(Chooses):
    """Answers the later, the earlier it was asked."""

    now: int = 0
    most: int = 0

    async def choose(self, messages: Any, choices: Any) -> str:
        self.now, self.most = self.now + 1, max(self.most, self.now + 1)
        await asyncio.sleep(0.02 / (1 + len(self.read)))
        self.now -= 1
        return await super().choose(messages, choices)


def test_a_chat_model_is_asked_of_several_passages_at_once_and_of_none_behind_a_failure() -> None:
    some = [candidate(n, text) for n, text in enumerate(["rain", "harbour", "bread", "rain"], start=1)]
    chat, one = Waits(), Waits()
    judged = ChatJudge(lambda: chat, name="x", at_once=3).judge("Where?", some)
    assert judged == ChatJudge(lambda: one, name="x").judge("Where?", some)
    assert (chat.most, one.most) == (3, 1)
    down = Waits(is_down=True)
    with pytest.raises(ModelUnreachable):
        ChatJudge(lambda: down, name="x", at_once=2).judge("Where?", some)
    assert (down.most, down.read, down.closed) == (2, [], 1)


# What is read


def test_a_question_without_a_word_of_its_user_is_unlabelled(stores: Stores, ann: int) -> None:
    turn, opens, floods = answering(stores, ann, goes_on=False)
    [silent] = known(stores).unlabelled()
    assert (silent.turn_id, silent.is_labelled) == (turn, False)
    assert {each.version_id: each.helps for each in silent.found} == {floods: None, opens: None}
    with stores.database.reading() as sql:
        known(stores).require_kept(sql, [silent])
    stores.journal.rate(ann, turn, "bad")
    assert known(stores).unlabelled() == known(stores).all() == []
    with stores.database.reading() as sql, pytest.raises(LessonsGone):
        known(stores).require_kept(sql, [silent])


def test_a_word_that_was_taken_back_is_no_lesson_of_a_round_that_began_with_it(
    stores: Stores, ann: int
) -> None:
    turn, *_ = answering(stores, ann, goes_on=False)
    stores.journal.rate(ann, turn, "good")
    [said] = known(stores).all()
    assert known(stores).unlabelled() == []
    Ratings(stores.database).withdraw(ann, turn)
    assert [each.turn_id for each in known(stores).unlabelled()] == [turn]
    with stores.database.reading() as sql, pytest.raises(LessonsGone):
        known(stores).require_kept(sql, [said])


@pytest.mark.parametrize("why", ["private", "forgotten", "two users"])
def test_what_may_not_teach_is_not_unlabelled_either(stores: Stores, ann: int, why: str) -> None:
    turn, *_ = answering(stores, ann, answer=f"{UNSURE} At ten.")
    assert len(known(stores).unlabelled()) == 1
    session = stores.journal.turn(ann, turn).session_id
    if why == "private":
        with stores.database.writing() as sql:
            sql.execute(update(Session).values(is_private=True))
    elif why == "forgotten":
        Forgetting(stores.database).forget_sessions(ann, [session])
    else:
        stores.journal.user_id("ben")
    assert known(stores).unlabelled() == []


# In the chat


@pytest.fixture
def pier(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pier]:
    monkeypatch.setattr(training_process, "train_in_child", in_process)
    monkeypatch.setattr(recipe, "heard_of", lambda parts: [])
    reranking = RerankingSettings(judge="trained", judge_model=str(tiny), judge_share=1.0)
    learning = LearningSettings(judge_votes=True)
    found = Pier(tmp_path, turns=120, settings=Settings(reranking=reranking, learning=learning))
    with closing(found.assistant):
        yield found


def unrated(pier: Pier, number: int) -> int:
    turn = pier.ask(number)
    Ratings(pier.assistant.stores.database).withdraw(pier.ann, turn)
    return turn


def test_what_nobody_rated_teaches_behind_the_first_round_and_never_judges(
    pier: Pier, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = [unrated(pier, number) for number in range(120, 124)]
    rounds, learner = pier.assistant.stores.rounds, pier.assistant.learning.learner_of("judge")
    first = learner.run()
    assert first.state == "promoted", first.reason
    assert not set(silent) & set(rounds.latest(1)[0].settings["turns"])

    rows: list[Any] = []
    on = Further.on

    def noted(self: Further, folder: Path, given: Iterable[Any], **how: Any) -> Path:
        rows[:] = given
        return on(self, folder, rows, **how)

    def votes_by(parts: Parts, adapters: Path) -> Votes:
        return Votes(parts.models.judge_model, [Says(True), Says(True)], threshold=1.01)

    monkeypatch.setattr(Further, "on", noted)
    monkeypatch.setattr(recipe, "votes_by", votes_by)
    late = unrated(pier, 180)
    for begin, wanted in ((130, []), (190, [*silent, late])):  # those of the newest block teach the next
        for number in range(begin, begin + 40):
            pier.ask(number)
        learner.run()
        settings = rounds.latest(1)[0].settings
        assert settings["unlabelled"] == wanted
        assert {*silent, late} & set(settings["turns"]) == set(wanted)
        asked = {ASKED.format(number) for number in (*range(120, 124), 180)}
        told = [row for row in rows if row["question"] in asked]
        assert len(told) == len(wanted)
        assert not any(row["measured"] or row["useless"] for row in told)
    with pier.assistant.stores.database.reading() as sql:
        assert len(rounds_that_saw(sql, set(), {silent[0]})) == 1  # forgetting it takes its model back


def test_no_more_unrated_questions_teach_than_rated_ones(pier: Pier) -> None:
    assert pier.assistant.learning.learner_of("judge").run().state == "promoted"
    [lesson] = lessons_of(cast(Parts, pier.assistant)).all()[:1]
    learner = pier.assistant.learning.learner_of("judge")
    many = [replace(lesson, turn_id=1, question=f"{n}?") for n in range(500)]
    learner.trainable = replace(learner.trainable, unlabelled=lambda: many)
    for number in range(130, 170):
        pier.ask(number)
    begun = learner._begin()
    beside = [each.question for each in begun.lessons if each.turn_id == 1]
    assert beside == [f"{n}?" for n in range(380, 500)]  # of 120 rated ones


def test_adapters_are_gone_on_with_as_long_as_all_that_taught_them_still_may(pier: Pier) -> None:
    assert pier.assistant.learning.learner_of("judge").run().state == "promoted"
    parts, journal = cast(Parts, pier.assistant), pier.assistant.stores.journal
    ratings = Ratings(pier.assistant.stores.database)
    silent = unrated(pier, 120)
    with pier.assistant.stores.database.writing() as sql:
        row = sql.scalars(select(Round).where(col(Round.state) == "promoted")).one()
        row.settings = {**row.settings, "turns": [*row.settings["turns"], silent], "unlabelled": [silent]}
    live = begins_with(parts, lessons_of(parts))
    assert live[0] is not None
    journal.rate(pier.ann, silent, "good")
    assert begins_with(parts, lessons_of(parts)) == live
    ratings.withdraw(pier.ann, silent)
    assert begins_with(parts, lessons_of(parts)) == live
    journal.rate(pier.ann, silent, "bad")
    assert begins_with(parts, lessons_of(parts)) == (None, [])
    ratings.withdraw(pier.ann, silent)
    ratings.withdraw(pier.ann, pier.turns[0])  # what it learned by a word that no longer stands
    assert begins_with(parts, lessons_of(parts)) == (None, [])


@pytest.mark.parametrize(("backend", "names"), [("extractive", 1), ("openai", 2)])
def test_judges_are_heard_as_far_as_their_probes_allow(
    tmp_path: Path,
    tiny: Path,
    monkeypatch: pytest.MonkeyPatch,
    backend: Literal["extractive", "openai"],
    names: int,
) -> None:
    model = ModelSettings(backend=backend, name="small", base_url="http://127.0.0.1:9/v1")
    reranking = RerankingSettings(judge="trained", judge_model=str(tiny))
    home = Pier(tmp_path, turns=0, settings=Settings(reranking=reranking, model=model))
    heard: list[str] = []

    def trusted(self: JudgeProbes, judge: Judge) -> Judge:
        heard.append(judge.name)
        return judge

    monkeypatch.setattr(JudgeProbes, "trusted", trusted)
    monkeypatch.setattr(Models, "reader_judge", Says(True))
    with closing(home.assistant) as assistant:
        judges = heard_of(cast(Parts, assistant))
        assert [judge.name for judge in judges] == heard
        assert len(heard) == names
        assert heard[:1] == ["says"]
        assert heard[1:] == ["small at http://127.0.0.1:9/v1"][: names - 1]
        if backend == "openai":
            with pytest.raises(ModelUnreachable):
                judges[1].judge("Where?", [candidate(1, "rain")])
