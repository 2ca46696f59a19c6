"""A language model that judges learns from use: by which pairs, against what, and what of it goes live."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from test_relevance_recipe import ASKED, SAID, Pier, lesson, trained_in_use
from tiny_llama import make_tiny_llama
from torch import Tensor

from agents.models.networks.judge_model import JudgeDescription, JudgeModel, table
from assistant.learning import training_process
from assistant.learning.recipes.from_shipped import SERVED, STATE, FromShipped
from assistant.learning.recipes.judge.from_use import (
    DPO,
    SFT,
    Adapters,
    JudgeTraining,
    Pair,
    begun,
    read_lessons,
)
from assistant.learning.recipes.judge.recipe import begins_with, lessons_of, rows_of
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, workplace
from assistant.settings.config import RerankingSettings, Settings
from assistant.wiring.parts.trained import SHIPPED
from stores.base.errors import BackendMissing

FAST = JudgeTraining(epochs=2, learning_rate=0.01, rank=4)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # as in a round


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny_llama(folder)
    return folder


def rows(steps: Sequence[int] = (12,)) -> list[dict[str, Any]]:
    """So many lessons of each step; Ann is asked for, and three others are useless."""
    return [
        {
            "step": step, "measured": number % 4 == 0, "question": f"{ASKED.format(number)} {step}",
            "helped": [SAID[1]], "useless": [SAID[0], *SAID[2:]],
        }
        for step, count in enumerate(steps)
        for number in range(count)
    ]  # fmt: skip


def options(
    folder: Path,
    tiny: Path,
    name: str,
    *,
    told: Sequence[Mapping[str, Any]] | None = None,
    live: Path | None = None,
    settings: JudgeTraining = FAST,
) -> argparse.Namespace:
    lessons = folder / "lessons.jsonl"
    lessons.write_text("\n".join(map(json.dumps, rows() if told is None else told)))
    return argparse.Namespace(
        lessons=lessons, out=folder / name, settings=settings, resume=True, base=tiny, adapters=live
    )


def made(given: argparse.Namespace, stop: StopSignal | None = None) -> FromShipped[Pair]:
    training = begun(given, stop or StopSignal(), lambda kind, **facts: None)
    training.train()
    training.finish()
    return training


def same(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def first(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first round made."""
    folder = tmp_path_factory.mktemp("first")
    torch.set_num_threads(1)
    made(options(folder, tiny, "made"))
    return folder / "made"


def test_the_first_round_learns_yes_and_no_from_the_model_as_it_comes(first: Path, tiny: Path) -> None:
    told = json.loads((first / SETTINGS).read_text())
    assert (told["by"], told["new"], told["replayed"], told["start_sha256"]) == (SFT, 27, 0, None)
    assert told["likelihoods"][told["best_epoch"]] > told["likelihoods"][0]
    judge, plain = JudgeModel(tiny, first / SERVED), JudgeModel(tiny)
    learned, before = (each.scores(ASKED.format("x"), SAID) for each in (judge, plain))
    assert max(learned) == learned[1] != max(before)
    assert judge.description.temperature == told["temperature"] > 0


def test_later_rounds_begin_with_the_live_adapters_and_at_the_logarithm_of_two(
    first: Path, tiny: Path, tmp_path: Path
) -> None:
    live = first / SERVED
    slow = replace(FAST, learning_rate=1e-3)
    subject = Adapters(options(tmp_path, tiny, "second", told=rows((12, 8)), live=live, settings=slow))
    judge = JudgeModel(tiny, live)
    assert same(subject._judge.labels.snapshot(), judge.labels.snapshot())
    assert subject.facts == {"by": DPO, "new": 18, "replayed": 18}
    assert len(subject.taught) == len(set(subject.taught)) == 36
    assert subject.loss(subject.taught[:4]).item() == pytest.approx(math.log(2))
    base = {
        name: value.clone()
        for name, value in subject._judge.labels.model.network.named_parameters()
        if not value.requires_grad
    }
    reference = {item: each.clone() for item, each in subject._reference.items()}
    shown = list(reference)
    assert torch.equal(torch.stack(list(reference.values())), table(judge.labels, shown))
    losses = [subject.step(subject.taught, None) for _ in range(3)]  # type: ignore[arg-type]
    assert losses[2] < losses[0] == pytest.approx(math.log(2))
    assert all(torch.equal(subject._reference[item], each) for item, each in reference.items())
    after = dict(subject._judge.labels.model.network.named_parameters())
    assert all(torch.equal(after[name], value) for name, value in base.items())


@pytest.mark.parametrize(("alpha", "replayed"), [(1.0, 0), (0.5, 18), (0.9, 2), (0.1, 27)])
def test_earlier_pairs_are_replayed_by_their_share(
    alpha: float, replayed: int, first: Path, tiny: Path, tmp_path: Path
) -> None:
    settings = replace(FAST, alpha=alpha)
    given = options(tmp_path, tiny, "x", told=rows((12, 8)), live=first / SERVED, settings=settings)
    assert Adapters(given).facts["replayed"] == replayed


def test_a_step_goes_through_the_model_in_parts_and_is_the_same_step(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for together in (3, 100):
        monkeypatch.setattr("assistant.learning.recipes.judge.from_use._TOGETHER", together)
        subject = Adapters(options(tmp_path, tiny, "x"))
        loss = subject.step(subject.taught[:8], None)  # type: ignore[arg-type]
        found.append((loss, {name: each.grad for name, each in subject.trained.items()}))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    assert all(torch.allclose(found[0][1][n], g, atol=1e-5) for n, g in found[1][1].items())  # type: ignore[arg-type]


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(tiny: Path, tmp_path: Path) -> None:
    stop, whole = StopSignal(), options(tmp_path, tiny, "whole")
    made(whole)
    training = begun(options(tmp_path, tiny, "stopped"), stop, lambda kind, **facts: None)
    save = training._save

    def stops() -> None:
        save()
        stop.came = True

    training._save = stops  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        training.train()
    assert (workplace(tmp_path / "stopped") / STATE).exists()
    made(options(tmp_path, tiny, "stopped"))
    both = [JudgeModel(tiny, tmp_path / name / SERVED).labels.snapshot() for name in ("whole", "stopped")]
    assert same(*both)


@pytest.mark.parametrize(
    "content", ["no JSON", "[]", '{"step": 0}', '{"step": 0, "measured": 1, "question": 1}']
)
def test_what_holds_no_lessons_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "lessons.jsonl").write_text(content)
    with pytest.raises(CannotTrain, match="holds no lessons"):
        read_lessons(tmp_path / "lessons.jsonl")


def test_a_row_holds_what_helped_and_what_did_not() -> None:
    some = lesson(3)
    asks = replace(some.found[0], text="What is it?", helps=False)
    unknown = replace(some.found[0], text="Ben: no.", helps=None)
    row, later = rows_of([replace(some, found=(*some.found, asks, unknown)), lesson(7)], [5])
    assert (row["step"], later["step"], row["question"]) == (0, 1, "What did Ann say of 3?")
    assert (row["helped"], row["useless"]) == (["Ann: it is 2."], ["Ben: it is 1."])


# In the chat


def in_process(folder: Path, module: str, shown: Sequence[Path], given: Sequence[str], **_: Any) -> Path:
    """The training in this process, at a rate that so small a model learns by."""
    from assistant.learning.recipes.judge import from_use

    assert module == from_use.__name__
    parsed = from_use._options([str(shown[0]), "--out", str(folder / "candidate"), *given])
    parsed.settings = FAST
    in_process.began_with = parsed.adapters  # type: ignore[attr-defined]
    made(parsed)
    return folder / "candidate"


@pytest.fixture
def pier(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pier]:
    monkeypatch.setattr(training_process, "train_in_child", in_process)
    reranking = RerankingSettings(judge="trained", judge_model=str(tiny), judge_share=1.0)
    found = Pier(tmp_path, turns=120, settings=Settings(reranking=reranking))
    with closing(found.assistant):
        yield found


def test_a_round_changes_what_the_chat_puts_first_and_the_next_goes_on_from_it(pier: Pier) -> None:
    models, learning = pier.assistant.models, pier.assistant.learning
    in_use = models.judge  # of a chat that is open already
    untrained = in_use.name
    ended = learning.learner_of("judge").run()
    assert ended.state == "promoted", ended.reason
    assert in_process.began_with is None  # type: ignore[attr-defined]
    assert pier.first() == SAID[1]
    assert in_use.name == models.judge_model.name != untrained
    assert trained_in_use(pier.assistant) == {"judge": ended.version}
    kept = pier.assistant.stores.checkpoints.place("judge", ended.version)
    assert models.judge_adapters == kept

    pier.turns += [pier.ask(number) for number in range(120, 160)]
    adapters, ends = begins_with(pier.assistant, lessons_of(pier.assistant))  # type: ignore[arg-type]
    assert adapters == kept
    assert ends == [pier.turns[59]]  # those behind it judged, and teach now
    again = learning.learner_of("judge").run()
    assert again.state in ("promoted", "refused")
    assert in_process.began_with == kept  # type: ignore[attr-defined]
    card = json.loads(
        (pier.assistant.stores.checkpoints.place("judge", again.version) / SETTINGS).read_text()
    )
    assert card["by"] == DPO
    assert card["replayed"] > 0

    back = learning.step_back("judge")
    assert back == (ended.version if again.state == "promoted" else SHIPPED)
    assert models.judge_adapters == (kept if again.state == "promoted" else None)


def test_what_teaches_no_more_is_not_gone_on_with_and_what_is_forgotten_takes_it_back(pier: Pier) -> None:
    assert pier.assistant.learning.learner_of("judge").run().state == "promoted"
    parts: Any = pier.assistant
    assert begins_with(parts, lessons_of(parts))[0] is not None
    journal = pier.assistant.stores.journal
    journal.rate(pier.ann, pier.turns[0], "bad")
    assert begins_with(parts, lessons_of(parts)) == (None, [])
    journal.rate(pier.ann, pier.turns[0], "good")
    assert pier.forget(pier.turns[0]) == ("judge",)
    assert pier.assistant.models.judge_adapters is None
    assert begins_with(parts, lessons_of(parts)) == (None, [])


def test_among_several_users_nothing_is_learned_and_nothing_learned_is_used(pier: Pier) -> None:
    assert pier.assistant.learning.learner_of("judge").run().state == "promoted"
    pier.assistant.stores.journal.user_id("ben")
    assert pier.assistant.models.judge_adapters is None
    assert lessons_of(pier.assistant).all() == []  # type: ignore[arg-type]
    assert trained_in_use(pier.assistant) == {}


def test_adapters_of_another_model_are_not_gone_on_with(pier: Pier, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pier.assistant.learning.learner_of("judge").run().state == "promoted"
    other = JudgeDescription("another")
    monkeypatch.setattr(JudgeDescription, "read", staticmethod(lambda folder: other))
    parts: Any = pier.assistant
    assert begins_with(parts, lessons_of(parts)) == (None, [])


def test_where_another_judges_or_the_model_is_gone_none_is_trained(tmp_path: Path) -> None:
    for name, settings, why in (
        ("reader", Settings(), 'Set reranking.judge to "trained"'),
        (
            "gone",
            Settings(reranking=RerankingSettings(judge="trained", judge_model=str(tmp_path / "no"))),
            "reranking.judge_model",
        ),
    ):
        home = Pier(tmp_path / name, turns=0, settings=settings)
        with closing(home.assistant) as assistant:
            assert "judge" not in assistant.learning.recipes
            with pytest.raises(BackendMissing, match="The judge cannot be trained here: ") as caught:
                assistant.learning.learner_of("judge")
            assert why in caught.value.hint
