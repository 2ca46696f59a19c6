"""Rounds of preferences: reference, replay, gate, judges and protocol, by the properties that they have."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tiny_llama import make_tiny_llama
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

from agents.losses.calibration import FALLBACK, fitted_temperature, fitted_threshold
from agents.losses.preference import voted
from agents.models.networks.label_model import LabelModel, prompt
from experiments.evo import rounds
from experiments.evo.__main__ import runs_of
from experiments.evo.judges import SimulatedJudges
from experiments.evo.measures import measured
from experiments.evo.policy import FrozenStates, Policy, SmallPolicy, table
from experiments.evo.rounds import METHODS, Method, Preference, Round, Training, capped, play, started, train
from experiments.evo.sets import Item, Stream, excerpt
from experiments.evo.tables import tables
from training.reader.network import ReaderNetwork

FAST = Training(epochs=1, batch=8, learning_rate=0.05)
WORDS = "river harbour bread winter star question".split()


class TinyPolicy(nn.Module):
    """A matrix over numbers that each item has by chance, the first of which tells of its label."""

    def __init__(self, labels: int = 2) -> None:
        super().__init__()
        self.head = nn.Linear(6, labels)
        with torch.no_grad():
            self.head.weight.copy_(torch.eye(labels, 6) * 0.1)
            self.head.bias.zero_()

    def logp(self, items: Sequence[Item]) -> Tensor:
        return self.head(torch.tensor([numbers(item) for item in items])).log_softmax(1)

    def snapshot(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.state_dict().items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.load_state_dict(state)


def numbers(item: Item) -> list[float]:
    rng = random.Random(item.id)
    return [float(item.id.rsplit("=", 1)[1]) + rng.gauss(0, 0.7), *(rng.gauss(0, 1) for _ in range(5))]


def made(part: str, count: int = 24, labels: int = 2) -> list[Item]:
    """Four candidates a question, of which the first is right where there are two labels."""
    found = []
    for number in range(count):
        label = int(number % 4 == 0) if labels == 2 else number % labels
        question = f"{part} {number // 4}"
        said = f"{WORDS[number % 6]} {WORDS[number % 5]}"
        found.append(Item(f"{question} {number}={label}", question, question, said, f"The {said}.", label))
    return found


def stream(labels: int = 2, count: int = 24) -> Stream:
    parts = [[made(f"{name}{n}", count, labels) for n in range(4)] for name in ("round", "kept")]
    names = ("False", "True", "Unknown")[:labels]
    return Stream(names, made("start", count, labels), made("holdout", count, labels), *parts)


def judges(of: Stream, *, accuracy: float = 0.8) -> SimulatedJudges:
    truth = {item.id: item.label for items in of.rounds for item in items}
    return SimulatedJudges([accuracy] * 2, truth, len(of.labels), rho=0.3)


def played(
    method: Method, of: Stream, policy: Policy | None = None, asked: SimulatedJudges | None = None
) -> tuple[list[Round], dict[str, Tensor]]:
    policy = policy or TinyPolicy(len(of.labels))
    started(policy, of, seed=0, training=FAST)
    found = list(play(policy, of, method, asked or judges(of), seed=0, training=FAST))
    return found, policy.snapshot()


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    make_tiny_llama(folder)
    return folder


@pytest.mark.parametrize("kind", ["matrix", "adapters"])
def test_the_reference_is_the_model_of_the_round_before_and_stays(
    kind: str, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy: Policy = LabelModel(tiny, ("no", "yes"), rank=2) if kind == "adapters" else TinyPolicy()
    taken: list[tuple[dict[str, Tensor], list[Item], dict[str, Tensor], dict[str, Tensor]]] = []
    original = rounds.reference_of

    def watched(of: Policy, told: Sequence[Preference]) -> dict[str, Tensor]:
        items = list({item.id: item for each in told for item, _ in each}.values())
        found = original(of, told)
        taken.append((of.snapshot(), items, found, {name: value.clone() for name, value in found.items()}))
        return found

    monkeypatch.setattr(rounds, "reference_of", watched)
    of = stream(count=8)
    started(policy, of, seed=0, training=FAST)
    models = [policy.snapshot()]
    for found in play(policy, of, METHODS["replay .5"], judges(of), seed=0, training=FAST):
        models.append(policy.snapshot())
        assert found.first_loss == pytest.approx(0.6931472)
    assert len(taken) == 4
    assert not any(same(one, other) for one, other in pairwise(models))
    for model, (begun, items, reference, copied) in zip(models, taken, strict=False):
        assert same(model, begun)
        assert same(reference, copied)
        policy.restore(model)
        assert torch.equal(table(policy, items), torch.stack([reference[item.id] for item in items]))


def test_rounds_of_adapters_leave_the_base_alone_and_begin_as_it_was(tiny: Path) -> None:
    policy = LabelModel(tiny, ("no", "yes"), rank=2)
    of = stream(count=8)
    with policy.model.network.disable_adapter():
        untouched = table(policy, of.start)
    assert torch.equal(table(policy, of.start), untouched)
    base = {n: v.clone() for n, v in policy.model.network.state_dict().items() if n not in _trained(policy)}
    played(METHODS["replay .5"], of, policy)
    after = {n: v for n, v in policy.model.network.state_dict().items() if n not in _trained(policy)}
    assert same(base, after)
    assert not torch.equal(table(policy, of.start), untouched)
    again = LabelModel(tiny, ("no", "yes"), rank=2, seed=5)
    again.restore(policy.snapshot())
    assert torch.equal(table(again, of.start), table(policy, of.start))


def _trained(policy: LabelModel) -> set[str]:
    names = set(policy.model.trained)
    return names | {name.replace(".default", "") for name in names}


def test_without_replay_it_is_dpo_of_one_round_after_the_other_bit_for_bit() -> None:
    of = stream()
    found, model = played(Method(alpha=1.0), of)
    policy = TinyPolicy()
    started(policy, of, seed=0, training=FAST)
    for number, items in enumerate(of.rounds):
        labels = capped([item.label for item in items], most=3, seed=number)
        new = rounds.preferences(Method(), table(policy, items), items, labels, seed=number)
        list(train(policy, new, Method(), FAST, seed=number))
    assert same(model, policy.snapshot())
    assert [each.old for each in found] == [0, 0, 0, 0]
    replayed_too, other = played(Method(alpha=0.5), of)
    assert [each.old for each in replayed_too] == [0, *(each.new for each in replayed_too[1:])]
    assert not same(model, other)


@pytest.mark.parametrize("one_pass", [True, False])
def test_the_order_of_labels_and_what_else_is_scored_change_nothing(one_pass: bool, tiny: Path) -> None:
    items = made("any", 6)
    policy = LabelModel(tiny, ("the", "river", "harbour"), rank=2, first_token=one_pass)
    together = table(policy, items)
    alone = torch.cat([table(policy, [item]) for item in items])
    assert torch.allclose(together, alone, atol=1e-5)
    assert torch.allclose(together.softmax(1).sum(1), torch.ones(6))
    policy._labels.reverse()
    assert torch.allclose(table(policy, items).flip(1), together, atol=1e-5)


def test_labels_of_one_token_score_alike_in_one_pass_and_by_their_strings(tiny: Path) -> None:
    whole, fast = (LabelModel(tiny, ("water", "days"), rank=2, first_token=first) for first in (False, True))
    assert torch.allclose(table(whole, made("any")), table(fast, made("any")), atol=1e-5)


def test_a_label_scores_the_sum_over_its_tokens_behind_the_prompt(tiny: Path) -> None:
    (item,) = made("any", 1)
    policy = LabelModel(tiny, ("harbour", "winter"), rank=2)
    found = table(policy, [item])[0, 0].item()
    read, ids = policy._cut(prompt(item, ("harbour", "winter"))), policy._labels[0]
    with torch.no_grad():
        logits = policy.model.network(torch.tensor([read + ids])).logits[0].log_softmax(1)
    tokens = [logits[len(read) - 1 + place, token].item() for place, token in enumerate(ids)]
    assert len(ids) == 3
    assert found == pytest.approx(sum(tokens), abs=1e-4)


def test_one_pass_refuses_labels_that_begin_alike(tiny: Path) -> None:
    with pytest.raises(ValueError, match="first tokens"):
        LabelModel(tiny, ("river", "river"), first_token=True)


def test_the_small_policy_scores_an_item_alike_in_any_batch_and_as_its_body_does() -> None:
    config = {"hidden_size": 8, "vocab_size": 30522, "max_position_embeddings": 64, "layer_norm_eps": 1e-12}
    sizes = {"num_attention_heads": 2, "intermediate_size": 16, "num_hidden_layers": 2}
    body = ReaderNetwork(config | sizes)
    policy, items = SmallPolicy(FrozenStates(body), 3), [*made("any", 6), Item("=0", "", "", "", "", 0)]
    together = table(policy, items)
    assert torch.allclose(together, torch.cat([table(policy, [item]) for item in items]), atol=1e-5)
    states, mask = policy._states.of(items)
    whole = body.layers[-1](states, (1 - mask[:, None, None, :]) * -1e4)
    assert torch.allclose(policy._at_first(states, mask), whole[:, 0], atol=1e-5)


@pytest.mark.parametrize(("threshold", "asked"), [(0.0, 0), (2.0, 24), (0.7, None)])
def test_judges_are_asked_of_what_is_below_the_threshold_alone(threshold: float, asked: int | None) -> None:
    of = stream()
    found, _ = played(Method(labels="own", judge=0.8, threshold=threshold), of, asked=(called := judges(of)))
    for each in found:
        assert each.labelling["asked"] == round((1 - each.labelling["sure"]) * 24)
        assert asked is None or each.labelling["asked"] == asked
    assert called.asked == sum(each.labelling["asked"] for each in found)


@pytest.mark.parametrize("name", ["cautious .8", "unvoted", "self", "ungated .8"])
def test_what_labels_itself_never_reads_gold(name: str) -> None:
    of = stream()
    rng, poisoned = random.Random(0), []
    for items in of.rounds:
        shuffled = rng.sample([item.label for item in items], len(items))
        poisoned.append([replace(item, label=label) for item, label in zip(items, shuffled, strict=True)])
    clean, model = played(METHODS[name], of)
    told, other = played(METHODS[name], replace(of, rounds=poisoned), asked=judges(of))
    assert same(model, other)
    assert clean[0].figures != told[0].figures


def test_the_first_round_measures_the_same_model_whatever_learns_from_it() -> None:
    of = stream()
    first = TinyPolicy()
    started(first, of, seed=0, training=FAST)
    expected = measured(table(first, of.rounds[0]), of.rounds[0])
    assert all(played(method, of)[0][0].figures == expected for method in METHODS.values())


def test_a_round_is_measured_before_it_is_learned() -> None:
    of = stream()
    policy = TinyPolicy()
    started(policy, of, seed=0, training=FAST)
    running = play(policy, of, METHODS["multi dpo"], judges(of), seed=0, training=FAST)
    for items in of.rounds:
        before = measured(table(policy, items), items)
        assert next(running).figures == before


def test_sft_that_is_frozen_stays() -> None:
    of = stream()
    policy = TinyPolicy()
    started(policy, of, seed=0, training=FAST)
    assert same(policy.snapshot(), played(METHODS["sft"], of)[1])


def test_three_independent_judges_of_eight_in_ten_are_right_as_often_as_computed() -> None:
    truth = {str(n): n % 2 for n in range(4000)}
    three = SimulatedJudges([0.8] * 3, truth, 2, rho=0.0)
    items = [Item(name, "", "", "", "", label) for name, label in truth.items()]
    right = sum(voted(three.votes(item)) == item.label for item in items) / len(items)
    assert right == pytest.approx(0.896, abs=3 * (0.896 * 0.104 / 4000) ** 0.5)
    assert three.votes(items[0]) == three.votes(items[0])


def test_judges_who_err_together_are_as_right_but_agree_more() -> None:
    truth = {str(n): n % 3 for n in range(4000)}
    items = [Item(name, "", "", "", "", label) for name, label in truth.items()]
    agreed = []
    for rho in (0.0, 0.6):
        pair = SimulatedJudges([0.7, 0.7], truth, 3, rho=rho)
        wrong = [[vote != item.label for vote in pair.votes(item)] for item in items]
        assert sum(map(sum, wrong)) / 8000 == pytest.approx(0.3, abs=0.03)
        agreed.append(sum(all(each) for each in wrong))
    assert agreed[1] > 1.5 * agreed[0]


def test_a_temperature_is_positive_changes_no_prediction_and_is_never_worse_than_none() -> None:
    generator = torch.Generator().manual_seed(0)
    for sharpness in (0.1, 1.0, 30.0):
        logp = (sharpness * torch.randn(40, 3, generator=generator)).log_softmax(1)
        gold = torch.randint(3, (40,), generator=generator)
        temperature = fitted_temperature(logp, gold)
        assert temperature > 0
        assert torch.equal((logp / temperature).argmax(1), logp.argmax(1))
        assert F.cross_entropy(logp / temperature, gold) <= F.cross_entropy(logp, gold) + 1e-6


def test_the_threshold_is_the_smallest_that_is_right_often_enough() -> None:
    chances = torch.tensor([0.6, 0.7, 0.8, 0.9])
    logp = torch.stack([1 - chances, chances], 1).log()
    assert fitted_threshold(logp, torch.tensor([0, 1, 1, 1])) == pytest.approx(0.7)
    assert fitted_threshold(logp, torch.tensor([0, 0, 0, 0])) == FALLBACK


def test_the_larger_class_is_capped_and_one_class_alone_is_not() -> None:
    labels = capped([0] * 10 + [1] * 2 + [None], most=3, seed=0)
    assert (labels.count(0), labels.count(1), labels.count(None)) == (6, 2, 5)
    assert capped([0, 0], most=3, seed=0) == [0, 0]


def test_figures_of_a_list_worked_out_by_hand() -> None:
    items = [replace(item, label=label) for item, label in zip(made("q", 3), (0, 1, 0), strict=True)]
    logp = torch.tensor([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]]).log()  # the right one is second
    found = measured(logp, items)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["f1"] == pytest.approx(2 / 3)
    assert found["mrr"] == pytest.approx(1 / 2)
    assert found["ndcg"] == pytest.approx(0.63093, abs=1e-4)  # 1 / log2(3)


def test_a_run_that_was_cut_off_is_no_run_and_tables_name_every_method(tmp_path: Path) -> None:
    of = stream()
    lines = []
    for seed in (0, 1):
        for name in ("sft", "cautious .8"):
            found, _ = played(METHODS[name], of)
            record = {"set": "made", "method": name, "seed": seed, "rounds": rounds.as_record(found)}
            lines.append(json.dumps(record))
    (file := tmp_path / "runs.jsonl").write_text("\n".join([*lines, lines[0][:-5]]), encoding="utf-8")
    assert len(runs := runs_of(file)) == 4
    assert "| cautious .8 | 2 |" in tables(runs)


def test_an_excerpt_keeps_what_shares_words_with_the_question() -> None:
    text = "A river flows. Bread is made of flour. Nights are long."
    assert excerpt(text, "What is bread made of?", words=5) == "Bread is made of flour."


def test_preferences_of_documents_are_of_one_question() -> None:
    items = made("any", 12)
    labels = [item.label for item in items]
    found = rounds.preferences(METHODS["documents"], torch.zeros(12, 2), items, labels, seed=0)
    assert {won.question == lost.question for (won, _), (lost, _) in found} == {True}
    assert {(label, other) for (_, label), (_, other) in found} == {(1, 1)}
