"""A cross-encoder judges passages, and learns by the recipe of the judge as a language model does."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import torch
from test_cross_encoder import PASSAGES, QUESTION, REPOSITORY
from test_judge_recipe import FAST, in_process, made, options, rows, same
from test_judge_votes import Says
from test_relevance_recipe import ASKED, SAID, Pier, lesson, trained_in_use

from agents.models.networks.judge_model import JudgeDescription, JudgeModel, asked, base_version, table
from agents.models.networks.pair_model import PairModel
from assistant.learning import training_process
from assistant.learning.held_out.judge_probes import JudgeProbes
from assistant.learning.recipe import Parts
from assistant.learning.recipes.from_shipped import SERVED
from assistant.learning.recipes.judge.from_use import DPO, SFT, Adapters
from assistant.learning.recipes.judge.recipe import heard_of
from assistant.learning.recipes.judge.votes import Votes
from assistant.learning.recipes.run import SETTINGS
from assistant.settings.config import InvalidSetting, LearningSettings, RerankingSettings, Settings
from assistant.wiring.parts.models import Models
from stores.base.errors import UnknownModel

SHORT = [place for place, text in enumerate(PASSAGES) if len(text) < 60]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("sources")
    (folder / "texts.json").write_text(json.dumps([QUESTION, *PASSAGES]), encoding="utf-8")
    script = REPOSITORY / "tests" / "tiny_cross_encoders.py"
    subprocess.run([sys.executable, script, folder, folder / "texts.json"], check=True, capture_output=True)
    return folder


@pytest.fixture(params=["bert", "xlmr"])
def source(request: pytest.FixtureRequest, sources: Path) -> Path:
    """One with one logit, or with three classes."""
    return sources / str(request.param)


@pytest.fixture(scope="module")
def first(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first round made of the one with one logit."""
    folder = tmp_path_factory.mktemp("first")
    made(options(folder, sources / "bert", "made"))
    return folder / "made"


def begun(source: Path, **how: int) -> JudgeModel:
    return JudgeModel(source, begins_with=JudgeDescription(base_version(source), **how))


def test_it_scores_as_torch_does_and_the_same_in_any_company(source: Path) -> None:
    judge = JudgeModel(source)
    expected = json.loads((source / "reference.json").read_text(encoding="utf-8"))
    scores = judge.scores(QUESTION, PASSAGES)
    assert [scores[at] for at in SHORT] == pytest.approx([expected[at] for at in SHORT], abs=1e-5)
    assert [judge.scores(QUESTION, [text])[0] for text in PASSAGES] == pytest.approx(scores, abs=1e-5)
    assert max(scores) - min(scores) > 0.1
    assert judge.scores(QUESTION, []) == []
    assert not list(judge.labels.parameters())


def test_both_labels_together_are_certain_and_too_long_a_text_is_cut(source: Path) -> None:
    labels = JudgeModel(source).labels
    found = table(labels, [asked(QUESTION * 9, text * 40) for text in PASSAGES])
    assert found.exp().sum(1).tolist() == pytest.approx([1.0] * len(PASSAGES), abs=1e-5)
    assert labels.count_tokens([asked(QUESTION * 9, "key " * 200)]) == 64


def test_new_adapters_change_nothing_yet_and_all_but_them_and_the_head_is_fixed(source: Path) -> None:
    fresh, plain = begun(source, rank=2), JudgeModel(source)
    assert fresh.scores(QUESTION, PASSAGES) == pytest.approx(plain.scores(QUESTION, PASSAGES), abs=1e-6)
    names = set(fresh.labels.model.trained)
    assert {name for name in names if "lora" not in name} == {name for name in names if "classifier" in name}
    assert len(names) > len({name for name in names if "layer.0." not in name})
    later = set(begun(source, rank=2, first_layer=1).labels.model.trained)
    assert later == {name for name in names if "layer.0." not in name}


def test_what_a_text_writes_is_no_control_token(sources: Path) -> None:
    labels = JudgeModel(sources / "bert").labels
    assert isinstance(labels, PairModel)
    ids = [labels._read([asked("the key", text)])["input_ids"][0] for text in ("table", "[SEP] table [CLS]")]
    control = labels.model.tokenizer.all_special_ids
    unknown = labels.model.tokenizer.unk_token_id
    counts = [sum(each in control and each != unknown for each in row) for row in ids]
    assert counts == [3, 3]  # the frame


def test_the_first_round_learns_from_the_model_as_it_comes(first: Path, sources: Path) -> None:
    told = json.loads((first / SETTINGS).read_text())
    assert (told["by"], told["new"], told["start_sha256"]) == (SFT, 27, None)
    assert told["likelihoods"][told["best_epoch"]] > told["likelihoods"][0]
    judge, plain = JudgeModel(sources / "bert", first / SERVED), JudgeModel(sources / "bert")
    learned, before = (each.scores(f"{ASKED.format(4)} 0", SAID) for each in (judge, plain))
    assert max(learned) == learned[1] != max(before)
    assert judge.name != plain.name


def test_later_rounds_begin_at_the_live_model_which_stays_the_reference(
    first: Path, sources: Path, tmp_path: Path
) -> None:
    bert, live = sources / "bert", first / SERVED
    slow = replace(FAST, learning_rate=1e-3)
    subject = Adapters(options(tmp_path, bert, "second", told=rows((12, 8)), live=live, settings=slow))
    judge = JudgeModel(bert, live)
    assert same(subject._judge.labels.snapshot(), judge.labels.snapshot())
    assert subject.facts == {"by": DPO, "new": 18, "replayed": 18}
    assert subject.loss(subject.taught[:4]).item() == pytest.approx(math.log(2))
    network = subject._judge.labels.model.network
    base = {name: p.clone() for name, p in network.named_parameters() if not p.requires_grad}
    losses = [subject.step(subject.taught, None) for _ in range(3)]  # type: ignore[arg-type]
    assert losses[2] < losses[0] == pytest.approx(math.log(2))
    shown = list(subject._reference)
    assert torch.equal(torch.stack(list(subject._reference.values())), table(judge.labels, shown))
    after = dict(network.named_parameters())
    assert all(torch.equal(after[name], value) for name, value in base.items())


def test_a_head_that_is_missing_is_told(source: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    kept = {n: t for n, t in load_file(tmp_path / "model.safetensors").items() if "classifier" not in n}
    save_file(kept, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UnknownModel, match="its weights lack classifier") as caught:
        JudgeModel(tmp_path)
    assert "cross-encoder" in caught.value.hint


def test_a_round_of_the_chat_changes_what_it_puts_first(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_process, "train_in_child", in_process)
    reranking = RerankingSettings(judge="trained", judge_model=str(sources / "bert"), judge_share=1.0)
    home = Pier(tmp_path, turns=120, settings=Settings(reranking=reranking))
    with closing(home.assistant) as assistant:
        ended = assistant.learning.learner_of("judge").run()
        assert ended.state == "promoted", ended.reason
        assert home.first() == SAID[1]
        assert trained_in_use(assistant) == {"judge": ended.version}
        assistant.learning.step_back("judge")
        assert assistant.models.judge_model.name == base_version(sources / "bert")


def voting(folder: Path, base: Path, voter: Path, *, turns: int = 0) -> Pier:
    reranking = RerankingSettings(judge="trained", judge_model=str(base), judge_share=1.0)
    learning = LearningSettings(judge_votes=True, vote_model=str(voter))
    return Pier(folder, turns=turns, settings=Settings(reranking=reranking, learning=learning))


@pytest.mark.parametrize("is_heard", [True, False])
def test_a_second_model_votes_once_on_each_passage_where_the_first_is_in_doubt(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, is_heard: bool
) -> None:
    monkeypatch.setattr(Models, "reader_judge", Says(None))
    if is_heard:  # else its probes say what it is worth, which is nothing
        monkeypatch.setattr(JudgeProbes, "trusted", lambda self, judge: judge)
    with closing(voting(tmp_path, sources / "bert", sources / "xlmr").assistant) as assistant:
        judges = heard_of(cast(Parts, assistant))
    assert [judge.name for judge in judges] == ["says", base_version(sources / "xlmr")]
    asked_of: list[str] = []
    scores = JudgeModel.scores

    def counted(self: JudgeModel, question: str, passages: Sequence[str]) -> list[float]:
        asked_of.extend(passages)
        return scores(self, question, passages)

    first, second = JudgeModel(sources / "bert"), JudgeModel(sources / "xlmr")
    for number in range(12):
        some = lesson(number)
        texts = [each.text for each in some.found]
        own, other = ([s >= 0.5 for s in each.scores(some.question, texts)] for each in (first, second))
        with monkeypatch.context() as patched:
            patched.setattr(JudgeModel, "scores", counted)
            found = [each.helps for each in Votes(first, judges, threshold=1.01).labelled(some).found]
        assert found == [a if a == b and is_heard else None for a, b in zip(own, other, strict=True)]
        assert asked_of == texts
        asked_of.clear()


def test_a_second_model_that_cannot_be_loaded_is_told_before_a_round_begins(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Models, "reader_judge", Says(None))
    monkeypatch.setattr(JudgeProbes, "trusted", lambda self, judge: judge)
    (broken := tmp_path / "broken").mkdir()
    (broken / "config.json").write_text("{}", encoding="utf-8")
    for name, wanted, hint in (
        ("none", "There is no model in .*none: it has no config.json", "Set learning.vote_model to a folder"),
        ("broken", "The model .*broken cannot be loaded: ", "cross-encoder"),
    ):
        home = voting(tmp_path / f"home {name}", sources / "bert", tmp_path / name)
        with closing(home.assistant) as assistant:
            with pytest.raises(UnknownModel, match=wanted) as caught:
                assistant.learning.learner_of("judge").run()
            assert hint in caught.value.hint
            assert not assistant.stores.rounds.latest(1)
    with pytest.raises(InvalidSetting, match=r"learning\.vote_model is .*, but must be a path from / or ~/"):
        LearningSettings(vote_model="models/second")
