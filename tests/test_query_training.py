"""The query model's training: its examples, loss and adapters, and that a stopped run goes on unharmed."""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_llama import make_tiny_llama
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.models.exporters.export_adapters import exported, form_of_served, in_pairs, served
from agents.models.networks.causal_lm import batch_of, form_of, load, nats_per_token, with_adapters
from agents.prompts import standalone
from assistant.learning.recipes.from_shipped import SERVED, STATE
from assistant.learning.recipes.query import from_use
from assistant.learning.recipes.query.from_use import (
    QueryTraining,
    Tried,
    begun,
    loss_of,
    read_lessons,
)
from assistant.learning.recipes.query.recipe import rows_of
from assistant.learning.recipes.run import SETTINGS, CannotTrain, Stopped, StopSignal, workplace
from assistant.learning.recipes.training_state import read_checkpoint, write_checkpoint
from stores.learning.follow_ups import FollowUp
from training.query_model import train as rewriter
from training.query_model.rewrites import Rewrite, rewrites
from training.query_model.train import BEST, train

FIRST = ("who walked on the moon?", "Neil Armstrong, in 1969")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny_llama(folder)
    return folder


def test_a_prompt_holds_the_last_exchanges_and_the_first_question() -> None:
    earlier = [FIRST, ("and who was second?", "Buzz Aldrin"), ("when?", ""), ("where?", "Tranquility")]
    assert standalone.prompt("was it\ncold?", earlier).splitlines() == [
        *("Q: who walked on the moon?", "Q: when?", "Q: where?", "A: Tranquility"),
        *("Q: was it cold?", "Alone:"),
    ]


@given(st.text(), st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_no_text_makes_lines_of_its_own(question: str, answer: str, earlier: list[tuple[str, str]]) -> None:
    lines = standalone.prompt(question, [*earlier, (question, answer)]).split("\n")
    assert {line.partition(" ")[0] for line in lines} <= {"Q:", "A:", "Alone:"}
    assert lines[-1] == "Alone:"


@given(st.text())
def test_what_is_written_is_read_again(question: str) -> None:
    assert standalone.read(standalone.written(""), question) == ""
    alone = " ".join(question.split())
    if alone and alone.casefold() != standalone.SAME:
        assert standalone.read(standalone.written(question), "another") == alone
        assert standalone.read(standalone.written(question), alone) == ""


def test_the_first_question_of_a_conversation_is_read_as_it_stands_alone(tmp_path: Path) -> None:
    (tmp_path / "canard").mkdir()
    talk = [
        {"history": [], "question": "when did he play?", "rewrite": "when did Unitas play?"},
        {
            "history": [
                {"question": "when did he play?", "answer": "in 1956", "rewrite": "when did Unitas play?"}
            ],
            "question": "where?",
            "rewrite": "where did Unitas play?",
        },
        {"history": [{"question": "who?", "answer": ""}], "question": "Who won?", "rewrite": "who won"},
    ]
    with gzip.open(tmp_path / "canard" / "test.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(each) + "\n" for each in talk)
    first, second = rewrites(tmp_path, "canard", "test")
    assert first == Rewrite(
        "where?", (("when did Unitas play?", "in 1956"),), "where did Unitas play?", "canard"
    )
    assert (second.alone, second.gold) == ("", "Who won?")


def test_adapters_begin_as_the_model_was_and_are_all_that_is_trained(tiny: Path) -> None:
    base = load(tiny)
    batch = batch_of(base, [("Q: when?\nAlone:", " when?")], most_tokens=64)
    before = nats_per_token(base, batch)
    adapted = with_adapters(base, rank=2, alpha=4)
    assert nats_per_token(adapted, batch).item() == pytest.approx(before.item(), rel=1e-6)
    assert {name.split(".")[-3] for name in adapted.trained} == {"lora_A", "lora_B"}
    nats_per_token(adapted, batch).backward()
    assert all(each.grad.any() for name, each in adapted.trained.items() if ".lora_B." in name)
    frozen = [each for each in adapted.network.parameters() if not each.requires_grad]
    assert all(each.grad is None for each in frozen)


def test_the_loss_is_of_what_is_written_and_padding_changes_nothing(tiny: Path) -> None:
    model = load(tiny)
    alone, longer = ("A:", " water"), ("A question well put is half an answer:", " bread is made of flour")
    one = batch_of(model, [alone], most_tokens=64)
    logits = model.network(input_ids=one.ids).logits[0]
    count = int(one.written.sum())
    wanted = F.cross_entropy(logits[-count - 1 : -1], one.ids[0, -count:])
    assert nats_per_token(model, one).item() == pytest.approx(wanted.item(), rel=1e-5)
    other = nats_per_token(model, batch_of(model, [longer], most_tokens=64))
    both = batch_of(model, [alone, longer], most_tokens=64)
    more = int(both.written[1].sum())
    mean = (wanted * count + other * more) / (count + more)
    assert nats_per_token(model, both).item() == pytest.approx(mean.item(), rel=1e-5)


def test_what_is_too_long_loses_the_beginning_of_its_prompt(tiny: Path) -> None:
    model = load(tiny)
    batch = batch_of(model, [("water " * 50 + "Alone:", " bread")], most_tokens=20)
    text = model.tokenizer.decode(batch.ids[0])
    assert batch.ids.shape == (1, 20)
    assert text.endswith("Alone: bread<|end|>")


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
def test_rows_of_a_head_stand_in_pairs(heads: int, half: int, width: int) -> None:
    rows = np.arange(heads * 2 * half * width).reshape(-1, width)
    paired = in_pairs(rows, heads)
    for head in range(heads):
        for place in range(half):
            at = head * 2 * half
            assert (paired[at + 2 * place] == rows[at + place]).all()
            assert (paired[at + 2 * place + 1] == rows[at + half + place]).all()


def test_a_training_can_go_on_from_what_is_served(tiny: Path, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    base = load(tiny)
    facts = form_of(base)
    model = with_adapters(base, rank=2, alpha=4)
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for each in model.trained.values():
            each.copy_(torch.randn(each.shape, generator=draw).half())
    write_checkpoint(tmp_path / "a.safetensors", model.trained, facts | {"alpha": 4})
    exported(tmp_path / "a.safetensors", tmp_path / "a.gguf")
    assert form_of_served(tmp_path / "a.gguf") == {"rank": 2, "alpha": 4, "first_layer": 0}
    found = served(tmp_path / "a.gguf", model.trained, facts)
    assert all(np.array_equal(found[name], each.detach().numpy()) for name, each in model.trained.items())
    some = [*model.trained][1:]
    with pytest.raises(ValueError, match="too"):
        served(tmp_path / "a.gguf", some, facts)
    with pytest.raises(ValueError, match=r"has no blk\.9"):
        served(tmp_path / "a.gguf", [some[0].replace("layers.0.", "layers.9.")], facts)


@pytest.mark.slow
def test_a_stopped_training_goes_on_as_if_it_had_not_been(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = [
        Rewrite(f"when was it {n}?", (FIRST,), f"when was the moon {n}?", "canard") for n in range(40)
    ]
    monkeypatch.setattr(rewriter, "mixture", lambda data, limit, seed: examples)
    monkeypatch.setattr(rewriter, "rewrites", lambda data, name, split: examples[:2])

    def run(out: str, minutes: float) -> argparse.Namespace:
        named = {"data": tmp_path, "base": tiny, "out": tmp_path / out, "epochs": 2, "minutes": minutes}
        return argparse.Namespace(
            **named, limit=1, rank=2, first_layer=1, learning_rate=1e-2, seed=0, threads=1
        )

    train(run("whole", 5))
    for _ in range(6):
        train(run("parts", 0))  # a step each time
    whole, parts = (read_checkpoint(tmp_path / out / rewriter.STATE) for out in ("whole", "parts"))
    assert whole[1]["step"] == parts[1]["step"] == 6
    assert all(torch.equal(whole[0][name], parts[0][name]) for name in whole[0])
    exported_facts = read_checkpoint(tmp_path / "whole" / BEST)[1]
    assert exported_facts["architecture"] == "llama"


# From what was asked in use


EARLIER = (("who walked on the moon?", "Neil Armstrong"),)
REWRITTEN = Tried("when?", EARLIER, 0.2, (("when on the moon?", 1.0), ("where?", 0.1)))
LEFT = Tried("what is bread?", EARLIER, 1.0, (("what is the moon?", 0.1),))


@pytest.fixture(scope="module")
def shipped(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapters of the tiny model in place of those that Vouch comes with."""
    pytest.importorskip("gguf")
    folder = tmp_path_factory.mktemp("shipped")
    base = load(tiny)
    torch.manual_seed(0)
    model = with_adapters(base, rank=2, alpha=4)
    write_checkpoint(folder / "a.safetensors", model.trained, form_of(base) | {"alpha": 4})
    exported(folder / "a.safetensors", file := folder / "adapters.gguf")
    return file


@pytest.fixture(scope="module")
def whole(tiny: Path, shipped: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training in one go, of two epochs."""
    folder = tmp_path_factory.mktemp("whole")
    begun(options(folder, tiny, shipped), StopSignal(), lambda kind, **facts: None).train()
    return folder


def write(file: Path, some: list[tuple[bool, Tried]]) -> Path:
    rows = [
        {"measured": m, "question": t.question, "earlier": t.earlier, "own": t.own, "ways": t.ways}
        for m, t in some
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def options(folder: Path, tiny: Path, shipped: Path, *, epochs: int = 2) -> argparse.Namespace:
    told = [(False, REWRITTEN), (False, LEFT), (True, REWRITTEN), (True, Tried("so?", EARLIER, 0.0, ()))]
    return argparse.Namespace(
        lessons=write(folder / "lessons.jsonl", told),
        out=folder / "made",
        base=tiny,
        adapters=shipped,
        settings=QueryTraining(epochs=epochs, learning_rate=1e-2),
        threads=1,
        resume=True,
        parent=None,
    )


def test_what_is_written_for_a_round_is_read_back(tmp_path: Path) -> None:
    some = [(False, REWRITTEN), (True, LEFT)]
    assert read_lessons(write(tmp_path / "lessons.jsonl", some)) == some
    (tmp_path / "lessons.jsonl").write_text('{"question": 1}')
    with pytest.raises(CannotTrain, match="holds no follow-ups"):
        read_lessons(tmp_path / "lessons.jsonl")


def test_what_finds_less_than_the_question_is_never_learned_to_be_written() -> None:
    assert (REWRITTEN.best, REWRITTEN.is_written) == (("when on the moon?", 1.0), True)
    assert not LEFT.is_written
    assert not Tried("so?", EARLIER, 0.0, ()).is_written


def test_the_loss_knows_which_way_found_more(tiny: Path) -> None:
    """The chance of "same" rises where the question alone found more, and falls where it found less."""
    base = load(tiny)
    same = base.tokenizer(" same", add_special_tokens=False).input_ids[0]
    weight = base.network.get_output_embeddings().weight
    bias = torch.zeros(len(weight), requires_grad=True)
    head = base.network.lm_head.forward
    base.network.lm_head.forward = lambda states: head(states) + bias
    for tried, sign in ((LEFT, -1), (REWRITTEN, 1)):
        [gradient] = torch.autograd.grad(loss_of(base, [tried]), bias)
        assert gradient[same] * sign > 0


def test_nothing_is_chosen_where_there_is_one_way_alone(tiny: Path) -> None:
    assert loss_of(load(tiny), [Tried("so?", EARLIER, 1.0, ())]).item() == 0


@pytest.mark.slow
def test_a_training_that_is_stopped_goes_on_and_ends_the_same(
    tmp_path: Path, tiny: Path, shipped: Path, whole: Path
) -> None:
    def run(*, stops_after: int | None) -> None:
        stop = StopSignal()

        def tell(kind: str, **facts: Any) -> None:
            if kind == "held_out" and facts["epoch"] == stops_after:
                stop.came = True

        begun(options(tmp_path, tiny, shipped), stop, tell).train()

    with pytest.raises(Stopped):
        run(stops_after=1)
    run(stops_after=None)
    states = [workplace(folder / "made") / STATE for folder in (tmp_path, whole)]
    assert states[0].read_bytes() == states[1].read_bytes()


def test_with_other_lessons_a_training_begins_anew(
    tmp_path: Path, tiny: Path, shipped: Path, whole: Path
) -> None:
    told: list[str] = []

    def tell(kind: str, **_facts: Any) -> None:
        told.append(kind)

    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    begun(given := options(tmp_path, tiny, shipped), StopSignal(), tell)
    assert told.pop() == "resumed"
    write(given.lessons, [(False, LEFT), (True, REWRITTEN)])
    begun(given, StopSignal(), tell)
    assert told.pop() == "held_out"


def test_the_best_epoch_is_served(tmp_path: Path, tiny: Path, shipped: Path) -> None:
    given = options(tmp_path, tiny, shipped, epochs=3)
    assert from_use.run(lambda: given, begun) == 0
    told = json.loads((given.out / SETTINGS).read_text())
    assert (told["taught"], told["measured"], told["found_nothing"]) == (2, 1, 1)
    assert told["best_epoch"] == max(range(4), key=told["likelihoods"].__getitem__) > 0
    base = load(tiny)
    model = with_adapters(base, rank=2, alpha=4)
    before, after = (
        served(file, model.trained, form_of(base)) for file in (shipped, given.out / SERVED / "adapters.gguf")
    )
    assert any((before[name] != after[name]).any() for name in before)


def test_too_few_lessons_are_told(tmp_path: Path, tiny: Path, shipped: Path) -> None:
    given = options(tmp_path, tiny, shipped)
    write(given.lessons, [(False, LEFT)])
    with pytest.raises(CannotTrain, match="too few"):
        begun(given, StopSignal(), lambda kind, **facts: None)


def follow_up(number: int) -> FollowUp:
    return FollowUp(number, 1, f"s{number}", f"and {number}?", ("so?",), ("It is. [1]",), (1,), (number,))


def test_each_way_is_searched_with_and_so_is_the_question() -> None:
    told: list[tuple[int, int]] = []
    rows = rows_of(
        [follow_up(1), follow_up(2)],
        lambda done, of: told.append((done, of)),
        earlier=lambda each: [(each.messages[0], "It is")],
        ways=lambda each: [f"{each.question} alone"] if each.turn_id == 1 else [],
        found=lambda each, alone: 1.0 if alone else 0.5,
    )
    first, second = rows
    assert first == {
        "measured": follow_up(1).tells_when_to_end,
        "question": "and 1?",
        "earlier": [("so?", "It is")],
        "own": 0.5,
        "ways": [("and 1? alone", 1.0)],
    }
    assert (second["own"], second["ways"]) == (0.5, [])
    assert told == [(0, 2), (1, 2)]
